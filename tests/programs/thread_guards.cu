// Guards of threads - every comparison, at the edges of the types, where indices wrap around too - select the threads
// that they select in a plain loop over them; several guards, guards of rows and guards of one thread as well.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int P, class T> __host__ __device__ bool holds(T a, T b) {
  return P == 0 ? a < b : P == 1 ? a <= b : P == 2 ? a > b : P == 3 ? a >= b : P == 4 ? a == b : a != b;
}
template <class T> __host__ __device__ T wrapped_sum(T a, unsigned b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) + b);
}

template <int P, class T> __global__ void one_guard(T base, T n, int* out) {
  T i = wrapped_sum(base, threadIdx.x);
  int& mine = out[blockIdx.x * blockDim.x + threadIdx.x];
  if (holds<P>(i, n))
    mine = 2 * static_cast<int>(threadIdx.x) + 1;
  else
    mine += 5;
}
template <int P, class T> __global__ void early_return(T base, T n, int* out) {
  T i = wrapped_sum(base, threadIdx.x);
  if (holds<P>(n, i)) return;
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(i ^ n);
}
__global__ void several(int w, int h, int* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x - 1, y = blockIdx.y * blockDim.y + threadIdx.y - 1;
  int at = ((blockIdx.y * blockDim.y + threadIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  out[at] = -1;
  if (x < 0 || y < 0 || x >= w || y >= h) return;
  out[at] = x + 1000 * y;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) out[at] += 1000000;
  if (threadIdx.x == 0) out[at] += 2000000;
  if (threadIdx.x == blockDim.x - 1 && threadIdx.y != 1) out[at] += 4000000;
}
// Between barriers; the last threads of the block have left.
__global__ void folded(const int* in, int* sums, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}
// Counts in shared memory: every thread's addition counts, and old values are all different.
__global__ void counted(const int* in, int* bins, int* ranks, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ranks[i] = atomicAdd(&s[in[i] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

int failures = 0;
void expect(bool ok, const char* what, long long a, long long b, int at) {
  if (ok) return;
  if (++failures < 10) std::printf("%s: wrong for base %lld, limit %lld at %d\n", what, a, b, at);
}
int* buffer;
constexpr int room = 1 << 16;
std::vector<int> fetch(int n) {
  std::vector<int> v(n);
  cudaMemcpy(v.data(), buffer, n * sizeof(int), cudaMemcpyDeviceToHost);
  return v;
}

template <int P, class T> void guards(T base, T n, int threads) {
  cudaMemset(buffer, 0, 2 * threads * sizeof(int));
  one_guard<P, T><<<2, threads>>>(base, n, buffer);
  auto got = fetch(2 * threads);
  for (int i = 0; i < 2 * threads; ++i) {
    const int t = i % threads;
    expect(got[i] == (holds<P>(wrapped_sum(base, t), n) ? 2 * t + 1 : 5), "one_guard", base, n, P * 10000 + i);
  }
  cudaMemset(buffer, 0, threads * sizeof(int));
  early_return<P, T><<<1, threads>>>(base, n, buffer);
  got = fetch(threads);
  for (int t = 0; t < threads; ++t) {
    const T i = wrapped_sum(base, t);
    expect(got[t] == (holds<P>(n, i) ? 0 : static_cast<int>(i ^ n)), "early_return", base, n, P * 10000 + t);
  }
}
template <class T> void all_guards(T low, T high) {
  for (T base : {T(0), T(1), low, T(low + 1), high, T(high - 7), T(high - 31), T(high / 2), T(-9)})
    for (T n : {T(0), T(1), T(20), T(33), low, T(low + 5), high, T(high - 1), T(base + 7), T(base - 1), base})
      for (int threads : {1, 33}) {
        guards<0>(base, n, threads);
        guards<1>(base, n, threads);
        guards<2>(base, n, threads);
        guards<3>(base, n, threads);
        guards<4>(base, n, threads);
        guards<5>(base, n, threads);
      }
}

int main() {
  cudaMalloc(&buffer, room * sizeof(int));
  all_guards<int>(INT32_MIN, INT32_MAX);
  all_guards<unsigned>(0, UINT32_MAX);
  all_guards<long long>(INT64_MIN, INT64_MAX);
  all_guards<unsigned long long>(0, UINT64_MAX);

  const dim3 grid(3, 2), block(16, 4);
  several<<<grid, block>>>(37, 5, buffer);
  auto got = fetch(48 * 8);
  for (int v = 0; v < 8; ++v)
    for (int u = 0; u < 48; ++u) {
      const int x = u - 1, y = v - 1;
      int want = -1;
      if (x >= 0 && y >= 0 && x < 37 && y < 5) {
        want = x + 1000 * y;
        if (x > 0 && y > 0 && x < 36 && y < 4) want += 1000000;
        if (u % 16 == 0) want += 2000000;
        if (u % 16 == 15 && v % 4 != 1) want += 4000000;
      }
      expect(got[v * 48 + u] == want, "several", u, v, got[v * 48 + u]);
    }

  std::vector<int> in(5000);
  for (int i = 0; i < 5000; ++i) in[i] = i * 7919 % 1009;
  int* numbers;
  cudaMalloc(&numbers, 5000 * sizeof(int));
  cudaMemcpy(numbers, in.data(), 5000 * sizeof(int), cudaMemcpyHostToDevice);
  folded<<<20, 256>>>(numbers, buffer, 5000);
  got = fetch(20);
  for (int b = 0; b < 20; ++b) {
    int sum = 0;
    for (int i = b * 256; i < (b + 1) * 256 && i < 5000; ++i) sum += in[i];
    expect(got[b] == sum, "folded", b, sum, got[b]);
  }
  cudaMemset(buffer, 0, 16 * sizeof(int));
  counted<<<20, 256>>>(numbers, buffer, buffer + 16, 5000);
  got = fetch(16 + 5000);
  int bins[16] = {};
  for (int b = 0; b < 20; ++b) {
    std::vector<bool> seen[16];
    for (auto& s : seen) s.resize(256);
    for (int i = b * 256; i < (b + 1) * 256 && i < 5000; ++i) {
      const int bin = in[i] & 15, rank = got[16 + i];
      ++bins[bin];
      expect(rank >= 0 && rank < 256 && !seen[bin][rank], "counted", b, bin, rank);
      if (rank >= 0 && rank < 256) seen[bin][rank] = true;
    }
  }
  for (int k = 0; k < 16; ++k) expect(got[k] == bins[k], "counted", k, bins[k], got[k]);
  expect(cudaGetLastError() == cudaSuccess, "a call", 0, 0, 0);
  std::printf("%d wrong\n", failures);
  return failures != 0;
}
