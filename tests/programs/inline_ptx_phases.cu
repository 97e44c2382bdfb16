// Inline PTX: labels and branches, mbarrier objects and the bulk copies they count, directed roundings, and atomic
// operations of packed, half and vector types.
#include <cstdio>
#include <cstring>
#include <cuda/annotated_ptr>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/stream_ref>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CHECK(number, got, wanted)                                                                                     \
  if (!((got) == (wanted))) atomicAdd(&wrong[number], 1)

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// The steps of Collatz's sequence: a loop, a branch over an instruction, a value that both ways write.
__device__ int steps(unsigned n) {
  int r;
  asm("{\n"
      "  .reg .pred p, odd;\n"
      "  .reg .u32 x, bit;\n"
      "  mov.u32 x, %1;\n"
      "  mov.s32 %0, 0;\n"
      "AGAIN_%=:\n"
      "  setp.le.u32 p, x, 1;\n"
      "  @p bra DONE_%=;\n"
      "  and.b32 bit, x, 1;\n"
      "  setp.ne.u32 odd, bit, 0;\n"
      "  @odd bra ODD_%=;\n"
      "  shr.u32 x, x, 1;\n"
      "  bra.uni NEXT_%=;\n"
      "ODD_%=: mad.lo.u32 x, x, 3, 1;\n"
      "NEXT_%=:\n"
      "  @odd add.s32 %0, %0, 100;\n"
      "  add.s32 %0, %0, 1;\n"
      "  bra AGAIN_%=;\n"
      "DONE_%=:\n"
      "}"
      : "=r"(r)
      : "r"(n));
  return r;
}
__global__ void branches(int* wrong) {
  unsigned x = threadIdx.x + 1;
  int expected = 0;
  for (unsigned n = x; n > 1; n = n & 1 ? 3 * n + 1 : n / 2) expected += n & 1 ? 101 : 1;
  CHECK(0, steps(x), expected);
  // A value that comes in and goes out, untouched on one way.
  int kept = (int)x;
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 10; @!p bra L1; mul.lo.s32 %0, %0, 2; L1: }" : "+r"(kept));
  CHECK(1, kept, (int)(x < 10 ? 2 * x : x));
}

// Threads 32 and up fill, threads below take, in three phases of two objects.
__global__ void phases(int* wrong, const int* in) {
  __shared__ __align__(8) unsigned long long full, empty;
  __shared__ __align__(16) int tile[32];
  const int t = (int)threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&full)), "r"(1));
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&empty)), "r"(32));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  const auto wait = [](unsigned long long& object, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred P1;\n"
                 "LAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\n"
                 "bra LAB_WAIT;\n"
                 "DONE:\n"
                 "}" ::"r"(shared_address(&object)),
                 "r"(parity)
                 : "memory");
  };
  for (unsigned phase = 0; phase < 3; ++phase) {
    if (t == 32) {
      wait(empty, ~phase & 1);  // at once in the first phase
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full)), "r"(128)
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(tile)),
                   "l"(in + 32 * phase), "r"(128), "r"(shared_address(&full))
                   : "memory");
    } else if (t < 32) {
      wait(full, phase & 1);
      CHECK(2, tile[31 - t], (int)(32 * phase + 31 - t) * 7);
      unsigned long long state;
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(&empty)) : "memory");
      unsigned pending;
      asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
      CHECK(3, pending >= 1 && pending <= 32, true);
    }
  }
  __syncthreads();
  if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(&full)));
}

// cuda::barrier's own word.
__global__ void native(int* wrong, const int* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ __align__(16) int tile[64];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(tile)),
                   "l"(in + 16 * round), "r"(128), "r"(shared_address(cuda::device::barrier_native_handle(b)))
                   : "memory");
      cuda::device::memcpy_async_tx(tile + 32, in, cuda::aligned_size_t<16>(128), b);
      token = cuda::device::barrier_arrive_tx(b, 1, 256);
    } else {
      token = b.arrive();
    }
    b.wait(std::move(token));
    CHECK(4, tile[threadIdx.x % 32], (int)(16 * round + threadIdx.x % 32) * 7);
    CHECK(5, tile[32 + threadIdx.x % 32], (int)(threadIdx.x % 32) * 7);
    __syncthreads();
  }
}

// The same as functions.
__global__ void functions(int* wrong, const int* in, int* out) {
  namespace ptx = cuda::ptx;
  __shared__ __align__(8) std::uint64_t object;
  __shared__ __align__(16) int tile[32];
  if (ptx::get_sreg_tid_x() == 0) ptx::mbarrier_init(&object, blockDim.x);
  __syncthreads();
  std::uint64_t state;
  if (threadIdx.x < 32 && ptx::elect_sync(~0u)) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof tile, &object);
    state = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &object, sizeof tile);
  } else {
    state = ptx::mbarrier_arrive(&object);
  }
  while (!ptx::mbarrier_try_wait(&object, state)) {}
  CHECK(26, ptx::mbarrier_test_wait_parity(&object, 0), true);
  CHECK(27, tile[threadIdx.x % 32], (int)(threadIdx.x % 32) * 7);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    cuda::annotated_ptr<int, cuda::access_property::persisting> last(out);
    CHECK(28, last[31], 31 * 7);
  }
}

template <class T> __device__ bool same(T a, T b) { return memcmp(&a, &b, sizeof a) == 0; }
__global__ void roundings(int* wrong, float f, float g, double d, double e, int i, long long l) {
  float x;
  double y;
  unsigned short h;
#define ROUND(number, text, bits, type, result, name, in1, in2, a, b)                                                  \
  asm(text ".rz." type " %0, %1, %2;" : "=" bits(result) : in1(a), in2(b));                                            \
  CHECK(number, same(result, name##_rz(a, b)), true);                                                                  \
  asm(text ".rm." type " %0, %1, %2;" : "=" bits(result) : in1(a), in2(b));                                            \
  CHECK(number, same(result, name##_rd(a, b)), true);                                                                  \
  asm(text ".rp." type " %0, %1, %2;" : "=" bits(result) : in1(a), in2(b));                                            \
  CHECK(number, same(result, name##_ru(a, b)), true)
  ROUND(6, "add", "f", "f32", x, __fadd, "f", "f", f, g);
  ROUND(7, "sub", "f", "f32", x, __fsub, "f", "f", f, g);
  ROUND(8, "mul", "f", "f32", x, __fmul, "f", "f", f, g);
  ROUND(9, "div", "f", "f32", x, __fdiv, "f", "f", f, g);
  ROUND(10, "add", "d", "f64", y, __dadd, "d", "d", d, e);
  ROUND(11, "mul", "d", "f64", y, __dmul, "d", "d", d, e);
  asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(f), "f"(g), "f"(0.1f));
  CHECK(12, same(x, __fmaf_rz(f, g, 0.1f)), true);
  asm("fma.rp.f64 %0, %1, %2, %3;" : "=d"(y) : "d"(d), "d"(e), "d"(0.1));
  CHECK(13, same(y, __fma_ru(d, e, 0.1)), true);
  asm("sqrt.rm.f32 %0, %1;" : "=f"(x) : "f"(f * f));
  CHECK(14, same(x, __fsqrt_rd(f * f)), true);
  asm("rcp.rp.f64 %0, %1;" : "=d"(y) : "d"(d));
  CHECK(15, same(y, __drcp_ru(d)), true);
  asm("cvt.rm.f32.f64 %0, %1;" : "=f"(x) : "d"(d));
  CHECK(16, same(x, __double2float_rd(d)), true);
  asm("cvt.rz.f32.s32 %0, %1;" : "=f"(x) : "r"(i));
  CHECK(17, same(x, __int2float_rz(i)), true);
  asm("cvt.rp.f64.s64 %0, %1;" : "=d"(y) : "l"(l));
  CHECK(18, same(y, __ll2double_ru(l)), true);
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  CHECK(19, h, __half_as_ushort(__float2half_rz(f)));
}

__global__ void atomics(int* wrong, unsigned* packed, float* four) {
  const unsigned one_two = 0x40003c00u;  // {1, 2}
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(packed), "r"(one_two) : "memory");
  unsigned short old;
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;"
               : "=h"(old)
               : "l"(packed + 1), "h"((unsigned short)0x3c00)
               : "memory");
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(packed + 2), "r"(0x40003f80u) : "memory");
  asm volatile("red.global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(four), "f"(1.0f), "f"(2.0f), "f"(3.0f), "f"(4.0f)
               : "memory");
  unsigned leader, lane = threadIdx.x % 32, is;
  if (lane >= 4) {
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(is));
    CHECK(20, leader, 4u);
    CHECK(21, is, lane == 4 ? 1u : 0u);
  }
  __syncthreads();
  CHECK(22, packed[0], 0x58005400u);  // {64, 128}
  CHECK(23, packed[1], 0x5400u);
  CHECK(24, packed[2], 0x43004280u);
  CHECK(25, four[3], 256.0f);
}

int main() {
  int *wrong, *in, h[32], values[96], failed = 0;
  unsigned* words;
  for (int i = 0; i < 96; ++i) values[i] = 7 * i;
  cudaMalloc(&wrong, sizeof h);
  cudaMalloc(&in, sizeof values);
  cudaMalloc(&words, 64);
  cudaMemset(wrong, 0, sizeof h);
  cudaMemset(words, 0, 64);
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  branches<<<1, 64>>>(wrong);
  phases<<<2, 64>>>(wrong, in);
  native<<<2, 64>>>(wrong, in);
  for (float f : {1.1f, -3.7f, 1e-3f})
    roundings<<<1, 1>>>(wrong, f, 0.3f, f * 1.1, 0.7, 123456789, 1234567890123456789ll);
  atomics<<<1, 64>>>(wrong, words, (float*)(words + 4));
  functions<<<1, 64>>>(wrong, in, in + 64);
  cuda::stream_ref(cudaStream_t()).wait();
  const cudaError_t error = cudaMemcpy(h, wrong, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i)
    if (h[i]) failed = 1, std::printf("check %d is wrong %d times\n", i, h[i]);
  std::printf("%s\n", cudaGetErrorString(error));
  return failed || error != cudaSuccess;
}
