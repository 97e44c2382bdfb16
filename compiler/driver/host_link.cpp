#include "host_link.h"

#include "compile.h"
#include "failure.h"
#include "process.h"

namespace mrcc {

namespace fs = std::filesystem;

namespace {

void append(Argv& to, std::initializer_list<std::string> from) { to.insert(to.end(), from); }

// With -v, the link as one mrcc command: CMake takes from it the program that links, and the libraries that it adds.
void show_as_mrcc(const Options& o, const Toolchain& tools, const Argv& objects, const std::string& program) {
  Argv a{(tools.root() / "bin/mrcc").string()};
  if (o.shared) a.push_back("-shared");
  a.insert(a.end(), objects.begin(), objects.end());
  append(a, {"-L" + tools.libraries().string()});
  if (!o.no_runtime) a.push_back(o.static_runtime ? "-lcudart_static" : "-lcudart");
  append(a, {"-o", program});
  show(o, a);
}

// With -v, the linker's own command, from which CMake learns the folders and libraries that it hands to the C++
// compiler where that one links CUDA objects. What follows -l there it hands on, a name as -lNAME, but an option as it
// is: so programs that are linked in this way get a run path to the runtime too.
void show_linker(const Options& o, const Toolchain& tools, Argv link) {
  if (!o.verbose || o.dry_run) return;
  const fs::path printed = TemporaryFolder::name("link", ".txt");
  link.push_back("-###");
  if (Child::start(link, printed).wait()) return;
  std::string lines = read_file(printed);
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  const std::string command = lines.substr(lines.rfind('\n') + 1);
  std::fprintf(stderr, "%s \"-l-Wl,-rpath,%s\"\n", command.c_str(), tools.libraries().c_str());
}

}  // namespace

std::string link_program(const Options& o, const Toolchain& tools, const std::vector<std::string>& objects,
                         const std::string& registration) {
  std::string program = o.output.empty() ? "a.out" : o.output;
  if (o.output.empty() && !o.output_directory.empty()) program = fs::path(o.output_directory) / program;
  Argv a{tools.tool("clang++"), "-Wno-unused-command-line-argument", "--ld-path=" + tools.tool("ld.lld")};
  if (o.shared) a.push_back("-shared");
  if (o.debug) a.push_back("-g");
  const std::string folder = tools.libraries();
  append(a, {"-L", folder});  // Before the user's folders, which may hold another toolkit's libcudart.
  // Build systems name the runtime themselves when they link with mrcc: it is in the link once, and of one kind.
  bool static_runtime = o.static_runtime;
  for (const LinkItem& item : o.link) {
    if (item.argument == "-lcudart_static")
      static_runtime = true;
    else if (item.argument == "-lcudart")
      continue;
    // Clang's OpenMP code calls its own runtime, which serves gcc's code too. With gcc's library in front of it, the
    // program would ask one runtime for the number of threads and run on the other's.
    else if (item.argument == "-lgomp")
      a.push_back("-fopenmp");
    // The driver API's library: named by many build files, used by few. What a program does call, the linker names.
    // NVTX has been headers alone since its third version.
    else if (item.argument == "-lcuda" || item.argument == "-lnvToolsExt")
      continue;
    else
      a.push_back(item.input >= 0 ? objects[item.input] : item.argument);
  }
  if (!registration.empty()) a.push_back(registration);
  if (o.check) {
    // Before the runtime and the C library, whose functions it stands in front of.
    const fs::path library = tools.libraries() / "libmillrace_check.so";
    if (!o.dry_run && !fs::exists(library))
      throw Failure("the checker's library " + library.string() +
                    " is missing: the tree around mrcc is incomplete; build or install Millrace again");
    static_runtime = false;
    append(a,
           {"-Xlinker", "--push-state", "-Xlinker", "--no-as-needed", "-lmillrace_check", "-Xlinker", "--pop-state"});
  }
  if (!o.no_runtime) {
    const fs::path library = tools.libraries() / (static_runtime ? "libcudart_static.a" : "libcudart.so");
    if (!o.dry_run && !fs::exists(library))
      throw Failure("the runtime library " + library.string() +
                    " is missing: the tree around mrcc is incomplete; build or install Millrace again");
    if (static_runtime) {
      append(a, {"-lcudart_static", "-lpthread", "-ldl", "-lrt"});
    } else {
      // So that programs start from anywhere. LD_LIBRARY_PATH comes first, but can't lead to a GPU toolkit's
      // libcudart.so: Millrace's has a soname of its own.
      append(a, {"-Xlinker", "-rpath", "-Xlinker", folder, "-lcudart"});
    }
  }
  append(a, {"-o", program});
  show_linker(o, tools, a);
  if (run(o, a)) throw Failure("");
  show_as_mrcc(o, tools, objects, program);
  return program;
}

void make_archive(const Options& o, const Toolchain& tools, const std::vector<std::string>& objects) {
  const std::string output = o.output.empty() ? "a.a" : o.output;
  Argv a{tools.tool("llvm-ar"), "rcs"};
  a.insert(a.end(), o.archive.begin(), o.archive.end());
  a.push_back(output);
  a.insert(a.end(), objects.begin(), objects.end());
  std::error_code ignored;
  if (!o.dry_run && fs::is_regular_file(output, ignored)) fs::remove(output, ignored);
  if (run(o, a)) throw Failure("");
}

int run_program(const Options& o, const std::string& program) {
  Argv a{program.find('/') == program.npos ? "./" + program : program};
  a.insert(a.end(), o.run_arguments.begin(), o.run_arguments.end());
  return run(o, a);
}

}  // namespace mrcc
