// Threads that return before others meet: they no longer count at barriers and bring nothing to warp operations.
// Warp operations of some lanes, each with a mask of its own.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void sum_after_return(const int* in, int* out, int n) {
  __shared__ int s[128];
  __shared__ int live;
  s[threadIdx.x] = 0;
  if (threadIdx.x == 0) live = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    int v = threadIdx.x < k ? s[threadIdx.x + k] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  int odd = __syncthreads_count(i & 1);
  int any = __syncthreads_or(i == n - 1), all = __syncthreads_and(i < n);
  if (threadIdx.x == 0) out[blockIdx.x] = s[0] * 1000 + odd * 10 + (any != 0) * 2 + (all != 0);
}
// The lanes of the first warp go on alone.
__global__ void sum_by_warps(const int* in, int* out, int n) {
  __shared__ int s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? in[i] : 0;
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < (int)(blockDim.x + 31) / 32 ? s[lane] : 0;
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
    if (lane == 0) out[blockIdx.x] = v;
  }
}
__global__ void votes_after_return(const int* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffff, i < n);
  if (i >= n) return;
  unsigned odd = __ballot_sync(mask, in[i] & 1);
  int sum = in[i];
  for (int k = 1; k < 32; k *= 2) {
    int other = __shfl_up_sync(mask, sum, k);
    if (threadIdx.x % 32 >= k) sum += other;
  }
  int all = __all_sync(mask, in[i] >= 0), any = __any_sync(mask, in[i] == 17);
  out[i] = odd + sum * 4 + all * 2 + any;
}
// One thread leaves in each round.
__global__ void one_by_one(int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  for (int k = 0; k < (int)blockDim.x; ++k) {
    if ((int)(blockDim.x - 1 - threadIdx.x) == k) {
      out[threadIdx.x] = s;
      return;
    }
    __syncthreads();
    if (threadIdx.x == 0) s += k;
    __syncthreads();
  }
}
__global__ void tiles(const int* in, int* out, int n) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // n: a multiple of 8
  int v = in[i];
  for (int k = 4; k > 0; k /= 2) v += tile.shfl_xor(v, k);
  unsigned big = tile.ballot(in[i] > 500);
  out[i] = v * 256 + (int)big;
}

int failures = 0;
void expect(bool ok, const char* what, int n, int at, long got, long want) {
  if (!ok && ++failures < 10) std::printf("%s of %d: [%d] is %ld, not %ld\n", what, n, at, got, want);
}
int main() {
  std::vector<int> in(4096);
  for (int i = 0; i < 4096; ++i) in[i] = i * 7919 % 1009;
  int *numbers, *out;
  cudaMalloc(&numbers, 4096 * sizeof(int));
  cudaMalloc(&out, 4096 * sizeof(int));
  cudaMemcpy(numbers, in.data(), 4096 * sizeof(int), cudaMemcpyHostToDevice);
  std::vector<int> got(4096);
  const auto fetch = [&] { cudaMemcpy(got.data(), out, 4096 * sizeof(int), cudaMemcpyDeviceToHost); };
  for (int n : {1, 31, 32, 33, 127, 128, 129, 500, 1000, 1024}) {
    const int blocks = (n + 127) / 128;
    sum_after_return<<<blocks, 128>>>(numbers, out, n);
    fetch();
    for (int b = 0; b < blocks; ++b) {
      int sum = 0, odd = 0, last = 0;
      for (int i = b * 128; i < (b + 1) * 128 && i < n; ++i) sum += in[i], odd += i & 1, last |= i == n - 1;
      const int want = sum * 1000 + odd * 10 + last * 2 + 1;
      // A tree over what is not there any more: only whole blocks give the sum.
      if ((b + 1) * 128 <= n)
        expect(got[b] == want, "sum_after_return", n, b, got[b], want);
      else
        expect(got[b] % 1000 == want % 1000, "sum_after_return", n, b, got[b] % 1000, want % 1000);
    }
    for (int threads : {32, 128, 96, 256}) {
      const int grid = (n + threads - 1) / threads;
      sum_by_warps<<<grid, threads>>>(numbers, out, n);
      fetch();
      for (int b = 0; b < grid; ++b) {
        int sum = 0;
        for (int i = b * threads; i < (b + 1) * threads && i < n; ++i) sum += in[i];
        expect(got[b] == sum, "sum_by_warps", n, b, got[b], sum);
      }
    }
    votes_after_return<<<blocks, 128>>>(numbers, reinterpret_cast<unsigned*>(out), n);
    fetch();
    for (int i = 0; i < n; ++i) {
      const int first = i / 32 * 32;
      unsigned odd = 0, any = 0;
      int sum = 0;
      for (int k = first; k < first + 32 && k < n; ++k) {
        odd |= static_cast<unsigned>(in[k] & 1) << (k - first);
        any |= in[k] == 17;
        if (k <= i) sum += in[k];
      }
      const unsigned want = odd + sum * 4 + 2 + any;
      expect(static_cast<unsigned>(got[i]) == want, "votes_after_return", n, i, static_cast<unsigned>(got[i]), want);
    }
    const int whole = n / 8 * 8;
    if (!whole) continue;
    tiles<<<blocks, 128>>>(numbers, out, whole);
    fetch();
    for (int i = 0; i < whole; ++i) {
      int sum = 0, big = 0;
      for (int k = 0; k < 8; ++k) sum += in[i / 8 * 8 + k], big |= (in[i / 8 * 8 + k] > 500) << k;
      expect(got[i] == sum * 256 + big, "tiles", n, i, got[i], sum * 256 + big);
    }
  }
  for (int threads : {1, 2, 33, 100}) {
    one_by_one<<<1, threads>>>(out);
    fetch();
    for (int t = 0; t < threads; ++t) {
      const int k = threads - 1 - t, want = k * (k - 1) / 2;
      expect(got[t] == want, "one_by_one", threads, t, got[t], want);
    }
  }
  expect(cudaDeviceSynchronize() == cudaSuccess, "a call", 0, 0, cudaGetLastError(), 0);
  std::printf("%d wrong\n", failures);
  return failures != 0;
}
