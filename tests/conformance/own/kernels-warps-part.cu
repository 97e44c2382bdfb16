// Rule: warps and lanes that part around warp operations and barriers: conditions, loops of different lengths, early
// returns, masks of some lanes, tiles, coalesced and labeled groups, in blocks of several shapes. A checksum of what
// all threads got.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define TID (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define N (blockDim.x * blockDim.y * blockDim.z)
__global__ void k_block_reduce(const int* in, int* out) {
  __shared__ int s[32];
  int tid = TID, lane = tid & 31, warp = tid >> 5;
  int v = in[tid];
  for (int k = 16; k; k >>= 1) v += __shfl_down_sync(FULL, v, k);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < (N + 31) / 32 ? s[lane] : 0;
    for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(FULL, v, k);
  }
  out[tid] = v;
}
__global__ void k_rows(const int* len, const int* in, int* out) {  // a warp per row
  int t = TID, lane = t & 31, warp = t >> 5, nw = N / 32;
  int total = 0;
  for (int row = warp; row < 23; row += nw) {
    int v = 0;
    for (int i = lane; i < len[row]; i += 32) v += in[(row * 37 + i) & 255];
    for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(FULL, v, k);
    if (lane == row % 32) total += v * (row + 1);
    __syncwarp();
  }
  out[t] = total;
}
__global__ void k_return(const int* in, int* out) {
  int t = TID, warp = t >> 5;
  out[t] = -1;
  if (warp & 1) return;
  int v = in[t];
  v += __shfl_up_sync(FULL, v, 1);
  unsigned b = __ballot_sync(FULL, v & 1);
  __syncthreads();
  out[t] = v + b + __syncthreads_count(v & 2);
}
__global__ void k_half(const int* in, int* out) {
  int t = TID, lane = t & 31;
  int v = in[t];
  if (lane < 16) {
    v += __shfl_xor_sync(0xffff, v, 3);
    v ^= __ballot_sync(0xffff, v & 4);
  } else {
    v -= __shfl_xor_sync(0xffff0000, v, 5);
    v += __reduce_add_sync(0xffff0000, v);
  }
  out[t] = v;
}
__global__ void k_tiles(const int* in, int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = TID;
  int v = in[t];
  if ((t / 8) % 3 == 0) {
    v += cg::reduce(tile, v, cg::plus<int>());
    v += tile.shfl(v, 3) + tile.any(v & 1) * 100;
  } else if ((t / 8) % 3 == 1) {
    v += tile.ballot(v & 1);
    tile.sync();
    v += tile.match_any(v & 3);
  }
  out[t] = v;
}
__global__ void k_coalesced(const int* in, int* out) {
  int t = TID;
  int v = in[t];
  if (v & 1) {
    auto g = cg::coalesced_threads();
    v += g.size() * 1000 + g.thread_rank() * 10;
    v += g.shfl(v, 0);
    v += cg::reduce(g, v, cg::less<int>());
  }
  out[t] = v;
}
__global__ void k_match(const int* in, int* out) {
  int t = TID;
  int v = in[t] & 7;
  int pred = 5;
  unsigned m = __match_any_sync(FULL, v);
  unsigned a = __match_all_sync(FULL, v >> 3, &pred);
  int p2;
  unsigned a2 = __match_all_sync(FULL, v, &p2);
  int r = __reduce_max_sync(m, in[t]);
  out[t] = m + a * 3 + pred * 7 + a2 + p2 + r;
}
__global__ void k_loop_div(const int* in, int* out) {  // lanes leave a loop of shuffles one after the other
  int t = TID, lane = t & 31;
  int v = in[t];
  int n = lane % 5 + 1;
  unsigned m = FULL;
  for (int i = 0; i < 5; i++) {
    m = __ballot_sync(m, i < n);
    if (i >= n) break;
    v += __shfl_sync(m, v, __ffs(m) - 1 + i % 2);
  }
  out[t] = v;
}
__global__ void k_syncwarp_sites(const int* in, int* out) {
  __shared__ int s[1024];
  int t = TID;
  s[t] = 0;
  if (t & 1) {
    s[t] = in[t];
    __syncwarp();
    out[t] = s[t];
  } else {
    __syncwarp();
    out[t] = t + 1 < N ? s[t + 1] : 0;
  }
}
__global__ void k_ull(const int* in, unsigned long long* out, double* d) {
  int t = TID, warp = t >> 5;
  unsigned long long v = (unsigned long long)in[t] << 33;
  double x = in[t] / 3.0;
  if (warp % 2 == 0) {
    v += __shfl_down_sync(FULL, v, 7);
    for (int k = 16; k; k /= 2) x += __shfl_xor_sync(FULL, x, k);
  } else
    v = __match_any_sync(FULL, v & (1ull << 34));
  out[t] = v;
  d[t] = x;
}
__global__ void k_outer(const int* in, int* out, int n) {  // uniform loops around parting warps
  __shared__ int s[64];
  int t = TID, warp = t >> 5, lane = t & 31;
  int acc = 0;
  for (int i = 0; i < n; i++) {
    int v = in[(t + i) & 255];
    if (warp == i % ((N + 31) / 32)) {
      for (int k = 16; k; k >>= 1) v += __shfl_down_sync(FULL, v, k);
      if (lane == 0) s[i & 1] = v;
    }
    __syncthreads();
    acc += s[i & 1] + i;
    if (i % 3 == 2) {
      __syncthreads();
      if (t == 0) s[0] = acc;
      __syncthreads();
      acc ^= s[0];
    }
    __syncthreads();
  }
  out[t] = acc;
}
__global__ void k_private(const int* in, int* out) {
  int a[6];
  int t = TID, warp = t >> 5;
  for (int i = 0; i < 6; i++) a[i] = in[(t + i) & 255];
  if (warp > 0) {
    for (int i = 0; i < warp; i++) {
      a[i % 6] += __shfl_up_sync(FULL, a[(i + t) % 6], 1 + i);
      a[t % 6] += i;
    }
  }
  int r = 0;
  for (int i = 0; i < 6; i++) r = r * 7 + a[i];
  out[t] = r;
}
__global__ void k_labeled(const int* in, int* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int t = TID;
  auto g = cg::labeled_partition(tile, in[t] & 3);
  int v = cg::reduce(g, in[t], cg::plus<int>());
  auto b = cg::binary_partition(tile, (in[t] & 1) != 0);
  out[t] = v + b.size() * 100 + b.thread_rank();
}
int main() {
  dim3 shapes[] = {{256, 1, 1}, {32, 8, 1}, {16, 16, 1}, {96, 1, 1},  {64, 1, 1},
                   {32, 1, 1},  {8, 4, 4},  {48, 2, 1},  {128, 2, 1}, {1024, 1, 1}};
  int *in, *out;
  double* d;
  unsigned long long* u;
  cudaMallocManaged(&in, 4096 * 4);
  cudaMallocManaged(&out, 4096 * 4);
  cudaMallocManaged(&d, 8192 * 8);
  cudaMallocManaged(&u, 8192 * 8);
  unsigned r = 1;
  for (int i = 0; i < 4096; i++) in[i] = (r = r * 1664525u + 1013904223u) >> 8 & 1023;
  for (dim3 b : shapes) {
    int n = b.x * b.y * b.z;
    auto show = [&](const char* name) {
      cudaError_t e = cudaDeviceSynchronize();
      unsigned h = 0;
      for (int i = 0; i < n; i++) h = h * 31 + out[i];
      printf("%-16s %3d,%d,%d %s %08x\n", name, b.x, b.y, b.z, cudaGetErrorName(e), h);
      if (e) exit(1);
      for (int i = 0; i < n; i++) out[i] = 0;
    };
#define RUN(k, ...)                                                                                                    \
  k<<<1, b>>>(__VA_ARGS__);                                                                                            \
  show(#k);
    RUN(k_block_reduce, in, out);
    RUN(k_rows, in, in + 64, out);
    RUN(k_return, in, out);
    RUN(k_half, in, out);
    RUN(k_tiles, in, out);
    RUN(k_coalesced, in, out);
    RUN(k_match, in, out);
    RUN(k_loop_div, in, out);

    RUN(k_syncwarp_sites, in, out);
    RUN(k_outer, in, out, 7);
    RUN(k_private, in, out);
    RUN(k_labeled, in, out);
    k_ull<<<1, b>>>(in, u, d);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) {
      unsigned long long x;
      memcpy(&x, d + i, 8);
      out[i] = (int)(u[i] ^ u[i] >> 32 ^ x ^ x >> 32);
    }
    show("k_ull");
  }
}
