#include <memory/copy.h>

#include <cstdlib>

#include <cpuid.h>

namespace mr::memory {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MR_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MR_INSTRUMENTED 1
#endif
#endif

// Whether the processor's string instructions move whole lines (cpuid's "enhanced rep movsb"). Sanitizers don't see
// what these instructions touch. False before static constructors have run, which is only slower.
bool has_fast_strings() noexcept {
#ifdef MR_INSTRUMENTED
  return false;
#else
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 9)) != 0;
#endif
}
const bool fast_strings = has_fast_strings();

constexpr std::size_t cache_line = 64;
// From here on what a copy costs is the memory's traffic. `rep movsb` writes whole lines without reading them first and
// still leaves them in the shared cache: 20 to 40 % less time than memmove where it is not memmove's own choice
// (docs/memory.md has the figures). Only with operands that are aligned alike: otherwise memmove is as fast or faster.
constexpr std::size_t large_copy = std::size_t{4} << 20;

// memmove semantics: the forms that CUDA allows (a block onto itself) and the ones it leaves undefined stay inside the
// ranges.
inline void move(void* dst, const void* src, std::size_t bytes) noexcept {
  if (dst == src) return;
  const auto to = reinterpret_cast<std::uintptr_t>(dst), from = reinterpret_cast<std::uintptr_t>(src);
  const bool apart = to - from >= bytes && from - to >= bytes;
  if (bytes < large_copy || !fast_strings || (to - from) % cache_line != 0 || !apart) {
    std::memmove(dst, src, bytes);
    return;
  }
  __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
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
  abandon(copy);
}

void abandon(const Copy& copy) noexcept {
  if (copy.flags & copy_owns_source) std::free(const_cast<void*>(copy.src));
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
