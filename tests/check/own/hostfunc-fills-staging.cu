// DEFECT: a host function fills a pinned buffer in one stream; another stream sends it without waiting.
// EXPECT: unordered-callback
#include "streams.h"
static int* staging;
static void produce(void*) {
  for (int i = 0; i < n; ++i) staging[i] = 4 + i;  // RACE-A
}
int main() {
  staging = pinned();
  int* d = device();
  cudaStream_t a = nonblocking(), b = nonblocking();
  cudaEvent_t e = event();
  CHECK(cudaLaunchHostFunc(a, produce, nullptr));
  CHECK(cudaEventRecord(e, a));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(b, e, 0));
#endif
  CHECK(cudaMemcpyAsync(d, staging, bytes, cudaMemcpyHostToDevice, b));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(d, 4));
}
