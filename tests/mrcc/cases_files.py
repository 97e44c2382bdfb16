"""Files that mrcc reads and writes besides the program: dependencies, preprocessed text, assembly, intermediate files."""
import os

from harness import case
from programs import KERNEL_ONLY, SQUARES


@case
def dependencies_with_the_compilation(t):
    t.write("mine.h", "")
    t.write("include/theirs.h", "")
    t.write("device_only.h", "")
    t.write("a.cu", '#include "mine.h"\n#include <theirs.h>\n#ifdef __CUDA_ARCH__\n#include "device_only.h"\n#endif\n' + KERNEL_ONLY)
    t.compiles("-c", "a.cu", "-isystem", "include", "-MD", "-MT", "some/target.o", "-MF", "deps.d", "-MP", "-o", "x.o")
    deps = t.read("deps.d").replace("\\\n", " ")
    assert deps.startswith("some/target.o: "), deps
    for name in ("a.cu", "mine.h", "include/theirs.h", "device_only.h", "cuda_runtime.h"):
        assert name in deps, deps
    assert "\nmine.h:\n" in deps, deps
    t.compiles("-c", "a.cu", "-isystem", "include", "-MMD", "-o", "x.o")
    deps = t.read("x.d").replace("\\\n", " ")
    assert deps.startswith("x.o: ") and "mine.h" in deps and "device_only.h" in deps, deps
    assert "theirs.h" not in deps and "cuda_runtime.h" not in deps, deps


@case
def dependencies_alone(t):
    t.write("mine.h", "")
    t.write("a.cu", '#include "mine.h"\n' + KERNEL_ONLY)
    out = t.compiles("-M", "a.cu").out
    assert out.startswith("a.o: ") and "mine.h" in out and "cuda_runtime.h" in out, out
    out = t.compiles("-MM", "a.cu", "-MT", "there.o").out
    assert out.split() == ["there.o:", "a.cu", "mine.h"] or out.replace("\\\n", "").split() == ["there.o:", "a.cu", "mine.h"], out
    t.compiles("-M", "a.cu", "-o", "a.d")
    assert "mine.h" in t.read("a.d")
    assert not t.exists("a.o")


@case
def preprocessed_text_and_assembly(t):
    t.write("a.cu", "#define VALUE 12345\nint value = VALUE;\n" + KERNEL_ONLY)
    assert "int value = 12345;" in t.compiles("-E", "a.cu").out
    t.compiles("-E", "a.cu", "-o", "a.ii")
    assert "int value = 12345;" in t.read("a.ii")
    t.compiles("-S", "a.cu")
    assert "__cudaRegisterFatBinary" in t.read("a.s")


@case
def a_dry_run_prints_commands_and_does_nothing(t):
    t.write("a.cu", SQUARES)
    result = t.mrcc("--dryrun", "a.cu", "-o", "app")
    assert result.status == 0 and not t.exists("app"), str(result)
    commands = [line for line in result.err.splitlines() if line.startswith("#$ /")]
    assert any("-fcuda-is-device" in c for c in commands) and any("-fcuda-include-gpubinary" in c for c in commands), str(result)
    assert all(line.startswith("#$ ") for line in result.err.splitlines()), str(result)


@case
def verbose_prints_commands_and_runs_them(t):
    t.write("a.cu", SQUARES)
    result = t.mrcc("-v", "a.cu", "-o", "app")
    assert result.status == 0 and "#$ /" in result.err and "-fcuda-is-device" in result.err, str(result)
    t.prints("0 1 4 9\n", "./app")


@case
def intermediate_files_are_kept_on_demand(t):
    t.write("a.cu", SQUARES)
    t.compiles("--keep", "--keep-dir", "kept", "a.cu", "-o", "app")
    names = sorted(p.name for p in (t.folder / "kept").iterdir())
    assert "a.image.so" in names and "a.device.o" in names and "a.o" in names, names


@case
def the_same_source_gives_the_same_object(t):
    t.write("a.cu", SQUARES)
    for flags in ([], ["-rdc=true"], ["-g"]):
        t.compiles("-c", "a.cu", *flags)
        first = (t.folder / "a.o").read_bytes()
        t.compiles("-c", "a.cu", *flags)
        assert first == (t.folder / "a.o").read_bytes(), flags


@case
def names_with_blanks_and_quotes(t):
    t.write("my app's.cu", SQUARES)
    t.compiles("my app's.cu", "-o", "the app")
    t.prints("0 1 4 9\n", "./the app")
    t.compiles("-rdc=true", "my app's.cu", "-o", "the app")
    t.prints("0 1 4 9\n", "./the app")


@case
def compile_link_and_run(t):
    t.write("a.cu", SQUARES)
    result = t.compiles("-run", "a.cu", "-o", "app")
    assert result.out == "0 1 4 9\n", str(result)


@case
def damaged_preludes_are_made_anew(t):
    t.write("a.cu", KERNEL_ONLY)
    cache = {"MILLRACE_CACHE": t.folder / "cache"}
    t.compiles("-c", "a.cu", env=cache)
    preludes = list((t.folder / "cache").glob("*.pch"))
    assert preludes
    sizes = [p.stat().st_size for p in preludes]
    for prelude in preludes:
        os.truncate(prelude, 100000)
    t.compiles("-c", "a.cu", env=cache)
    assert [p.stat().st_size for p in preludes] == sizes
    # A list that ends too early doesn't vouch for anything.
    for prelude in preludes:
        listing = prelude.with_suffix(".list")
        listing.write_text(listing.read_text().split("\n")[0] + "\n")
        prelude.write_text("")
    t.compiles("-c", "a.cu", env=cache)
    assert [p.stat().st_size for p in preludes] == sizes


@case
def libraries_see_the_compiler_at_work(t):
    # As Eigen's headers look: what they write for nvcc leans on nvcc's leniency.
    t.write("inc/Eigen/src/Core/util/Macros.h", "#ifdef __NVCC__\n#error nvcc\n#endif\n#define FOUND 1\n")
    t.write("inc/Eigen/Core", '#include "src/Core/util/Macros.h"\n')
    t.write("a.cu", "#include <Eigen/Core>\n#ifndef __NVCC__\n#error hidden from the program\n#endif\nint main() { return FOUND - 1; }\n")
    t.compiles("-I", "inc", "a.cu", "-o", "a")
    t.ok("./a")
