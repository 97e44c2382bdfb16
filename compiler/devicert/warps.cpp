// What warps compute together in split mode (compiler/passes/barrier_split.cpp).
#include <cstdint>

#include <simt/abi.h>

namespace {
std::uint32_t combine(std::uint32_t op, std::uint32_t a, std::uint32_t b) {
  const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
  switch (op) {
  case MR_RED_ADD: return a + b;
  case MR_RED_MIN_U: return b < a ? b : a;
  case MR_RED_MAX_U: return b > a ? b : a;
  case MR_RED_MIN_S: return y < x ? b : a;
  case MR_RED_MAX_S: return y > x ? b : a;
  case MR_RED_AND: return a & b;
  case MR_RED_OR: return a | b;
  default: return a ^ b;
  }
}
}  // namespace

extern "C" void __mr_reduce_warps(const std::uint32_t* brought, std::uint32_t* given, std::uint64_t threads,
                                  std::uint32_t op) {
  constexpr std::uint32_t ballot = ~0u;
  for (std::uint64_t begin = 0; begin < threads; begin += MR_WARP) {
    const std::uint64_t count = threads - begin < MR_WARP ? threads - begin : MR_WARP;
    std::uint32_t all = op == ballot ? 0 : brought[begin];
    if (op == ballot)
      for (std::uint64_t i = 0; i < count; ++i) all |= brought[begin + i] << i;
    else
      for (std::uint64_t i = 1; i < count; ++i) all = combine(op, all, brought[begin + i]);
    given[begin / MR_WARP] = all;
  }
}
