// DEFECT: a host function appends to a vector that the caller reads without waiting.
// EXPECT: unordered-callback
#include "streams.h"
#include <vector>
struct Context {
  const int* data;
  std::vector<int>* out;
};
static void CUDART_CB gather(void* p) {
  auto* c = static_cast<Context*>(p);
  for (int i = 0; i < 16; ++i) (*c->out)[i] = c->data[i];  // RACE-A
}
int main() {
  int *d = device(), *h = pinned();
  cudaStream_t s = nonblocking();
  std::vector<int> out(16);
  auto* context = new Context{h, &out};
  fill<<<GRID, 0, s>>>(d, 7);
  CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));
  CHECK(cudaLaunchHostFunc(s, gather, context));  // VIA-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  bool ok = true;
  for (int i = 0; i < 16; ++i) ok &= out[i] == 7 + i;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  delete context;
  return finish(ok);
}
