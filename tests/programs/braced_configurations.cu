// Launches whose extents are lists in braces, on the host and on the device, over several lines and beside a comma of a
// template's.
// nvcc-flags: -rdc=true
#include "check.h"

template <class T, int N> __global__ void count(T* p) { atomicAdd(p, N); }
__global__ void parent(int* p) {
  count<int, 1><<<{2, 1}, {4}>>>(p);
  count<int, 10><<<1, {2, 2}>>>(p);
}

int main() {
  int* p;
  OK(cudaMallocManaged(&p, sizeof *p));
  *p = 0;
  count<int, 1><<<{3, 2, 1}, {4, 4}>>>(p);
  count<int, 2><<<{1, 2},  // blocks
                  {5}, 0, nullptr>>>(p);
  OK(cudaDeviceSynchronize());
  CHECK(*p == 96 + 20);
  *p = 0;
  parent<<<{1, 1, 1}, {1}>>>(p);
  OK(cudaDeviceSynchronize());
  CHECK(*p == 8 + 40);
  return report();
}
