// DEFECT: a batch's source may be read at any time, though a kernel of the same stream writes it.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  int *a = device(), *b = device();
  cudaStream_t s = nonblocking();
  fill<<<GRID, 0, s>>>(a, 5);  // RACE-A
  cudaMemcpyAttributes attributes = {};
#ifdef FIXED
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#else
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderAny;
#endif
  size_t first = 0, size = bytes;
  void* to = b;
  const void* from = a;
  CHECK(cudaMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &first, 1, s));  // RACE-B
  CHECK(cudaStreamSynchronize(s));
  return finish(true);
}
