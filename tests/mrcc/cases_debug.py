"""-g -G under gdb: breakpoints by name and line, variables, the built-in variables, the commands of millrace-gdb.py."""
import shutil

import harness
from harness import case

PROGRAM = """\
#include <cstdio>
__device__ int helper(int v) {
  int twice = 2 * v;
  return twice + 1;
}
__global__ void fill_tile(int* o, int n) {
  __shared__ int tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i;
  __syncthreads();
  if (i < n) o[i] = helper(tile[63 - threadIdx.x]);
}
__global__ void count_up(int* o, int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += k;
    sum ^= threadIdx.x;
  }
  o[threadIdx.x] = sum;
}
int main() {
  int* o;
  cudaMallocManaged(&o, 4096);
  fill_tile<<<4, 64>>>(o, 200);
  count_up<<<1, 64>>>(o, 20);
  cudaDeviceSynchronize();
  printf("%d\\n", o[5]);
}
"""


def gdb(t, *commands):
    """What gdb prints for the commands."""
    if not shutil.which("gdb"):
        raise harness.Skip("gdb is not installed")
    start = ["gdb", "-q", "-batch", "-nx", "-iex", "set auto-load no", "-ex", "set pagination off", "-ex",
             "set breakpoint pending on", "-ex", "set width 0"]
    if "exited normally" not in t.run(*start, "-ex", "run", "/bin/true").out:
        raise harness.Skip("gdb may not trace programs here")
    for command in commands:
        start += ["-ex", command]
    result = t.run(*start, "./a.out")
    return result.out + result.err


@case
def gdb_stops_in_kernels_and_shows_variables(t):
    t.write("a.cu", PROGRAM)
    t.compiles("-g", "-G", "a.cu")
    out = gdb(t, "break fill_tile", "run", "info breakpoints", "print threadIdx", "break 11 if threadIdx.x == 3 && blockIdx.x == 1",
              "delete 1", "continue", "print i", "print tile[5]", "print blockIdx", "print blockDim.x", "print gridDim.x",
              "delete", "break 17 if k == 4 && threadIdx.x == 2", "continue", "info locals", "info args")
    for text in ["fill_tile (o=0x", "1       breakpoint     keep y   0x", "$1 = {x = 0, y = 0, z = 0}", "$2 = 67", "$3 = 69",
                 "$4 = {x = 1, y = 0, z = 0}", "$5 = 64", "$6 = 4", "count_up (o=0x", "k = 4", "sum = 10", "n = 20"]:
        assert text in out, f"{text!r} is not in\n{out}"


@case
def gdb_lists_kernels_and_threads(t):
    t.write("a.cu", PROGRAM)
    t.compiles("-g", "-G", "a.cu")
    script = harness.BUILD / "lib" / "millrace" / "millrace-gdb.py"
    out = gdb(t, f"source {script}", "break helper if v == 60", "run", "info millrace kernels", "mr block", "mr threads",
              "mr thread 40 print threadIdx", "mr thread 40 bt", "print v", "tbreak count_up if threadIdx.x == 2", "continue",
              "mr kernels", "mr threads")
    for text in ["* fill_tile(int*, int) on thread ", "grid (4,1,1), block (64,1,1), 1 block on fibers",
                 "fill_tile(int*, int), block (0,0,0) of (4,1,1), 64 threads; thread (3,0,0) is in a.cu:11",
                 "256 bytes of variables, 0 dynamic", "threads 0-2: ended", "thread 3: running at a.cu:11",
                 "threads 4-63: ready at a.cu:10", "$1 = {x = 40, y = 0, z = 0}", "fill_tile (o=", "$2 = 60",
                 "* count_up(int*, int) on thread ", "run one after the other; this one is (2,0,0)"]:
        assert text in out, f"{text!r} is not in\n{out}"


@case
def a_fault_is_reported_with_its_place_and_the_nearest_allocation(t):
    t.write("app.cu", """\
__global__ void fill(int* out, long long step) {
  out[(blockIdx.x * 64 + threadIdx.x) * step] = 1;
}
int main(int argc, char**) {
  int *out, *other;
  cudaMalloc(&out, 1000);
  cudaMalloc(&other, 1000);
  fill<<<1, 64>>>(argc > 1 ? nullptr : out, argc > 2 ? 1 : 1 << 28);
  return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
""")
    t.compiles("-g", "-G", "app.cu", "-o", "app")
    said = t.run("./app").err
    assert "millrace: Kernel fill(int*, long long) accessed memory that it may not touch at address 0x" in said, said
    assert "in block (0,0,0), thread (1,0,0) at " in said and "app.cu:2. It is 10737" in said, said
    assert "bytes behind the end of the nearest allocation, 1000 bytes" in said, said
    assert "The pointer was null." in t.run("./app", "null", "null").err
