// mrcc: compiles CUDA programs for CPUs, with nvcc's command line.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "compile.h"
#include "device_link.h"
#include "failure.h"
#include "host_link.h"
#include "options.h"
#include "process.h"
#include "toolchain.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

bool warnings = true;

void print_version() {
  // Our own name, and the two phrases by which build systems (CMake) know a compiler with nvcc's command line.
  std::printf("mrcc: Millrace %s, the CUDA compiler for CPUs\n"
              "Takes the options of nvcc: NVIDIA (R) Cuda compiler driver\n"
              "Cuda compilation tools, release 13.0, V13.0.48\n",
              MRCC_VERSION);
}

// What nvcc -v prints before its commands. CMake reads from it where the toolkit is, and which folders a link needs.
void print_environment(const Options& o, const Toolchain& tools) {
  const std::string root = tools.root(), path = std::getenv("PATH") ? std::getenv("PATH") : "";
  std::fprintf(stderr,
               "#$ _HERE_=%s/bin\n#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n#$ PATH=%s\n"
               "#$ INCLUDES=%s\n#$ LIBRARIES=%s\n#$ DEVICE=-arch compute_%d\n",
               root.c_str(), root.c_str(), root.c_str(), path.c_str(),
               shell_quote("-I" + tools.include().string()).c_str(),
               shell_quote("-L" + tools.libraries().string()).c_str(), o.cuda_arch() / 10);
}

std::string object_name(const Options& o, const Input& input) {
  if (!o.output.empty() && o.phase != Phase::link && o.phase != Phase::device_link && o.phase != Phase::archive)
    return o.output;
  const std::string suffix = o.phase == Phase::assembly ? ".s" : o.phase == Phase::image ? o.image_suffix : ".o";
  const std::string name = fs::path(input.path).stem().string() + suffix;
  return o.output_directory.empty() ? name : (fs::path(o.output_directory) / name).string();
}

int drive(int argc, char** argv) {
  Options o = parse_options(Argv(argv + 1, argv + argc));
  if (o.show_help) return std::fputs(help_text().c_str(), stdout), 0;
  if (o.show_version) return print_version(), 0;
  if (!o.list.empty()) return std::printf("%s\n", o.list.c_str()), 0;
  const Toolchain tools;
  if (o.verbose) print_environment(o, tools);
  if (!o.unknown_input.empty())
    throw Failure("the input " + o.unknown_input +
                  " has no suffix that tells its language (.cu .cpp .cc .cxx .c .o .a .so): name it "
                  "with -x cu, -x c++ or -x c");
  if (o.inputs.empty()) throw Failure("there is no input file: name one, or ask for --help");
  if (!o.keep_folder.empty()) TemporaryFolder::keep_in(o.keep_folder);
  drop_foreign_headers(o.both, tools);
  drop_foreign_headers(o.host, tools);
  drop_foreign_toolkits_from_environment(tools);

  Compiler compiler(o, tools);
  const bool links = o.phase == Phase::link || o.phase == Phase::device_link || o.phase == Phase::archive;
  std::vector<std::string> objects;
  for (const Input& input : o.inputs) {
    if (input.language == Language::object) {
      objects.push_back(input.path);
      continue;
    }
    std::string output;
    if (links)
      output = TemporaryFolder::name(fs::path(input.path).stem().string(), ".o");
    else if (o.phase == Phase::compile || o.phase == Phase::assembly || o.phase == Phase::image)
      output = object_name(o, input);
    else
      output = o.output;
    compiler.compile(input, output);
    objects.push_back(output);
  }
  if (!links) return 0;
  if (o.phase == Phase::archive) return make_archive(o, tools, objects), 0;
  std::string registration;
  if (o.link_device || o.phase == Phase::device_link) registration = link_device_code(o, tools, compiler, objects);
  if (o.phase == Phase::device_link) return 0;
  const std::string program = link_program(o, tools, objects, registration);
  return o.run ? run_program(o, program) : 0;
}

}  // namespace

void warn(const std::string& sentence) {
  if (warnings) std::cerr << "mrcc: warning: " << sentence << "\n";
}
void silence_warnings() { warnings = false; }

}  // namespace mrcc

int main(int argc, char** argv) {
  mrcc::install_cleanup();
  try {
    return mrcc::drive(argc, argv);
  } catch (const mrcc::Failure& failure) {
    if (*failure.what()) std::cerr << "mrcc: error: " << failure.what() << "\n";
    return failure.status;
  } catch (const std::exception& error) {
    std::cerr << "mrcc: error: " << error.what() << "\n";
    return 1;
  }
}
