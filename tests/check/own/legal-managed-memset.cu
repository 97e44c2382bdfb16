// NO DEFECT: cudaMemset of managed and of pinned memory has been done when it returns.
// EXPECT: none
#include "streams.h"
int main() {
  int *m, *h = pinned();
  CHECK(cudaMallocManaged(&m, bytes));
  CHECK(cudaMemset(m, 0, bytes));
  CHECK(cudaMemset(h, 0, bytes));
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += m[i] + h[i];
  return finish(sum == 0);
}
