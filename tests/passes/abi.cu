// Every parameter type in several positions: what the lanes saw is copied out, and one copy is changed by each lane.
#include "abi_types.h"
#include "device.h"
struct Out {
  unsigned char* values;       // 7 * sizeof(T)
  unsigned char* first_bytes;  // per lane: the first byte of `a` before the lane changed it
  int* others;                 // the scalars between
};
template <class T> __device__ void copy_out(unsigned char* to, const T& from) {
  for (unsigned i = 0; i < sizeof(T); ++i) to[i] = reinterpret_cast<const unsigned char*>(&from)[i];
}
#define KERNEL(name, T)                                                                                                \
  extern "C" __global__ void abi_##name(char lead, T a, float between, T b, bool yes, T c, T d, short s, T e, T f,     \
                                        T g, Out out) {                                                                \
    unsigned char* first = reinterpret_cast<unsigned char*>(&a);                                                       \
    out.first_bytes[blockIdx.x * blockDim.x + threadIdx.x] = *first;                                                   \
    if (threadIdx.x == 0 && blockIdx.x == 0) {                                                                         \
      copy_out(out.values, a);                                                                                         \
      copy_out(out.values + sizeof(T), b);                                                                             \
      copy_out(out.values + 2 * sizeof(T), c);                                                                         \
      copy_out(out.values + 3 * sizeof(T), d);                                                                         \
      copy_out(out.values + 4 * sizeof(T), e);                                                                         \
      copy_out(out.values + 5 * sizeof(T), f);                                                                         \
      copy_out(out.values + 6 * sizeof(T), g);                                                                         \
      out.others[0] = lead;                                                                                            \
      out.others[1] = static_cast<int>(between);                                                                       \
      out.others[2] = yes;                                                                                             \
      out.others[3] = s;                                                                                               \
    }                                                                                                                  \
    *const_cast<volatile unsigned char*>(first) = static_cast<unsigned char>(*first + 1 + threadIdx.x);                \
  }
ABI_TYPES(KERNEL)
extern "C" __global__ void abi_bool(bool a, bool b, bool c, int* out) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
}
// The parameter's own address, the same for all threads.
extern "C" __global__ void abi_grid_constant(const __grid_constant__ types::Big big, long* out) {
  out[threadIdx.x] = big.v[threadIdx.x];
}
extern "C" __global__ void abi_indexed(types::Big big, long* out) { out[threadIdx.x] = big.v[19 - threadIdx.x]; }
template <class F> __global__ void call(F f, int* out) { out[threadIdx.x] = f(threadIdx.x); }
struct Functor {
  int k;
  int* p;
  __device__ int operator()(int i) const { return k * i + *p; }
};
template __global__ void call<Functor>(Functor, int*);
// Semantic analysis doesn't see what the plugin does to a kernel's type.
template <class T> __global__ void by_address(T* p) { *p = 1; }
__global__ void plain_kernel(int* p);
__global__ void plain_kernel(int* p) { *p = 2; }
using Kernel = void (*)(int*);
Kernel kernels[] = {plain_kernel, by_address<int>};
template <Kernel K> Kernel through() { return K; }
Kernel taken() {
  Kernel k = plain_kernel;
  return k == through<plain_kernel>() ? k : by_address<int>;
}
__global__ void plain_kernel(int* p);
