// What the helper headers of sample collections count on: guard names of the runtime's headers, cuComplex.h, NVTX, and
// the places where CUDA keeps its internal headers.
#include <cooperative_groups.h>
#include <crt/host_config.h>
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_occupancy.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <host_config.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>

#include <cstdio>

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) ||                \
    !defined(__VECTOR_TYPES_H__) || !defined(_COOPERATIVE_GROUPS_H_) || !defined(__CUDA_FP16_H__)
#error "guard names are missing"
#endif

__global__ void complex_arithmetic(cuDoubleComplex* z) {
  const cuDoubleComplex a = make_cuDoubleComplex(3, 4), b = make_cuDoubleComplex(1, -2);
  z[0] = cuCdiv(a, b);
  z[1] = cuCmul(a, cuConj(b));
  z[2] = make_cuDoubleComplex(cuCabs(a), cuCreal(cuCfma(a, b, a)));
}
// The functions whose double forms alone exist take integers too.
__global__ void double_only(double* o) { o[0] = norm3d(1, 2, 2) + rhypot(3, 4) + rnorm4d(1, 1, 1, 1) + fdivide(1, 4); }

int main() {
  nvtxRangePushA("range");
  if (nvtxRangePop() != NVTX_NO_PUSH_POP_TRACKING) return 1;
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.message.ascii = "mark";
  nvtxMarkEx(&event);
  nvtx3::scoped_range range{"main"};
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  cudaGetDeviceProperties(&properties, 0);
  cudaFuncGetAttributes(&attributes, complex_arithmetic);
  const cudaOccDeviceProp device(properties);
  const cudaOccFuncAttributes function(attributes);
  const cudaOccDeviceState state;
  for (int threads : {1, 32, 100, 512, 1024})
    for (int shared : {0, 1000, 40000}) {
      cudaOccResult calculated;
      int blocks;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, complex_arithmetic, threads, shared);
      if (cudaOccMaxActiveBlocksPerMultiprocessor(&calculated, &device, &function, &state, threads, shared) !=
              CUDA_OCC_SUCCESS ||
          calculated.activeBlocksPerMultiprocessor != blocks)
        return std::printf("%d threads, %d bytes: not %d blocks\n", threads, shared, blocks), 5;
    }
  cuDoubleComplex* z;
  cudaMallocManaged(&z, 4 * sizeof *z);
  complex_arithmetic<<<1, 1>>>(z);
  double_only<<<1, 1>>>(&z[3].x);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  const auto near = [](double a, double b) { return a - b < 1e-12 && b - a < 1e-12; };
  if (!near(z[0].x, -1) || !near(z[0].y, 2) || z[1].x != -5 || z[1].y != 10 || z[2].x != 5 || z[2].y != 14) return 3;
  return near(z[3].x, 3 + 0.2 + 0.5 + 0.25) ? 0 : 4;
}
