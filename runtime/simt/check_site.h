// A place in device code that touches memory: what instrumented code (compiler/passes/check.h) tells the checker. Part
// of the contract between the two, as abi.h is.
#pragma once
#include <cstdint>

// Raised with any change of what instrumented code and checker tell each other. Images say theirs in
// `__mr_check_version`; those of another version are refused when they are loaded to be checked.
inline constexpr std::uint32_t mr_check_version = 3;

// A constant in the image.
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
  MR_CHECK_CLUSTER_SYNC = 1u << 12,
};
