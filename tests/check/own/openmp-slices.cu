// DEFECT: threads of OpenMP regions share pinned memory, in order by the regions' ends, barriers and critical sections.
// nvcc-flags: -Xcompiler -fopenmp
// EXPECT: none
#include "streams.h"
int main() {
  int *d = device(), *h = pinned();
  auto s = nonblocking();
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < n; ++i) h[i] = 3 + i;
  CHECK(cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, s));
  CHECK(cudaStreamSynchronize(s));
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < n; ++i) h[i] += 3;
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    h[0]++;
#pragma omp barrier
#pragma omp master
    CHECK(cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, s));
  }
  CHECK(cudaStreamSynchronize(s));
  return finish(h[0] == 8);
}
