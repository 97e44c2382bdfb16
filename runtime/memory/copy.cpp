#include <memory/copy.h>

#include <cstdlib>

namespace mr::memory {
namespace {

// memmove semantics: the forms that CUDA allows (a block onto itself) and the ones it leaves undefined stay inside the
// ranges.
inline void move(void* dst, const void* src, std::size_t bytes) noexcept {
  if (dst != src) std::memmove(dst, src, bytes);
}

template <class T> void fill_row(char* dst, std::uint32_t value, std::size_t bytes) noexcept {
  const T pattern = static_cast<T>(value);
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) std::memcpy(dst + at, &pattern, sizeof(T));
}

void fill_line(char* dst, std::uint32_t value, std::uint32_t element, std::size_t bytes) noexcept {
  const std::uint32_t byte = value & 0xff;
  const bool uniform = element == 1 || (element == 2 && (value & 0xffff) == byte * 0x0101u) ||
                       (element == 4 && value == byte * 0x01010101u);
  if (uniform)
    std::memset(dst, static_cast<int>(byte), bytes);
  else if (element == 2)
    fill_row<std::uint16_t>(dst, value, bytes);
  else
    fill_row<std::uint32_t>(dst, value, bytes);
}

}  // namespace

void Copy::coalesce() noexcept {
  if (height > 1 && dst_pitch == row && src_pitch == row) {
    // Rows are packed on both sides: a slice is one row.
    row *= height;
    height = 1;
  }
  if (depth > 1) {
    if (height == 1 && dst_slice == row && src_slice == row) {
      row *= depth;
      depth = 1;
    } else if (height == 1) {
      // Slices of one row are the rows of one slice.
      height = depth;
      depth = 1;
      dst_pitch = dst_slice;
      src_pitch = src_slice;
    } else if (dst_slice == dst_pitch * height && src_slice == src_pitch * height) {
      height *= depth;
      depth = 1;
    }
  }
}

void Fill::coalesce() noexcept {
  if (height > 1 && pitch == row) {
    row *= height;
    height = 1;
  }
  if (depth > 1) {
    if (height == 1 && slice == row) {
      row *= depth;
      depth = 1;
    } else if (height == 1) {
      height = depth;
      depth = 1;
      pitch = slice;
    } else if (slice == pitch * height) {
      height *= depth;
      depth = 1;
    }
  }
}

void run(const LinearCopy& copy) noexcept { move(copy.dst, copy.src, copy.bytes); }

void run(const Copy& copy) noexcept {
  char* dst_slice = static_cast<char*>(copy.dst);
  const char* src_slice = static_cast<const char*>(copy.src);
  if (copy.row != 0) {
    for (std::size_t z = 0; z < copy.depth; ++z) {
      char* dst = dst_slice;
      const char* src = src_slice;
      for (std::size_t y = 0; y < copy.height; ++y) {
        move(dst, src, copy.row);
        dst += copy.dst_pitch;
        src += copy.src_pitch;
      }
      dst_slice += copy.dst_slice;
      src_slice += copy.src_slice;
    }
  }
  release(copy);
}

void release(const Copy& copy) noexcept {
  if (copy.flags & copy_owns_source) std::free(const_cast<void*>(copy.src));
}

void abandon(const Copy& copy) noexcept { release(copy); }

namespace {

// Shared by Copy and Fill: cut the longest dimension that has enough units.
enum class Cut { slices, rows, bytes };

template <class Box> Cut cut_of(const Box& box, std::uint32_t parts) noexcept {
  if (box.depth >= parts && box.depth > 1) return Cut::slices;
  if (box.depth == 1 && box.height >= parts && box.height > 1) return Cut::rows;
  if (box.depth == 1 && box.height == 1) return Cut::bytes;
  return box.depth > 1 ? Cut::slices : Cut::rows;
}

template <class Box> std::uint32_t count_parts(const Box& box, std::uint32_t parts, std::size_t grain) noexcept {
  const std::size_t bytes = box.bytes();
  std::size_t most = grain ? bytes / grain : bytes;
  if (most > parts) most = parts;
  switch (cut_of(box, static_cast<std::uint32_t>(most ? most : 1))) {
  case Cut::slices: most = most < box.depth ? most : box.depth; break;
  case Cut::rows: most = most < box.height ? most : box.height; break;
  case Cut::bytes: break;
  }
  return most ? static_cast<std::uint32_t>(most) : 1;
}

// Start of part `part` when `units` are dealt out to `parts`.
std::size_t edge(std::size_t units, std::uint32_t part, std::uint32_t parts) noexcept {
  return units / parts * part + (units % parts) * part / parts;
}

}  // namespace

std::uint32_t parts_of(const Copy& copy, std::uint32_t parts, std::size_t grain) noexcept {
  return count_parts(copy, parts, grain);
}
std::uint32_t parts_of(const Fill& fill, std::uint32_t parts, std::size_t grain) noexcept {
  return count_parts(fill, parts, grain);
}

Copy part_of(const Copy& copy, std::uint32_t part, std::uint32_t parts) noexcept {
  Copy piece = copy;
  piece.flags &= ~static_cast<std::uint32_t>(copy_owns_source);
  const auto shift = [&](std::size_t dst, std::size_t src) {
    piece.dst = static_cast<char*>(copy.dst) + dst;
    piece.src = static_cast<const char*>(copy.src) + src;
  };
  switch (cut_of(copy, parts)) {
  case Cut::slices: {
    const std::size_t from = edge(copy.depth, part, parts);
    piece.depth = edge(copy.depth, part + 1, parts) - from;
    shift(from * copy.dst_slice, from * copy.src_slice);
    break;
  }
  case Cut::rows: {
    const std::size_t from = edge(copy.height, part, parts);
    piece.height = edge(copy.height, part + 1, parts) - from;
    shift(from * copy.dst_pitch, from * copy.src_pitch);
    break;
  }
  case Cut::bytes: {
    // Cut at cache lines, so that two threads never write one line of an aligned target.
    const std::size_t lines = copy.row / 64;
    const std::size_t from = part == 0 ? 0 : edge(lines, part, parts) * 64;
    const std::size_t to = part + 1 == parts ? copy.row : edge(lines, part + 1, parts) * 64;
    piece.row = to - from;
    shift(from, from);
    break;
  }
  }
  return piece;
}

Fill part_of(const Fill& fill, std::uint32_t part, std::uint32_t parts) noexcept {
  Fill piece = fill;
  std::size_t offset = 0;
  switch (cut_of(fill, parts)) {
  case Cut::slices: {
    const std::size_t from = edge(fill.depth, part, parts);
    piece.depth = edge(fill.depth, part + 1, parts) - from;
    offset = from * fill.slice;
    break;
  }
  case Cut::rows: {
    const std::size_t from = edge(fill.height, part, parts);
    piece.height = edge(fill.height, part + 1, parts) - from;
    offset = from * fill.pitch;
    break;
  }
  case Cut::bytes: {
    const std::size_t lines = fill.row / 64;
    const std::size_t from = part == 0 ? 0 : edge(lines, part, parts) * 64;
    const std::size_t to = part + 1 == parts ? fill.row : edge(lines, part + 1, parts) * 64;
    piece.row = to - from;
    offset = from;
    break;
  }
  }
  piece.dst = static_cast<char*>(fill.dst) + offset;
  return piece;
}

void run(const Fill& fill) noexcept {
  char* slice = static_cast<char*>(fill.dst);
  if (fill.row == 0) return;
  for (std::size_t z = 0; z < fill.depth; ++z, slice += fill.slice) {
    char* line = slice;
    for (std::size_t y = 0; y < fill.height; ++y, line += fill.pitch)
      fill_line(line, fill.value, fill.element, fill.row);
  }
}

void* stage(const void* src, std::size_t bytes) noexcept {
  void* buffer = std::malloc(bytes ? bytes : 1);
  if (buffer) std::memcpy(buffer, src, bytes);
  return buffer;
}

bool stage_source(Copy& copy) noexcept {
  void* buffer = std::malloc(copy.bytes() ? copy.bytes() : 1);
  if (!buffer) return false;
  Copy pack = copy;
  pack.dst = buffer;
  pack.dst_pitch = copy.row;
  pack.dst_slice = copy.row * copy.height;
  pack.flags = 0;
  run(pack);
  copy.src = buffer;
  copy.src_pitch = copy.row;
  copy.src_slice = copy.row * copy.height;
  copy.flags |= copy_owns_source;
  return true;
}

}  // namespace mr::memory
