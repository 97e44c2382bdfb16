// DEFECT: two streams copy into boxes of a three-dimensional array that share one slice.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  constexpr int width = 16, height = 8, depth = n / width / height;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth)));
  int *p = device(), *q = device(), *h = pinned();
  cudaStream_t a = nonblocking(), b = nonblocking();
  CHECK(cudaMemset(p, 0, bytes));
  CHECK(cudaMemset(q, 0, bytes));
  CHECK(cudaDeviceSynchronize());
  cudaMemcpy3DParms to = {};
  to.srcPtr = make_cudaPitchedPtr(p, width * 4, width, height);
  to.dstArray = array;
  to.extent = make_cudaExtent(width, height, depth / 2);
  to.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3DAsync(&to, a));  // RACE-A
  to.srcPtr = make_cudaPitchedPtr(q, width * 4, width, height);
#ifdef FIXED
  to.dstPos.z = depth / 2;
#else
  to.dstPos.z = depth / 2 - 1;
#endif
  CHECK(cudaMemcpy3DAsync(&to, b));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  cudaMemcpy3DParms back = {};
  back.srcArray = array;
  back.dstPtr = make_cudaPitchedPtr(h, width * 4, width, height);
  back.extent = make_cudaExtent(width, height, depth);
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back));
  CHECK(cudaFreeArray(array));
  return finish(true);
}
