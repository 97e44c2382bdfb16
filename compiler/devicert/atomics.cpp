// Atomic operations that take a loop. They are here, out of the sight of the passes, because the loop ends as soon as
// no other thread interferes: a kernel that counts with them does not spin.
#include <cstdint>

extern "C" {
// old >= limit ? 0 : old + 1
std::uint32_t __mr_atomic_inc(std::uint32_t* address, std::uint32_t limit) {
  std::uint32_t old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, old >= limit ? 0 : old + 1, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {}
  return old;
}
// old == 0 || old > limit ? limit : old - 1
std::uint32_t __mr_atomic_dec(std::uint32_t* address, std::uint32_t limit) {
  std::uint32_t old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, old == 0 || old > limit ? limit : old - 1, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {}
  return old;
}
}
