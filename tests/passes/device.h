// What the pass tests need of the device headers, so that they don't depend on include/.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared)) _Pragma("millrace qualifier")
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((annotate("mr_managed")))
#define __launch_bounds__(...) __attribute__((annotate("mr_launch_bounds", __VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("mr_cluster_dims", __VA_ARGS__)))
#define __grid_constant__ __attribute__((annotate("mr_grid_constant")))
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern "C" {
__device__ void __mr_barrier(void);
__device__ void __mr_warp_sync(unsigned);
__device__ void __mr_nanosleep(unsigned);
__device__ unsigned long __mr_globaltimer(void);
__device__ int printf(const char*, ...);
__device__ void* malloc(unsigned long);
__device__ void free(void*);
__device__ void __assert_fail(const char*, const char*, unsigned, const char*);  // returns in the harness
}
