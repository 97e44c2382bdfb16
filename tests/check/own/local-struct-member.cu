// DEFECT: the second member of a local structure is read before the host function that fills it in has run.
// EXPECT: unordered-callback
#include "streams.h"
struct Frame {
  int* data;
  int sum;
};
static void CUDART_CB total(void* p) {
  auto* f = static_cast<Frame*>(p);
  f->sum = f->data[0] + 5;  // RACE-A
}
int main() {
  Frame frame{pinned(), 0};
  cudaStream_t s = nonblocking();
  CHECK(cudaLaunchHostFunc(s, total, &frame));  // VIA-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  int got = frame.sum;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(got == 5);
}
