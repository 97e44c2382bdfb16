// What threads hand each other through shared memory and shuffles, step after step, in blocks that are short enough to
// become straight-line code: every step's values must be those of the step before. Against the same computed here.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#include "check.h"

constexpr int blocks = 3, most = 256;

template <class T, int N> __global__ void scan(const T* in, T* out) {
  __shared__ T s[N];
  const int t = threadIdx.x;
  T v = in[blockIdx.x * N + t];
  s[t] = v;
  __syncthreads();
  for (int k = 1; k < N; k *= 2) {
    const T u = t >= k ? s[t - k] : T(0);
    __syncthreads();
    v += u;
    s[t] = v;
    __syncthreads();
  }
  out[blockIdx.x * N + t] = v;
}
template <class T> __global__ void dynamic_scan(const T* in, T* out) {
  extern __shared__ unsigned char memory[];
  __shared__ T last;
  T* s = reinterpret_cast<T*>(memory);
  const int t = threadIdx.x, n = blockDim.x;
  s[t] = in[blockIdx.x * n + t];
  if (t == n - 1) last = s[t];
  __syncthreads();
  for (int k = 1; k < 64; k *= 2) {
    const T u = t >= k ? s[t - k] : T(0);
    __syncthreads();
    s[t] += u;
    __syncthreads();
  }
  out[blockIdx.x * n + t] = s[t] + last;
}
// A reduction in halves, one thread's part, and a value of the other end.
template <class T, int N> __global__ void halves(const T* in, T* out) {
  __shared__ T s[N];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * N + t];
  __syncthreads();
  for (int k = N / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  T v = s[N - 1 - t];
  __syncthreads();
  if (t == 0) s[5] = s[0];
  if (t == N - 1) s[6] = v;
  __syncthreads();
  out[blockIdx.x * N + t] = v + s[5] * T(2) + s[6];
}
template <class T> __global__ void shuffles(const T* in, T* out) {
  const int t = threadIdx.x;
  T v = in[blockIdx.x * most + t];
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
  const T first = __shfl_sync(~0u, v, 0);
  for (int k = 1; k < 32; k *= 2) v = v * T(3) + __shfl_xor_sync(~0u, v, k);
  for (int k = 1; k < 8; k *= 2) {
    const T u = __shfl_up_sync(~0u, v, k, 8);
    if (t % 8 >= k) v += u;
  }
  out[blockIdx.x * most + t] = v;
  if (t % 32 == 0) out[(blocks + blockIdx.x) * most + t] = first;
}
// Bytes that are written as one type and read as another; elements that only some threads write; a volatile one.
__global__ void views(const unsigned* in, unsigned* out) {
  __shared__ unsigned s[128];
  __shared__ volatile unsigned seen[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  seen[t] = s[t];
  __syncthreads();
  if (t % 2 == 0) reinterpret_cast<unsigned short*>(s)[t] = static_cast<unsigned short>(t * 7);
  __syncthreads();
  const unsigned char byte = reinterpret_cast<unsigned char*>(s)[4 * (127 - t) + 1];
  const unsigned long long pair = reinterpret_cast<unsigned long long*>(s)[t / 2];
  __syncthreads();
  if (t >= 17 && t < 101) s[t] = byte;
  __syncthreads();
  out[blockIdx.x * 128 + t] = s[(t + 9) & 127] + 3 * seen[127 - t] + static_cast<unsigned>(pair >> 16) + byte;
}
// A tile with a border; indices go through negative numbers.
__global__ void border(const float* in, float* out, int width, int up) {
  constexpr int n = 16;
  __shared__ float tile[n + 2][n + 2];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * n + tx + 1, y = blockIdx.y * n + ty + 1;
  const int pitch = width + 2;
  in -= up * pitch;
  tile[ty + 1][tx + 1] = in[(y + up) * pitch + x];
  if (tx == 0) tile[ty + 1][0] = in[(y + up) * pitch + x - 1];
  if (tx == n - 1) tile[ty + 1][n + 1] = in[(y + up) * pitch + x + 1];
  if (ty == 0) tile[0][tx + 1] = in[(y + up - 1) * pitch + x];
  if (ty == n - 1) tile[n + 1][tx + 1] = in[(y + up + 1) * pitch + x];
  __syncthreads();
  out[y * pitch + x] = tile[ty + 1][tx + 1] + 2 * (tile[ty][tx + 1] - tile[ty + 2][tx + 1]) +
                       4 * (tile[ty + 1][tx] - tile[ty + 1][tx + 2]);
}

template <class T> T* managed(std::size_t n) {
  T* p = nullptr;
  OK(cudaMallocManaged(&p, n * sizeof(T)));
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<T>(i * 37 % 19) - static_cast<T>(i % 5);
  return p;
}
template <class T> void same(const char* what, const T* got, const std::vector<T>& wanted) {
  OK(cudaDeviceSynchronize());
  int bad = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) bad += std::memcmp(&got[i], &wanted[i], sizeof(T)) != 0;
  if (bad)
    std::printf("%s, elements of %d bytes: %d of %d\n", what, static_cast<int>(sizeof(T)), bad,
                static_cast<int>(wanted.size()));
  CHECK(bad == 0);
}

template <class T, int N> void scans() {
  const T* in = managed<T>(blocks * N);
  T* out = managed<T>(blocks * N);
  scan<T, N><<<blocks, N>>>(in, out);
  std::vector<T> wanted(blocks * N);
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < N; ++t) wanted[b * N + t] = in[b * N + t] + (t ? wanted[b * N + t - 1] : T(0));
  same("scan", out, wanted);  // of small whole numbers: exact

  halves<T, N><<<blocks, N>>>(in, out);
  for (int b = 0; b < blocks; ++b) {
    std::vector<T> s(in + b * N, in + b * N + N);
    for (int k = N / 2; k > 0; k /= 2)
      for (int t = 0; t < k; ++t) s[t] += s[t + k];
    for (int t = 0; t < N; ++t) wanted[b * N + t] = s[N - 1 - t] + s[0] * T(2) + s[0];
  }
  same("halves", out, wanted);
}
template <class T> void dynamic_scans() {
  const T* in = managed<T>(blocks * 64);
  T* out = managed<T>(blocks * 64);
  dynamic_scan<T><<<blocks, 64, 64 * sizeof(T)>>>(in, out);
  std::vector<T> wanted(blocks * 64);
  for (int b = 0; b < blocks; ++b) {
    T sum = 0;
    for (int t = 0; t < 64; ++t) wanted[b * 64 + t] = (sum += in[b * 64 + t]) + in[b * 64 + 63];
  }
  same("dynamic scan", out, wanted);
}
template <class T> void all_shuffles() {
  const T* in = managed<T>(blocks * most);
  T* out = managed<T>(2 * blocks * most);
  shuffles<T><<<blocks, most>>>(in, out);
  std::vector<T> wanted(blocks * most), first;
  for (int w = 0; w < blocks * most; w += 32) {
    std::vector<T> v(in + w, in + w + 32), old;
    for (int k = 16; k > 0; k /= 2) {
      old = v;
      for (int l = 0; l < 32; ++l) v[l] += old[l + k < 32 ? l + k : l];
    }
    first.push_back(v[0]);
    for (int k = 1; k < 32; k *= 2) {
      old = v;
      for (int l = 0; l < 32; ++l) v[l] = old[l] * T(3) + old[l ^ k];
    }
    for (int k = 1; k < 8; k *= 2) {
      old = v;
      for (int l = 0; l < 32; ++l)
        if (l % 8 >= k) v[l] += old[l - k];
    }
    for (int l = 0; l < 32; ++l) wanted[w + l] = v[l];
  }
  same("shuffles", out, wanted);
  for (int w = 0; w < blocks * most / 32; ++w) CHECK(out[blocks * most + 32 * w] == first[w]);
}

int main() {
  scans<int, 256>();
  scans<float, 256>();
  scans<double, 128>();
  scans<unsigned char, 64>();
  scans<short, 32>();
  scans<long long, 16>();
  scans<int, 96>();
  dynamic_scans<int>();
  dynamic_scans<double>();
  all_shuffles<unsigned>();
  all_shuffles<unsigned long long>();
  all_shuffles<double>();

  const unsigned* in = managed<unsigned>(blocks * 128);
  unsigned* out = managed<unsigned>(blocks * 128);
  views<<<blocks, 128>>>(in, out);
  std::vector<unsigned> wanted;
  for (int b = 0; b < blocks; ++b) {
    std::vector<unsigned> s(in + b * 128, in + b * 128 + 128), old = s;
    for (int t = 0; t < 128; t += 2)
      reinterpret_cast<unsigned short*>(s.data())[t] = static_cast<unsigned short>(t * 7);
    std::vector<unsigned> bytes(128), pairs(128);
    for (int t = 0; t < 128; ++t) {
      unsigned long long pair;
      std::memcpy(&pair, s.data() + t / 2 * 2, 8);
      bytes[t] = reinterpret_cast<unsigned char*>(s.data())[4 * (127 - t) + 1];
      pairs[t] = static_cast<unsigned>(pair >> 16);
    }
    for (int t = 17; t < 101; ++t) s[t] = bytes[t];
    for (int t = 0; t < 128; ++t) wanted.push_back(s[(t + 9) & 127] + 3 * old[127 - t] + pairs[t] + bytes[t]);
  }
  same("views", out, wanted);

  constexpr int width = 64, pitch = width + 2;
  const float* picture = managed<float>(pitch * pitch);
  float* filtered = managed<float>(pitch * pitch);
  border<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(picture, filtered, width, -100);
  OK(cudaDeviceSynchronize());
  int bad = 0;
  for (int y = 1; y <= width; ++y)
    for (int x = 1; x <= width; ++x) {
      const float* p = picture + y * pitch + x;
      bad += filtered[y * pitch + x] != p[0] + 2 * (p[-pitch] - p[pitch]) + 4 * (p[-1] - p[1]);
    }
  CHECK(bad == 0);
  return report();
}
