// Kernels that recurse: as deep as the stack goes, and what doesn't fit is the error that a GPU reports, whatever the
// size of the frames. Each case runs in a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

template <int Words> __device__ __noinline__ int deep(int n, volatile int* sink) {
  volatile int frame[Words];
  frame[0] = frame[Words / 2] = frame[n % Words] = n;
  if (n == 0) return frame[0];
  const int r = deep<Words>(n - 1, sink) + frame[Words / 2];
  *sink = r;
  return r;
}
template <int Words> __global__ void one_by_one(int n, int* out) { out[1] = deep<Words>(n, out); }
template <int Words> __global__ void side_by_side(int n, int* out) {
  __shared__ int shared;
  if (threadIdx.x == 0) shared = n;
  __syncthreads();
  out[1] = deep<Words>(shared, out);
}

static void run(void (*kernel)(int, int*), std::size_t limit, int depth, bool fits) {
  if (const pid_t child = fork()) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));  // a kernel's fault is no process's end
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
      std::printf("limit %zu depth %d\n", limit, depth);
      ++wrong;
    }
    return;
  }
  if (limit) OK(cudaDeviceSetLimit(cudaLimitStackSize, limit));
  int* out;
  OK(cudaMalloc(&out, 64));
  kernel<<<2, 64>>>(depth, out);
  OK(cudaGetLastError());
  const cudaError_t result = cudaDeviceSynchronize();
  if (fits)
    CHECK(result == cudaSuccess);
  else
    CHECK(result == cudaErrorIllegalAddress);  // as recorded
  EXPECT(cudaFree(out), result);
  std::fflush(stdout);
  _exit(report());
}

int main() {
  constexpr int small = 16, large = 10000, larger = 20000, whole = 75000;  // words of a frame
  for (const auto kernel : {one_by_one<small>, side_by_side<small>}) {
    run(kernel, 0, 4, true);
    run(kernel, 65536, 400, true);
    run(kernel, 0, 100000, false);
    run(kernel, 65536, 1000000000, false);
  }
  for (const auto kernel : {one_by_one<large>, side_by_side<large>, one_by_one<larger>, side_by_side<larger>}) {
    run(kernel, 131072, 1, true);
    for (const int depth : {8, 20, 100, 100000}) run(kernel, 131072, depth, false);
  }
  run(one_by_one<whole>, 0, 0, false);
  std::fflush(stdout);
  return report();
}
