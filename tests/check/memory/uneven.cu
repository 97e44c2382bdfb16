// Kernels that touch all their memory in pieces that don't follow each other (tests/check/memory/run): nothing is to be
// found, and the checker has to make do with a few bytes for each byte.
//   uneven PATTERN [MIB]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <cuda_runtime.h>

// A permutation of the numbers below n, a power of two, that leaves no neighbours.
__device__ unsigned place(unsigned i, unsigned n, unsigned turn) {
  i = (i * 0x9e3779b1u + turn) & (n - 1);
  i ^= i >> 7;
  return (i * 0x85ebca6bu) & (n - 1);
}
template <class T> __global__ void scatter(T* to, unsigned n, unsigned turn) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[place(i, n, turn)] = static_cast<T>(i);
}
template <class T> __global__ void gather(const T* from, T* to, unsigned n, unsigned turn) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[place(i, n, turn)];
}
__global__ void count(unsigned* to, unsigned n, unsigned turn) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&to[place(i, n, turn)], 1u);
}
// Block b writes word b, b + blocks, ...
__global__ void turns(unsigned* to, unsigned n) {
  for (unsigned i = blockIdx.x + threadIdx.x * gridDim.x; i < n; i += gridDim.x * blockDim.x) to[i] = i;
}
__global__ void every(unsigned* to, unsigned n, unsigned step) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * step;
  if (i < n) to[i] = i;
}
__global__ void columns(unsigned* to, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x;
  for (unsigned y = threadIdx.x; y < height; y += blockDim.x) to[y * width + x] = y;
}

int main(int argc, char** argv) {
  const std::string pattern = argc > 1 ? argv[1] : "words";
  const unsigned bytes = (argc > 2 ? std::atoi(argv[2]) : 64) << 20, n = bytes / 4;
  unsigned *a, *b;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemset(a, 0, bytes);
  cudaMemset(b, 0, bytes);
  for (unsigned turn = 0; turn < 2; ++turn) {
    if (pattern == "words") scatter<<<n / 256, 256>>>(a, n, turn);
    if (pattern == "few-blocks") scatter<<<n / 1024, 1024>>>(a, n, turn);
    if (pattern == "doubles") scatter<<<n / 512, 256>>>(reinterpret_cast<double*>(a), n / 2, turn);
    if (pattern == "bytes") scatter<<<bytes / 1024, 1024>>>(reinterpret_cast<unsigned char*>(a), bytes, turn);
    if (pattern == "atomics") count<<<n / 256, 256>>>(a, n, turn);
    if (pattern == "turns") turns<<<512, 64>>>(a, n);
    if (pattern == "every-other") every<<<n / 512, 256>>>(a, n, 2);
    if (pattern == "every-17th") every<<<n / 4352, 256>>>(a, n, 17);
    if (pattern == "columns") columns<<<4096, 64>>>(a, 4096, n / 4096);
    if (pattern == "gather") gather<<<n / 256, 256>>>(a, b, n, turn);
    if (pattern == "generations") {  // half of the words anew, the others read by another kernel
      scatter<<<n / 512, 256>>>(a, n, turn);
      every<<<n / 512, 256>>>(a, n, 2);
      gather<<<n / 512, 256>>>(a, b, n, turn);
      scatter<<<n / 1024, 256>>>(b, n, turn + 1);
      gather<<<n / 1024, 256>>>(b, a, n, turn);
    }
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  cudaFree(a);
  cudaFree(b);
  return error != cudaSuccess;
}
