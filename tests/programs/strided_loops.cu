// Loops from threadIdx.x in strides of the block's or the grid's threads, which all threads go around together: each
// thread's sum is that of its own elements in their order, for all counts, kinds of indices and places of the loop.
#include <climits>
#include <vector>

#include "check.h"

constexpr int most = 3000;

template <class Index> __global__ void sums(const float* in, float* out, Index n) {
  float sum = 1;
  for (Index i = threadIdx.x; i < n; i += blockDim.x) sum = sum * 0.5f + in[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class Index> __global__ void grid_sums(const float* in, float* out, Index n) {
  float sum = 1;
  Index last = 12345;
  for (Index i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum = sum * 0.5f + in[i];
    last = i * 2;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + static_cast<float>(last);
}
// Stores, then what others have stored; a loop that only some threads come to; rows of a two-dimensional block.
__global__ void shifted(const float* in, float* out, int n) {
  __shared__ float s[most];
  const float* row = in + threadIdx.y;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (threadIdx.y == 0) s[i] = row[i] * 2;
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x + 5; i < n; i += 64) sum = sum / 4 + s[i - 5] + row[i];
  if (threadIdx.x % 2) {
    for (int i = threadIdx.x; i < n; i += 64) sum += row[i];
  }
  out[threadIdx.y * blockDim.x + threadIdx.x] = sum;
}
// Indices that wrap around, or come close to it.
__global__ void far_away(const float* in, float* out, unsigned begin, unsigned end, unsigned step) {
  float sum = 1;
  for (unsigned i = begin + threadIdx.x; i < end; i += step) sum = sum * 0.5f + in[i - begin];
  out[threadIdx.x] = sum;
}

int main() {
  std::vector<float> in(most + 8), out(4096);
  for (int i = 0; i < most + 8; ++i) in[i] = static_cast<float>(i * 37 % 101) / 4;
  float *from, *to;
  OK(cudaMalloc(&from, in.size() * sizeof(float)));
  OK(cudaMalloc(&to, out.size() * sizeof(float)));
  OK(cudaMemcpy(from, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  const auto get = [&] { OK(cudaMemcpy(out.data(), to, out.size() * sizeof(float), cudaMemcpyDeviceToHost)); };
  const auto check = [&](const char* what, int blocks, int threads, int n, bool with_last) {
    get();
    for (int t = 0; t < blocks * threads; ++t) {
      float sum = 1, last = 12345;
      const int first = with_last ? t : t % threads, step = with_last ? blocks * threads : threads;
      for (int i = first; i < n; i += step) sum = sum * 0.5f + in[i], last = static_cast<float>(i * 2);
      if (with_last) sum += last;
      if (out[t] != sum) std::printf("%s: thread %d of %d x %d, %d elements\n", what, t, blocks, threads, n), ++wrong;
    }
  };
  for (const int n : {-5, 0, 1, 31, 255, 256, 257, 1000, 2999}) {
    sums<int><<<2, 256>>>(from, to, n);
    check("sums of int", 2, 256, n, false);
    sums<int><<<2, 100>>>(from, to, n);
    check("sums of int", 2, 100, n, false);
    grid_sums<int><<<3, 256>>>(from, to, n);
    check("grid_sums of int", 3, 256, n, true);
    shifted<<<1, dim3(64, 4)>>>(from, to, n);
    get();
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 64; ++x) {
        float sum = 0;
        for (int i = x + 5; i < n; i += 64) sum = sum / 4 + in[i - 5] * 2 + in[y + i];
        if (x % 2)
          for (int i = x; i < n; i += 64) sum += in[y + i];
        CHECK(out[y * 64 + x] == sum);
      }
    if (n < 0) continue;
    sums<unsigned><<<2, 64>>>(from, to, n);
    check("sums of unsigned", 2, 64, n, false);
    sums<std::size_t><<<1, 1024>>>(from, to, n);
    check("sums of size_t", 1, 1024, n, false);
    sums<long long><<<4, 33>>>(from, to, n);
    check("sums of long long", 4, 33, n, false);
    grid_sums<unsigned><<<5, 32>>>(from, to, n);
    check("grid_sums of unsigned", 5, 32, n, true);
    grid_sums<std::size_t><<<2, 128>>>(from, to, n);
    check("grid_sums of size_t", 2, 128, n, true);
  }
  struct Range {
    unsigned begin, end, step;
  };
  for (const Range r : {Range{0xfffff000u, 0xfffff700u, 256u}, Range{0x7ffff500u, 0x7fffff00u, 256u},
                        Range{0x7fffff00u, 0x80000100u, 128u}, Range{0u, 3000u, 0x80000000u}, Range{5u, 3u, 1u}}) {
    far_away<<<1, 256>>>(from, to, r.begin, r.end, r.step);
    get();
    for (unsigned t = 0; t < 256; ++t) {
      float sum = 1;
      for (unsigned i = r.begin + t; i < r.end; i += r.step) sum = sum * 0.5f + in[i - r.begin];
      if (out[t] != sum) std::printf("far_away from %x, thread %u\n", r.begin, t), ++wrong;
    }
  }
  return report();
}
