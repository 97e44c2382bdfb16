"""What the cases of tests/mrcc are written with: `@case` registers one, `Case` is what it gets."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

BUILD = None
MRCC = None
TIME_LIMIT = 600  # Seconds; far beyond what any command needs: a command that reaches it hangs.
cases = []


def use_build(build):
    global BUILD, MRCC
    BUILD = build
    MRCC = build / "bin" / "mrcc"


def case(function):
    cases.append(function)
    return function


class Skip(Exception):
    """A case that can't run here, with the reason."""


class Result:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def __str__(self):
        return f"$ {' '.join(map(str, self.command))}\nexit {self.status}\n{self.out}{self.err}"


class Case:
    """One case's folder, and what to do in it. Every expectation that isn't met raises AssertionError with the output."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("NVCC_", "MILLRACE_"))}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def exists(self, name):
        return (self.folder / name).exists()

    def read(self, name):
        return (self.folder / name).read_text()

    def run(self, *command, cwd=None, env=None):
        environment = dict(self.environment, **(env or {}))
        try:
            done = subprocess.run([str(c) for c in command], cwd=cwd or self.folder, env=environment, capture_output=True,
                                  text=True, errors="replace", timeout=TIME_LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as expired:
            raise AssertionError(f"hangs: {' '.join(map(str, command))}") from expired
        return Result(command, done.returncode, done.stdout, done.stderr)

    def ok(self, *command, **how):
        """Runs a command that must succeed; returns its standard output."""
        result = self.run(*command, **how)
        assert result.status == 0, str(result)
        return result.out

    def mrcc(self, *arguments, compiler=None, **how):
        return self.run(compiler or MRCC, *arguments, **how)

    def compiles(self, *arguments, says="", **how):
        """mrcc succeeds, and prints exactly `says` to standard error."""
        result = self.mrcc(*arguments, **how)
        assert result.status == 0, str(result)
        assert result.err == says, f"expected on standard error: {says!r}\n{result}"
        return result

    def fails(self, *arguments, says=(), never=(), status=1, **how):
        """mrcc fails with `status`, and standard error has every text of `says` exactly once and none of `never`."""
        result = self.mrcc(*arguments, **how)
        assert result.status == status, f"expected exit status {status}\n{result}"
        for text in [says] if isinstance(says, str) else says:
            assert result.err.count(text) == 1, f"expected once on standard error: {text!r}\n{result}"
        for text in [never] if isinstance(never, str) else never:
            assert text not in result.err, f"not expected on standard error: {text!r}\n{result}"
        return result

    def prints(self, expected, *command, **how):
        """A program succeeds and prints exactly `expected`."""
        out = self.ok(*command, **how)
        assert out == expected, f"expected {expected!r}, got {out!r} from {' '.join(map(str, command))}"


def run_cases(patterns):
    chosen = [c for c in cases if not patterns or any(p in c.__name__ for p in patterns)]
    if not MRCC.exists():
        print(f"{MRCC} is missing: build it first (make build)")
        return 1

    def one(function):
        folder = tempfile.mkdtemp(prefix="mrcc-test-")
        try:
            function(Case(folder))
            return function, None, None
        except Skip as skip:
            return function, None, str(skip)
        except AssertionError as failure:
            return function, str(failure) or "".join(traceback.format_tb(failure.__traceback__)[-1:]), None
        except Exception:  # noqa: BLE001  (a broken case is a failed case)
            return function, traceback.format_exc(), None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        for function, failure, skipped in pool.map(one, chosen):
            name = function.__name__.replace("_", " ")
            if skipped is not None:
                print(f"skipped  {name}: {skipped}")
            elif failure is None:
                passed += 1
                print(f"ok       {name}")
            else:
                failed += 1
                lines = failure.strip().splitlines()
                if len(lines) > 40:
                    lines[40:] = [f"… {len(lines) - 40} lines more"]
                print("\n         ".join([f"FAILED   {name}"] + [line[:400] for line in lines]))
            sys.stdout.flush()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
