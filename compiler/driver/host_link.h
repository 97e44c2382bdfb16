// The last step, for the host's linker: an executable, a shared library or an archive.
#pragma once
#include <string>
#include <vector>

#include "options.h"
#include "toolchain.h"

namespace mrcc {

// Links the options' link items, with objects[i] in place of input i, the device registration object (may be empty) and
// the runtime. Returns the program's name. Throws Failure when the linker fails; the linker has told why.
std::string link_program(const Options& options, const Toolchain& tools, const std::vector<std::string>& objects,
                         const std::string& registration);
// -lib: collects the objects in an archive.
void make_archive(const Options& options, const Toolchain& tools, const std::vector<std::string>& objects);
// -run: runs the program and returns its exit status.
int run_program(const Options& options, const std::string& program);

}  // namespace mrcc
