// DEFECT: none: atomics made of a compare-and-swap, as the programming guide has them.
// EXPECT: none
#include "streams.h"
__device__ double add_by_swap(double* address, double value) {
  auto* as_word = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *as_word, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__device__ float max_by_swap(float* address, float value) {
  int* as_int = reinterpret_cast<int*>(address);
  int old = *as_int;
  while (__int_as_float(old) < value) {
    int assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(value));
    if (old == assumed) break;
  }
  return __int_as_float(old);
}
__global__ void both(double* sum, float* most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  add_by_swap(sum, 1);
  max_by_swap(most, float(i));
}
int main() {
  int *a = device(), *b = device();
  both<<<4, 32>>>((double*)a, (float*)b);
  CHECK(cudaDeviceSynchronize());
  double sum;
  float most;
  CHECK(cudaMemcpy(&sum, a, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&most, b, 4, cudaMemcpyDeviceToHost));
  return finish(sum == 128 && most == 127);
}
