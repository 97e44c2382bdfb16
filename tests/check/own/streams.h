// What many programs of this folder are made of: small kernels over n integers, memory, streams, and the last lines.
#pragma once
#include <cstdio>
#include <cstring>

#include "check.h"

constexpr int n = 2048;
constexpr size_t bytes = n * sizeof(int);
[[maybe_unused]] static __global__ void fill(int* p, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = v + i;
}
[[maybe_unused]] static __global__ void add(int* p, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] += v;
}
[[maybe_unused]] static __global__ void twice(int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = p[i] * 2 + 1;
}
[[maybe_unused]] static __global__ void move(int* to, const int* from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}
#define GRID n / 256, 256
[[maybe_unused]] static cudaStream_t nonblocking() {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
[[maybe_unused]] static cudaEvent_t event() {
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  return e;
}
[[maybe_unused]] static int* device() {
  int* p;
  CHECK(cudaMalloc(&p, bytes));
  CHECK(cudaMemset(p, 0, bytes));
  CHECK(cudaDeviceSynchronize());
  return p;
}
[[maybe_unused]] static int* pinned() {
  int* p;
  CHECK(cudaMallocHost(&p, bytes));
  std::memset(p, 0, bytes);
  return p;
}
[[maybe_unused]] static bool holds(const int* device, int first, int step = 1) {
  static int host[n];
  CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (host[i] != first + step * i) return false;
  return true;
}
[[maybe_unused]] static bool host_holds(const int* host, int first, int step = 1) {
  for (int i = 0; i < n; ++i)
    if (host[i] != first + step * i) return false;
  return true;
}
[[maybe_unused]] static int finish(bool right) {
  std::printf("data %s\ndone\n", right ? "right" : "wrong");
  return 0;
}
