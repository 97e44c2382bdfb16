// Instrumentation for `millrace check` (mrcc -mrcc-check): device code says what it touches.
//
// Each load, store, atomic operation and memory intrinsic that may reach memory of other threads calls
// `__mr_check_access(address, bytes, site)` first; fences, grid barriers and the calls of programmatic launches call it
// with no address, behind them. A site is a constant (CheckSite) in the image. Without a checker the call returns after
// one test (compiler/devicert/check.cpp).
#pragma once
#include <cstdint>

namespace llvm {
class Module;
}  // namespace llvm

// Read by the checker.
struct MrCheckSite {
  const char* file;
  const char* function;  // mangled
  std::uint32_t line;
  std::uint32_t kind;  // MrCheckKind
};
enum MrCheckKind : std::uint32_t {
  MR_CHECK_READ = 1u << 0,
  MR_CHECK_WRITE = 1u << 1,
  MR_CHECK_ATOMIC = 1u << 2,   // with one of or both the above
  MR_CHECK_ORDERED = 1u << 3,  // an atomic operation that is a fence too
  MR_CHECK_VOLATILE = 1u << 4,
  // Events, without an address.
  MR_CHECK_FENCE = 1u << 8,
  MR_CHECK_GRID_SYNC = 1u << 9,
  MR_CHECK_PDL_WAIT = 1u << 10,
  MR_CHECK_PDL_TRIGGER = 1u << 11,
};

namespace mrcc {
// Kernel bodies and functions after simplification, before the thread loops are made around the bodies.
void insert_access_checks(llvm::Module& module);
}  // namespace mrcc
