// DEFECT: none: an event that the kernel's trigger records.
// EXPECT: none
#include "streams.h"
__global__ void primary(int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = i;
  __threadfence();
  cudaTriggerProgrammaticLaunchCompletion();
}
int main() {
  int *a = device(), *b = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = e;
  attribute.val.programmaticEvent.flags = 0;
  attribute.val.programmaticEvent.triggerAtBlockStart = 0;
  cudaLaunchConfig_t config = {};
  config.gridDim = n / 256;
  config.blockDim = 256;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, primary, a));
  CHECK(cudaStreamWaitEvent(t, e, 0));
  move<<<GRID, 0, t>>>(b, a);
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 0));
}
