// DEFECT: two streams write tiles of one image that share a column.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  constexpr int width = 64, height = 32;
  int *image = device(), *left = pinned(), *right = pinned();
  for (int i = 0; i < n; ++i) left[i] = right[i] = 9;
  cudaStream_t s = nonblocking(), t = nonblocking();
#ifdef FIXED
  constexpr int first = 32;
#else
  constexpr int first = 31;
#endif
  const auto send = cudaMemcpyHostToDevice;
  constexpr size_t row = 32 * 4, pitch = width * 4;
  CHECK(cudaMemcpy2DAsync(image, pitch, left, row, row, height, send, s));           // RACE-A
  CHECK(cudaMemcpy2DAsync(image + first, pitch, right, row, row, height, send, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(true);
}
