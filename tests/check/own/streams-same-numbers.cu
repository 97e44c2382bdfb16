// DEFECT: none: streams side by side, whose operations have the same numbers and kernels the same one block.
// EXPECT: none
#include "streams.h"
__global__ void step(unsigned* p, unsigned m) { *p = *p * m + 1; }
int main() {
  constexpr int streams = 8, steps = 100;
  unsigned* p = reinterpret_cast<unsigned*>(device());
  cudaStream_t s[streams];
  for (auto& one : s) one = nonblocking();
  for (int k = 0; k < steps; ++k)
    for (int i = 0; i < streams; ++i) step<<<1, 1, 0, s[i]>>>(p + i, 3 + i);
  CHECK(cudaDeviceSynchronize());
  unsigned h[streams];
  CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int i = 0; i < streams; ++i) {
    unsigned want = 0;
    for (int k = 0; k < steps; ++k) want = want * (3 + i) + 1;
    ok &= h[i] == want;
  }
  return finish(ok);
}
