// A guess of 16 bytes, and one of two halves of a word, that a compare-and-swap verifies: no defect.
// EXPECT: none
#include "streams.h"
struct alignas(16) Pair {
  unsigned long long x, y;
};
struct alignas(8) Half {
  unsigned low, high;
};
__global__ void pairs(Pair* p) {
  for (;;) {
    const Pair old = *p;
    const Pair got = atomicCAS(p, old, Pair{old.x + 1, old.y + 2});
    if (got.x == old.x && got.y == old.y) break;
  }
}
__global__ void halves(Half* p) {
  for (;;) {
    const unsigned long long old = p->low | static_cast<unsigned long long>(p->high) << 32;
    if (atomicCAS(reinterpret_cast<unsigned long long*>(p), old, old + (1ull << 32) + 1) == old) break;
  }
}
int main() {
  int* d = device();
  auto* p = reinterpret_cast<Pair*>(d);
  auto* h = reinterpret_cast<Half*>(p + 1);
  pairs<<<64, 32>>>(p);
  halves<<<64, 32>>>(h);
  CHECK(cudaDeviceSynchronize());
  struct {
    Pair p;
    Half h;
  } got;
  CHECK(cudaMemcpy(&got, p, sizeof got.p + sizeof got.h, cudaMemcpyDeviceToHost));
  return finish(got.p.x == 2048 && got.p.y == 4096 && got.h.low == 2048 && got.h.high == 2048);
}
