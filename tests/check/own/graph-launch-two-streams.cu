// DEFECT: two graphs share a buffer and are launched into two streams.
// EXPECT: graph-graph
#include "streams.h"
static cudaGraphExec_t made(cudaStream_t s, void (*body)(cudaStream_t)) {
  cudaGraph_t g;
  cudaGraphExec_t x;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  body(s);
  CHECK(cudaStreamEndCapture(s, &g));
  CHECK(cudaGraphInstantiate(&x, g, 0));
  return x;
}
static int *a, *b;
int main() {
  a = device();
  b = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaGraphExec_t x = made(s, [](cudaStream_t in) {
    fill<<<GRID, 0, in>>>(a, 4);  // RACE-A
  });
  cudaGraphExec_t y = made(s, [](cudaStream_t in) {
    move<<<GRID, 0, in>>>(b, a);  // RACE-B
  });
  cudaEvent_t e = event();
  CHECK(cudaGraphLaunch(x, s));
  CHECK(cudaEventRecord(e, s));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaGraphLaunch(y, t));
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4));
}
