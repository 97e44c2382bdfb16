"""Bad programs and bad circumstances: one clear message, an exit status, nothing left behind, nothing that hangs."""
import os
import pathlib
import shutil
import signal
import subprocess

import harness
from harness import case
from programs import KERNEL_ONLY, SQUARES


@case
def an_error_of_both_passes_is_shown_once(t):
    # Names that resemble nothing: clang looks for a similar one in what it parsed or read, and says so.
    t.write("a.cu", "\n__global__ void kernel(int* p) { *p = undeclared; }\nint main() { return zqx_unknown; }\n")
    t.fails("-c", "a.cu", says=["a.cu:2:39: error: use of undeclared identifier 'undeclared'",
                                "a.cu:3:21: error: use of undeclared identifier 'zqx_unknown'", "2 errors generated.\n"],
            never=["when compiling for", "mrcc: error"])
    assert not t.exists("a.o")


@case
def ptx_without_a_translation_is_named(t):
    for text, name in (("call f;", "call"), ("mapa.shared::cluster.u32 %0, %0, 1;", "mapa.shared::cluster.u32"),
                       ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
                       ("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%0, {%0}], [%0];",
                        "cp.async.bulk.tensor.1d"), ("add.xyz.s32 %0, %0, 1;", "add.xyz.s32"),
                       ("min.xorsign.abs.f32 %0, %0, %0;", "min.xorsign.abs.f32")):
        t.write("a.cu", f'__global__ void kernel(int* p) {{ int r = *p; asm volatile("{text}" : "+r"(r)); *p = r; }}\n')
        t.fails("-c", "a.cu", says=f"a.cu:1:", never="when compiling for")
        t.fails("-c", "a.cu", says=f"inline PTX: the instruction '{name}")


@case
def the_driver_api_is_explained(t):
    t.write("a.cu", "#include <cuda.h>\nint main() {\n  CUdevice d;\n  cuInit(0);\n  cuDeviceGet(&d, 0);\n}\n")
    t.fails("-c", "a.cu", says=["a.cu:4:3: error: use of undeclared identifier 'cuInit'",
                                "mrcc: note: the driver API's functions (cu...) are no part of Millrace", "2 errors generated.\n"])
    t.write("a.cu", "int main() { return cub; }\n")
    t.fails("-c", "a.cu", says="error: use of undeclared identifier 'cub'", never="driver API")


@case
def a_syntax_error_does_not_hang(t):
    t.write("a.cu", "int main() { return 0\n")
    t.fails("a.cu", says=["error: expected ';' after return statement"], never="mrcc: error")
    assert not t.exists("a.out")


@case
def errors_of_one_side_only(t):
    t.write("device.cu", "#ifdef __CUDA_ARCH__\n#error device side\n#endif\n" + KERNEL_ONLY)
    t.write("host.cu", "#ifndef __CUDA_ARCH__\n#error host side\n#endif\n" + KERNEL_ONLY)
    t.write("call.cu", "void host_function();\n__global__ void kernel() { host_function(); }\n")
    t.fails("-c", "device.cu", says=["device.cu:2:2: error: device side", "1 error generated.\n"])
    t.fails("-c", "host.cu", says=["host.cu:2:2: error: host side", "1 error generated.\n"])
    t.fails("-c", "call.cu", says=["call.cu:2:28: error: no matching function for call to 'host_function'", "1 error generated.\n"])
    assert not list(t.folder.glob("*.o"))


@case
def host_functions_in_functions_of_both_sides_are_warned_of_and_trap(t):
    t.write("a.cu", """#include <cstdio>
struct Log { static void add(int); void say(int) const; };
void host_only(int x) { std::printf("host %d\\n", x); }
void Log::add(int x) { host_only(x); }
template <class T> void shown(T x) { host_only(static_cast<int>(x)); }
template <class T> __host__ __device__ int twice(T x) {
  if (x == 7) host_only(1);
  if (x == 8) Log::add(2);
  if (x == 9) shown(x);
  return 2 * x;
}
inline __host__ __device__ int early(int x) { if (x > 100) host_only(3); return twice(x); }
__global__ void k(int* out, int x) { *out = early(x); }
int main(int argc, char** argv) {
  int* out;
  cudaMallocManaged(&out, sizeof *out);
  early(7);
  for (int x = 4; x < 10; x += 5) {
    k<<<1, 1>>>(out, x);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s %d\\n", cudaGetErrorName(error), error ? 0 : *out);
  }
}
""")
    warned = t.mrcc("a.cu", "-o", "app")
    assert warned.status == 0, str(warned)
    for text in ["a.cu:7:15: warning: call of __host__ function 'host_only' in a __host__ __device__ function: a trap where a device comes to it",
                 "a.cu:8:20: warning: call of __host__ function 'add'", "a.cu:9:15: warning: call of __host__ function 'shown'",
                 "a.cu:12:60: warning: call of __host__ function 'host_only'", "4 warnings generated.\n"]:
        assert warned.err.count(text) == 1, f"{text!r}\n{warned}"
    t.prints("host 1\ncudaSuccess 8\ncudaErrorLaunchFailure 0\n", "./app")
    said = t.run("./app").err
    assert "Kernel k(int*, int) executed a trap in block (0,0,0)" in said, said
    assert "It called void shown<int>(int), which is a function for the host alone: declare it __host__ __device__." in said, said
    # Warnings that nobody wants to see change nothing else.
    unseen = t.mrcc("-w", "a.cu", "-o", "app")
    assert unseen.status == 0 and not unseen.err, str(unseen)
    t.prints("host 1\ncudaSuccess 8\ncudaErrorLaunchFailure 0\n", "./app")
    t.ok(harness.MRCC, "-rdc=true", "-c", "a.cu")
    t.compiles("-rdc=true", "a.o", "-o", "app")
    t.prints("host 1\ncudaSuccess 8\ncudaErrorLaunchFailure 0\n", "./app")
    # In functions for devices alone it stays an error.
    t.write("b.cu", "inline void host_only() {}\n__device__ void f() { host_only(); }\n__global__ void k() { f(); }\n")
    t.fails("-c", "b.cu", says="error: no matching function for call to 'host_only'")
    t.write("c.cu", "struct S { ~S() {} };\n__global__ void k() { S s; (void)s; }\n")
    t.fails("-c", "c.cu", says=["c.cu:2:25: error: reference to __host__ function '~S' in __global__ function", "1 error generated.\n"])
    t.fails("-w", "-c", "c.cu", says=["c.cu:2:25: error: reference to __host__ function '~S' in __global__ function", "1 error generated.\n"])
    assert not t.exists("c.o")
    t.write("d.cu", "void host_only() {}\n__host__ __device__ void f() { host_only(); }\n")
    t.fails("-c", "d.cu", says=["d.cu:2:32: error: reference to __host__ function 'host_only' in __host__ __device__ function", "1 error generated.\n"])


@case
def an_error_in_a_header_names_the_file_and_line_that_include_it(t):
    t.write("bad.h", "int f() { return nothing; }\n")
    t.write("a.cu", KERNEL_ONLY + '#include "bad.h"\n')
    t.fails("-c", "a.cu", says=["In file included from a.cu:2:", "./bad.h:1:18: error: use of undeclared identifier"])


@case
def a_failed_compilation_leaves_an_older_object_away(t):
    t.write("a.cu", KERNEL_ONLY)
    t.compiles("-c", "a.cu")
    t.write("a.cu", "nonsense\n")
    t.fails("-c", "a.cu", says="a.cu:1:1: error: unknown type name 'nonsense'")
    assert not t.exists("a.o")


@case
def an_undefined_device_function_is_named_as_the_user_wrote_it(t):
    t.write("a.cu", "namespace deep { __device__ int missing(double, int*); }\n"
                    "__global__ void kernel(int* p) { *p = deep::missing(1.0, p); }\n")
    t.fails("-c", "a.cu", says=["a.cu: device code uses 'deep::missing(double, int*)', which no device code defines", "-rdc=true"])
    assert not t.exists("a.o")


@case
def plain_cpp_and_c_errors(t):
    t.write("a.cpp", "int f() { return nothing; }\n")
    t.write("b.c", "int f(void) { return nothing; }\n")
    t.fails("-c", "a.cpp", says="a.cpp:1:18: error: use of undeclared identifier 'nothing'")
    t.fails("-c", "b.c", says="b.c:1:22: error: use of undeclared identifier 'nothing'")


@case
def inputs_that_are_not_there_or_make_no_sense(t):
    t.write("a.data", "")
    (t.folder / "folder.cu").mkdir()
    t.fails("-c", "none.cu", says="mrcc: error: the input none.cu can't be read: check its name")
    t.fails("-c", "a.data", says="mrcc: error: the input a.data has no suffix that tells its language")
    t.fails("none.o", says="none.o")
    t.fails("-c", "folder.cu", says="mrcc: error: the input folder.cu is a folder")
    t.fails("-c", "-x", "cu", "-", says="can't be read from standard input")


@case
def gpu_formats_are_refused(t):
    t.write("a.cu", KERNEL_ONLY)
    t.write("a.ptx", "")
    for option in ("-ptx", "--ltoir", "--optix-ir"):
        t.fails(option, "a.cu", says="asks for a GPU format, which mrcc doesn't make")
    t.fails("a.ptx", says="a.ptx holds GPU machine code or PTX, which a CPU can't run: compile its CUDA source")


@case
def an_undefined_host_function_is_the_linkers_matter(t):
    t.write("a.cpp", "int missing(int);\nint main() { return missing(1); }\n")
    t.fails("a.cpp", "-o", "app", says="undefined symbol: missing(int)")
    t.fails("a.cpp", "-o", "app", "-lnothing_of_this_name", says="unable to find library -lnothing_of_this_name")
    assert not t.exists("app")


@case
def missing_tools_are_named(t):
    t.write("a.cu", KERNEL_ONLY)
    t.fails("-c", "a.cu", env={"MILLRACE_LLVM": "/nowhere"},
            says="mrcc: error: the tool /nowhere/bin/clang++ is missing: MILLRACE_LLVM must name the folder of an LLVM 19 installation\n")
    t.fails("-c", "a.cu", env={"TMPDIR": "/nowhere"}, says="no temporary folder can be made")


@case
def missing_parts_of_the_tree_are_named(t):
    t.write("a.cu", SQUARES)
    for part in ("lib/millrace/libmrfrontend.so", "lib/millrace/libmrpasses.so", "lib/millrace/libmrdevice.a", "lib/libcudart.so",
                 "include/cuda_runtime.h", "include/millrace/device_prelude.h"):
        tree = t.folder / part.replace("/", "_")
        for folder in ("bin", "lib/millrace"):
            (tree / folder).mkdir(parents=True)
        shutil.copy(harness.MRCC, tree / "bin" / "mrcc")
        for folder in ("lib", "lib/millrace"):
            for file in (harness.BUILD / folder).glob("lib*"):
                (tree / folder / file.name).symlink_to(file)
        shutil.copytree(harness.BUILD / "include", tree / "include", symlinks=True)
        (tree / part).unlink()
        t.fails("a.cu", "-o", "app", compiler=tree / "bin" / "mrcc", says=f"{tree / part} is missing: the tree around mrcc is incomplete")
        assert not t.exists("app")


@case
def another_toolkit_is_never_used(t):
    for name in ("cuda_runtime.h", "cuda_runtime_api.h"):
        t.write(f"toolkit/include/{name}", "#error this is another toolkit\n")
    t.write("toolkit/lib64/libcudart.so", "not a library")
    t.write("toolkit/lib64/libcudart_static.a", "not a library")
    t.write("a.cu", "#include <cuda_runtime.h>\n" + SQUARES)
    folder = str(t.folder / "toolkit/include")
    told = f"mrcc: warning: the folder {folder} holds another CUDA toolkit's headers and is left out: programs use Millrace's\n"
    t.write("b.cpp", "#include <cuda_runtime.h>\n")
    t.compiles("-c", "a.cu", f"-I{folder}", says=told)
    for flags in ([f"-I{folder}"], ["-isystem", folder], [f"-Xcompiler=-I{folder}"]):
        t.compiles("-c", "b.cpp", *flags, says=told)
    t.compiles("-c", "b.cpp", env={"CPATH": folder}, says=told)
    t.compiles("a.cu", "-o", "app", "-L" + str(t.folder / "toolkit/lib64"), env={"LIBRARY_PATH": str(t.folder / "toolkit/lib64")})
    t.prints("0 1 4 9\n", "./app", env={"LD_LIBRARY_PATH": str(t.folder / "toolkit/lib64")})


@case
def nothing_stays_in_the_temporary_folder(t):
    (t.folder / "tmp").mkdir()
    t.write("good.cu", SQUARES)
    t.write("bad.cu", "nonsense\n")
    env = {"TMPDIR": str(t.folder / "tmp")}
    t.compiles("good.cu", "-o", "app", env=env)
    t.fails("bad.cu", "-o", "app", says="error: unknown type name", env=env)
    t.compiles("-rdc=true", "good.cu", "-o", "app", env=env)
    assert not list((t.folder / "tmp").iterdir())


def llvm_with(t, tool, script):
    """An LLVM folder whose `tool` is a script and whose other tools are the real ones."""
    real = pathlib.Path(t.mrcc("--dryrun", "-c", t.write("x.cu", "")).err.split("#$ ")[-1].split()[0]).parent
    fake = t.folder / "llvm" / "bin"
    fake.mkdir(parents=True)
    for file in real.iterdir():
        if file.name != tool:
            (fake / file.name).symlink_to(file)
    path = fake / tool
    path.write_text("#!/bin/sh\n" + script.replace("REAL", str(real / tool)))
    path.chmod(0o755)
    return {"MILLRACE_LLVM": str(t.folder / "llvm")}


@case
def a_pass_that_dies_is_an_error_and_no_hang(t):
    t.write("a.cu", SQUARES)
    for pass_ in ("-fcuda-is-device", "-fcuda-include-gpubinary"):
        shutil.rmtree(t.folder / "llvm", ignore_errors=True)
        env = llvm_with(t, "clang++", f'case "$*" in *{pass_}*) kill -SEGV $$;; esac\nexec REAL "$@"\n')
        t.fails("-c", "a.cu", env=env, says="a.cu was ended by signal 11")
        assert not t.exists("a.o")
    shutil.rmtree(t.folder / "llvm")
    env = llvm_with(t, "clang++", "exit 3\n")
    t.fails("-c", "a.cu", env=env, says="a.cu couldn't be compiled (device pass: exit 3, host pass: exit 3)")


@case
def an_interrupt_ends_the_passes_and_removes_temporary_files(t):
    (t.folder / "tmp").mkdir()
    t.write("a.cu", SQUARES)
    os.mkfifo(t.folder / "started")
    env = dict(t.environment, TMPDIR=str(t.folder / "tmp"),
               **llvm_with(t, "clang++", f'echo $$ >{t.folder}/started\nexec cat {t.folder}/started >/dev/null\n'))
    child = subprocess.Popen([harness.MRCC, "-c", t.folder / "a.cu"], env=env, cwd=t.folder)
    with open(t.folder / "started", encoding="ascii") as started:
        started.readline()  # A pass runs now, and would for ever.
        child.send_signal(signal.SIGTERM)
        assert child.wait(harness.TIME_LIMIT) == -signal.SIGTERM
    assert not list((t.folder / "tmp").iterdir())


@case
def device_code_of_a_gpu_compiler_is_refused(t):
    t.write("a.c", '__attribute__((section("__nv_relfatbin"))) char code[128] = {0x50, 0xed, 0x55, 0xba, 1};\nint main(void) { return 0; }\n')
    t.compiles("-c", "a.c")
    t.fails("a.o", "-o", "app", says="the device code in a.o wasn't made by this mrcc")


@case
def damaged_objects_and_archives(t):
    t.write("a.cu", SQUARES)
    t.compiles("-dc", "a.cu")
    whole = (t.folder / "a.o").read_bytes()
    for length in (10, 63, 200, len(whole) // 2, len(whole) - 64):
        (t.folder / "cut.o").write_bytes(whole[:length])
        result = t.mrcc("cut.o", "-o", "app")
        assert result.status == 1 and "cut.o" in result.err, str(result)
    t.ok("ar", "rcs", "libcut.a", "a.o")
    archive = (t.folder / "libcut.a").read_bytes()
    (t.folder / "libcut.a").write_bytes(archive[: len(archive) // 2])
    t.fails("a.o", "libcut.a", "-o", "app", says="the file libcut.a is damaged or cut short")


@case
def a_header_of_a_library_that_is_not_there_is_explained(t):
    t.write("a.cu", "#include <cuda_runtime.h>\n#include <cublas_v2.h>\nint main() { cublasHandle_t h; }\n")
    t.fails("-c", "a.cu", says=["a.cu:2:", "'cublas_v2.h' file not found: cuBLAS is no part of Millrace"],
            never="unknown type")
    t.write("b.cu", "#if __has_include(<cufft.h>)\n#error\n#endif\n")
    t.compiles("-c", "b.cu")


@case
def what_nvcc_takes_in_silence_is_taken_in_silence(t):
    t.write("a.cu", "template <class T> struct Get { static int value() { return T::template of(1); } };\n"
                    "struct One { template <class T> static int of(T t) { return t; } };\n"
                    "inline __global__ void another() {}\n"
                    "__global__ void kernel(int* p, long n) { register int i = n; int a[] = {n, 2}; *p = a[0] + i; }\n"
                    "int main(int n, char**) { int some[n]; some[0] = cudaThreadSynchronize(); "
                    "return Get<One>::value() - 1 + some[0]; }\n")
    t.compiles("-std=c++17", "-Xcompiler", "-Wno-maybe-uninitialized,-Wno-narrowing,-march=native", "a.cu", "-o", "a")
    t.ok("./a")
