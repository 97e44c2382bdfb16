// DEFECT: memory that a graph allocates is used in another stream than the launch's, unordered.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  int* out = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaGraph_t g;
  cudaGraphExec_t x;
  int* p;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync((void**)&p, bytes, s));  // RACE-A
  fill<<<GRID, 0, s>>>(p, 4);                    // RACE-A
  CHECK(cudaStreamEndCapture(s, &g));
  CHECK(cudaGraphInstantiate(&x, g, 0));
  CHECK(cudaGraphLaunch(x, s));
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  move<<<GRID, 0, t>>>(out, p);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(p));
  return finish(holds(out, 4));
}
