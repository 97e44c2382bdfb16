// Launches in device code, as programs write them: templates, default arguments, functors, macros, members, comments
// between, a kernel that is defined later, tail launches that chain.
#include <cstdio>
#include <cuda_runtime.h>
#define LAUNCH(kernel, g, b, ...) kernel<<<g, b>>>(__VA_ARGS__)
struct Cfg {
  dim3 g, b;
};
template <class T, int N> __global__ void leaf(T* o, T v = T(3)) { atomicAdd(o, v * N); }
namespace ns {
template <class F> __global__ void apply(F f, int* o) { f(o); }
}  // namespace ns
struct Add {
  int k;
  __device__ void operator()(int* o) const { atomicAdd(o, k); }
};
struct Launcher {
  int* o;
  __device__ void go(int n) const { leaf<int, 2><<<n, 4>>>(o, 1); }
};
__host__ __device__ inline unsigned lane_mask() {
#ifdef __CUDA_ARCH__
  unsigned m;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(m));
  return m;
#else
  return 0;
#endif
}
template <class T> __device__ void helper(T* o) {
  // default argument, a comment with <<< and >>>
  leaf<T, 5><<<1, 2>>>(o);
  Cfg c{dim3(2), dim3(3)};
  leaf<T, 1><<<c.g,
               c.b>>>(o,  // first
                      T(1) /* second */);
}
__global__ void fwd(int* o, int depth);
__global__ void parent(int* o) {
  if (threadIdx.x == 0) {
    helper(o);
    LAUNCH((leaf<int, 1>), 1, 1, o, 10);
    ns::apply<<<1, 2>>>(Add{7}, o);
    Launcher{o}.go(3);
  } else
    fwd<<<1, 1>>>(o, 2);
  atomicAdd(o, (int)(lane_mask() >> 1) & 1);
  const char* s = "k<<<1,1>>>(x)";
  (void)s;
}
__global__ void fwd(int* o, int depth) {
  atomicAdd(o, 1000);
  if (depth) fwd<<<1, 1, 0, cudaStreamTailLaunch>>>(o, depth - 1);
}
int main() {
  int* o;
  cudaMallocManaged(&o, 4);
  *o = 0;
  parent<<<1, 2>>>(o);
  const cudaError_t error = cudaDeviceSynchronize();
  const int children = *o;
  LAUNCH((leaf<int, 1>), 1, 1, o, 10);
  cudaDeviceSynchronize();
  printf("%s: %d, then %d\n", cudaGetErrorName(error), children, *o);
  return error != cudaSuccess || children != 3085 || *o != 3095;
}
