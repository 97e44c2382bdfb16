// Barriers and warp operations used wrongly: a launch failure whose report names kernel, block, thread, line; no hang.
// nvcc-flags: -g -G
// Right uses that look like them pass. Each case runs in a child process, its stderr is read.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void two_barriers(int* p) {
  if (threadIdx.x < 16) __syncthreads();  // line 12
  p[threadIdx.x] = 1;
  __syncthreads();  // line 14
}
__global__ void barrier_and_warp(int* p) {
  if (threadIdx.x < 16)
    __syncthreads();  // line 18
  else
    __syncwarp();
  p[threadIdx.x] = 2;
}
__global__ void shuffle_from_outside(int* p) {
  if (threadIdx.x < 16) p[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 20);  // line 24
}
__global__ void not_named(int* p) {
  p[threadIdx.x] = __ballot_sync(0xfffffffe, 1);  // line 27
}
__global__ void early_exit(int* p) {
  if (threadIdx.x >= 16) return;
  __syncthreads();
  p[threadIdx.x] = __shfl_down_sync(0xffff, threadIdx.x, 1, 16);
}

static int run(void (*kernel)(int*), cudaError_t expected) {
  int* p = nullptr;
  if (cudaMalloc(&p, 4096)) return 90;
  kernel<<<2, 64>>>(p);
  return cudaDeviceSynchronize() == expected ? 0 : 1;
}

int main() {
  struct Case {
    void (*kernel)(int*);
    cudaError_t expected;
    const char *name, *thread, *line;  // of the report
  } cases[] = {{two_barriers, cudaErrorLaunchFailure, "two_barriers", "thread (16,0,0)", ".cu:14"},
               {barrier_and_warp, cudaErrorLaunchFailure, "barrier_and_warp", "thread (0,0,0)", ".cu:18"},
               {shuffle_from_outside, cudaErrorLaunchFailure, "shuffle_from_outside", "thread (0,0,0)", ".cu:24"},
               {not_named, cudaErrorLaunchFailure, "not_named", "thread (0,0,0)", ".cu:27"},
               {early_exit, cudaSuccess, nullptr, nullptr, nullptr}};
  int failures = 0;
  for (const Case& c : cases) {
    int ends[2];
    if (pipe(ends)) return 91;
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], 2);
      std::exit(run(c.kernel, c.expected));
    }
    close(ends[1]);
    char text[4096];
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) length += n;
    text[length] = 0;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    const bool report = c.name ? std::strstr(text, c.name) && std::strstr(text, "in block (0,0,0)") &&
                                     std::strstr(text, c.thread) && std::strstr(text, c.line)
                               : length == 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !report) {
      std::printf("%s: status 0x%x, report: %s\n", c.name ? c.name : "early_exit", status, text);
      ++failures;
    }
  }
  return failures;
}
