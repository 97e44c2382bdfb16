// Loops that end at a different time for each thread are gone around by vectors of threads
// (compiler/passes/masked_loops.h): each thread's results are those of its own loop, whichever way it left it, and
// nobody touches what it wouldn't have.
#include <cmath>
#include <vector>

#include "check.h"

#define BOTH __host__ __device__ inline

BOTH int collatz(unsigned long long v) {
  int steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  return steps;
}
// Loops inside of each other, ways out of both, and a way on.
BOTH double walk(int i, float start) {
  double sum = 0;
  int last = -1;
  for (int j = 0; j < i % 7; ++j) {
    float v = start;
    for (int k = 0; k < 50; ++k) {
      v = fmaf(v, 1.25f, static_cast<float>(j));
      if (v > 100) break;
      if (k % 3 == 1) continue;
      sum += v;
      if (sum > 1e3) {
        last = k;
        break;
      }
    }
    if (sum > 2e3) break;
  }
  return sum + last;
}
// What is read is the same for all, a row, or anybody's; what is divided by may be zero for those who are done.
BOTH int find(const unsigned char* text, const unsigned char* word, const int* next, int i, int length) {
  int k = 0, found = 0;
  while (k < length && text[i + k] == word[k]) ++k;
  for (int at = i; at >= 0 && found < 5; at = next[at]) found += at % 3 ? 1 : 2;
  return k * 16 + found;
}
BOTH unsigned divide(unsigned a, unsigned b) {
  unsigned sum = 0;
  while (b != 0) {
    sum += a / b;
    b >>= 1;
  }
  return sum;
}

__global__ void steps(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = collatz(i + 1);
}
__global__ void walks(double* out, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double end = walk(i, from[i % n]);
  if (i < n) out[i] = end;
}
__global__ void finds(int* out, const unsigned char* text, const unsigned char* word, const int* next, int n,
                      int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = find(text, word, next, i, length);
}
__global__ void divides(unsigned* out, const unsigned* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[2 * i] = divide(in[i], in[i] & 0xff);
}
// Between barriers, and a thread that isn't there any more.
__global__ void shared(float* out, const float* in, int n) {
  __shared__ float s[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  float v = s[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  int k = 0;
  while (v < 50 && k < 30) v = fmaf(v, 1.5f, 1), ++k;
  s[threadIdx.x] = v + static_cast<float>(k);
  __syncthreads();
  if (i < n) out[i] = s[(threadIdx.x + 1) % blockDim.x];
}

template <class T> T* device(const std::vector<T>& v) {
  T* p;
  OK(cudaMalloc(&p, v.size() * sizeof(T)));
  OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T> std::vector<T> host(const T* p, int n) {
  std::vector<T> v(n);
  OK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

int main() {
  constexpr int n = 3000, length = 20;
  std::vector<float> floats(n);
  std::vector<unsigned> numbers(n);
  std::vector<int> next(n);
  // The text ends where its memory does, but for what the last thread that compares may read.
  std::vector<unsigned char> text(n + length), word(length);
  for (int i = 0; i < n; ++i) {
    numbers[i] = i * 2654435761u;
    floats[i] = static_cast<float>(numbers[i] >> 20) / 64 - 20;
    next[i] = i % 5 == 4 ? -1 : static_cast<int>(numbers[i] % n);
    text[i] = numbers[i] >> 30;
  }
  for (int k = 0; k < length; ++k) word[k] = text[100 + k];
  int *ints = device(std::vector<int>(n)), *to = device(next);
  auto* results = device(std::vector<double>(n));
  auto *from = device(floats), *sums = device(floats);
  auto *in = device(numbers), *quotients = device(std::vector<unsigned>(2 * n));
  auto *there = device(text), *what = device(word);
  for (const int threads : {256, 32, 100, 7}) {
    const int blocks = (n + threads - 1) / threads;
    steps<<<blocks, threads>>>(ints, n);
    const auto counted = host(ints, n);
    for (int i = 0; i < n; ++i) CHECK(counted[i] == collatz(i + 1));
    walks<<<blocks, threads>>>(results, from, n);
    const auto ends = host(results, n);
    for (int i = 0; i < n; ++i) CHECK(ends[i] == walk(i, floats[i]));
    finds<<<blocks, threads>>>(ints, there, what, to, n, length);
    const auto found = host(ints, n);
    for (int i = 0; i < n; ++i) CHECK(found[n - 1 - i] == find(text.data(), word.data(), next.data(), i, length));
    divides<<<blocks, threads>>>(quotients, in, n);
    const auto divided = host(quotients, 2 * n);
    for (int i = 0; i < n; ++i)
      CHECK(divided[2 * i] == divide(numbers[i], numbers[i] & 0xff) && divided[2 * i + 1] == 0);
    shared<<<blocks, threads>>>(sums, from, n);
    const auto summed = host(sums, n);
    for (int i = 0; i < n; ++i) {
      const int block = i / threads * threads, other = block + threads - 1 - (i - block + 1) % threads;
      float v = other < n ? floats[other] : 0;
      int k = 0;
      while (v < 50 && k < 30) v = fmaf(v, 1.5f, 1), ++k;
      CHECK(summed[i] == v + static_cast<float>(k));
    }
  }
  steps<<<10, 256>>>(ints, 2560);  // extents that are known
  walks<<<10, 256>>>(results, from, n);
  OK(cudaDeviceSynchronize());
  const auto counted = host(ints, 2560);
  const auto ends = host(results, 2560);
  for (int i = 0; i < 2560; ++i) CHECK(counted[i] == collatz(i + 1) && ends[i] == walk(i, floats[i]));
  return report();
}
