// DEFECT: two blocks sort the same cells, in a kernel that doesn't ask for the block's index.
// EXPECT: intra-grid
#include "streams.h"
__global__ void odd_even(int* a, int count) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int r = 0; r < count; ++r) {
    if ((t & 1) == (r & 1) && t + 1 < count && s[t] > s[t + 1]) {
      int x = s[t];
      s[t] = s[t + 1];
      s[t + 1] = x;
    }
    __syncthreads();
  }
  a[t] = s[t];
}
int main() {
#ifdef FIXED
  constexpr int blocks = 1;
#else
  constexpr int blocks = 2;
#endif
  int* d = device();
  for (int i = 0; i < 10; ++i) {
    fill<<<n / 64, 64>>>(d, 3);              // leaves the number of its last block behind
    odd_even<<<blocks, 200, 800>>>(d, 200);  // RACE-A RACE-B
    CHECK(cudaDeviceSynchronize());
  }
  return finish(holds(d, 3));
}
