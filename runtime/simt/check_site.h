// A place in device code that touches memory: what instrumented code (compiler/passes/check.h) tells the checker. Part
// of the contract between the two, as abi.h is.
#pragma once
#include <cstdint>

// Raised with any change of what instrumented code and checker tell each other. Images say theirs in
// `__mr_check_version`; those of another version are refused when they are loaded to be checked.
inline constexpr std::uint32_t mr_check_version = 4;

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

// Reads that need not be told: of bytes that two blocks have read already, as the thread's checker knows, a third
// reader adds nothing. The checker hangs the thread's filter into the lane's page (mr_check_filter_of); device code
// looks there first. A filter counts only for the launch that it names.
struct MrCheckFilter {
  static constexpr std::uint64_t size = 1u << 14;
  std::uint64_t grid_id;  // MrBlock::grid_id; 0: none
  // By the number of a line of 64 bytes: that number, and a bit for each of its 16 words that is known. One word, since
  // a lane's page may still name another thread's filter.
  std::uint64_t entries[size];
  static constexpr unsigned words = 16;
  static std::uint64_t place(std::uint64_t line) noexcept { return line & (size - 1); }
  bool knows(std::uint64_t address, std::uint64_t bytes) const noexcept {
    const std::uint64_t entry = __atomic_load_n(&entries[place(address / 64)], __ATOMIC_RELAXED);
    if (entry >> words != address / 64) return false;
    const std::uint64_t count = (bytes + (address & 3) + 3) / 4;
    const std::uint64_t mask = ((std::uint64_t{1} << count) - 1) << (address % 64 / 4);
    return (entry & 0xffff & mask) == mask;  // never of what goes beyond the line
  }
};
// In the lane's page, at a line that nothing else uses (`lane` is MrLane's address).
inline MrCheckFilter** mr_check_filter_of(std::uint64_t lane) noexcept {
  constexpr std::uint64_t distance = 512;  // MR_SITE_DISTANCE and the block's lines are elsewhere
  return reinterpret_cast<MrCheckFilter**>(lane ^ distance);
}
// Exported by the runtime: fresh pages that device code may read, whatever protects host memory. Null if there are
// none.
extern "C" void* millrace_shared_pages(std::uint64_t bytes) noexcept;
