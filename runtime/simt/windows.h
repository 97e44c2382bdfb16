// Shared windows: the memory of one executing block that device code reaches through MrBlock.
//
// A slot of address space per window: a frame (the MrBlock and, with protection keys, a copy of the arguments), an
// inaccessible stretch, the window, and another inaccessible stretch. Both stretches are as long as a 32-bit byte
// offset reaches. The shared memory of a block ends where its window ends, so that what lies behind it faults at once
// (to 1 KiB, the largest alignment of shared variables).
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/abi.h>

namespace mr::simt {

inline constexpr std::uint64_t window_bytes = 228 * 1024;  // what one window has room for
inline constexpr std::uint64_t window_alignment = 1024;
inline constexpr std::uint64_t most_shared_bytes = 227 * 1024;  // static and dynamic together, per block
inline constexpr std::uint64_t window_frame_bytes = 48 * 1024;  // an MrBlock and arguments

struct Window {
  char* end = nullptr;    // of the shared memory
  char* frame = nullptr;  // window_frame_bytes, page aligned
  Window* next = nullptr;

  // Start of the shared memory of a block that needs `bytes` of it.
  char* shared(std::uint64_t bytes) const noexcept {
    return end - ((bytes + window_alignment - 1) & ~(window_alignment - 1));
  }
  MrBlock* block() const noexcept { return reinterpret_cast<MrBlock*>(frame); }
};

// Thread-safe. Null when address space is exhausted. Windows are never unmapped.
Window* take_window() noexcept;
void give_window(Window* window) noexcept;

}  // namespace mr::simt
