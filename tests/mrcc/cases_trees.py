"""The install tree, and the ways in which build systems use it."""
import os
import shutil

import harness
from harness import Skip, case
from programs import HOST_ONLY, HOST_PRINTS, RDC_MAIN, RDC_OTHER, RDC_PRINTS, SQUARES, UTIL, WITH_UTIL


def install(t):
    """Installs to one place and moves the tree to another."""
    t.ok("cmake", "--install", harness.BUILD, "--prefix", t.folder / "first")
    moved = t.folder / "moved tree"
    shutil.move(t.folder / "first", moved)
    return moved


@case
def an_installed_tree_that_was_moved(t):
    tree = install(t)
    t.write("a.cu", WITH_UTIL)
    t.write("util.cpp", UTIL)
    t.write("b.cpp", HOST_ONLY)
    mrcc = tree / "bin" / "mrcc"
    for flags in ([], ["-cudart", "static"], ["-rdc=true"]):
        t.compiles("a.cu", "util.cpp", "-o", "app", *flags, compiler=mrcc)
        t.prints("42: 0 1 4 9\n", "./app")
    commands = t.mrcc("--dryrun", "a.cu", "util.cpp", compiler=mrcc).err
    assert str(harness.BUILD) not in commands, commands
    flags = t.ok("pkg-config", "--cflags", "--libs", "millrace", env={"PKG_CONFIG_PATH": str(tree / "lib/pkgconfig")}) \
        if shutil.which("pkg-config") else None
    if flags:
        t.ok("sh", "-c", f"g++ b.cpp -o host {flags.strip()}")
        t.prints(HOST_PRINTS, "./host")
    for folder, _, files in os.walk(tree):
        for name in files:
            text = (harness.pathlib.Path(folder) / name).read_bytes()
            if not text.startswith((b"\x7fELF", b"!<arch>")):
                assert str(harness.BUILD).encode() not in text and str(t.folder / "first").encode() not in text, name


@case
def mrcc_by_a_link_and_from_path(t):
    t.write("a.cu", SQUARES)
    (t.folder / "bin").mkdir()
    (t.folder / "bin" / "nvcc").symlink_to(harness.MRCC)
    t.ok("nvcc", "a.cu", "-o", "app", env={"PATH": f"{t.folder}/bin:{os.environ['PATH']}"})
    t.prints("0 1 4 9\n", "./app")


def generators():
    return [g for g, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")) if shutil.which(tool)]


@case
def a_cmake_project_with_the_package(t):
    tree = install(t)
    t.write("CMakeLists.txt", """
cmake_minimum_required(VERSION 3.18)
project(programs LANGUAGES C CXX)
find_package(Millrace REQUIRED)
millrace_add_executable(plain plain.cu util.cpp OPTIONS -arch=sm_90)
target_compile_definitions(plain PRIVATE NAME=1 OTHER)
target_include_directories(plain PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/headers)
millrace_add_library(device STATIC RDC other.cu)
millrace_add_executable(linked RDC main.cu DEVICE_LIBRARIES device)
millrace_add_library(shared SHARED library.cu)
add_executable(uses uses.cpp)
target_link_libraries(uses shared)
add_executable(host host.c)
target_link_libraries(host Millrace::cudart)
""")
    t.write("headers/header.h", "")
    t.write("plain.cu", '#include "header.h"\n#if NAME != 1 || !defined(OTHER)\n#error definitions\n#endif\n' + WITH_UTIL)
    t.write("util.cpp", UTIL)
    t.write("main.cu", RDC_MAIN)
    t.write("other.cu", RDC_OTHER)
    t.write("library.cu", SQUARES.replace("int main()", "int library()"))
    t.write("uses.cpp", "int library();\nint main() { return library(); }\n")
    t.write("host.c", HOST_ONLY)
    for generator in generators():
        build = t.folder / generator
        t.ok("cmake", "-G", generator, "-B", build, "-S", t.folder, f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=Release")
        t.ok("cmake", "--build", build)
        for program, expected in (("plain", "42: 0 1 4 9\n"), ("linked", RDC_PRINTS), ("uses", "0 1 4 9\n"), ("host", HOST_PRINTS)):
            t.prints(expected, build / program)
        # A changed header compiles what includes it, and nothing else.
        t.write("headers/header.h", f"// changed for {generator}\n")
        os.utime(t.folder / "headers/header.h", (4e9, 4e9))
        out = t.ok("cmake", "--build", build)
        assert "plain.cu" in out and "main.cu" not in out, out
        os.utime(t.folder / "headers/header.h")


@case
def a_cmake_project_in_the_cuda_language(t):
    t.write("CMakeLists.txt", """
cmake_minimum_required(VERSION 3.18)
project(programs LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(plain plain.cu)
add_library(device STATIC other.cu)
set_target_properties(device PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_executable(linked main.cu)
set_target_properties(linked PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_link_libraries(linked device)
add_library(shared SHARED library.cu)
add_executable(uses uses.cpp)
target_link_libraries(uses shared CUDA::cudart)
add_executable(mixed uses.cpp library.cu)
""")
    t.write("plain.cu", SQUARES)
    t.write("main.cu", RDC_MAIN)
    t.write("other.cu", RDC_OTHER)
    t.write("library.cu", SQUARES.replace("int main()", "int library()"))
    t.write("uses.cpp", "int library();\nint main() { return library(); }\n")
    build = t.folder / "build"
    found = generators()
    if not found:
        raise Skip("neither ninja nor make is installed")
    out = t.ok("cmake", "-G", found[0], "-B", build, "-S", t.folder, f"-DCMAKE_CUDA_COMPILER={harness.MRCC}",
               "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_BUILD_TYPE=Release")
    assert str(harness.BUILD / "include") in out, out
    t.ok("cmake", "--build", build)
    for program, expected in (("plain", "0 1 4 9\n"), ("linked", RDC_PRINTS), ("uses", "0 1 4 9\n"), ("mixed", "0 1 4 9\n")):
        t.prints(expected, build / program)


@case
def a_makefile_with_nvcc_in_a_variable(t):
    if not shutil.which("make"):
        raise Skip("make is not installed")
    t.write("Makefile", "NVCC ?= nvcc\nNVCCFLAGS = -O2 -std=c++17 -arch=sm_90 -Xcompiler -Wall -MMD\nOBJECTS = app.o util.o\n"
            "app: $(OBJECTS)\n\t$(NVCC) $(NVCCFLAGS) $^ -o $@\n%.o: %.cu\n\t$(NVCC) $(NVCCFLAGS) -c $< -o $@\n"
            "%.o: %.cpp\n\t$(NVCC) $(NVCCFLAGS) -c $< -o $@\n-include $(OBJECTS:.o=.d)\n")
    t.write("app.cu", WITH_UTIL)
    t.write("util.cpp", UTIL)
    t.ok("make", f"NVCC={harness.MRCC}")
    t.prints("42: 0 1 4 9\n", "./app")
    assert "up to date" in t.ok("make", f"NVCC={harness.MRCC}")
