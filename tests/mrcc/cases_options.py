"""Options: what each spelling means."""
from harness import case
from programs import KERNEL_ONLY, ORDERS, SQUARES, UTIL, WITH_UTIL


def expects(condition, side="device"):
    """A CUDA program that compiles only when `condition` holds, on the device or the host side."""
    guard = "#ifdef __CUDA_ARCH__" if side == "device" else "#ifndef __CUDA_ARCH__"
    return f"{guard}\n#if !({condition})\n#error not as expected\n#endif\n#endif\n{KERNEL_ONLY}"


@case
def the_command_of_the_readme(t):
    t.write("app.cu", WITH_UTIL)
    t.write("util.cpp", UTIL)
    t.compiles("-O2", "-std=c++17", "-arch=sm_90", "app.cu", "util.cpp", "-o", "app")
    t.prints("42: 0 1 4 9\n", "./app")
    t.prints("42: 0 1 4 9\n", t.folder / "app", cwd="/")


@case
def default_names(t):
    t.write("sub/app.cu", SQUARES)
    t.compiles("-c", "sub/app.cu")
    assert t.exists("app.o")
    t.compiles("app.o")
    t.prints("0 1 4 9\n", "./a.out")
    (t.folder / "out").mkdir()
    t.compiles("-c", "sub/app.cu", "-odir", "out")
    assert t.exists("out/app.o")


@case
def several_inputs_to_objects(t):
    t.write("a.cu", KERNEL_ONLY)
    t.write("b.cpp", UTIL)
    t.compiles("-c", "a.cu", "b.cpp")
    assert t.exists("a.o") and t.exists("b.o")
    t.fails("-c", "a.cu", "b.cpp", "-o", "x.o", says="-o names one output, and there are 2 inputs")


@case
def macros_of_a_cuda_program(t):
    both = "defined(__CUDACC__) && defined(__NVCC__) && __CUDACC_VER_MAJOR__ == 13 && CUDART_VERSION == 13000"
    t.write("a.cu", expects(both + " && __CUDA_ARCH__ == 900"))
    t.write("b.cu", expects(both, "host"))
    t.write("c.cpp", "#if defined(__CUDACC__) || !defined(__NVCC__)\n#error not as expected\n#endif\n")
    t.write("d.cu", "#ifdef __CUDACC_RDC__\n#error rdc\n#endif\n")
    t.compiles("-c", "a.cu", "b.cu", "c.cpp", "d.cu")
    t.fails("-c", "-rdc=true", "d.cu", says="d.cu:2:2: error: rdc")


@case
def architectures(t):
    t.write("a.cu", expects("__CUDA_ARCH__ == 800"))
    t.compiles("-c", "a.cu", "-arch=sm_80")
    for expected, arguments in {
        900: [], 800: ["-arch=sm_80"], 750: ["-arch", "compute_75"], 700: ["--gpu-architecture=sm_70"],
        890: ["-gencode", "arch=compute_89,code=sm_89"], 860: ["-gencode=arch=compute_86,code=[sm_86,compute_86]"],
        720: ["--generate-code", 'arch=compute_72,code="sm_72,compute_72"', "-code=sm_72"],
    }.items():
        assert f"-D__CUDA_ARCH__={expected} " in t.mrcc("--dryrun", "-c", "a.cu", *arguments).err, arguments
    several = t.mrcc("--dryrun", "-c", "a.cu", "-gencode", "arch=compute_80,code=sm_80", "-gencode",
                     "arch=compute_90,code=sm_90", "-gencode", "arch=compute_100,code=sm_100")
    assert "-D__CUDA_ARCH__=900 " in several.err, str(several)
    assert "-D__CUDA_ARCH__=900 " in t.mrcc("--dryrun", "-c", "a.cu", "-arch=native").err
    t.fails("-c", "a.cu", "-arch=zen4", says="'zen4' of -arch isn't a GPU architecture")


@case
def default_stream(t):
    t.write("a.cu", expects("defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)", "host") +
            "int main() { kernel<<<1, 1>>>(nullptr); return 0; }\n")
    t.write("b.cpp", "#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM\n#error not as expected\n#endif\n")
    for spelling in (["--default-stream", "per-thread"], ["--default-stream=per-thread"],
                     ["-default-stream", "per-thread"], ["-default-stream=per-thread"]):
        t.compiles("-c", "b.cpp", *spelling)
    for spelling in (["--default-stream", "per-thread"], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]):
        t.compiles("-c", "a.cu", *spelling)
        assert "U cudaLaunchKernel_ptsz\n" in t.ok("nm", "a.o"), spelling
    for value in ("legacy", "null"):
        t.fails("-c", "b.cpp", "--default-stream", value, says="b.cpp:2:2: error: not as expected")
    t.fails("-c", "a.cu", "--default-stream=mine", says="'mine' of -default-stream isn't one")


@case
def host_compiler_options(t):
    both = "FIRST == 1 && SECOND == 2"
    t.write("a.cu", expects(both, "host") + expects(both, "device").replace("kernel", "another"))
    t.write("b.cpp", expects(both, "host").replace(KERNEL_ONLY, ""))
    t.compiles("-c", "a.cu", "-Xcompiler", "-Wall,-fPIC,-DFIRST=1,-DSECOND=2")
    t.fails("-c", "a.cu", "-Xcompiler", "-DFIRST=1", says=["a.cu:3:2: error: not as expected", "a.cu:9:2: error: not as expected"])
    for spelling in (["-Xcompiler", "-DFIRST=1,-DSECOND=2"], ["-Xcompiler=-DFIRST=1,-DSECOND=2"],
                     ["--compiler-options", "-DFIRST=1", "--compiler-options=-DSECOND=2"],
                     ["-Xcompiler", "-DFIRST=1 -DSECOND=2"], ["-Xcompiler", "-Wall,-fPIC", "-Xcompiler", '-DFIRST=1,"-DSECOND=2"']):
        t.compiles("-c", "b.cpp", *spelling)
    t.write("c.cpp", "int f(int, int); int g() { return f(PAIR); }\n")
    t.compiles("-c", "c.cpp", "-Xcompiler", '"-DPAIR=1,2"')
    t.compiles("-c", "c.cpp", "-Xcompiler", "-DPAIR=1\\,2")


@case
def host_warnings_reach_host_code_only_once(t):
    t.write("a.cu", "int f() { int unused; return 0; }\n" + KERNEL_ONLY)
    result = t.mrcc("-c", "a.cu", "-Xcompiler", "-Wall")
    assert result.status == 0 and result.err.count("unused variable 'unused'") == 1, str(result)
    assert result.err.endswith("1 warning generated.\n"), str(result)
    t.compiles("-c", "a.cu", "-Xcompiler", "-Wall", "-w")
    t.fails("-c", "a.cu", "-Xcompiler", "-Wall", "-Werror", "all-warnings", says="a.cu:1:15: error: unused variable")
    t.fails("-c", "a.cu", "-Xcompiler", "-Wall,-Werror", says="a.cu:1:15: error: unused variable")


@case
def the_standard_library_is_quiet(t):
    t.write("a.cu", """#include <algorithm>
#include <vector>
int main() {
  std::vector<unsigned> v(9);
  std::stable_sort(v.begin(), v.end(), [](unsigned a, unsigned b) { return (a & 7) < (b & 7); });
  return static_cast<int>(v[0]);
}
""")
    result = t.mrcc("-std=c++17", "a.cu")
    assert result.status == 0 and result.err == "", str(result)


@case
def linker_options(t):
    t.write("a.cu", SQUARES)
    t.compiles("-c", "a.cu")
    for spelling in (["-Xlinker", "-rpath,/first"], ["-Xlinker=-rpath,/first"], ["--linker-options", "-rpath=/first"],
                     ["-Xlinker", "-rpath", "-Xlinker", "/first"], ["-Xlinker", '"-rpath=/first"'], ["-Wl,-rpath,/first"],
                     ["-Xcompiler", "-Wl\\,-rpath\\,/first"]):
        t.compiles("a.o", "-o", "app", *spelling)
        assert "/first" in t.ok("readelf", "-d", "app"), spelling


@case
def options_without_a_meaning_here(t):
    t.write("a.cu", KERNEL_ONLY)
    t.compiles("-c", "a.cu", "-Xptxas", "-v,-O3", "-Xptxas=-dlcm=cg", "--ptxas-options=-v", "-Xcudafe", "--diag_suppress=177",
               "-Xnvlink", "-w", "-lineinfo", "-G", "-g", "--expt-relaxed-constexpr", "--extended-lambda",
               "-expt-extended-lambda", "-ccbin", "g++", "-maxrregcount=32", "-t", "0", "--threads=4", "-ftz=true",
               "-prec-div=false", "-prec-sqrt=true", "-fmad=false", "--use_fast_math", "-m64", "-res-usage",
               "-Wno-deprecated-gpu-targets", "-cudadevrt", "none", "--restrict", "--display-error-number",
               "-diag-suppress", "20012", "-lto", "-forward-unknown-to-host-compiler")
    assert t.exists("a.o")


@case
def unknown_options_are_named(t):
    t.write("a.cu", KERNEL_ONLY)
    t.compiles("-c", "a.cu", "--frobnicate", "-fnord=3", says="".join(
        f"mrcc: warning: the option {o} is unknown and ignored (options for the host compiler go after -Xcompiler)\n"
        for o in ("--frobnicate", "-fnord=3")))
    t.fails("-c", "a.cu", "-o", says="the option -o needs a value")


@case
def preprocessor_options(t):
    t.write("include/one.h", "#define ONE 1\n")
    t.write("system/two.h", "#define TWO 2\ninline int function_of_a_system_header() { int x; return 0; }\n")
    t.write("three.h", "#define THREE 3\n")
    condition = "ONE == 1 && TWO == 2 && THREE == 3 && A == 4 && B == 5 && !defined(C)"
    includes = "#include <one.h>\n#include <two.h>\n"
    t.write("a.cu", includes + expects(condition) + "int list[] = {LIST};\n")
    t.write("b.cpp", includes + expects(condition, "host").replace(KERNEL_ONLY, "") + "int list[] = {LIST};\n")
    rest = ["-isystem", "system", "-include", "three.h", "-D", "A=4,B=5", "-DC", "-UC", "-DLIST=1,2", "-Xcompiler", "-Wall"]
    t.compiles("-c", "a.cu", "-I", "include", *rest)
    t.fails("-c", "b.cpp", *rest, says="b.cpp:1:10: fatal error: 'one.h' file not found")
    t.fails("-c", "b.cpp", "-Iinclude", *rest[:-4], says="error: not as expected")
    for include in (["-I", "include"], ["-Iinclude"], ["-I=include"], ["--include-path=include"], ["-Inone,include"]):
        t.compiles("-c", "b.cpp", *include, *rest)
    t.compiles("-c", "b.cpp", "-Iinclude", "-isystem=system", "--pre-include", "three.h", "--define-macro=A=4", "-DB=5", "-DLIST=")


@case
def language_standards(t):
    t.write("a.cu", "static_assert(__cplusplus == EXPECTED);\n" + KERNEL_ONLY)
    t.write("a.cpp", "static_assert(__cplusplus == EXPECTED);\n")
    t.compiles("-c", "a.cu", "a.cpp", "-DEXPECTED=201703L")
    t.compiles("-c", "a.cu", "-DEXPECTED=202002L", "-std=c++20")
    for spelling in (["-std=c++20"], ["-std", "c++20"], ["--std=c++20"], ["--std", "c++20"], ["-Xcompiler", "-std=c++20"]):
        t.compiles("-c", "a.cpp", "-DEXPECTED=202002L", *spelling)
    t.write("b.c", "int new = 1;\n")
    t.compiles("-c", "b.c", "-std=c++17")
    # Headers that CUDA has for C++11 too; C++03 is taken for it.
    t.write("old.cu", """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda_bf16.h>
namespace cg = cooperative_groups;
__global__ void kernel(int* p) {
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
  p[threadIdx.x] = cg::reduce(tile, p[threadIdx.x], cg::plus<int>()) + cg::inclusive_scan(tile, 1) + (int)cg::thread_rank(tile);
}
""")
    for standard in ("c++03", "c++11", "c++14"):
        t.compiles("-c", "old.cu", "-std=" + standard)
    t.fails("-c", "a.cpp", "-DEXPECTED=202002L", "-std=c++17", says="error: static assertion failed")


@case
def language_by_option(t):
    t.write("a.cpp", SQUARES)
    t.write("b.txt", SQUARES)
    for name in ("a.cpp", "b.txt"):
        t.compiles("-x", "cu", name, "-o", "app")
        t.prints("0 1 4 9\n", "./app")
    t.write("c.cu", "#ifdef __CUDACC__\n#error cuda\n#endif\n")
    t.compiles("-x", "c++", "-c", "c.cu")
    t.fails("-x", "fortran", "a.cpp", says="'fortran' of -x isn't a language")


@case
def response_files(t):
    t.write("app.cpp", "#include <cstdio>\nint util();\nint main() { std::printf(\"%d\\n\", util()); }\n")
    t.write("u t.cpp", UTIL)
    t.write("outer.rsp", "-O2 @inner.rsp\n'u t.cpp'")
    t.write("inner.rsp", 'app.cpp\n-o "my app"\n')
    for spelling in (["@outer.rsp"], ["--options-file", "outer.rsp"], ["-optf=outer.rsp"]):
        t.compiles(*spelling)
        t.prints("42\n", "./my app")
        (t.folder / "my app").unlink()
    t.write("loop.rsp", "@loop.rsp")
    t.fails("@loop.rsp", says="does one include itself?")
    t.fails("@none.rsp", says="the file none.rsp can't be read")


@case
def options_from_the_environment(t):
    t.write("a.cpp", expects("FIRST == 1 && SECOND == 2", "host").replace(KERNEL_ONLY, ""))
    t.compiles("-c", "a.cpp", env={"NVCC_PREPEND_FLAGS": "-DFIRST=1 -USECOND", "NVCC_APPEND_FLAGS": "'-DSECOND=2'"})
    t.fails("-c", "a.cpp", says="a.cpp:3:2: error: not as expected")


@case
def optimisation_levels(t):
    t.write("a.cu", SQUARES)
    for flags in (["-O0"], ["-O3"], ["-O2", "-G", "-g"]):
        t.compiles("a.cu", "-o", "app", *flags)
        t.prints("0 1 4 9\n", "./app")
    for spelling in (["-O3"], ["-O", "3"], ["-O=3"], ["--optimize=3"], ["--optimize", "3"]):
        assert t.mrcc("--dryrun", "a.cu", *spelling).err.count(" -O3 ") == 2, spelling


@case
def ways_of_running_blocks(t):
    t.write("a.cu", SQUARES)
    for mode in ("auto", "loop", "fibers"):
        t.compiles(f"-mrcc-mode={mode}", "a.cu", "-o", "app")
        t.prints("0 1 4 9\n", "./app")
    t.fails("-mrcc-mode=magic", "a.cu", says="'magic' of -mrcc-mode isn't one: use auto, loop or fibers")
    report = t.mrcc("-mrcc-report", "-c", "a.cu")
    assert report.status == 0 and "squares" in report.err and "a.cu:3" in report.err, str(report)


@case
def reductions_and_scans_of_tiles_run_as_loops(t):
    t.write("a.cu", """#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void sum(int* p) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  p[threadIdx.x] = cg::reduce(tile, p[threadIdx.x], cg::plus<int>());
}
__global__ void before(int* p) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  p[threadIdx.x] = cg::exclusive_scan(tile, p[threadIdx.x]);
}
""")
    report = t.mrcc("-mrcc-report", "-c", "a.cu")
    assert report.status == 0 and report.err.count("split (loops between barriers)") == 2, str(report)


@case
def processors(t):
    t.write("a.cu", SQUARES)
    for march in ("x86-64-v3", "native"):
        t.compiles(f"-mrcc-march={march}", "a.cu", "-o", "app")
        t.prints("0 1 4 9\n", "./app")
    t.fails("-mrcc-march=pentium", "a.cu", says="'pentium' of -mrcc-march isn't one: use x86-64-v3, x86-64-v4 or native")


@case
def contraction_of_products_and_sums(t):
    t.write("a.cu", r"""
#include <cstdio>
__global__ void fuse(float a, float b, float c, float* out) { *out = a * b + c; }
int main() {
  float *device, host;
  cudaMalloc(&device, sizeof host);
  fuse<<<1, 1>>>(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -(1.0f + 0x1p-11f), device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%a\n", host);
}
""")
    for flag, expected in (("-fmad=true", "0x1p-24\n"), ("-fmad=false", "0x0p+0\n"), ("-DNONE", "0x1p-24\n")):
        t.compiles(flag, "a.cu", "-o", "app")
        t.prints(expected, "./app")


@case
def version_and_help(t):
    out = t.ok(*["/usr/bin/env", __import__("harness").MRCC, "--version"])
    assert "Millrace" in out and "release 13.0, V13.0" in out, out
    assert t.mrcc("-V").out == out
    help_text = t.mrcc("--help").out
    for option in ("-Xcompiler", "--default-stream", "-cudart", "-mrcc-mode", "-rdc"):
        assert option in help_text, help_text
    t.fails(says="there is no input file")


@case
def arguments_of_host_calls_are_evaluated_as_gcc_does(t):
    t.write("a.cu", ORDERS)
    t.write("a.cpp", ORDERS)
    t.ok("g++", "-w", "a.cpp", "-o", "by_gcc")
    t.compiles("-w", "a.cu", "-o", "app")
    t.prints(t.ok("./by_gcc"), "./app")
