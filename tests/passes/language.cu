// What the early lowering does: built-in variables, shared memory, arithmetic, printf, assert, heap.
#include "device.h"
struct Index {
  unsigned t[3], b[3], bd[3], gd[3];
};
extern "C" __global__ void indices(Index* out) {
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const uint3& t = threadIdx;  // by reference
  const dim3 bd = blockDim;    // as a whole
  Index& i = out[block * (bd.x * bd.y * bd.z) + thread];
  i = {{t.x, t.y, t.z}, {blockIdx.x, blockIdx.y, blockIdx.z}, {bd.x, bd.y, bd.z}, {gridDim.x, gridDim.y, gridDim.z}};
}
__device__ __attribute__((noinline)) unsigned out_of_line(unsigned k) {
  return threadIdx.x + 10 * k + (k ? out_of_line(k - 1) : blockIdx.x);
}
extern "C" __global__ void calls(unsigned* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = out_of_line(2); }
__device__ __attribute__((noinline)) unsigned target_a(unsigned k) { return threadIdx.x + k; }
__device__ __attribute__((noinline)) unsigned target_b(unsigned k) { return blockDim.x * 100 + threadIdx.x + k; }
extern "C" __global__ void pointers(unsigned* out) {
  unsigned (*volatile f)(unsigned) = threadIdx.x & 1 ? target_a : target_b;
  out[threadIdx.x] = f(1000);
}
struct Base {
  __device__ virtual unsigned get() { return 1; }
};
struct Derived : Base {
  unsigned v;
  __device__ unsigned get() override { return threadIdx.x + v; }
};
extern "C" __global__ void virtuals(unsigned* out) {
  Derived d;
  d.v = 5;
  Base* volatile b = &d;
  out[threadIdx.x] = b->get();
}
extern "C" __global__ void private_memory(int* out, int n) {
  int local[16];
  for (int i = 0; i < 16; ++i) local[i] = i * threadIdx.x;
  local[n & 15] += 1;
  out[threadIdx.x] = local[(n + threadIdx.x) & 15];
}

// Shared memory.
__device__ int* helper() {
  __shared__ int in_helper[8];
  return in_helper;
}
extern __shared__ int dynamic[];
extern "C" __global__ void shared_one(unsigned long* out) {
  __shared__ char a[3];
  __shared__ alignas(8) double b;
  out[0] = reinterpret_cast<unsigned long>(a);
  out[1] = reinterpret_cast<unsigned long>(&b);
  out[2] = reinterpret_cast<unsigned long>(helper());
  out[3] = reinterpret_cast<unsigned long>(dynamic);
}
extern "C" __global__ void shared_two(unsigned long* out) {
  __shared__ char a[100];
  out[0] = reinterpret_cast<unsigned long>(a);
  out[1] = 0;
  out[2] = reinterpret_cast<unsigned long>(helper());
  out[3] = reinterpret_cast<unsigned long>(dynamic);
}
extern "C" __global__ void shared_three(unsigned long* out) {
  extern __shared__ alignas(16) double other[];
  out[0] = out[1] = out[2] = 0;
  out[3] = reinterpret_cast<unsigned long>(other);
}

// Arithmetic that C++ leaves undefined.
extern "C" __global__ void divide(const int* a, const int* b, int* q, int* r, unsigned* uq, unsigned* ur) {
  int i = threadIdx.x;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
  uq[i] = unsigned(a[i]) / unsigned(b[i]);
  ur[i] = unsigned(a[i]) % unsigned(b[i]);
}
extern "C" __global__ void divide_together(int x, int y, int* q) {
  q[0] = x / y;
  q[1] = x % y;
}
extern "C" __global__ void divide64(const long* a, const long* b, long* q, long* r) {
  int i = threadIdx.x;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
}
extern "C" __global__ void convert_double(const double* a, int* i32, unsigned* u32, long* i64, unsigned char* u8,
                                          signed char* i8) {
  int i = threadIdx.x;
  i32[i] = int(a[i]);
  u32[i] = unsigned(a[i]);
  i64[i] = long(a[i]);
  u8[i] = (unsigned char)a[i];
  i8[i] = (signed char)a[i];
}
extern "C" __global__ void shift(const int* a, const int* n, int* l, int* r, unsigned* ur, long* l64, long* r64) {
  int i = threadIdx.x;
  l[i] = a[i] << n[i];
  r[i] = a[i] >> n[i];
  ur[i] = unsigned(a[i]) >> n[i];
  l64[i] = long(a[i]) << n[i];
  r64[i] = long(a[i]) >> n[i];
}
extern "C" __global__ void convert(const float* a, int* i32, unsigned* u32, long* i64, unsigned long* u64) {
  int i = threadIdx.x;
  i32[i] = int(a[i]);
  u32[i] = unsigned(a[i]);
  i64[i] = long(a[i]);
  u64[i] = (unsigned long)(a[i]);
}

extern "C" __global__ void prints(int x) {
  printf("plain\n");
  printf("%d %f %s %c %lld %u\n", x, 1.5f, "text", 'c', -7ll, ~0u);
}
extern "C" __global__ void asserts(int x) {
  if (threadIdx.x == 2) __assert_fail("x > 0", "file", 3, "f");
}
extern "C" __global__ void heap(int** out) {
  out[threadIdx.x] = static_cast<int*>(malloc(4));
  *out[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void heap_cpp(int* out) {
  int* p = new int(threadIdx.x);
  out[threadIdx.x] = *p + 1;
  delete p;
}

__device__ int variable = 7;
__constant__ int table[4] = {1, 2, 3, 4};
static __device__ int internal[2];
__managed__ int managed = 3;
__device__ const int never_changes = 11;
extern "C" __global__ void variables(int* out) {
  out[threadIdx.x] = variable + table[threadIdx.x & 3] + internal[0] + managed + *(volatile const int*)&never_changes;
  if (threadIdx.x == 0) internal[1] = 9;
}
extern "C" __global__ void __launch_bounds__(128, 2, 4) __cluster_dims__(2, 1) qualified() {}
template <int N> __global__ void __launch_bounds__(N) bounded(int) {}
template __global__ void bounded<96>(int);
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void counts(int n, const unsigned char* data, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    __atomic_fetch_add(&bins[data[i]], 1u, __ATOMIC_RELAXED);
}

// Accesses that a GPU refuses.
struct alignas(16) Quad {
  float v[4];
};
extern "C" __global__ void misaligned_int(const char* p, int* out) {
  out[threadIdx.x] = reinterpret_cast<const int*>(p)[threadIdx.x];
}
extern "C" __global__ void misaligned_quad(const float* p, Quad* out) {
  out[threadIdx.x] = *reinterpret_cast<const Quad*>(p + 4 * threadIdx.x);
}
extern "C" __global__ void misaligned_not_taken(const char* p, int* out, int n) {
  if (static_cast<int>(threadIdx.x) < n) out[threadIdx.x] = reinterpret_cast<const int*>(p)[threadIdx.x];
}
__device__ __attribute__((noinline)) int load_long(const char* p) {
  return static_cast<int>(*reinterpret_cast<const long*>(p + threadIdx.x));
}
extern "C" __global__ void misaligned_pointer(const char* p, int* out) {
  int (*volatile f)(const char*) = load_long;
  out[threadIdx.x] = f(p);
}
extern "C" __global__ void aligned_bytes(const char* p, int* out) {
  out[threadIdx.x] = p[threadIdx.x] + p[threadIdx.x + 1];
}
