// Rule: a thread's stack may have up to 511 KiB; what is granted is rounded up to 16 bytes.
#include "call_sections.h"

int main() {
  for (size_t n : {233473, 262144, 300000, 400000, 500000, 523264, 523265, 523280, 524287}) {
    size_t v = 77;
    std::printf("%zu: %s", n, E(cudaDeviceSetLimit(cudaLimitStackSize, n)));
    std::printf(" %s", E(cudaDeviceGetLimit(&v, cudaLimitStackSize)));
    std::printf(" %zu\n", v);
  }
}
