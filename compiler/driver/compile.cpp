#include "compile.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <set>

#include "checked_image.h"
#include "dependencies.h"
#include "diagnostics.h"
#include "elf_objects.h"
#include "failure.h"
#include "prelude_cache.h"
#include "relocatable.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

// The CUDA release that programs see, and the SDK version that clang 19 accepts for its feature checks.
constexpr const char* release_major = "13";
constexpr const char* release_minor = "0";
constexpr const char* sdk_version = "12.5";

void append(Argv& to, const Argv& from) { to.insert(to.end(), from.begin(), from.end()); }

bool is_cpp_standard(const std::string& s) { return s.starts_with("c++") || s.starts_with("gnu++"); }

std::string stem(const Input& input) { return fs::path(input.path).stem(); }

}  // namespace

void show(const Options& o, const Argv& argv) {
  if (!o.verbose) return;
  std::string line = "#$";
  for (const auto& a : argv) line += " " + shell_quote(a);
  std::fprintf(stderr, "%s\n", line.c_str());
}

int run(const Options& o, const Argv& argv, const fs::path& capture) {
  show(o, argv);
  if (o.dry_run) return 0;
  return Child::start(argv, capture).wait();
}

Compiler::Compiler(const Options& options, const Toolchain& tools) : o_(options), tools_(tools) {}

void Compiler::add_phase(Argv& argv) const {
  switch (o_.phase) {
  case Phase::preprocess: argv.push_back("-E"); break;
  case Phase::dependencies: break;
  case Phase::assembly: argv.push_back("-S"); break;
  default: argv.push_back("-c");
  }
}

// What both passes, and plain C and C++, have in common.
Argv Compiler::front_end(const Input& input, const Argv& prelude) const {
  Argv a{tools_.tool(input.language == Language::c || input.language == Language::assembler ? "clang" : "clang++")};
  append(a, {"-Wno-unused-command-line-argument", "-Wno-unknown-pragmas"});
  // What nvcc says nothing about: an unrolling that the optimizer thinks better of, and the bodies of waiting loops.
  append(a, {"-Wno-pass-failed", "-Wno-empty-body", "-Wno-cuda-compat", "-Wno-invalid-feature-combination"});
  // What nvcc with g++ accepts, with a warning at most, and clang refuses or complains about.
  if (input.language == Language::cuda || input.language == Language::cpp)
    append(a, {"-Wno-c++11-narrowing", "-Wno-register", "-Wno-missing-template-arg-list-after-template-kw",
               "-Wno-error=reserved-user-defined-literal", "-Wno-vla-cxx-extension", "-Wno-deprecated-builtins"});
  else if (input.language == Language::c)
    append(a, {"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int", "-Wno-error=int-conversion",
               "-Wno-error=incompatible-function-pointer-types"});
  // g++'s own names of warnings (-Xcompiler -Wno-maybe-uninitialized).
  append(a, {"-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"});
  if (isatty(2)) a.push_back("-fcolor-diagnostics");
  // Standard C++ headers whose functions device code may call too come before the standard library's.
  if (input.language == Language::cuda) append(a, {"-isystem", tools_.header("millrace/std")});
  append(a, {"-isystem", tools_.include()});
  if (input.language != Language::assembler) {
    append(a, {"-D__NVCC__=1", std::string("-D__CUDACC_VER_MAJOR__=") + release_major,
               std::string("-D__CUDACC_VER_MINOR__=") + release_minor, "-D__CUDACC_VER_BUILD__=48"});
    if (o_.per_thread_stream) a.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  }
  if (!o_.standard.empty() && input.language != Language::assembler &&
      is_cpp_standard(o_.standard) == (input.language != Language::c)) {
    // The headers of device code need C++11; a CUDA program written for C++03 is one of C++11 too, nearly always.
    const bool old = o_.standard.ends_with("++03") || o_.standard.ends_with("++98");
    a.push_back("-std=" + (old && input.language == Language::cuda ? std::string("gnu++11") : o_.standard));
  }
  if (input.language == Language::cuda) {
    append(a, {"-x", "cuda", "--cuda-host-only", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-Xclang",
               std::string("-target-sdk-version=") + sdk_version});
    // Standard headers are parsed as device-callable and declare variadic functions, in overload tests mostly.
    append(a, {"-Xclang", "-fcuda-allow-variadic-functions"});
    // CUDA has no modules. With them on (C++20), clang takes a host and a device overload in a precompiled header for
    // two definitions of one function.
    append(a, {"-Xclang", "-fno-cxx-modules"});
    append(a, {"-D__CUDACC__=1", "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1",
               "-D__CUDA_ARCH_LIST__=" + std::to_string(o_.cuda_arch())});
    // Launches by <<<>>> call cudaLaunchKernel_ptsz then.
    if (o_.per_thread_stream) append(a, {"-Xclang", "-fgpu-default-stream=per-thread"});
    if (o_.relocatable) a.push_back("-D__CUDACC_RDC__=1");
    if (o_.extended_lambda) a.push_back("-D__CUDACC_EXTENDED_LAMBDA__=1");
    if (o_.relaxed_constexpr) a.push_back("-D__CUDACC_RELAXED_CONSTEXPR__=1");
    if (o_.device_debug) a.push_back("-D__CUDACC_DEBUG__=1");
    if (o_.fast_math) a.push_back("-D__USE_FAST_MATH__=1");
    append(a, prelude);
  } else if (input.language == Language::cpp) {
    append(a, {"-x", "c++"});
  } else if (input.language == Language::c) {
    append(a, {"-x", "c"});
  }
  // What it does to plain host code: frontend/argument_order.cpp.
  if (input.language != Language::assembler) a.push_back("-fplugin=" + tools_.part("libmrfrontend.so").string());
  append(a, o_.both);
  return a;
}

Argv Compiler::device_code_flags(Stage stage, const std::string& march) const {
  Argv a{"-fPIC", "-march=" + march};
  // nvcc's -O is the host's; device code is always optimised, a little less for a debugger.
  a.push_back(o_.device_debug ? "-O1" : o_.host_optimization == "-O3" ? "-O3" : "-O2");
  if (o_.device_debug || o_.debug)
    a.push_back("-g");
  else if (o_.line_info || o_.check)
    a.push_back("-gline-tables-only");
  // Variables have one place, in memory (passes/debug_variables.h).
  if (o_.device_debug) append(a, {"-Xclang", "-fexperimental-assignment-tracking=disabled"});
  // Large frames touch every page on their way down: none steps over a stack's guard into another thread's stack.
  append(a, {"-fno-stack-protector", "-fstack-clash-protection", "-fno-threadsafe-statics", "-fno-math-errno",
             "-fno-strict-aliasing", "-fno-builtin-printf", "-fvisibility=hidden"});
  // "on", not "fast": fused by the source expression, never by what the optimizer happens to see, so that scalar and
  // vector code of one kernel give the same bits.
  a.push_back(o_.fused_multiply_add ? "-ffp-contract=on" : "-ffp-contract=off");
  // Loaded twice: as a clang plugin, early enough for its -mllvm options, and as a pass plugin.
  const std::string plugin = tools_.part("libmrpasses.so");
  append(a, {"-fplugin=" + plugin, "-fpass-plugin=" + plugin});
  static constexpr const char* stages[] = {"all", "unit", "image"};
  append(a, {"-mllvm", std::string("-mrcc-stage=") + stages[static_cast<int>(stage)]});
  append(a, {"-mllvm", "-mrcc-march=" + march});
  if (!o_.mode.empty()) append(a, {"-mllvm", "-mrcc-mode=" + o_.mode});
  if (o_.check) append(a, {"-mllvm", "-mrcc-check"});
  if (o_.report) append(a, {"-mllvm", "-mrcc-report"});
  if (o_.device_debug) append(a, {"-mllvm", "-mrcc-sites"});
  return a;
}

Argv Compiler::device_flags(const Input& input, const Argv& prelude) const {
  Argv a = front_end(input, prelude);
  append(a, {"-Xclang", "-aux-triple", "-Xclang", "x86_64-pc-linux-gnu"});
  append(a, o_.device);
  append(a, {"-Xclang", "-fcuda-is-device", "-U__CUDA_ARCH__", "-D__CUDA_ARCH__=" + std::to_string(o_.cuda_arch())});
  if (o_.feature_specific) a.push_back("-D__CUDA_ARCH_FEAT_SM" + std::to_string(o_.cuda_arch() / 10) + "_ALL=1");
  append(a, device_code_flags(o_.relocatable ? Stage::unit : Stage::all, device_march(o_)));
  if (o_.relocatable) a.push_back("-fgpu-rdc");
  return a;
}

Argv Compiler::device_pass(const Input& input, const std::string& output, const std::string& unit, const Argv& prelude,
                           const DependencyFile& dependencies) const {
  Argv a = device_flags(input, prelude);
  append(a, dependencies.device_flags());
  // Bitcode as for link-time optimisation: simplified, and neither vectorised nor unrolled before the kernels' thread
  // loops exist.
  if (o_.relocatable) append(a, {"-Xclang", "-cuid=" + unit, "-emit-llvm", "-flto=full"});
  append(a, {"-c", input.path, "-o", output});
  return a;
}

// What host code of all languages gets before the user's own flags.
void Compiler::add_host_code_flags(Argv& a) const {
  if (!o_.host_optimization.empty()) a.push_back(o_.host_optimization);
  if (o_.debug) a.push_back("-g");
  if (o_.check || (!o_.host_optimization.empty() && o_.host_optimization != "-O0")) {
    // What LLVM's vectoriser gets wrong in kernels it gets wrong here too (passes/wrapping_strides.cpp), and what its
    // instrumentation overlooks (passes/local_members.cpp).
    const std::string plugin = tools_.part("libmrpasses.so");
    append(a, {"-fplugin=" + plugin, "-fpass-plugin=" + plugin, "-mllvm", "-mrcc-stage=host"});
  }
  if (!o_.check) return;
  // clang's instrumentation of accesses and atomics; the functions that it calls are those of Millrace's checker. No
  // vectors, which it has no calls for.
  if (!o_.debug) a.push_back("-gline-tables-only");
  append(a, {"-fsanitize=thread", "-fno-vectorize", "-fno-slp-vectorize", "-fno-omit-frame-pointer", "-mllvm",
             "-tsan-distinguish-volatile=1"});
}

Argv Compiler::host_flags(const Input& input, const Argv& prelude) const {
  Argv a = front_end(input, prelude);
  // Clang takes the other triple's builtins for device functions. This one has none: neither CUDA's, which the device
  // headers declare, nor x86's (_mm_pause), which are the host's.
  if (input.language == Language::cuda) append(a, {"-Xclang", "-aux-triple", "-Xclang", "spirv64-unknown-unknown"});
  add_host_code_flags(a);
  if (o_.relocatable) a.push_back("-fgpu-rdc");
  append(a, o_.host);
  return a;
}

Argv Compiler::host_pass(const Input& input, const std::string& output, const std::string& image,
                         const std::string& unit, const Argv& prelude, const DependencyFile& dependencies) const {
  Argv a = host_flags(input, prelude);
  if (o_.relocatable) append(a, {"-Xclang", "-cuid=" + unit});
  if (!image.empty()) append(a, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", image});
  append(a, dependencies.host_flags());
  add_phase(a);
  a.push_back(input.path);
  if (!output.empty()) append(a, {"-o", output});
  return a;
}

void Compiler::compile_plain(const Input& input, const std::string& output) {
  const DependencyFile dependencies(o_, input.path, output);
  Argv a = front_end(input, {});
  if (input.language != Language::assembler) add_host_code_flags(a);
  append(a, o_.host);
  append(a, dependencies.host_flags());
  add_phase(a);
  a.push_back(input.path);
  if (!output.empty()) append(a, {"-o", output});
  if (run(o_, a)) throw Failure("");
}

// -cubin, -fatbin: what the host pass would embed, as a file for cudaLibraryLoadFromFile.
void Compiler::compile_image(const Input& input, const std::string& output) {
  if (o_.relocatable)
    throw Failure("-" + o_.image_suffix.substr(1) +
                  " makes the image of one file, and relocatable device code may need others': compile with -dc, then "
                  "link the objects with -dlink -" +
                  o_.image_suffix.substr(1));
  const DependencyFile dependencies(o_, input.path, output);
  const fs::path object = TemporaryFolder::name(stem(input), ".device.o");
  Argv device = device_flags(input, PreludeCache::included(tools_));
  append(device, dependencies.host_flags());
  append(device, {"-c", input.path, "-o", object});
  if (run(o_, device)) throw Failure("");
  link_image(o_, tools_, {object}, output, input.path);
  if (!o_.check || o_.dry_run) return;
  const Options plain_options = without_checks(o_);
  const fs::path plain_object = TemporaryFolder::name(stem(input), ".plain.o"),
                 plain_image = TemporaryFolder::name(stem(input), ".plain.so");
  Argv plain = Compiler(plain_options, tools_).device_flags(input, PreludeCache::included(tools_));
  append(plain, {"-c", input.path, "-o", plain_object});
  if (run(o_, plain, TemporaryFolder::name(stem(input), ".plain.txt"))) throw Failure("");
  link_image(o_, tools_, {plain_object}, plain_image, input.path);
  write_file(output, with_instrumented(read_file(plain_image), read_file(output)));
}

void Compiler::compile_cuda(const Input& input, const std::string& output) {
  const DependencyFile dependencies(o_, input.path, output);
  if (o_.phase == Phase::preprocess || o_.phase == Phase::dependencies) {
    if (run(o_, host_pass(input, output, {}, {}, PreludeCache::included(tools_), dependencies))) throw Failure("");
    return;
  }
  const auto prelude = PreludeCache(o_, tools_).flags({device_flags(input, {}), host_flags(input, {})});
  // Unique for each unit of a program, and the same when the same file is compiled again to the same place.
  const std::string unit = unit_id(input.path, output, o_);
  const fs::path device_object = TemporaryFolder::name(stem(input), o_.relocatable ? ".device.bc" : ".device.o");
  const fs::path image = TemporaryFolder::name(stem(input), o_.relocatable ? ".device.unit" : ".image.so");
  const Argv device = device_pass(input, device_object, unit, prelude[0], dependencies);
  const Argv whole_host = host_pass(input, output, image, unit, prelude[1], dependencies);
  if (o_.dry_run) {
    show(o_, device);
    if (!o_.relocatable) link_image(o_, tools_, {device_object}, image, input.path);
    show(o_, whole_host);
    return;
  }

  // Built to be checked, it has its device code twice. What is wrong with it the instrumented pass says.
  const bool twice = o_.check && !o_.relocatable;
  const fs::path plain_object = TemporaryFolder::name(stem(input), ".plain.o");
  Child plain_child;
  if (twice) {
    const Options plain_options = without_checks(o_);
    const Compiler plain(plain_options, tools_);
    const auto plain_prelude = PreludeCache(plain_options, tools_).flags({plain.device_flags(input, {})});
    Argv pass = plain.device_flags(input, plain_prelude[0]);
    append(pass, {"-c", input.path, "-o", plain_object});
    show(o_, pass);
    plain_child = Child::start(pass, TemporaryFolder::name(stem(input), ".plain.txt"));
  }

  // Both passes at once: the host pass embeds a stand-in, in whose place the image is put into the finished object.
  // What has no sections (assembly, an output that is no file) is made when the image is there.
  std::error_code ignored;
  const bool at_once = o_.phase != Phase::assembly && output != "-" &&
                       (!fs::exists(output, ignored) || fs::is_regular_file(output, ignored));
  const fs::path device_says = TemporaryFolder::name(stem(input), ".device.txt");
  const fs::path host_says = TemporaryFolder::name(stem(input), ".host.txt");
  show(o_, device);
  Child device_child = Child::start(device, device_says);
  Child host_child;
  if (at_once) {
    const fs::path stand_in = TemporaryFolder::name(stem(input), ".stand-in");
    write_file(stand_in, std::string(8, '\0'));
    const Argv host = host_pass(input, output, stand_in, unit, prelude[1], dependencies);
    show(o_, host);
    host_child = Child::start(host, host_says);
  }
  int device_status = device_child.wait();
  std::string blob, image_error;
  if (device_status == 0) {
    try {
      if (o_.relocatable) {
        blob = wrap_bitcode(read_file(device_object), unit, o_);
        write_file(image, blob);
      } else {
        link_image(o_, tools_, {device_object}, image, input.path);
        blob = read_file(image);
        if (twice && plain_child.wait() == 0) {
          const fs::path plain_image = TemporaryFolder::name(stem(input), ".plain.so");
          link_image(o_, tools_, {plain_object}, plain_image, input.path);
          blob = with_instrumented(read_file(plain_image), blob);
          write_file(image, blob);
        }
      }
    } catch (const Failure& failure) {
      image_error = failure.what();
      device_status = 1;
    }
  }
  int host_status = 0;
  if (at_once) {
    host_status = host_child.wait();
    if (device_status == 0 && host_status == 0 && fs::is_regular_file(output, ignored)) {
      std::string object = read_file(output);
      if (!ElfObject::is_elf(object))  // Bitcode (-Xcompiler -flto).
        host_status = run(o_, whole_host, host_says);
      else if (replace_section(object, output, o_.relocatable ? "__nv_relfatbin" : ".nv_fatbin", blob))
        write_file(output, object);
    }
  } else {
    // After an error too: the host pass says all that it has to say.
    if (device_status != 0) write_file(image, "");
    host_status = run(o_, whole_host, host_says);
  }

  DiagnosticMerger diagnostics;
  diagnostics.add(read_file(host_says));
  diagnostics.add(read_file(device_says));
  std::cerr << diagnostics.merged();
  if (device_status == 0 && host_status == 0) {
    if (o_.relocatable && fs::is_regular_file(output, ignored)) finish_relocatable(o_, tools_, output, unit);
    dependencies.merge();
    return;
  }
  if (fs::is_regular_file(output, ignored)) fs::remove(output, ignored);  // /dev/null stays
  const auto crash = [&](int status, const char* pass) {
    return status > 128 ? "clang's " + std::string(pass) + " pass over " + input.path + " was ended by signal " +
                              std::to_string(status - 128)
                        : "";
  };
  std::string sentence = image_error;
  if (sentence.empty()) sentence = crash(device_status, "device");
  if (sentence.empty()) sentence = crash(host_status, "host");
  if (sentence.empty() && diagnostics.errors() == 0 && image_error.empty())
    sentence = input.path + " couldn't be compiled (device pass: exit " + std::to_string(device_status) +
               ", host pass: exit " + std::to_string(host_status) + ")";
  throw Failure(sentence);
}

void Compiler::compile(const Input& input, const std::string& output) {
  if (access(input.path.c_str(), R_OK) != 0)
    throw Failure("the input " + input.path + " can't be read: check its name and that you may read it");
  if (std::error_code ignored; fs::is_directory(input.path, ignored))
    throw Failure("the input " + input.path + " is a folder: name a file");
  if (o_.phase == Phase::image && input.language != Language::cuda)
    throw Failure("the input " + input.path + " is no CUDA program: there is no device image to make of it");
  if (o_.phase == Phase::image)
    compile_image(input, output);
  else if (input.language == Language::cuda)
    compile_cuda(input, output);
  else
    compile_plain(input, output);
}

void link_image(const Options& o, const Toolchain& tools, const Argv& objects, const std::string& image,
                const std::string& what) {
  Argv a{tools.tool("ld.lld"),
         "-shared",
         "-Bsymbolic",
         "-z",
         "now",
         "-z",
         "defs",
         "-z",
         "noexecstack",
         "--eh-frame-hdr",
         "--hash-style=gnu",
         "--build-id=none",
         "--error-limit=0"};
  append(a, objects);
  a.push_back(tools.part("libmrdevice.a"));
  if (const fs::path builtins = tools.builtins(); !builtins.empty()) a.push_back(builtins);
  append(a, {"-o", image});
  const fs::path says = TemporaryFolder::name(fs::path(what).stem().string(), ".link.txt");
  if (run(o, a, says) == 0) return;

  // lld's words, for someone who wrote CUDA.
  const std::string text = read_file(says);
  std::set<std::string> undefined;
  std::string others;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const auto at = line.find("undefined "); at != line.npos && line.find("symbol: ") != line.npos)
      undefined.insert(line.substr(line.find("symbol: ") + 8));
    else if (!line.starts_with(">>> ") && !line.empty())
      others += line + "\n";
  }
  if (undefined.empty()) throw Failure("the device code of " + what + " can't be linked:\n" + text);
  std::string sentence;
  for (const auto& symbol : undefined) {
    if (!sentence.empty()) sentence += "\nmrcc: error: ";
    sentence += what + ": device code uses '" + symbol + "', which no device code defines: define it for the device";
    sentence += o.relocatable ? ", or name the file that does"
                              : " in this file, or compile and link all files with -rdc=true";
  }
  throw Failure(sentence);
}

}  // namespace mrcc
