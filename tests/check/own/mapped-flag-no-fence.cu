// DEFECT: a kernel raises a volatile flag in mapped memory without a system fence between its result and the flag.
// EXPECT: stream-host
#include "streams.h"
__global__ void produce(int* result, volatile int* flag) {
  result[0] = 42;  // AT-A
#ifdef FIXED
  __threadfence_system();
#endif
  *flag = 1;
}
int main() {
  int *result, *flag;
  CHECK(cudaHostAlloc(&result, 4, cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
  *result = *flag = 0;
  cudaStream_t s = nonblocking();
  produce<<<1, 1, 0, s>>>(result, flag);  // RACE-A
  while (*static_cast<volatile int*>(flag) == 0) {}
  int got = *result;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(got == 42);
}
