// DEFECT: memory of an explicit pool is used in a stream that doesn't wait for its allocation.
// EXPECT: pool
#include "streams.h"
int main() {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &props));
  cudaStream_t a = nonblocking(), b = nonblocking();
  cudaEvent_t e = event();
  int* p;
  int* out = device();
  CHECK(cudaMallocFromPoolAsync((void**)&p, bytes, pool, a));  // RACE-A
  CHECK(cudaEventRecord(e, a));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(b, e, 0));
#endif
  fill<<<GRID, 0, b>>>(p, 4);    // RACE-B
  move<<<GRID, 0, b>>>(out, p);  // ALSO-B
  CHECK(cudaStreamSynchronize(b));
  CHECK(cudaFreeAsync(p, a));
  CHECK(cudaDeviceSynchronize());
  return finish(holds(out, 4));
}
