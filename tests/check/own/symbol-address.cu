// DEFECT: a stream copies from a __device__ variable, by its address, while a kernel in another writes it.
// EXPECT: stream-stream
#include "streams.h"
__device__ int table[n];
int main() {
  int* p;
  CHECK(cudaGetSymbolAddress((void**)&p, table));
  int* o = device();
  auto s = nonblocking(), t = nonblocking();
  auto e = event();
  fill<<<GRID, 0, s>>>(p, 5);  // RACE-A
  CHECK(cudaEventRecord(e, s));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaMemcpyAsync(o, p, bytes, cudaMemcpyDeviceToDevice, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(o, 5));
}
