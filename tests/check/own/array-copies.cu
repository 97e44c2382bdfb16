// DEFECT: an array is filled in one stream and copied out in another without an order.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  constexpr int width = 64, height = n / width;
  CHECK(cudaMallocArray(&array, &format, width, height));
  int *p = device(), *h = pinned();
  cudaStream_t a = nonblocking(), b = nonblocking();
  cudaEvent_t e = event();
  fill<<<GRID, 0, a>>>(p, 1);
  CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, p, width * 4, width * 4, height, cudaMemcpyDeviceToDevice, a));  // RACE-A
#ifdef FIXED
  CHECK(cudaEventRecord(e, a));
  CHECK(cudaStreamWaitEvent(b, e, 0));
#endif
  CHECK(cudaMemcpy2DFromArrayAsync(h, width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost, b));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  (void)e;
  return finish(host_holds(h, 1));
}
