// DEFECT: the first block to come claims the slot by a look and a store, which another block's may fall between.
// EXPECT: intra-grid
#include <cuda_runtime.h>

#include <cstdio>

__global__ void claim(volatile int* taken, int* winners) {
  if (threadIdx.x != 0) return;
#ifdef FIXED
  if (atomicExch(const_cast<int*>(taken), 1) == 0) atomicAdd(winners, 1);
#else
  if (*taken == 0) {
    *taken = 1;
    atomicAdd(winners, 1);
  }
#endif
}

int main() {
  int* p;
  cudaMalloc(&p, 2 * sizeof(int));
  cudaMemset(p, 0, 2 * sizeof(int));
  claim<<<16, 32>>>(p, p + 1);
  int winners = 0;
  cudaMemcpy(&winners, p + 1, sizeof winners, cudaMemcpyDeviceToHost);
  std::printf("data %s\ndone\n", winners == 1 ? "right" : "wrong");
}
