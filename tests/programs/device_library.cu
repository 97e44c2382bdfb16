// Functions and headers of device code that are there for programs' sake rather than the language's: nvstd::function,
// vprintf, texts of errors, row-wise copies, special registers as PTX spells them, the rarer intrinsics of halves.
#include <cstdarg>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nvfunctional>
#include <string>
#include <unistd.h>

#include "check.h"

struct Big {
  int a[20];
  __host__ __device__ int operator()(int x) const { return x + a[19]; }
};
struct Counted {  // copies and moves are counted: as many destroyed as made
  int* alive;
  __device__ explicit Counted(int* a) : alive(a) { ++*alive; }
  __device__ Counted(const Counted& o) : alive(o.alive) { ++*alive; }
  __device__ ~Counted() { --*alive; }
  __device__ int operator()(int x) const { return *alive > 0 ? x : -1; }
};
__device__ int twice(int x) { return 2 * x; }
__device__ int apply(nvstd::function<int(int)> f, int x) { return f(x); }

__global__ void functions(int* o) {
  const int a = 5 + threadIdx.x;
  nvstd::function<int(int)> f = [=](int x) { return x + a; }, g;
  o[0] = f(3), o[1] = (bool)g;
  g = f;
  f = nullptr;
  o[2] = g(1), o[3] = f == nullptr;
  swap(f, g);
  o[4] = f(2);
  Big b;
  b.a[19] = 7;
  f = b;
  g = std::move(f);
  o[5] = g(1), o[6] = (bool)f;
  f = twice;
  o[7] = apply(f, 8), o[8] = apply([](int x) { return x * x; }, 4);
  nvstd::function<void()> v = [&] { o[9] = 9; };
  v();
  int alive = 0;
  {
    Counted c(&alive);
    nvstd::function<int(int)> h = c, i = h, j;
    j = i;
    i = std::move(h);
    o[10] = j(1) + i(1) + apply(j, 1);
  }
  o[11] = alive;
}

__device__ void log(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
}
__global__ void logs() {
  log("%d %s %f %lld %c%%|", 1, "two", 3.5, 1ll << 40, '5');
  log("none|");
  log("%*d|%.*f|%5s|", 4, 7, 2, 1.2345, "ab");
  log("%d %d %d %d %d %d %d %g %g %g %g %g %g %g %g %g\n", 1, 2, 3, 4, 5, 6, 7, 1., 2., 3., 4., 5., 6., 7., 8., 9.);
}
static std::string printed() {
  int pipe_ends[2];
  if (pipe(pipe_ends)) return "";
  std::fflush(stdout);
  const int kept = dup(1);
  dup2(pipe_ends[1], 1);
  logs<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  std::fflush(stdout);
  dup2(kept, 1);
  close(kept), close(pipe_ends[1]);
  char text[512];
  const ssize_t n = read(pipe_ends[0], text, sizeof text);
  close(pipe_ends[0]);
  return std::string(text, n > 0 ? n : 0);
}

__global__ void texts(char* name, char* sentence) {
  strcpy(name, cudaGetErrorName(cudaErrorNotReady));
  strcpy(sentence, cudaGetErrorString(cudaErrorInvalidValue));
}
__global__ void rows(int* to, const int* from, cudaError_t* error) {
  error[0] = cudaMemcpy2DAsync(to, 16, from, 32, 12, 3, cudaMemcpyDeviceToDevice, 0);
  error[1] = cudaMemset2DAsync(to + 16, 16, 1, 4, 2, 0);
  error[2] = cudaMemset2DAsync(to + 16, 16, 1, 20, 2, 0);
}

__global__ void __cluster_dims__(2, 1, 1) special(unsigned* o) {
  unsigned lane, rank, in_cluster, clusters;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));  // one per cent sign, as nvcc accepts
  asm("{ .reg .u32 t; mov.u32 t, %cluster_ctarank; add.u32 %0, t, %%cluster_nctarank; }" : "=r"(rank));
  asm("mov.u32 %0, %cluster_ctaid.x;" : "=r"(in_cluster));
  asm("mov.u32 %0, %nclusterid.x;" : "=r"(clusters));
  if (threadIdx.x == 7) o[blockIdx.x] = lane + 100 * rank + 1000 * in_cluster + 10000 * clusters;
}

template <class T, class T2> __global__ void halves(unsigned* o) {
  const T nan = T(__int_as_float(0x7fc00000)), one = T(1.0f), two = T(2.0f);
  const T2 a(one, nan), b(two, one);
  o[0] = __hne2_mask(a, b), o[1] = __hneu2_mask(a, b), o[2] = __hltu2_mask(a, b), o[3] = __hgt2_mask(b, a);
  T2 c(one, two);
  const T2 d = c++;
  --c, ++c;
  o[4] = (unsigned)(float)c.x * 10 + (unsigned)(float)c.y, o[5] = (unsigned)(float)d.y;
  o[6] = (unsigned)(100 * (float)htanh_approx(T(10.0f))) + (unsigned)(100 * (float)h2tanh_approx(T2(one, T(-0.0f))).y);
  bool high, low;
  o[7] = __vibmax_s16x2(0x0005fffeu, 0x00060001u, &high, &low) + high * 2 + low;
  o[8] = __vibmin_u16x2(0x0005fffeu, 0x00060001u, &high, &low) + high * 2 + low;
}

int main() {
  int* o;
  OK(cudaMallocManaged(&o, 4096));
  functions<<<1, 1>>>(o);
  OK(cudaDeviceSynchronize());
  const int wanted[] = {8, 0, 6, 1, 7, 8, 0, 16, 16, 9, 3, 0};
  for (int i = 0; i < 12; ++i)
    if (o[i] != wanted[i]) std::printf("function %d: %d, not %d\n", i, o[i], wanted[i]), ++wrong;
  int here = 3;
  const nvstd::function<int()> h = [&] { return here; };
  here = 4;
  CHECK(h() == 4);

  const std::string text = printed();
  if (text != "1 two 3.500000 1099511627776 5%|none|   7|1.23|   ab|1 2 3 4 5 6 7 1 2 3 4 5 6 7 8 9\n")
    std::printf("vprintf wrote: %s\n", text.c_str()), ++wrong;

  char* t;
  OK(cudaMallocManaged(&t, 4096));
  texts<<<1, 1>>>(t, t + 1024);
  OK(cudaDeviceSynchronize());
  CHECK(!std::strcmp(t, "cudaErrorNotReady") && !std::strcmp(t + 1024, cudaGetErrorString(cudaErrorInvalidValue)));

  for (int i = 0; i < 64; ++i) o[i] = 100 + i, o[64 + i] = 0;
  cudaError_t* errors = (cudaError_t*)(o + 512);
  rows<<<1, 1>>>(o + 64, o, errors);
  OK(cudaDeviceSynchronize());
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < 4; ++i) CHECK(o[64 + 4 * r + i] == (i < 3 ? 100 + 8 * r + i : 0));
  CHECK(o[80] == 0x01010101 && o[81] == 0 && o[84] == 0x01010101 && o[88] == 0);
  CHECK(errors[0] == cudaSuccess && errors[1] == cudaSuccess && errors[2] == cudaErrorInvalidPitchValue);

  special<<<4, 32>>>((unsigned*)o);
  OK(cudaDeviceSynchronize());
  for (int b = 0; b < 4; ++b) CHECK(o[b] == 7 + 100 * (b % 2 + 2) + 1000 * (b % 2) + 20000);

  for (int type = 0; type < 2; ++type) {
    if (type)
      halves<__nv_bfloat16, __nv_bfloat162><<<1, 1>>>((unsigned*)o);
    else
      halves<__half, __half2><<<1, 1>>>((unsigned*)o);
    OK(cudaDeviceSynchronize());
    const unsigned masks[] = {0xffffu, 0xffffffffu, 0xffffffffu, 0xffffu, 23, 2, 100, 0x00060001u, 0x00050001u + 2};
    for (int i = 0; i < 9; ++i)
      if ((unsigned)o[i] != masks[i]) std::printf("halves %d %d: %x, not %x\n", type, i, o[i], masks[i]), ++wrong;
  }
  return report();
}
