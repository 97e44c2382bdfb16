#include "host_link.h"

#include "compile.h"
#include "failure.h"

namespace mrcc {

namespace fs = std::filesystem;

std::string link_program(const Options& o, const Toolchain& tools, const std::vector<std::string>& objects, const std::string& registration) {
  std::string program = o.output.empty() ? "a.out" : o.output;
  if (o.output.empty() && !o.output_directory.empty()) program = fs::path(o.output_directory) / program;
  Argv a{tools.tool("clang++"), "-Wno-unused-command-line-argument", "--ld-path=" + tools.tool("ld.lld")};
  if (o.shared) a.push_back("-shared");
  if (o.debug) a.push_back("-g");
  const std::string folder = tools.libraries();
  a.push_back("-L" + folder);  // Before the user's folders, which may hold another toolkit's libcudart.
  for (const LinkItem& item : o.link) a.push_back(item.input >= 0 ? objects[item.input] : item.argument);
  if (!registration.empty()) a.push_back(registration);
  if (!o.no_runtime) {
    const fs::path library = tools.libraries() / (o.static_runtime ? "libcudart_static.a" : "libcudart.so");
    if (!o.dry_run && !fs::exists(library))
      throw Failure("the runtime library " + library.string() + " is missing: the tree around mrcc is incomplete; build or install Millrace again");
    if (o.static_runtime) {
      a.push_back(library);
      for (const char* needed : {"-lpthread", "-ldl", "-lrt"}) a.push_back(needed);
    } else {
      // DT_RPATH and not DT_RUNPATH: LD_LIBRARY_PATH often names a GPU toolkit's folder, which has a libcudart.so as well.
      for (const std::string& argument : {std::string("-rpath"), folder, std::string("--disable-new-dtags")}) {
        a.push_back("-Xlinker");
        a.push_back(argument);
      }
      a.push_back("-lcudart");
    }
  }
  a.push_back("-o");
  a.push_back(program);
  if (run(o, a)) throw Failure("");
  return program;
}

void make_archive(const Options& o, const Toolchain& tools, const std::vector<std::string>& objects) {
  const std::string output = o.output.empty() ? "a.a" : o.output;
  Argv a{tools.tool("llvm-ar"), "rcs"};
  a.insert(a.end(), o.archive.begin(), o.archive.end());
  a.push_back(output);
  a.insert(a.end(), objects.begin(), objects.end());
  std::error_code ignored;
  if (!o.dry_run) fs::remove(output, ignored);
  if (run(o, a)) throw Failure("");
}

int run_program(const Options& o, const std::string& program) {
  Argv a{program.find('/') == program.npos ? "./" + program : program};
  a.insert(a.end(), o.run_arguments.begin(), o.run_arguments.end());
  return run(o, a);
}

}  // namespace mrcc
