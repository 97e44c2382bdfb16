// DEFECT: host functions of two streams count in one global variable.
// EXPECT: unordered-callback
#include "streams.h"
static int finished;
static void CUDART_CB count(void*) { finished = finished + 1; }  // RACE-A RACE-B
int main() {
  int *a = device(), *b = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  fill<<<GRID, 0, s>>>(a, 5);
  CHECK(cudaLaunchHostFunc(s, count, nullptr));  // VIA-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  fill<<<GRID, 0, t>>>(b, 5);
  CHECK(cudaLaunchHostFunc(t, count, nullptr));  // VIA-B
  CHECK(cudaDeviceSynchronize());
  return finish(finished == 2);
}
