#include "options_table.h"

namespace mrcc {
namespace {

using enum Takes;

constexpr OptionRow rows[] = {
    // phases
    {"preprocess E", nothing, Opt::preprocess, "preprocess only, to standard output or -o"},
    {"generate-dependencies M", nothing, Opt::dependencies, "print a make rule with every file that the input includes"},
    {"generate-nonsystem-dependencies MM", nothing, Opt::dependencies_user, "the same without system headers"},
    {"generate-dependencies-with-compile MD", nothing, Opt::dependencies_compile, "compile, and write the make rule to a .d file"},
    {"generate-nonsystem-dependencies-with-compile MMD", nothing, Opt::dependencies_compile_user, "the same without system headers"},
    {"dependency-output MF", value, Opt::dependency_file, "the .d file's name"},
    {"dependency-target-name MT", value, Opt::dependency_target, "the make rule's target"},
    {"MQ", value, Opt::dependency_target_quoted, ""},
    {"generate-dependency-targets MP", nothing, Opt::dependency_phony, "an empty make rule for each header"},
    {"compile c", nothing, Opt::compile, "compile to objects"},
    {"device-c dc", nothing, Opt::device_c, "compile to objects with relocatable device code (-rdc=true -c)"},
    {"device-w dw", nothing, Opt::device_w, "compile to objects that each hold a whole device image (-rdc=false -c)"},
    {"device-link dlink", nothing, Opt::device_link, "link the inputs' device code to one object for the host's linker"},
    {"link", nothing, Opt::link, "compile and link (the default)"},
    {"lib", nothing, Opt::archive, "compile, and collect the objects in an archive"},
    {"run", nothing, Opt::run, "compile, link and run"},
    {"S", nothing, Opt::assembly, "the host's assembly"},
    {"cuda ptx cubin fatbin optix-ir ltoir", nothing, Opt::no_gpu_format, ""},
    // files
    {"output-file o", value, Opt::output, "the output's name"},
    {"output-directory odir", value, Opt::output_directory, "the output's folder"},
    {"pre-include include", value, Opt::pre_include, "include a file before the input"},
    {"library l", sticky, Opt::library, "link a library"},
    {"define-macro D", sticky, Opt::define, "define a macro"},
    {"undefine-macro U", sticky, Opt::undefine, "undefine a macro"},
    {"include-path I", sticky, Opt::include, "a folder of headers"},
    {"system-include isystem", value, Opt::system_include, "a folder of system headers"},
    {"library-path L", sticky, Opt::library_path, "a folder of libraries"},
    {"x", value, Opt::language, "the language of the inputs that follow: cu, c++, c"},
    // code generation
    {"debug g", nothing, Opt::debug, "debug information"},
    {"device-debug G", nothing, Opt::device_debug, "debug information for device code, less optimisation of it"},
    {"generate-line-info lineinfo", nothing, Opt::line_info, "line numbers for device code"},
    {"optimize O", optional, Opt::optimize, "optimisation level"},
    {"no-exceptions noeh", nothing, Opt::exceptions_off, "no exceptions in host code"},
    {"shared", nothing, Opt::shared, "link a shared library"},
    {"std", value, Opt::standard, "the language standard: c++11 … c++20"},
    {"extended-lambda expt-extended-lambda", nothing, Opt::extended_lambda, "lambdas with __device__ (always on)"},
    {"expt-relaxed-constexpr", nothing, Opt::relaxed_constexpr, "constexpr functions on both sides (always on)"},
    {"machine m", value, Opt::bits, ""},
    {"m64", nothing, Opt::ignored, ""},
    {"gpu-architecture arch", value, Opt::arch, "the architecture that __CUDA_ARCH__ tells: sm_90, compute_90, …"},
    {"gpu-code code", value, Opt::code, ""},
    {"generate-code gencode", value, Opt::gencode, "arch=compute_90,code=sm_90; the highest one up to 90 is used"},
    {"relocatable-device-code rdc", value, Opt::rdc, "device code that may use other files' (true, false)"},
    {"whole-program", nothing, Opt::whole_program, ""},
    {"use_fast_math", nothing, Opt::fast_math, "fast variants of device math functions"},
    {"fmad", value, Opt::fmad, "fuse multiplications and additions in device code (true, false)"},
    {"default-stream", value, Opt::default_stream, "legacy, null or per-thread"},
    {"cudart", value, Opt::cudart, "the runtime library: shared (the default), static or none"},
    {"nodlink", nothing, Opt::no_device_link, ""},
    {"profile pg", nothing, Opt::profile, ""},
    {"ftemplate-depth", value, Opt::template_depth, ""},
    {"ftemplate-backtrace-limit", value, Opt::backtrace_limit, ""},
    // the tools' own options
    {"compiler-options Xcompiler", value, Opt::xcompiler, "options for the host compiler (clang), separated by commas"},
    {"linker-options Xlinker", value, Opt::xlinker, "options for the linker, separated by commas"},
    {"archive-options Xarchive", value, Opt::xarchive, "options for the archiver, separated by commas"},
    {"ptxas-options Xptxas", value, Opt::ignored, ""},
    {"nvlink-options Xnvlink", value, Opt::ignored, ""},
    {"Xcudafe Xcicc Xfatbin Xopencc", value, Opt::ignored, ""},
    // diagnostics
    {"disable-warnings w", nothing, Opt::no_warnings, "no warnings"},
    {"Werror", value, Opt::werror, "warnings are errors: all-warnings, deprecated-declarations, reorder, …"},
    {"Wno-deprecated-gpu-targets", nothing, Opt::ignored, ""},
    {"Wno-deprecated-declarations", nothing, Opt::wno_deprecated, ""},
    {"Wreorder", nothing, Opt::wreorder, ""},
    {"Wdefault-stream-launch Wmissing-launch-bounds Wext-lambda-captures-this", nothing, Opt::ignored, ""},
    {"display-error-number err-no no-display-error-number no-err-no", nothing, Opt::ignored, ""},
    {"brief-diagnostics brief-diag", value, Opt::ignored, ""},
    {"diag-error diag-suppress diag-warn", value, Opt::ignored, ""},
    // how to go about it
    {"verbose v", nothing, Opt::verbose, "print the commands"},
    {"dryrun", nothing, Opt::dry_run, "print the commands, run none"},
    {"keep k save-temps", nothing, Opt::keep, "keep intermediate files in the current folder"},
    {"keep-dir", value, Opt::keep_dir, "keep intermediate files in this folder"},
    {"time", value, Opt::time, ""},
    {"run-args", value, Opt::run_arguments, ""},
    {"options-file optf", value, Opt::options_file, "read options from a file, as @file does"},
    {"help h", nothing, Opt::help, "this text"},
    {"version V", nothing, Opt::version, "the version"},
    {"list-gpu-arch arch-ls", nothing, Opt::list_arch, ""},
    {"list-gpu-code code-ls", nothing, Opt::list_code, ""},
    {"forward-unknown-to-host-compiler forward-unknown-opts", nothing, Opt::forward_unknown, "hand unknown options to clang"},
    {"forward-unknown-to-host-linker", nothing, Opt::ignored, ""},
    // Millrace's own
    {"mrcc-march", value, Opt::mrcc_march, "the CPU of device code: x86-64-v3, x86-64-v4, native, or a name clang knows"},
    {"mrcc-mode", value, Opt::mrcc_mode, "how blocks run: auto (the default), loop or fibers"},
    {"mrcc-report", nothing, Opt::mrcc_report, "tell how each kernel will run, and why"},
    {"mrcc-check", nothing, Opt::mrcc_check, "instrument device code for `millrace check`"},
    // understood, and without a meaning here
    {"compiler-bindir ccbin archiver-binary arbin libdevice-directory ldir target-directory target-dir", value, Opt::ignored, ""},
    {"cudadevrt entries e maxrregcount ftz prec-div prec-sqrt dopt threads t split-compile", value, Opt::ignored, ""},
    {"jump-table-density input-drive-prefix idp dependency-drive-prefix ddp drive-prefix dp compress-mode", value, Opt::ignored, ""},
    {"fdevice-time-trace maxreg ptxas-path split-compile-extended Ofast-compile Ofc static-global-template-stub", value, Opt::ignored, ""},
    {"device-entity-has-hidden-visibility", value, Opt::ignored, ""},
    {"no-host-device-initializer-list nohdinitlist no-host-device-move-forward nohdmoveforward", nothing, Opt::ignored, ""},
    {"allow-unsupported-compiler use-local-env extra-device-vectorization restrict minimal", nothing, Opt::ignored, ""},
    {"fdevice-syntax-only clean-targets clean resource-usage res-usage device-int128 no-compress", nothing, Opt::ignored, ""},
    {"no-align-double gen-opt-lto dlink-time-opt dlto lto host-linker-script hls relocatable-ptx r", nothing, Opt::ignored, ""},
    {"device-stack-protector device-float128 dont-use-profile noprof allow-expensive-optimizations", nothing, Opt::ignored, ""},
};

}  // namespace

std::span<const OptionRow> option_table() { return rows; }

}  // namespace mrcc
