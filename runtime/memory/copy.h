// Copies and fills as plain data, and the functions that carry them out. What waits for what is the model's business,
// who runs them and on how many threads the engine's; here is only the moving of bytes.
//
// CUDA arrays are laid out in rows and slices too (array.h), so that every form of cudaMemcpy comes down to one box of
// bytes (CUDA Runtime API, "Memory Management"). All functions are thread-safe as far as their ranges are disjoint, and
// none of them allocates, blocks or throws. Source and target of one copy may be the same range; if they overlap
// otherwise the result is the one of a forward row-by-row copy of unspecified direction inside a row, as undefined as
// CUDA leaves it, but it never leaves the ranges.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mr::memory {

// A contiguous copy.
struct LinearCopy {
  void* dst;
  const void* src;
  std::size_t bytes;
};
static_assert(sizeof(LinearCopy) == 24);

enum CopyFlags : std::uint32_t {
  // `src` is a staging buffer of stage() that belongs to the copy: run() gives it back at the end, abandon() without
  // copying.
  copy_owns_source = 1u << 0,
};

// A copy of a box: `depth` slices of `height` rows of `row` bytes. Pitches are the distances in bytes between starts of
// consecutive rows and slices, and are ignored where there is only one.
struct Copy {
  void* dst;
  const void* src;
  std::size_t row;
  std::size_t height = 1, depth = 1;
  std::size_t dst_pitch = 0, src_pitch = 0;
  std::size_t dst_slice = 0, src_slice = 0;
  std::uint32_t flags = 0;  // CopyFlags
  std::uint32_t reserved = 0;

  std::size_t bytes() const noexcept { return row * height * depth; }
  // Joins rows and slices that follow each other without a gap on both sides. The bytes moved are the same.
  void coalesce() noexcept;
  // After coalesce(): the copy is LinearCopy{dst, src, row}.
  bool is_linear() const noexcept { return height == 1 && depth == 1; }
};
static_assert(sizeof(Copy) == 80);

inline Copy linear_copy(void* dst, const void* src, std::size_t bytes) noexcept {
  Copy copy{};
  copy.dst = dst;
  copy.src = src;
  copy.row = bytes;
  copy.height = copy.depth = 1;
  return copy;
}

// Moves the bytes, large ones the way that is fastest on this processor.
void run(const LinearCopy& copy) noexcept;
void run(const Copy& copy) noexcept;
// Large copies and fills can be carried out in parts, by several threads at once and in any order: how many parts there
// are (1: run it as a whole), and the parts [first, first+count). A copy that owns its source has one part.
std::uint64_t parts(const LinearCopy& copy) noexcept;
std::uint64_t parts(const Copy& copy) noexcept;
void run(const LinearCopy& copy, std::uint64_t first, std::uint64_t count) noexcept;
void run(const Copy& copy, std::uint64_t first, std::uint64_t count) noexcept;
// Gives back what the copy owns, for a copy that will never run.
void abandon(const Copy& copy) noexcept;

// A fill of a box with one value of 1, 2 or 4 bytes (cudaMemset, cudaMemset2D, cudaMemset3D and graph memset nodes).
// `row` is in bytes and a multiple of `element`; `dst` needs no alignment.
struct Fill {
  void* dst;
  std::size_t row;
  std::size_t height = 1, depth = 1;
  std::size_t pitch = 0, slice = 0;
  std::uint32_t value = 0;
  std::uint32_t element = 1;

  std::size_t bytes() const noexcept { return row * height * depth; }
  void coalesce() noexcept;
};
static_assert(sizeof(Fill) == 56);

inline Fill linear_fill(void* dst, std::uint32_t value, std::size_t bytes, std::uint32_t element = 1) noexcept {
  Fill fill{};
  fill.dst = dst;
  fill.row = bytes;
  fill.height = fill.depth = 1;
  fill.value = value;
  fill.element = element;
  return fill;
}

void run(const Fill& fill) noexcept;
std::uint64_t parts(const Fill& fill) noexcept;
void run(const Fill& fill, std::uint64_t first, std::uint64_t count) noexcept;

// A staging buffer that holds a copy of [src, src+bytes): for copies that must read their source during the call but
// write in stream order (cudaMemcpySrcAccessOrderDuringApiCall, small pageable uploads). Null when memory is exhausted.
// Belongs to the Copy that gets it as src together with copy_owns_source.
void* stage(const void* src, std::size_t bytes) noexcept;
// The same for the source box of `copy`: packs the rows, points `copy` at them and sets copy_owns_source. False when
// memory is exhausted.
bool stage_source(Copy& copy) noexcept;

}  // namespace mr::memory
