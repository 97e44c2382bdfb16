// Nothing hangs: exit with work pending, exit inside a callback, fork, a thread that ends with work in its default
// stream. Each case runs in a child process; the parent checks how it ended. (A hang is ended by the test driver's time
// limit.)
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void spin(volatile int* flag) {
  while (*flag == 0) {}
}
__global__ void store(int* p, int v) { *p = v; }

static int* pinned() {
  int* p = nullptr;
  if (cudaHostAlloc(&p, 64, cudaHostAllocMapped)) std::_Exit(90);
  p[0] = p[1] = 0;
  return p;
}

static int exit_with_work_pending() {
  int* p = pinned();
  for (int i = 0; i < 4; ++i) {
    cudaStream_t s;
    cudaStreamCreate(&s);
    spin<<<2, 32, 0, s>>>(p);
    store<<<1, 1, 0, s>>>(p + 1, 1);
  }
  while (cudaStreamQuery(nullptr) == cudaSuccess) {}
  return 10;  // exit() runs static destructors while kernels spin
}
static int exit_in_a_callback() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaLaunchHostFunc(s, [](void*) { std::exit(11); }, nullptr);
  cudaStreamSynchronize(s);
  for (;;) pause();
}
static int fork_child_is_refused() {
  int* p = pinned();
  store<<<1, 1>>>(p, 1);
  if (cudaDeviceSynchronize()) return 1;
  const pid_t child = fork();
  if (child == 0) {
    void* q = nullptr;
    int bad = 0;
    bad += cudaMalloc(&q, 16) != cudaErrorInitializationError;
    store<<<1, 1>>>(p, 2);
    bad += cudaGetLastError() != cudaErrorInitializationError;
    bad += cudaDeviceSynchronize() != cudaErrorInitializationError;
    std::exit(bad);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 2;
  store<<<1, 1>>>(p, 3);
  return cudaDeviceSynchronize() == cudaSuccess && p[0] == 3 ? 12 : 3;
}
static int fork_before_first_use_works() {
  const pid_t child = fork();
  if (child == 0) {
    int* p = pinned();
    store<<<1, 1>>>(p, 5);
    std::exit(cudaDeviceSynchronize() == cudaSuccess && p[0] == 5 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 14 : 1;
}
static int thread_ends_with_work() {
  int* p = pinned();
  for (int i = 0; i < 20; ++i) {
    p[0] = p[1] = 0;
    std::thread([&] {
      spin<<<1, 1, 0, cudaStreamPerThread>>>(p);
      store<<<1, 1, 0, cudaStreamPerThread>>>(p + 1, 7);
    }).join();
    *(volatile int*)p = 1;
    if (cudaDeviceSynchronize() || p[1] != 7) return 1;
  }
  return 13;
}

int main() {
  struct Case {
    const char* name;
    int (*run)();
    int expected;
  } cases[] = {{"exit with work pending", exit_with_work_pending, 10},
               {"exit in a callback", exit_in_a_callback, 11},
               {"fork", fork_child_is_refused, 12},
               {"fork before first use", fork_before_first_use_works, 14},
               {"thread ends with work", thread_ends_with_work, 13}};
  int failures = 0;
  for (const Case& c : cases) {
    const pid_t child = fork();
    if (child == 0) std::exit(c.run());
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != c.expected) {
      std::printf("%s: ended with status 0x%x, expected exit code %d\n", c.name, status, c.expected);
      ++failures;
    }
  }
  return failures;
}
