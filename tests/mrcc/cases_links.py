"""Executables, shared libraries, archives, and device code across files."""
import os

import harness
from harness import case
from programs import (HOST_ONLY, HOST_PRINTS, KERNEL_ONLY, LIBRARY_USER, RDC_MAIN, RDC_OTHER, RDC_PRINTS, SQUARES)


@case
def runtime_library_shared_and_static(t):
    t.write("a.cu", SQUARES)
    for option, needed in ((["-cudart", "shared"], True), (["-cudart=static"], False), (["--cudart=static"], False), ([], True)):
        t.compiles("a.cu", "-o", "app", *option)
        assert ("libcudart" in t.ok("ldd", "app")) == needed, option
        t.prints("0 1 4 9\n", "./app")
    t.fails("a.cu", "-o", "none", "-cudart", "none", says="error: undefined symbol: cudaMalloc")
    t.fails("a.cu", "-cudart", "both", says="'both' of -cudart isn't one: use shared, static or none")


@case
def a_host_only_program_without_mrcc(t):
    t.write("a.cpp", HOST_ONLY)
    t.write("b.c", HOST_ONLY)
    include, libraries = harness.BUILD / "include", harness.BUILD / "lib"
    for compiler, source in (("g++", "a.cpp"), ("gcc", "b.c")):
        t.ok(compiler, "-Wall", "-Wextra", "-Werror", source, "-I", include, "-L", libraries, "-lcudart", f"-Wl,-rpath,{libraries}", "-o", "app")
        t.prints(HOST_PRINTS, "./app")
    t.compiles("a.cpp", "b.c", "-c")
    t.compiles("b.o", "-o", "by_mrcc")
    t.prints(HOST_PRINTS, "./by_mrcc")


@case
def an_object_of_mrcc_linked_by_another_compiler(t):
    t.write("a.cu", SQUARES)
    t.compiles("-c", "a.cu")
    libraries = harness.BUILD / "lib"
    t.ok("g++", "a.o", "-L", libraries, "-lcudart", f"-Wl,-rpath,{libraries}", "-o", "app")
    t.prints("0 1 4 9\n", "./app")


@case
def a_shared_library_with_device_code(t):
    # Each image uses its own device variable and its own version of a function that host and device share.
    program = SQUARES.replace("threadIdx.x * threadIdx.x", "variable + both()").replace("__global__", """
static __device__ int variable = VARIABLE;
__host__ __device__ int both() { return BOTH; }
__global__""").replace("squares", "NAME")
    t.write("lib.cu", "#define VARIABLE 100\n#define BOTH 7\n#define NAME library_kernel\n" + program.replace("int main()", "int library()"))
    t.write("app.cu", "#define VARIABLE 200\n#define BOTH 8\n#define NAME app_kernel\n" +
            program.replace("int main() {", "int library();\nint main() {\n  if (library()) return 1;"))
    t.compiles("-shared", "-Xcompiler", "-fPIC", "lib.cu", "-o", "libours.so")
    for flags in ([], ["-Xlinker", "--export-dynamic"]):
        t.compiles("app.cu", "-L.", "-lours", "-Xlinker", f"-rpath,{t.folder}", "-o", "app", *flags)
        t.prints("107 107 107 107\n208 208 208 208\n", "./app")
    assert t.ok("ldd", "app").count("libcudart.so.13-millrace =>") == 1


@case
def a_shared_library_opened_at_run_time(t):
    t.write("lib.cu", SQUARES.replace("int main()", 'extern "C" int library()'))
    t.write("app.cpp", '#include <dlfcn.h>\nint main() { void* l = dlopen("./libours.so", RTLD_NOW); if (!l) return 2;\n'
                       'int r = ((int (*)())dlsym(l, "library"))(); dlclose(l); return r; }\n')
    for flags in ([], ["-rdc=true"]):
        t.compiles("-shared", "-Xcompiler", "-fPIC", "lib.cu", "-o", "libours.so", *flags)
        t.ok("g++", "app.cpp", "-o", "app", "-ldl")
        t.prints("0 1 4 9\n", "./app")


@case
def a_device_image_for_cudaLibrary(t):
    t.write("kernels.cu", 'extern "C" __global__ void answer(int* out) { *out = 42; }\n')
    t.write("part.cu", "__device__ int part() { return 40; }\n")
    t.write("whole.cu", '__device__ int part();\nextern "C" __global__ void answer(int* out) { *out = part() + 2; }\n')
    t.write("app.cpp", LIBRARY_USER)
    t.compiles("app.cpp", "-o", "app")
    for option, name in (("-cubin", "kernels.cubin"), ("--fatbin", "kernels.fatbin")):
        t.compiles(option, "kernels.cu")
        t.prints("1 kernel: 42\n", "./app", name)
    t.compiles("-dc", "part.cu", "whole.cu")
    t.compiles("-dlink", "-cubin", "part.o", "whole.o", "-o", "linked.cubin")
    t.prints("1 kernel: 42\n", "./app", "linked.cubin")
    t.fails("-cubin", "-rdc=true", "kernels.cu", says="compile with -dc, then link the objects with -dlink -cubin")
    t.fails("-fatbin", "app.cpp", says="app.cpp is no CUDA program: there is no device image to make of it")


@case
def an_archive_of_whole_program_objects(t):
    t.write("lib.cu", SQUARES.replace("int main()", "int library()"))
    t.write("app.cpp", "int library();\nint main() { return library(); }\n")
    t.compiles("-lib", "lib.cu", "-o", "libours.a")
    assert t.ok("ar", "t", "libours.a") == "lib.o\n"
    t.compiles("app.cpp", "libours.a", "-o", "app")
    t.prints("0 1 4 9\n", "./app")
    t.compiles("app.cpp", "-L", ".", "-lours", "-o", "app")
    t.prints("0 1 4 9\n", "./app")


@case
def functions_that_stay_functions_in_units_of_rdc(t):
    # They have the optimiser's calling convention by the time that units are linked.
    t.write("a.cu", """#include <cstdio>
static __device__ __noinline__ int place(int x) { return x * 100 + blockIdx.x * 10 + threadIdx.x; }
__global__ void k(int* out, int x) { out[blockIdx.x * 2 + threadIdx.x] = x > 3 ? place(x) : -place(-x); }
int main() {
  int* out;
  cudaMallocManaged(&out, 4 * sizeof *out);
  k<<<2, 2>>>(out, 7);
  cudaDeviceSynchronize();
  std::printf("%d %d %d %d\\n", out[0], out[1], out[2], out[3]);
}
""")
    t.compiles("-rdc=true", "a.cu", "-o", "app")
    t.prints("700 701 710 711\n", "./app")


@case
def device_code_across_files(t):
    t.write("a.cu", RDC_MAIN)
    t.write("b.cu", RDC_OTHER)
    t.compiles("-rdc=true", "a.cu", "b.cu", "-o", "app")
    t.prints(RDC_PRINTS, "./app")
    t.compiles("-dc", "a.cu", "b.cu")
    t.compiles("b.o", "a.o", "-o", "app")
    t.prints(RDC_PRINTS, "./app")
    t.compiles("--relocatable-device-code=true", "-c", "a.cu", "-o", "a.o")
    t.compiles("a.o", "b.o", "-o", "app", "-cudart", "static")
    t.prints(RDC_PRINTS, "./app")
    t.ok("ld", "-r", "a.o", "b.o", "-o", "both.o")
    t.compiles("both.o", "-o", "app")
    t.prints(RDC_PRINTS, "./app")


@case
def managed_variables_across_files(t):
    # Whoever registers first: the file with the variable, or the one with the kernel.
    t.write("variable.cu", "__managed__ int counts[3] = {1, 2, 3};\n")
    t.write("kernel.cu", "extern __managed__ int counts[3];\nstatic __managed__ int own = 5;\n"
                         "__global__ void count() { counts[1] += own; }\n")
    t.write("main.cu", """#include <cstdio>
extern __managed__ int counts[3];
__global__ void count();
int main() {
  for (int i = 0; i < 2; ++i) {
    count<<<1, 1>>>();
    if (cudaGetLastError() || cudaDeviceSynchronize()) return 1;
    std::printf("%d %d %d\\n", counts[0], counts[1], counts[2]);
    cudaDeviceReset();
  }
}
""")
    t.compiles("-dc", "variable.cu", "kernel.cu", "main.cu")
    t.compiles("-lib", "variable.o", "kernel.o", "-o", "libparts.a")
    for inputs in (["variable.o", "kernel.o", "main.o"], ["main.o", "kernel.o", "variable.o"], ["main.o", "libparts.a"]):
        t.compiles(*inputs, "-o", "app")
        t.prints("1 7 3\n1 12 3\n", "./app")


@case
def variables_of_one_name_in_each_file_that_the_host_reads(t):
    # clang names such a variable anew when it comes to the host's code: kernels before that know it by another name.
    for name, start in (("a", 10), ("b", 20)):
        t.write(f"{name}.cu", f"""static __device__ int counter = {start};
namespace {{ __device__ int hidden = {start} * 10; __constant__ int factor = {start} + 3; }}
static __device__ int helper(int x) {{ return x * factor; }}
static __global__ void kernel() {{ counter += helper(1); hidden++; }}
int run_{name}() {{
  int read[2] = {{-1, -1}};
  kernel<<<1, 1>>>();
  if (cudaMemcpyFromSymbol(&read[0], counter, 4) || cudaMemcpyFromSymbol(&read[1], hidden, 4)) return -1;
  return read[0] * 1000 + read[1];
}}
""")
    t.write("main.cpp", "#include <cstdio>\nint run_a();\nint run_b();\n"
                        'int main() { int a = run_a(), b = run_b(); std::printf("%d %d %d\\n", a, b, run_a()); }\n')
    for flags in ([], ["-G"], ["-O0"]):
        t.compiles("-rdc=true", *flags, "a.cu", "b.cu", "main.cpp", "-o", "app")
        t.prints("23101 43201 36102\n", "./app")


@case
def plugins_of_several_files_opened_and_closed_again(t):
    t.write("plugin.cu", """__device__ int value = START;
__device__ int more();
__global__ void kernel(int* out) { *out = ++value + more(); }
extern "C" int run() {
  int* out;
  if (cudaMallocManaged(&out, 4)) return -1;
  kernel<<<1, 1>>>(out);
  if (cudaDeviceSynchronize()) return -2;
  const int result = *out;
  cudaFree(out);
  return result;
}
""")
    t.write("more.cu", "__device__ int more() { return 1000; }\n")
    t.write("app.cpp", """#include <dlfcn.h>
#include <cstdio>
int main() {
  for (int round = 0; round < 10; ++round) {
    void *one = dlopen("./one.so", RTLD_NOW), *two = dlopen("./two.so", RTLD_NOW);
    if (!one || !two) return 1;
    auto* first = (int (*)())dlsym(one, "run");
    auto* second = (int (*)())dlsym(two, "run");
    const int a = first(), b = second(), c = first();
    if (a != 1002 || b != 1101 || c != 1003) return std::printf("%d: %d %d %d\\n", round, a, b, c);
    dlclose(one);
    dlclose(two);
  }
}
""")
    for name, start in (("one", 1), ("two", 100)):
        t.compiles("-shared", "-Xcompiler", "-fPIC", "-rdc=true", f"-DSTART={start}", "plugin.cu", "more.cu", "-o", f"{name}.so")
    t.ok("g++", "app.cpp", "-o", "app", "-ldl")
    t.prints("", "./app")


@case
def separable_compilation_as_build_systems_do_it(t):
    # Archives of -dc objects, a device link of its own, and another compiler's link; archives in either order.
    t.write("a.cu", RDC_MAIN)
    t.write("b.cu", RDC_OTHER)
    t.compiles("-dc", "-Xcompiler=-fPIC", "a.cu", "b.cu")
    t.ok("ar", "qc", "libb.a", "b.o")
    libraries = ["-L.", "-lb", "-L", harness.BUILD / "lib", "-lcudart", f"-Wl,-rpath,{harness.BUILD}/lib"]
    for archive in (["libb.a"], ["-L.", "-lb"]):
        t.compiles("-shared", "-dlink", "-Xcompiler=-fPIC", "a.o", *archive, "-o", "device.o", "-lcudadevrt", "-lrt", "-lpthread", "-ldl")
        t.ok("g++", "a.o", "device.o", *libraries, "-o", "app")
        t.prints(RDC_PRINTS, "./app")


@case
def device_code_across_files_of_one_name(t):
    t.write("one/a.cu", RDC_MAIN)
    t.write("two/a.cu", RDC_OTHER)
    for folder in ("one", "two"):
        t.compiles("-dc", "a.cu", cwd=t.folder / folder)
    t.compiles("one/a.o", "two/a.o", "-o", "app")
    t.prints(RDC_PRINTS, "./app")


@case
def device_code_from_archives(t):
    t.write("a.cu", RDC_MAIN)
    t.write("b.cu", RDC_OTHER.split("static __global__")[0])  # Asked for by device code only.
    t.write("c.cu", "static __global__" + RDC_OTHER.split("static __global__")[1].replace("scale(100)", "500"))  # By host code only.
    t.write("d.cu", "__device__ int scale(int) { return -1; }\nint unused_host_function() { return 1; }\n")  # By nobody.
    t.compiles("-rdc=true", "-lib", "b.cu", "c.cu", "d.cu", "-o", "libparts.a")
    t.compiles("-dc", "a.cu")
    t.compiles("a.o", "libparts.a", "-o", "app")
    t.prints(RDC_PRINTS, "./app")
    t.compiles("a.o", "-L.", "-lparts", "-o", "app")
    t.prints(RDC_PRINTS, "./app")


@case
def a_device_link_for_another_linker(t):
    t.write("a.cu", RDC_MAIN)
    t.write("b.cu", RDC_OTHER)
    t.compiles("-dc", "a.cu", "b.cu")
    t.compiles("-dlink", "a.o", "b.o", "-o", "device.o")
    libraries = harness.BUILD / "lib"
    t.ok("g++", "a.o", "b.o", "device.o", "-L", libraries, "-lcudart", f"-Wl,-rpath,{libraries}", "-o", "app")
    t.prints(RDC_PRINTS, "./app")
    t.compiles("a.o", "b.o", "device.o", "-o", "app")  # Not linked a second time.
    t.prints(RDC_PRINTS, "./app")
    missing = t.run("g++", "a.o", "b.o", "-L", libraries, "-lcudart", "-o", "app")
    assert missing.status != 0 and "__cudaRegisterLinkedBinary" in missing.err, str(missing)


@case
def errors_of_the_device_link(t):
    t.write("a.cu", RDC_MAIN)
    t.write("b.cu", RDC_OTHER)
    t.write("c.cu", "__device__ int scale(int) { return -1; }\n")
    t.compiles("-dc", "a.cu", "b.cu", "c.cu")
    t.fails("a.o", "-o", "app", says=["app: device code uses 'factor', which no device code defines",
                                      "app: device code uses 'scale(int)', which no device code defines"])
    t.fails("a.o", "b.o", "c.o", "-o", "app", says="the device code of app defines 'scale(int)' more than once")
    assert not t.exists("app")


@case
def device_code_of_several_levels_makes_an_image_of_the_highest(t):
    t.write("a.cu", RDC_MAIN)
    t.write("b.cu", RDC_OTHER)
    t.compiles("-dc", "a.cu", "-mrcc-march=x86-64-v3")
    t.compiles("-dc", "b.cu", "-mrcc-march=x86-64-v4")
    result = t.mrcc("-v", "a.o", "b.o", "-o", "app")
    assert result.status == 0 and "-mrcc-march=x86-64-v4" in result.err, str(result)
    if "avx512f" not in open("/proc/cpuinfo", encoding="ascii").read():
        refused = t.run("./app")
        assert refused.status == 1 and "x86-64-v4" in refused.err, str(refused)


@case
def a_shared_library_with_relocatable_device_code(t):
    t.write("a.cu", RDC_MAIN.replace("int main()", "int library()"))
    t.write("b.cu", RDC_OTHER)
    t.write("app.cu", RDC_MAIN.replace("int main() {", "int library();\nint main() {\n  if (library()) return 1;"))
    t.compiles("-shared", "-rdc=true", "-Xcompiler", "-fPIC,-fvisibility=hidden", "-DEXPORT", "a.cu", "b.cu", "-o", "libours.so")
    symbols = t.ok("nm", "-D", "--defined-only", "libours.so")
    assert "__cudaRegisterLinkedBinary" not in symbols, symbols
    t.compiles("-shared", "-rdc=true", "-Xcompiler", "-fPIC", "a.cu", "b.cu", "-o", "libours.so")
    t.compiles("-rdc=true", "app.cu", "b.cu", "-L.", "-lours", "-Xlinker", f"-rpath,{t.folder}", "-o", "app")
    t.prints(RDC_PRINTS * 2, "./app")


@case
def programs_that_say_nothing_of_the_tree_they_were_built_with_but_its_libraries(t):
    t.write("a.cu", KERNEL_ONLY + "int main() { kernel<<<1, 1>>>(nullptr); return 0; }\n")
    t.compiles("a.cu", "-o", "app")
    dynamic = t.ok("readelf", "-d", "app")
    assert f"[{os.fspath(harness.BUILD)}/lib]" in dynamic, dynamic
    assert "libcudart.so.13-millrace" in dynamic, dynamic


@case
def nvtx_by_its_old_names(t):
    t.write("a.cu", "#include <nvToolsExt.h>\nint main() { nvtxRangePushA(\"all\"); return nvtxRangePop() != NVTX_NO_PUSH_POP_TRACKING; }\n")
    t.compiles("a.cu", "-lnvToolsExt", "-o", "a")
    t.ok("./a")
