// Inline PTX against the same computation in C++.
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(number, got, wanted)                                                                                     \
  if ((got) != (wanted)) atomicAdd(&wrong[number], 1)

__global__ void scalar(int* wrong, int a, int b, unsigned u, unsigned v, unsigned long long w, float f, float g,
                       double d) {
  int r;
  unsigned x;
  unsigned long long l;
  float y;
  asm("mul.hi.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  CHECK(0, r, __mulhi(a, b));
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(l) : "r"(u), "r"(v), "l"(w));
  CHECK(1, l, (unsigned long long)u * v + w);
  asm("{ .reg .u32 lo, hi; add.cc.u32 lo, %1, %2; addc.u32 hi, 3, 4; mov.b64 %0, {lo, hi}; }"
      : "=l"(l)
      : "r"(u), "r"(v));
  CHECK(2, l, ((unsigned long long)u + v) + (7ull << 32));
  asm("{\n\t.reg .b32 t<3>;\n\tmov.b64 {t1, t2}, %1;\n\txor.b32 %0, t1, t2; // comment\n\t}" : "=r"(x) : "l"(w));
  CHECK(3, x, (unsigned)w ^ (unsigned)(w >> 32));
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(x) : "r"(u), "r"(v), "r"(a));
  CHECK(4, x, (u & v) | (~u & a));
  asm("prmt.b32 %0, %1, %2, 0x7531;" : "=r"(x) : "r"(u), "r"(v));
  CHECK(5, x, __byte_perm(u, v, 0x7531));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(x) : "r"(u), "r"(v), "n"(13));
  CHECK(6, x, __funnelshift_l(u, v, 13));
  asm("shf.r.clamp.b32 %0, %1, %2, 40;" : "=r"(x) : "r"(u), "r"(v));
  CHECK(7, x, v);
  asm("bfe.u32 %0, %1, 5, 9;" : "=r"(x) : "r"(u));
  CHECK(8, x, u >> 5 & 511);
  asm("bfe.s32 %0, %1, 28, 60;" : "=r"(r) : "r"(u));
  CHECK(9, r, (int)u >> 28);
  asm("bfi.b32 %0, %1, %2, 8, 7;" : "=r"(x) : "r"(u), "r"(v));
  CHECK(10, x, (v & ~(127u << 8)) | (u & 127) << 8);
  asm("bfind.u32 %0, %1;" : "=r"(x) : "r"(v));
  CHECK(11, x, 31u - __clz(v));
  asm("shl.b32 %0, %1, 40;" : "=r"(x) : "r"(u));
  CHECK(12, x, 0u);
  asm("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(y) : "f"(f), "f"(g));
  CHECK(13, y, __fmaf_rn(f, g, 1.0f));
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(f));
  CHECK(14, r, __float2int_rn(f));
  asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(x) : "d"(-d));
  CHECK(15, x, 0u);
  asm("{ .reg .pred p, q; setp.ge.s32 p|q, %1, 5; @p mov.u32 %0, 1; @q mov.u32 %0, 2; }" : "=r"(r) : "r"(a));
  CHECK(16, r, a >= 5 ? 1 : 2);
  asm("{ .reg .pred %%p1; setp.lt.f32 %%p1, %1, %2; selp.s32 %0, 11, 22, %%p1; }" : "=r"(r) : "f"(f), "f"(g));
  CHECK(17, r, f < g ? 11 : 22);
  short h;
  asm("add.s16 %0, %1, %2;" : "=h"(h) : "h"((short)a), "h"((short)b));
  CHECK(18, h, (short)(a + b));
  asm volatile("mad.lo.u32 %0, %1, 3, %0;" : "+r"(x) : "r"(u));
  CHECK(19, x, u * 3);
  asm("prmt.b32.b4e %0, %1, %2, 1;" : "=r"(x) : "r"(u), "r"(v));
  CHECK(29, x, __byte_perm(u, v, 0x6701));
  asm("prmt.b32.ecl %0, %1, %2, 6;" : "=r"(x) : "r"(u), "r"(v));
  CHECK(29, x, __byte_perm(u, v, 0x3222));
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(x) : "r"(u), "r"(v), "r"(7));
  CHECK(30, (int)x, (short)u * (int)(v >> 16 & 255) + (short)(u >> 16) * (int)(v >> 24) + 7);
}

// What is too large or too small for its part is the nearest value that isn't.
__global__ void packing(int* wrong, int a, int b, int c) {
  unsigned x;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));
  CHECK(31, x, 0x7ffffffbu);
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(x) : "r"(a), "r"(b), "r"(c));
  CHECK(31, x, 0x3344ff00u);
}

__device__ int kind_of(const void* p) {
  int r;
  asm("{ .reg .pred s, g, l; isspacep.shared s, %1; isspacep.global g, %1; isspacep.local l, %1; selp.s32 %0, 1, 0, "
      "s;\n"
      "@g add.s32 %0, %0, 2; @l add.s32 %0, %0, 4; }"
      : "=&r"(r)
      : "l"(p));
  return r;
}
__global__ void spaces(int* wrong, int* global) {
  __shared__ int shared[4];
  int local[4];
  local[global[threadIdx.x]] = shared[threadIdx.x & 3] = 1;
  __syncthreads();
  CHECK(32, kind_of(&shared[threadIdx.x & 3]), 1);
  CHECK(32, kind_of(global + threadIdx.x), 2);
  CHECK(32, kind_of(&local[global[threadIdx.x] & 3]), 4);
}

__global__ void together(int* wrong, int* data) {
  __shared__ int s[64];
  const unsigned t = threadIdx.x;
  unsigned tid, lane, up, ballot, total, last;
  asm("mov.u32 %0, %%tid.x;" : "=r"(tid));
  CHECK(20, tid, t);
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  CHECK(21, lane, t % 32);
  asm volatile("st.shared.u32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(&s[t])), "r"(t * 3) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  int other, next;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(other) : "r"((unsigned)__cvta_generic_to_shared(&s[63 - t])));
  CHECK(22, other, (int)(63 - t) * 3);
  asm volatile("ld.global.nc.s32 %0, [%1+4];" : "=r"(next) : "l"(data + t));
  CHECK(23, next, data[t + 1]);
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, 2, 0x0, -1; @!p mov.u32 %0, 777; }" : "=r"(up) : "r"(t));
  CHECK(24, up, lane < 2 ? 777 : t - 2);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(ballot) : "r"(lane));
  CHECK(25, ballot, 31u);
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(total) : "r"(lane));
  CHECK(26, total, 496u);
  asm volatile("atom.global.add.u32 %0, [%1], 2;" : "=r"(last) : "l"(data + 100) : "memory");
  asm volatile("red.global.max.s32 [%0], %1;" ::"l"(data + 101), "r"((int)t) : "memory");
  asm volatile("membar.gl;" ::: "memory");
  __syncthreads();
  CHECK(27, data[100], 128);
  CHECK(28, data[101], 63);
}

// The thread ends where it is: two calls deep, in a loop, before a barrier.
__device__ __noinline__ void end_if(bool ends) {
  if (ends) asm volatile("exit;");
}
__device__ int count_to(int end) {
  int n = 0;
  for (; n < 100; ++n) end_if(n == end);
  return n;
}
__global__ void threads_end(int* data) {
  const int t = threadIdx.x;
  data[t] = 1;
  if (t >= 32) count_to(t);
  __syncthreads();
  data[t] = t < 32 && data[63 - t] == 1 ? 2 : 3;
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 16; @p exit; }" ::"r"(t));
  data[t] = 4;
}

int main() {
  int *wrong, *data, h[33], failed = 0;
  cudaMalloc(&wrong, sizeof h);
  cudaMalloc(&data, 512);
  cudaMemset(wrong, 0, sizeof h);
  cudaMemset(data, 0, 512);
  for (int a : {-123456789, 3, 77})
    scalar<<<1, 1>>>(wrong, a, 987654, 0xdeadbeefu, 0x00012345u, 0xfedcba9876543210ull, a * 0.37f, -0.3f, 2.75);
  packing<<<1, 1>>>(wrong, 70000, -5, 0x11223344);
  spaces<<<1, 64>>>(wrong, data);
  together<<<1, 64>>>(wrong, data);
  cudaError_t error = cudaMemcpy(h, wrong, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 33; ++i)
    if (h[i]) failed = 1, std::printf("instruction %d is wrong %d times\n", i, h[i]);
  int ends[64];
  threads_end<<<1, 64>>>(data);
  if (error == cudaSuccess) error = cudaMemcpy(ends, data, sizeof ends, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i)
    if (ends[i] != (i < 16 ? 2 : i < 32 ? 4 : 1)) failed = 1, std::printf("thread %d ended at %d\n", i, ends[i]);
  std::printf("%s\n", cudaGetErrorString(error));
  return failed || error != cudaSuccess;
}
