// What all blocks add to the same few results: collected for several blocks at once where nothing can tell, and at its
// place where something can.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

constexpr int blocks = 5000, threads = 64;

// One kind each.
template <class T> __global__ void add(T* out) { atomicAdd(&out[threadIdx.x], T(blockIdx.x + threadIdx.x)); }
__global__ void sub(unsigned* out) { atomicSub(&out[threadIdx.x], blockIdx.x * 3 + threadIdx.x); }
template <class T> __global__ void least(T* out) { atomicMin(&out[threadIdx.x], T(7 * threadIdx.x) - T(blockIdx.x)); }
template <class T> __global__ void greatest(T* out) { atomicMax(&out[threadIdx.x], T(blockIdx.x * (threadIdx.x + 1))); }
__global__ void bits_and(unsigned* out) { atomicAnd(&out[threadIdx.x], ~(1u << (blockIdx.x % 20))); }
__global__ void bits_or(unsigned* out) { atomicOr(&out[threadIdx.x], blockIdx.x & 0x155u); }
__global__ void bits_xor(unsigned* out) { atomicXor(&out[threadIdx.x], blockIdx.x * threadIdx.x); }
// Some threads, some blocks; one thread of each block; all threads the same place.
__global__ void some(int* out) {
  if (threadIdx.x % 3 == 1 && blockIdx.x % 2) atomicAdd(&out[threadIdx.x], 1);
  __syncthreads();
  if (threadIdx.x == 5) atomicAdd(&out[threads], 2);
}
__global__ void everyone(int* out) { atomicAdd(out, 1); }
// An element for each block: not the same in all.
__global__ void own(int* out) { atomicAdd(&out[blockIdx.x], 1); }
// Its own sum is read afterwards.
__global__ void reads_after(volatile int* out, int* seen) {
  const int before = out[threadIdx.x];
  atomicAdd(const_cast<int*>(&out[threadIdx.x]), 1);
  if (out[threadIdx.x] <= before) atomicAdd(seen, 1);
}
// A plain access, after a barrier, to what was added to before it.
__global__ void replaces(int* out) {
  atomicAdd(&out[threadIdx.x], 1000);
  __syncthreads();
  out[threads - 1 - threadIdx.x] = 3;
}
// The last block adds up what the others have left.
__global__ void last_block(int* sums, unsigned* ticket, int* result) {
  __shared__ bool last;
  atomicAdd(&sums[threadIdx.x], 1);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) atomicAdd(result, atomicAdd(&sums[threadIdx.x], 0));
}

// All threads' values to one place, where they are as many as `x`.
template <class T> __global__ void sum(T* out, const T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i]);
}
// Nobody comes to it: `out` may be anything.
__global__ void count_above(int* out, const int* x, int limit) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > limit) atomicAdd(out, 1);
}
// Each thread looks at the sum that it has added to.
__global__ void looks(int* out, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(out, 1);
  x[i] = *(volatile int*)out;
}

template <class T> T* fresh(int n, T value) {
  T* p;
  OK(cudaMallocManaged(&p, n * sizeof(T)));
  for (int i = 0; i < n; ++i) p[i] = value;
  return p;
}
template <class T, class F> void check(const char* what, const T* got, F wanted) {
  OK(cudaDeviceSynchronize());
  int bad = 0;
  for (int t = 0; t < threads; ++t) bad += got[t] != wanted(t);
  if (bad) std::printf("%s: %d of %d\n", what, bad, threads);
  CHECK(bad == 0);
}

template <class T> void numbers() {
  T* out = fresh<T>(threads, 3);
  add<T><<<blocks, threads>>>(out);
  check("sums", out, [](int t) { return T(T(blocks) * (blocks - 1) / 2 + T(blocks) * t + 3); });
  out = fresh<T>(threads, T(100));
  greatest<T><<<blocks, threads>>>(out);
  check("greatest", out, [](int t) { return T((blocks - 1) * (t + 1)); });
}
template <class T> void sums_of() {
  constexpr int n = blocks * threads - 17;
  T *x = fresh<T>(n, 0), *out = fresh<T>(1, 5), expected = 5;
  for (int i = 0; i < n; ++i) expected += x[i] = T(i % 4);
  sum<<<blocks, threads>>>(out, x, n);
  OK(cudaDeviceSynchronize());
  CHECK(*out == expected);
}

int main() {
  numbers<int>();
  numbers<unsigned>();
  numbers<unsigned long long>();
  int* lowest = fresh(threads, 0);
  least<int><<<blocks, threads>>>(lowest);
  check("least", lowest, [](int t) { return 7 * t - (blocks - 1); });
  unsigned* lowest_unsigned = fresh(threads, ~0u);
  least<unsigned><<<100, threads>>>(lowest_unsigned);
  check("least, unsigned", lowest_unsigned, [](int t) {
    unsigned m = ~0u;
    for (unsigned b = 0; b < 100; ++b) m = std::min(m, 7u * t - b);
    return m;
  });
  unsigned* out = fresh(threads, 9u);
  sub<<<blocks, threads>>>(out);
  check("difference", out, [](int t) {
    unsigned v = 9;
    for (unsigned b = 0; b < blocks; ++b) v -= b * 3 + t;
    return v;
  });
  out = fresh(threads, ~0u);
  bits_and<<<blocks, threads>>>(out);
  check("and", out, [](int) { return ~0u << 20; });
  out = fresh(threads, 0x2000u);
  bits_or<<<blocks, threads>>>(out);
  check("or", out, [](int) { return 0x2155u; });
  out = fresh(threads, 5u);
  bits_xor<<<blocks, threads>>>(out);
  check("xor", out, [](int t) {
    unsigned v = 5;
    for (unsigned b = 0; b < blocks; ++b) v ^= b * t;
    return v;
  });
  int* few = fresh(threads + 1, 0);
  some<<<blocks, threads>>>(few);
  check("some", few, [](int t) { return t % 3 == 1 ? blocks / 2 : 0; });
  CHECK(few[threads] == 2 * blocks);
  everyone<<<blocks, threads>>>(few + threads);
  OK(cudaDeviceSynchronize());
  CHECK(few[threads] == 2 * blocks + blocks * threads);
  int* each = fresh(blocks, 0);
  own<<<blocks, threads>>>(each);
  OK(cudaDeviceSynchronize());
  for (int b = 0; b < blocks; ++b) CHECK(each[b] == threads);

  sums_of<int>();
  sums_of<unsigned long long>();
  sums_of<float>();
  sums_of<double>();
  int* values = fresh(blocks * threads, 7);
  count_above<<<blocks, threads>>>(nullptr, values, 7);
  OK(cudaDeviceSynchronize());
  few[0] = 0;
  looks<<<blocks, threads>>>(few, values);
  OK(cudaDeviceSynchronize());
  CHECK(few[0] == blocks * threads && *std::min_element(values, values + blocks * threads) >= 1);

  int *after = fresh(threads, 0), *seen = fresh(1, 0);
  reads_after<<<blocks, threads>>>(after, seen);
  check("added and read", after, [](int) { return blocks; });
  CHECK(*seen == 0);
  replaces<<<1, threads>>>(after);
  check("replaced", after, [](int) { return 3; });
  int *sums = fresh(threads, 0), *result = fresh(1, 0);
  unsigned* ticket = fresh(1, 0u);
  last_block<<<blocks, threads>>>(sums, ticket, result);
  OK(cudaDeviceSynchronize());
  CHECK(*result == blocks * threads);
  return report();
}
