"""Small programs that the cases compile."""

# Adds on the device what a function in another file gives; prints 0 1 4 9.
SQUARES = r"""
#include <cstdio>
__global__ void squares(int* out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
int main() {
  int* device = nullptr;
  int host[4] = {-1, -1, -1, -1};
  cudaMalloc(&device, sizeof host);
  squares<<<1, 4>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
"""

# With UTIL: prints the squares plus what util.cpp says.
WITH_UTIL = SQUARES.replace("int main() {", "int util();\nint main() {").replace(
    '"%d %d %d %d\\n", ', '"%d: %d %d %d %d\\n", util(), ')
UTIL = "int util() { return 42; }\n"

KERNEL_ONLY = "__global__ void kernel(int* p) { *p = 1; }\n"

# Loads the image that its argument names, and runs its kernel `answer`.
LIBRARY_USER = r"""
#include <cstdio>
#include <cuda_runtime.h>
int main(int, char** argv) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  unsigned count = 0;
  int *device = nullptr, host = 0;
  if (cudaLibraryLoadFromFile(&library, argv[1], nullptr, nullptr, 0, nullptr, nullptr, 0)) return 1;
  if (cudaLibraryGetKernelCount(&count, library) || cudaLibraryGetKernel(&kernel, library, "answer")) return 2;
  cudaMalloc(&device, sizeof host);
  void* arguments[] = {&device};
  if (cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, nullptr)) return 3;
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%u kernel: %d\n", count, host);
  return cudaLibraryUnload(library);
}
"""

# Two files with relocatable device code: a variable, a function and a kernel of the same name on both sides.
RDC_MAIN = r"""
#include <cstdio>
extern __device__ int factor;
__device__ int scale(int);
static __global__ void kernel(int* out) { *out = scale(3) + factor; }
int second();
int main() {
  int *device = nullptr, host = -1;
  cudaMalloc(&device, sizeof host);
  kernel<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host, second());
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
"""
RDC_OTHER = r"""
__device__ int factor = 5;
__device__ int scale(int a) { return a * factor; }
static __global__ void kernel(int* out) { *out = scale(100); }
int second() {
  int *device = nullptr, host = -1;
  cudaMalloc(&device, sizeof host);
  kernel<<<1, 1>>>(device);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  return host;
}
"""
RDC_PRINTS = "20 500\n"

HOST_ONLY = r"""
#include <cuda_runtime.h>
#include <stdio.h>
int main(void) {
  int count = 0, version = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaRuntimeGetVersion(&version) != cudaSuccess) return 1;
  printf("%d %d %d\n", count > 0, version, CUDART_VERSION);
  return 0;
}
"""
HOST_PRINTS = "1 13000 13000\n"

# Prints what depends on the order in which arguments of calls are evaluated, with and without addresses of variables.
ORDERS = r"""
#include <cstdio>
#include <cstdlib>
static int global = 1;
static int bump(int* v) { return ++*v; }
static const char* name(size_t* v) { *v += 1; return "name"; }
struct Pair { int a, b; Pair(int x, int y) : a(x), b(y) {} };
struct Counter { int n = 5; int next() { return ++n; } void show(int x, int y, int z) { std::printf("%d %d %d\n", x, y, z); } };
static int by_reference(int& r) { return std::printf("%d %d %d\n", r, bump(&r), r); }
int main() {
  size_t size = 1;
  std::printf("%s %zu\n", name(&size), size);
  std::printf("%zu %s %zu\n", size, name(&size), size);
  int local = 1;
  std::printf("%d %d %d\n", bump(&local), bump(&local), local);
  std::printf("%d %d %d\n", global, bump(&global), global);
  int i = 0;
  std::printf("%d %d %d\n", i++, i, i++);
  Counter c;
  c.show(c.n, c.next(), c.n);
  by_reference(local);
  auto captured = [&] { std::printf("%d %d %d\n", local, bump(&local), local); };
  captured();
  const Pair p(bump(&local), local);
  std::printf("%d %d\n", p.a, p.b);
  long wide = local;
  std::printf("%ld %d %ld\n", wide + 1, bump(&local), (long)local);
  int array[2] = {1, 2};
  std::printf("%d %d %d\n", array[0], bump(array), array[0]);
}
"""
