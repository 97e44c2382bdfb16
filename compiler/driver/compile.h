// Compiling one input: a CUDA program in two passes for the CPU, or plain C and C++ in one.
//
// The device pass makes the kernels' bodies and the device variables, for x86-64; linked, they are the device image, a
// shared object with the single symbol __mr_image. The host pass compiles the rest, embeds the image and emits CUDA's
// registration and launch calls. With relocatable device code the device pass stops at bitcode, which the object
// carries for the device link (device_link.h).
#pragma once
#include "dependencies.h"
#include "options.h"
#include "toolchain.h"

namespace mrcc {

class Compiler {
 public:
  Compiler(const Options& options, const Toolchain& tools);

  // Compiles `input` to the file `output`, as options.phase asks for (an object, assembly, preprocessed text, a make
  // rule). Shows diagnostics; throws Failure when it fails, and leaves no output then.
  void compile(const Input& input, const std::string& output);

  // Which part of the device pipeline a command runs: a whole image, one unit of relocatable code, or the linked units.
  enum class Stage { all, unit, image };
  // The flags that make device code, for the CPU `march`.
  Argv device_code_flags(Stage stage, const std::string& march) const;

 private:
  void compile_cuda(const Input& input, const std::string& output);
  void compile_image(const Input& input, const std::string& output);
  void compile_plain(const Input& input, const std::string& output);
  Argv front_end(const Input& input, const Argv& prelude) const;
  // What decides the meaning of a pass's code; the whole command has its files and outputs as well.
  Argv device_flags(const Input& input, const Argv& prelude) const;
  Argv host_flags(const Input& input, const Argv& prelude) const;
  Argv device_pass(const Input& input, const std::string& output, const std::string& unit, const Argv& prelude,
                   const DependencyFile& dependencies) const;
  Argv host_pass(const Input& input, const std::string& output, const std::string& image, const std::string& unit,
                 const Argv& prelude, const DependencyFile& dependencies) const;
  void add_phase(Argv& argv) const;
  void add_host_code_flags(Argv& argv) const;

  const Options& o_;
  const Toolchain& tools_;
};

// Links objects to a device image. Undefined device functions become an error that names them; `what` names the
// program.
void link_image(const Options& options, const Toolchain& tools, const Argv& objects, const std::string& image,
                const std::string& what);

// Runs a command after printing it when the user wants to see commands; with --dryrun only prints. Returns its status.
int run(const Options& options, const Argv& argv, const std::filesystem::path& capture = {});
// Only prints it.
void show(const Options& options, const Argv& argv);

}  // namespace mrcc
