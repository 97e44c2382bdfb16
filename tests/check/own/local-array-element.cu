// DEFECT: an element of a local array is written by the host while a host function reads it.
// EXPECT: unordered-callback
#include "streams.h"
static int out;
static void CUDART_CB read(void* p) { out = static_cast<int*>(p)[3]; }  // RACE-A
int main() {
  int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  cudaStream_t s = nonblocking();
  CHECK(cudaLaunchHostFunc(s, read, values));  // VIA-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  values[3] = 9;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(out == 4 && values[3] == 9);
}
