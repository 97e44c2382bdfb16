// Indices that go on in strides and wrap around in few bits: each thread reads its own element, whatever vectors it is
// in. So do the iterations of loops in host code.
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

template <int stride, int wrap> __global__ void by_remainder(int* out, const int* in) {
  __shared__ int shared[256];
  const int t = threadIdx.x;
  shared[t] = in[t];
  __syncthreads();
  out[t] = shared[(t * stride) % wrap];
}
template <int stride, int wrap> __global__ void by_mask(int* out, const int* in) {
  const unsigned t = threadIdx.x;
  out[t] = in[(t * stride + 1) & (wrap - 1)];
}
template <int stride> __global__ void by_type(int* out, const int* in) {
  out[threadIdx.x] = in[static_cast<unsigned char>(threadIdx.x * stride)];
}
template <int stride> __global__ void by_signed_type(int* out, const int* in) {
  out[threadIdx.x] = in[128 + static_cast<signed char>(threadIdx.x * stride)];
}
template <int stride, int wrap> __attribute__((noinline)) void on_host(int* out, const int* in, unsigned count) {
  for (unsigned t = 0; t < count; ++t) out[t] = in[(t * stride) % wrap];
}

static int *in, *out;
static void expect(const char* what, int stride, int wrap, int threads, int (*index)(int, int, int)) {
  OK(cudaDeviceSynchronize());
  int bad = 0;
// Not what is tested: one by one.
#pragma clang loop vectorize(disable)
  for (int t = 0; t < threads; ++t) bad += out[t] != in[index(t, stride, wrap)];
  if (bad) std::printf("%s, stride %d, wrap %d: %d of %d threads\n", what, stride, wrap, bad, threads);
  CHECK(bad == 0);
}

template <int stride, int wrap> static void row() {
  for (int threads = wrap; threads <= 256; threads *= 2) {
    by_remainder<stride, wrap><<<1, threads>>>(out, in);
    expect("remainder", stride, wrap, threads, [](int t, int s, int w) { return t * s % w; });
    by_mask<stride, wrap><<<1, threads>>>(out, in);
    expect("mask", stride, wrap, threads, [](int t, int s, int w) { return (t * s + 1) & (w - 1); });
    by_type<stride><<<1, threads>>>(out, in);
    expect("type", stride, 256, threads, [](int t, int s, int) { return t * s & 255; });
    by_signed_type<stride><<<1, threads>>>(out, in);
    expect("signed type", stride, 256, threads,
           [](int t, int s, int) { return 128 + static_cast<signed char>(t * s); });
    on_host<stride, wrap>(out, in, threads);
    expect("on the host", stride, wrap, threads, [](int t, int s, int w) { return t * s % w; });
  }
}

int main() {
  OK(cudaMallocManaged(&in, 256 * sizeof(int)));
  OK(cudaMallocManaged(&out, 256 * sizeof(int)));
  for (int i = 0; i < 256; ++i) in[i] = i + 1000;
  row<1, 32>(), row<2, 32>(), row<3, 32>(), row<5, 32>(), row<7, 32>();
  row<3, 64>(), row<4, 64>(), row<5, 64>(), row<6, 64>(), row<7, 64>(), row<3, 128>();
  return report();
}
