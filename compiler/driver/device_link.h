// The device link: one image from the relocatable device code of all objects and archives of a program or library.
#pragma once
#include <string>
#include <vector>

#include "compile.h"
#include "options.h"
#include "toolchain.h"

namespace mrcc {

// Looks for device bitcode in the objects and in the archives among the link items. If there is some, links one image
// from it and makes an object that embeds the image and defines the __cudaRegisterLinkedBinary… functions of all its
// units; returns the object's name (options.output with -dlink), else an empty string.
std::string link_device_code(const Options& options, const Toolchain& tools, const Compiler& compiler,
                             const std::vector<std::string>& objects);

}  // namespace mrcc
