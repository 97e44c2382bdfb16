// DEFECT: two copies of one batch, of which one reads what the other writes.
// EXPECT: stream-stream
#include "streams.h"
static cudaMemcpy3DBatchOp copy(int* to, int* from) {
  cudaMemcpy3DBatchOp op = {};
  op.src.type = op.dst.type = cudaMemcpyOperandTypePointer;
  op.src.op.ptr.ptr = from;
  op.dst.op.ptr.ptr = to;
  op.extent = {bytes, 1, 1};
  op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return op;
}
static void batch(cudaMemcpy3DBatchOp* ops, size_t count, cudaStream_t s) {
  CHECK(cudaMemcpy3DBatchAsync(count, ops, 0, s));  // RACE-A RACE-B
}
int main() {
  int *a = device(), *b = device(), *c = device();
  cudaStream_t s = nonblocking();
  fill<<<GRID, 0, s>>>(a, 5);
  cudaMemcpy3DBatchOp ops[] = {copy(b, a), copy(c, b)};
#ifdef FIXED
  batch(ops, 1, s);
  batch(ops + 1, 1, s);
#else
  batch(ops, 2, s);
#endif
  CHECK(cudaStreamSynchronize(s));
  return finish(holds(c, 5));
}
