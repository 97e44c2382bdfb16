#include "options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <unordered_map>

#include "failure.h"
#include "options_table.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

const std::unordered_map<std::string_view, const OptionRow*>& names() {
  static const auto map = [] {
    std::unordered_map<std::string_view, const OptionRow*> m;
    for (const OptionRow& row : option_table()) {
      std::string_view rest = row.names;
      while (!rest.empty()) {
        const auto end = std::min(rest.find(' '), rest.size());
        m.emplace(rest.substr(0, end), &row);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return m;
  }();
  return map;
}

bool is_number(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool is_identifier(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0])) &&
         std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// -D takes a list, and so cuts -DX=1,2 in two; here a comma only separates when a definition follows it.
Argv split_definitions(const std::string& text) {
  Argv parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    if (parts.empty() || is_identifier(std::string_view(part).substr(0, part.find('='))))
      parts.push_back(part);
    else
      parts.back() += "," + part;
    from = comma + 1;
  }
  return parts;
}

// Folders may have commas in their names, where nvcc would need quotes.
Argv split_paths(const std::string& text) {
  std::error_code ignored;
  if (text.find(',') == std::string::npos || fs::exists(text, ignored)) return {text};
  return split_list(text);
}

bool truth(std::string_view value, std::string_view option) {
  if (value == "true" || value == "on" || value == "1") return true;
  if (value == "false" || value == "off" || value == "0") return false;
  throw Failure("the value '" + std::string(value) + "' of -" + std::string(option) + " isn't one: use true or false");
}

class Parser {
 public:
  Options parse(const Argv& given);

 private:
  void expand(const Argv& given, int depth);
  void handle(const OptionRow& row, const std::string& name, const std::string& value);
  void unknown(const std::string& argument);
  void input(const std::string& path);
  void architecture(const std::string& text, std::string_view option);
  void generate_code(const std::string& text);
  void compiler_option(const std::string& option);
  void link_argument(std::string argument) { o.link.push_back({-1, std::move(argument)}); }
  void phase(Phase p) { o.phase = p; }

  Options o;
  Argv arguments;
  std::string language;
  bool forward_unknown = false;
  bool keep = false;
};

void Parser::expand(const Argv& given, int depth) {
  if (depth > 16) throw Failure("response files include each other more than 16 deep: does one include itself?");
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& a = given[i];
    std::string_view name(a);
    const bool is_option = name.starts_with('-');
    while (name.starts_with('-')) name.remove_prefix(1);
    const auto equals = name.find('=');
    const std::string_view stem = name.substr(0, equals);
    if (a.size() > 1 && a[0] == '@') {
      expand(split_words(read_file(a.substr(1))), depth + 1);
    } else if (is_option && (stem == "optf" || stem == "options-file")) {
      std::string files;
      if (equals != std::string_view::npos)
        files = name.substr(equals + 1);
      else if (i + 1 < given.size())
        files = given[++i];
      for (const auto& file : split_list(files)) expand(split_words(read_file(file)), depth + 1);
    } else {
      arguments.push_back(a);
    }
  }
}

void Parser::unknown(const std::string& argument) {
  // Options of gcc and clang that people hand to nvcc's place directly, and that mean one thing only.
  static constexpr std::string_view known[] = {"-fPIC", "-fpic",     "-fPIE", "-fpie",     "-pthread",
                                               "-pipe", "-rdynamic", "-s",    "-pedantic", "-fopenmp"};
  if (argument.starts_with("-Wl,") || argument == "-rdynamic" || argument == "-s" || argument == "-pie" ||
      argument == "-no-pie") {
    link_argument(argument);
  } else if (std::find(std::begin(known), std::end(known), argument) != std::end(known)) {
    compiler_option(argument);
  } else if (forward_unknown || (argument.starts_with("-W") && argument.size() > 2)) {
    compiler_option(argument);
  } else {
    warn("the option " + argument + " is unknown and ignored (options for the host compiler go after -Xcompiler)");
  }
}

void Parser::input(const std::string& path) {
  if (path == "-")
    throw Failure("a program can't be read from standard input, since it is compiled twice: write it to a file");
  const std::string suffix = fs::path(path).extension();
  const std::string name = fs::path(path).filename();
  Language l;
  if (suffix == ".o" || suffix == ".obj" || suffix == ".a" || suffix == ".so" || suffix == ".lib" ||
      name.find(".so.") != std::string::npos) {
    l = Language::object;
  } else if (suffix == ".ptx" || suffix == ".cubin" || suffix == ".fatbin") {
    throw Failure("the input " + path +
                  " holds GPU machine code or PTX, which a CPU can't run: compile its CUDA source");
  } else if (language == "cu" || language == "cuda") {
    l = Language::cuda;
  } else if (language == "c++") {
    l = Language::cpp;
  } else if (language == "c") {
    l = Language::c;
  } else if (suffix == ".cu") {
    l = Language::cuda;
  } else if (suffix == ".cc" || suffix == ".cpp" || suffix == ".cxx" || suffix == ".c++" || suffix == ".C" ||
             suffix == ".CPP" || suffix == ".ii") {
    l = Language::cpp;
  } else if (suffix == ".c" || suffix == ".i") {
    l = Language::c;
  } else if (suffix == ".s" || suffix == ".S") {
    l = Language::assembler;
  } else {
    if (o.unknown_input.empty()) o.unknown_input = path;
    return;
  }
  o.inputs.push_back({path, l});
  o.link.push_back({static_cast<int>(o.inputs.size()) - 1, {}});
}

void Parser::architecture(const std::string& text, std::string_view option) {
  for (const auto& value : split_list(text)) {
    if (value == "native" || value == "all" || value == "all-major" || value == "host") continue;
    std::string_view digits(value);
    for (std::string_view prefix : {"sm_", "compute_", "lto_"})
      if (digits.starts_with(prefix)) digits.remove_prefix(prefix.size());
    const bool has_prefix = digits.size() != value.size();
    bool feature = false;
    if (digits.ends_with('a') || digits.ends_with('f')) {
      feature = true;
      digits.remove_suffix(1);
    }
    if (!has_prefix || !is_number(digits) || digits.size() > 3)
      throw Failure("the value '" + value + "' of -" + std::string(option) +
                    " isn't a GPU architecture: use one like sm_90 or compute_90");
    o.architectures.push_back(std::atoi(std::string(digits).c_str()));
    o.feature_specific |= feature;
  }
}

// arch=compute_90,code=[sm_90,compute_90], with or without brackets and quotes. The virtual architecture is what
// __CUDA_ARCH__ tells, so the code= part is only checked.
void Parser::generate_code(const std::string& text) {
  const auto at = text.find("arch=");
  if (at == std::string::npos)
    throw Failure("the value '" + text +
                  "' of -gencode names no architecture: use one like arch=compute_90,code=sm_90");
  const auto end = std::min(text.find(',', at), text.size());
  architecture(text.substr(at + 5, end - at - 5), "gencode");
}

// What the host compiler gets also concerns the device pass when it changes what the preprocessor sees or how types are
// laid out: nvcc preprocesses device code with the host compiler too.
void Parser::compiler_option(const std::string& option) {
  static constexpr std::string_view shared_prefixes[] = {"-D",
                                                         "-U",
                                                         "-I",
                                                         "-include",
                                                         "-imacros",
                                                         "-isystem",
                                                         "-iquote",
                                                         "-idirafter",
                                                         "-std=",
                                                         "-fsigned-char",
                                                         "-funsigned-char",
                                                         "-fshort-enums",
                                                         "-fpack-struct",
                                                         "-fms-extensions",
                                                         "-fno-exceptions",
                                                         "-fno-rtti",
                                                         "-pthread",
                                                         "-ftemplate-depth",
                                                         "-fconstexpr-",
                                                         "-ferror-limit",
                                                         "-w",
                                                         "-nostdinc",
                                                         "-stdlib=",
                                                         "--sysroot",
                                                         "-isysroot",
                                                         "-fchar8_t",
                                                         "-fno-char8_t"};
  if (option.starts_with("-Wl,")) return link_argument(option);
  if (option.starts_with("-std=")) {
    o.standard = option.substr(5);
    return;
  }
  if (option.starts_with("-O")) {
    o.host.push_back(option);
    return;
  }
  const bool both = std::any_of(std::begin(shared_prefixes), std::end(shared_prefixes),
                                [&](std::string_view p) { return option.starts_with(p); });
  (both ? o.both : o.host).push_back(option);
  // Device code has no threads of the host's: it ignores the pragmas, but <omp.h> must still be parsed as with OpenMP.
  if (option == "-fopenmp") o.device.insert(o.device.end(), {"-fopenmp-simd", "-D_OPENMP=201811"});
  if (option == "-pthread" || option == "-fopenmp" || option.starts_with("-fsanitize=") || option == "-pg" ||
      option == "-m64" || option == "-static-libgcc" || option == "-static-libstdc++" || option == "-rdynamic" ||
      option == "--coverage" || option == "-nostdlib" || option.starts_with("-stdlib=") ||
      option.starts_with("-fuse-ld="))
    link_argument(option);
}

void Parser::handle(const OptionRow& row, const std::string& name, const std::string& value) {
  switch (row.id) {
  case Opt::preprocess: return phase(Phase::preprocess);
  case Opt::dependencies: o.dependencies.push_back("-M"); return phase(Phase::dependencies);
  case Opt::dependencies_user: o.dependencies.push_back("-MM"); return phase(Phase::dependencies);
  case Opt::dependencies_compile: o.dependencies.push_back("-MD"); return;
  case Opt::dependencies_compile_user: o.dependencies.push_back("-MMD"); return;
  case Opt::dependency_file: o.dependencies.insert(o.dependencies.end(), {"-MF", value}); return;
  case Opt::dependency_target: o.dependencies.insert(o.dependencies.end(), {"-MT", value}); return;
  case Opt::dependency_target_quoted: o.dependencies.insert(o.dependencies.end(), {"-MQ", value}); return;
  case Opt::dependency_phony: o.dependencies.push_back("-MP"); return;
  case Opt::device_c: o.relocatable = true; return phase(Phase::compile);
  case Opt::device_w: o.relocatable = false; return phase(Phase::compile);
  case Opt::compile: return phase(Phase::compile);
  case Opt::device_link: return phase(Phase::device_link);
  case Opt::link: return phase(Phase::link);
  case Opt::archive: return phase(Phase::archive);
  case Opt::run: o.run = true; return phase(Phase::link);
  case Opt::assembly: return phase(Phase::assembly);
  case Opt::image: o.image_suffix = "." + name; return o.phase == Phase::device_link ? void() : phase(Phase::image);
  case Opt::no_gpu_format:
    throw Failure("-" + name +
                  " asks for a GPU format, which mrcc doesn't make: device code is compiled for this CPU and lives in "
                  "the object (-c)");
  case Opt::output: o.output = value; return;
  case Opt::output_directory: o.output_directory = value; return;
  case Opt::pre_include:
    for (const auto& file : split_paths(value)) o.both.insert(o.both.end(), {"-include", file});
    return;
  case Opt::library:
    for (const auto& library : split_list(value)) link_argument("-l" + library);
    return;
  case Opt::define:
    for (const auto& d : split_definitions(value)) o.both.push_back("-D" + d);
    return;
  case Opt::undefine:
    for (const auto& d : split_list(value)) o.both.push_back("-U" + d);
    return;
  case Opt::include:
    for (const auto& d : split_paths(value)) o.both.push_back("-I" + d);
    return;
  case Opt::system_include:
    for (const auto& d : split_paths(value)) o.both.insert(o.both.end(), {"-isystem", d});
    return;
  case Opt::library_path:
    for (const auto& d : split_paths(value)) link_argument("-L" + d);
    return;
  case Opt::language:
    if (value != "cu" && value != "cuda" && value != "c++" && value != "c")
      throw Failure("the value '" + value + "' of -x isn't a language: use cu, c++ or c");
    language = value;
    return;
  case Opt::debug: o.debug = true; return;
  case Opt::device_debug: o.device_debug = true; return;
  case Opt::line_info: o.line_info = true; return;
  case Opt::optimize: o.host_optimization = "-O" + (value.empty() ? "1" : value); return;
  case Opt::exceptions_off: o.host.push_back("-fno-exceptions"); return;
  case Opt::shared: o.shared = true; return;
  case Opt::standard: o.standard = value; return;
  case Opt::extended_lambda: o.extended_lambda = true; return;
  case Opt::relaxed_constexpr: o.relaxed_constexpr = true; return;
  case Opt::bits:
    if (value != "64") throw Failure("-m " + value + " isn't possible: mrcc compiles for 64 bits only");
    return;
  case Opt::arch: return architecture(value, name);
  case Opt::code: return;
  case Opt::gencode: return generate_code(value);
  case Opt::rdc: o.relocatable = truth(value, name); return;
  case Opt::whole_program: o.relocatable = false; return;
  case Opt::fast_math: o.fast_math = true; return;
  case Opt::fmad: o.fused_multiply_add = truth(value, name); return;
  case Opt::default_stream:
    if (value != "legacy" && value != "null" && value != "per-thread")
      throw Failure("the value '" + value + "' of -default-stream isn't one: use legacy, null or per-thread");
    o.per_thread_stream = value == "per-thread";
    return;
  case Opt::cudart:
    if (value != "shared" && value != "static" && value != "none")
      throw Failure("the value '" + value + "' of -cudart isn't one: use shared, static or none");
    o.static_runtime = value == "static";
    o.no_runtime = value == "none";
    return;
  case Opt::no_device_link: o.link_device = false; return;
  case Opt::profile: o.host.push_back("-pg"); return link_argument("-pg");
  case Opt::template_depth: o.both.push_back("-ftemplate-depth=" + value); return;
  case Opt::backtrace_limit: o.both.push_back("-ftemplate-backtrace-limit=" + value); return;
  case Opt::xcompiler:
    for (const auto& option : split_list(value)) compiler_option(option);
    return;
  case Opt::xlinker:
    for (const auto& option : split_list(value)) {
      link_argument("-Xlinker");
      link_argument(option);
    }
    return;
  case Opt::xarchive: {
    const Argv list = split_list(value);
    o.archive.insert(o.archive.end(), list.begin(), list.end());
    return;
  }
  case Opt::no_warnings:
    o.both.push_back("-w");
    silence_warnings();
    return;
  case Opt::werror:
    for (const auto& kind : split_list(value)) {
      if (kind == "all-warnings")
        o.both.push_back("-Werror");
      else if (kind == "reorder" || kind == "deprecated-declarations")
        o.both.push_back("-Werror=" + kind);
      else if (kind != "cross-execution-space-call" && kind != "default-stream-launch" &&
               kind != "ext-lambda-captures-this" && kind != "missing-launch-bounds")
        throw Failure("the value '" + kind +
                      "' of -Werror isn't a kind of warning: use all-warnings, reorder or deprecated-declarations");
    }
    return;
  case Opt::wno_deprecated: o.both.push_back("-Wno-deprecated-declarations"); return;
  case Opt::wreorder: o.both.push_back("-Wreorder"); return;
  case Opt::verbose: o.verbose = true; return;
  case Opt::dry_run: o.dry_run = true; return;
  case Opt::keep: keep = true; return;
  case Opt::keep_dir: o.keep_folder = value; return;
  case Opt::time: o.time = true; return;
  case Opt::run_arguments: {
    const Argv list = split_list(value);
    o.run_arguments.insert(o.run_arguments.end(), list.begin(), list.end());
    return;
  }
  case Opt::help: o.show_help = true; return;
  case Opt::version: o.show_version = true; return;
  case Opt::list_arch: o.list = "compute_90"; return;
  case Opt::list_code: o.list = "sm_90"; return;
  case Opt::forward_unknown: forward_unknown = true; return;
  case Opt::mrcc_march:
    if (value != "x86-64-v3" && value != "x86-64-v4" && value != "native")
      throw Failure("the value '" + value + "' of -mrcc-march isn't one: use x86-64-v3, x86-64-v4 or native");
    o.march = value;
    return;
  case Opt::mrcc_mode:
    if (value != "auto" && value != "loop" && value != "fibers")
      throw Failure("the value '" + value + "' of -mrcc-mode isn't one: use auto, loop or fibers");
    o.mode = value;
    return;
  case Opt::mrcc_report: o.report = true; return;
  case Opt::mrcc_check: o.check = true; return;
  case Opt::options_file:
  case Opt::ignored: return;
  }
}

Options Parser::parse(const Argv& given) {
  const auto from_environment = [&](const char* name) {
    if (const char* text = std::getenv(name)) expand(split_words(text), 0);
  };
  from_environment("NVCC_PREPEND_FLAGS");
  expand(given, 0);
  from_environment("NVCC_APPEND_FLAGS");

  // Known before the first unknown option, wherever it stands.
  for (const auto& a : arguments)
    forward_unknown |= a.ends_with("-forward-unknown-to-host-compiler") || a.ends_with("-forward-unknown-opts");

  const auto& table = names();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a.size() < 2 || a[0] != '-') {
      input(a);
      continue;
    }
    const std::string_view body = std::string_view(a).substr(a.starts_with("--") ? 2 : 1);
    const auto equals = body.find('=');
    auto found = table.find(body.substr(0, equals));
    bool sticky = false;
    if (found == table.end() && !a.starts_with("--")) {
      found = table.find(body.substr(0, 1));  // -Ifolder, -O2
      if (found != table.end()) {
        sticky = found->second->takes == Takes::sticky ||
                 (found->second->takes == Takes::optional && body.size() <= 5 && body[0] == 'O');
        if (!sticky) found = table.end();
      }
    }
    if (found == table.end()) {
      unknown(a);
      continue;
    }
    const OptionRow& row = *found->second;
    const std::string name(found->first);
    const auto following = [&] {
      if (i + 1 >= arguments.size())
        throw Failure("the option " + a + " needs a value, and the command line ends there");
      return arguments[++i];
    };
    if (row.id == Opt::werror && equals == std::string_view::npos &&
        (i + 1 == arguments.size() ||
         (arguments[i + 1][0] == '-' || arguments[i + 1].find('.') != std::string::npos))) {
      handle(row, name, "all-warnings");  // -Werror as gcc has it; nvcc wants a kind
    } else if (sticky) {
      handle(row, name, std::string(body.substr(1)));
    } else if (row.takes == Takes::nothing) {
      if (equals == std::string_view::npos || truth(body.substr(equals + 1), name)) handle(row, name, {});
    } else if (equals != std::string_view::npos) {
      handle(row, name, std::string(body.substr(equals + 1)));
    } else if (row.takes == Takes::optional) {
      handle(row, name, i + 1 < arguments.size() && is_number(arguments[i + 1]) ? arguments[++i] : std::string());
    } else {
      handle(row, name, following());
    }
  }
  for (const std::string& flag : o.both)
    o.per_thread_stream |= flag.substr(0, flag.find('=')) == "-DCUDA_API_PER_THREAD_DEFAULT_STREAM";
  if (o.dry_run) o.verbose = true;
  if (keep && o.keep_folder.empty())
    o.keep_folder = ".";
  else if (!keep)
    o.keep_folder.clear();
  if (o.phase != Phase::preprocess && o.phase != Phase::link && o.phase != Phase::device_link &&
      o.phase != Phase::archive && !o.output.empty() && o.inputs.size() > 1)
    throw Failure("-o names one output, and there are " + std::to_string(o.inputs.size()) +
                  " inputs: compile them one at a time, or leave -o out");
  return std::move(o);
}

}  // namespace

int Options::cuda_arch() const {
  // The device is of compute capability 9.0, so among several the best is the highest that such a device runs.
  if (architectures.empty()) return 900;
  int best = 0;
  for (int a : architectures)
    if (a <= 90) best = std::max(best, a);
  if (!best) best = *std::min_element(architectures.begin(), architectures.end());
  return best * 10;
}

Options parse_options(const Argv& arguments) { return Parser().parse(arguments); }

std::string help_text() {
  std::string text = "mrcc compiles CUDA programs for CPUs. It takes nvcc's options.\n\n"
                     "  mrcc [options] file...      files: .cu .cpp .cc .cxx .c .o .a .so\n\n";
  for (const OptionRow& row : option_table()) {
    if (row.help.empty()) continue;
    std::string spellings;
    std::string_view rest = row.names;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      const std::string_view n = rest.substr(0, end);
      spellings += (spellings.empty() ? "" : ", ") +
                   std::string(n.size() > 4 && n.find('-') != n.npos && !n.starts_with("mrcc") ? "--" : "-") +
                   std::string(n);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text += "  " + spellings + "\n        " + std::string(row.help) + "\n";
  }
  return text;
}

}  // namespace mrcc
