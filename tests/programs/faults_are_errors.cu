// What a kernel does wrong becomes the error that a GPU reports, and the process lives on; with protection keys the
// host's and the kernels' accesses to each other's memory are found as well. Each case runs in a process of its own.
#include <cassert>
#include <cpuid.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static bool keys() {
  unsigned a, b, c = 0, d;
  const char* wanted = std::getenv("MILLRACE_PROTECT");
  return !(wanted && std::strcmp(wanted, "0") == 0) && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 4 & 1);
}

// ---- kernels: each as a plain loop over threads, and on fibers ----

template <bool FIBERS> __device__ void maybe_synchronise() {
  if (FIBERS) __syncthreads();
}
__device__ bool chosen() { return blockIdx.x == gridDim.x / 2 && threadIdx.x == 1; }

template <bool FIBERS> __global__ void store_to(int* p) {
  maybe_synchronise<FIBERS>();
  if (chosen()) *p = 1;
}
template <bool FIBERS> __global__ void load_from(const int* p, int* out) {
  maybe_synchronise<FIBERS>();
  if (chosen()) *out = *p;
}
template <bool FIBERS> __global__ void far_in_shared(int index) {
  __shared__ int window[64];
  window[threadIdx.x & 63] = 1;
  maybe_synchronise<FIBERS>();
  if (chosen()) window[index] = 2;
}
template <bool FIBERS> __global__ void far_in_dynamic_shared(int index) {
  extern __shared__ int dynamic_window[];
  dynamic_window[threadIdx.x & 15] = 1;
  maybe_synchronise<FIBERS>();
  if (chosen()) dynamic_window[index] = 2;
}
template <bool FIBERS> __global__ void trap() {
  maybe_synchronise<FIBERS>();
  if (chosen()) __trap();
}
template <bool FIBERS> __global__ void fail(int limit) {
  maybe_synchronise<FIBERS>();
  if (chosen()) assert(static_cast<int>(threadIdx.x) > limit);
}

__device__ int device_variable = 7;
__constant__ int table[16] = {1, 2, 3, 4};
__managed__ int managed_variable = 5;
struct Large {
  int v[600];
};
template <bool FIBERS>
__global__ void uses_everything(int* pinned, int* managed, int* registered, Large large, int* out) {
  __shared__ int window[64];
  window[threadIdx.x] = threadIdx.x;
  maybe_synchronise<FIBERS>();
  if (threadIdx.x == 0) {
    int* own = static_cast<int*>(malloc(64));
    *own = 1000;
    ++managed_variable;
    ++*pinned;
    ++*managed;
    ++*registered;
    atomicAdd(out, window[threadIdx.x] + table[3] + device_variable + large.v[599] + *own);
    free(own);
  }
}
__global__ void where_is(const __grid_constant__ Large large, unsigned long long* first, int* different) {
  const auto at = reinterpret_cast<unsigned long long>(&large);
  const unsigned long long old = atomicCAS(first, 0ull, at);
  if (old && old != at) atomicAdd(different, 1);
}

// ---- cases: a child returns what it saw ----

[[gnu::noinline]] static int* on_device() {
  int* p = nullptr;
  if (cudaMalloc(&p, 4096)) std::_Exit(90);
  return p;
}
// The error of the last synchronisation, as an exit status. It stays, and the process goes on.
static int after() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return 0;
  void* p = nullptr;
  if (cudaMalloc(&p, 16) != error || cudaStreamSynchronize(nullptr) != error || cudaGetLastError() != error) return 91;
  return static_cast<int>(error) - 600;
}
static int (*const status)(cudaError_t) = [](cudaError_t e) {
  return e == cudaSuccess ? 0 : static_cast<int>(e) - 600;
};

template <bool F> int null_store() { return store_to<F><<<40, 64>>>(nullptr), after(); }
template <bool F> int wild_store() { return store_to<F><<<40, 64>>>(reinterpret_cast<int*>(0x12345678000)), after(); }
template <bool F> int no_address() {
  return store_to<F><<<40, 64>>>(reinterpret_cast<int*>(0x1234567812345678)), after();
}
template <bool F> int misaligned() {
  return store_to<F><<<40, 64>>>(reinterpret_cast<int*>(reinterpret_cast<char*>(on_device()) + 2)), after();
}
template <bool F> int past_shared() { return far_in_shared<F><<<40, 64>>>(1 << 24), after(); }
template <bool F> int before_shared() { return far_in_shared<F><<<40, 64>>>(-(1 << 24)), after(); }
template <bool F> int past_dynamic() { return far_in_dynamic_shared<F><<<40, 64, 64>>>(1 << 24), after(); }
template <bool F> int trapped() { return trap<F><<<40, 64>>>(), after(); }
template <bool F> int asserted() { return fail<F><<<40, 64>>>(500), after(); }
template <bool F> int malloc_load() {
  auto* p = static_cast<int*>(std::malloc(4096));
  p[0] = 1;
  return load_from<F><<<40, 64>>>(p, on_device()), after();
}
template <bool F> int malloc_store() { return store_to<F><<<40, 64>>>(static_cast<int*>(std::malloc(4096))), after(); }
template <bool F> int stack_store() {
  int local = 0;
  return store_to<F><<<40, 64>>>(&local), after();
}
template <bool F> int threads() {
  // Others' streams go down with the context, and nobody hangs.
  std::vector<std::thread> all;
  std::vector<int> seen(4);
  int* good = on_device();
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      cudaStream_t s;
      cudaStreamCreate(&s);
      for (int i = 0; i < 50; ++i) store_to<F><<<8, 64, 0, s>>>(t == 2 && i == 25 ? nullptr : good);
      cudaStreamSynchronize(s);
      while (cudaStreamQuery(s) == cudaSuccess) {}
      seen[t] = cudaStreamSynchronize(s);
    });
  for (std::thread& t : all) t.join();
  for (int e : seen)
    if (e != cudaErrorIllegalAddress) return 1;
  return after();
}
template <bool F> int allowed() {
  int *pinned, *managed, *out = on_device();
  static int page[4096];
  cudaHostAlloc(&pinned, 64, cudaHostAllocDefault);
  cudaMallocManaged(&managed, 64);
  if (cudaHostRegister(page, sizeof page, cudaHostRegisterDefault)) return 1;
  *pinned = *managed = page[0] = 10;
  Large large{};
  large.v[599] = 100;
  cudaMemset(out, 0, 4);
  for (int i = 0; i < 3; ++i) uses_everything<F><<<1, 64>>>(pinned, managed, page, large, out);
  if (const int e = after()) return e;
  int sum = 0;
  cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost);
  return *pinned == 13 && *managed == 13 && page[0] == 13 && managed_variable == 8 && sum == 3 * (4 + 7 + 100 + 1000)
             ? 0
             : 2;
}
template <bool> int one_address() {
  setenv("MILLRACE_WORKERS", "12", 1);
  auto* first = reinterpret_cast<unsigned long long*>(on_device());
  auto* different = reinterpret_cast<int*>(first + 1);
  for (int i = 0; i < 20; ++i) {
    cudaMemset(first, 0, 12);
    where_is<<<4000, 64>>>(Large{}, first, different);
    int count = -1;
    cudaMemcpy(&count, different, 4, cudaMemcpyDeviceToHost);
    if (count) return 1;
  }
  return after();
}

// The host's accesses. Without keys they work.
template <bool> int host_load() { return *const_cast<volatile int*>(on_device()) == 12345; }
template <bool> int host_store() { return *const_cast<volatile int*>(on_device()) = 0; }
template <bool> int host_variable() {
  void* p = nullptr;
  cudaGetSymbolAddress(&p, device_variable);
  return *static_cast<volatile int*>(p) == 12345;
}
template <bool> int host_function() {
  cudaLaunchHostFunc(nullptr, [](void* p) { *static_cast<volatile int*>(p) = 1; }, on_device());
  return after();
}
template <bool> int after_kernels() {
  int* p = on_device();
  store_to<false><<<40, 64>>>(p);
  if (after()) return 1;
  return *const_cast<volatile int*>(p) == 12345;
}

struct Case {
  const char* name;
  int (*loop)();
  int (*fibers)();
  int expected;              // status(error)
  const char* said = "";     // with keys, on standard error
  bool host = false;         // with keys the child dies of SIGSEGV
  bool keys_needed = false;  // without them nothing is wrong
};
#define CASE(function, ...) {#function, function<false>, function<true>, __VA_ARGS__}

static std::string read_all(int file) {
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  return text;
}

int main(int argc, char** argv) {
  const int illegal = status(cudaErrorIllegalAddress);
  const Case cases[] = {CASE(null_store, illegal),
                        CASE(wild_store, illegal),
                        CASE(no_address, illegal),
                        CASE(misaligned, status(cudaErrorMisalignedAddress)),
                        CASE(past_shared, illegal),
                        CASE(before_shared, illegal),
                        CASE(past_dynamic, illegal),
                        CASE(trapped, status(cudaErrorLaunchFailure)),
                        CASE(asserted, status(cudaErrorAssert)),
                        CASE(malloc_load, illegal, "", false, true),
                        CASE(malloc_store, illegal, "", false, true),
                        CASE(stack_store, illegal, "", false, true),
                        CASE(threads, illegal),
                        CASE(allowed, 0),
                        CASE(one_address, 0),
                        CASE(host_load, 0, "host code read device memory at", true),
                        CASE(host_store, 0, "byte 0 of the 4096 allocated by on_device()", true),
                        CASE(host_variable, 0, "host code read a __device__ or __constant__ variable", true),
                        CASE(host_function, 0, "host code wrote to device memory", true),
                        CASE(after_kernels, 0, "allocated by", true)};
  if (argc == 3) {
    const Case& c = cases[std::atoi(argv[1])];
    return std::strcmp(argv[2], "loop") == 0 ? c.loop() : c.fibers();
  }
  int failures = 0;
  for (const Case& c : cases)
    for (const auto run : {c.loop, c.fibers}) {
      int both[2];
      if (pipe(both)) return 99;
      const pid_t child = fork();
      if (child == 0) {
        dup2(both[1], 2);
        close(both[0]);
        close(both[1]);
        // A new image: this one's managed variable has started the runtime already.
        const std::string number = std::to_string(&c - cases), way = run == c.loop ? "loop" : "fibers";
        execl("/proc/self/exe", "faults", number.c_str(), way.c_str(), nullptr);
        _exit(98);
      }
      close(both[1]);
      const std::string said = read_all(both[0]);
      close(both[0]);
      int ended = 0;
      waitpid(child, &ended, 0);
      const int expected = c.keys_needed && !keys() ? 0 : c.expected;
      const bool right = c.host && keys() ? WIFSIGNALED(ended) && WTERMSIG(ended) == SIGSEGV &&
                                                said.find(c.said) != std::string::npos
                                          : WIFEXITED(ended) && WEXITSTATUS(ended) == expected;
      if (right) continue;
      std::printf("%s, %s: ended with status 0x%x, expected %s %d; it said: %s\n", c.name,
                  run == c.loop ? "loop" : "fibers", ended, c.host && keys() ? "SIGSEGV, not" : "exit code", expected,
                  said.c_str());
      ++failures;
    }
  return failures;
}
