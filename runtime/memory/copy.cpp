#include <memory/copy.h>

#include <algorithm>
#include <cstdlib>

#include <cpuid.h>
#include <emmintrin.h>

namespace mr::memory {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MR_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MR_INSTRUMENTED 1
#endif
#endif

// Whether the processor's string instructions are the best way to move what no cache holds: AMD's with "enhanced rep
// movsb" write whole lines without reading them first and were ahead of non-temporal stores at all sizes; Intel's read
// them (docs/memory.md has the figures). Sanitizers don't see what these instructions touch. False before static
// constructors have run, which is only slower.
bool has_best_strings() noexcept {
#ifdef MR_INSTRUMENTED
  return false;
#else
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned authentic_amd = 0x68747541;  // "Auth", how AMD's name begins
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != authentic_amd) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 9)) != 0;
#endif
}
const bool best_strings = has_best_strings();

constexpr std::size_t cache_line = 64, page = 4096;
// From here on what a copy costs is the memory's traffic.
constexpr std::size_t large_copy = std::size_t{4} << 20;
// From here on what was written first has left the caches anyway when the copy ends, so that it may go past them.
constexpr std::size_t streamed_copy = std::size_t{32} << 20;

// Copies past the caches, four pages at a time and a line of each in turn: the memory serves several of its own pages
// at once then, which takes a third less time than line after line.
void stream(char* to, const char* from, std::size_t bytes) noexcept {
  const std::size_t head = std::min(bytes, (0 - reinterpret_cast<std::uintptr_t>(to)) % cache_line);
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  constexpr std::size_t pages = 4, ahead = 2 * cache_line;
  for (; bytes >= pages * page; to += pages * page, from += pages * page, bytes -= pages * page) {
    for (std::size_t at = 0; at < page; at += cache_line) {
      for (std::size_t p = 0; p < pages; ++p) {
        const char* const source = from + p * page + at;
        auto* const target = reinterpret_cast<__m128i*>(to + p * page + at);
        _mm_prefetch(source + ahead, _MM_HINT_T0);
        __m128i line[4];
        std::memcpy(line, source, cache_line);
        for (int i = 0; i < 4; ++i) _mm_stream_si128(target + i, line[i]);
      }
    }
  }
  _mm_sfence();  // the stores are ordered like any other's from here on
  std::memcpy(to, from, bytes);
}

// memmove semantics: the forms that CUDA allows (a block onto itself) and the ones it leaves undefined stay inside the
// ranges. `total` is what the whole copy moves.
inline void move(void* dst, const void* src, std::size_t bytes, std::size_t total) noexcept {
  if (dst == src) return;
  if (total < large_copy) [[likely]] {
    std::memmove(dst, src, bytes);
    return;
  }
  const auto to = reinterpret_cast<std::uintptr_t>(dst), from = reinterpret_cast<std::uintptr_t>(src);
  const bool apart = to - from >= bytes && from - to >= bytes;
  if (apart && best_strings && (to - from) % cache_line == 0)
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
  else if (apart && !best_strings && total >= streamed_copy)
    stream(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
  else
    std::memmove(dst, src, bytes);
}

// ---- parts ----

constexpr std::size_t part_bytes = std::size_t{256} << 10;
// Less than this isn't worth another thread's way to it.
constexpr std::size_t divided_from = std::size_t{4} << 20;

// How `rows` rows of `row` bytes are divided: into runs of `rows` rows, or pieces of one row.
struct Division {
  std::size_t rows = 0;  // of a part; 0: there is one row, in pieces of part_bytes
  std::uint64_t parts = 1;
};
Division divide(std::size_t row, std::size_t rows) noexcept {
  if (rows == 1) return {0, (row + part_bytes - 1) / part_bytes};
  const std::size_t each = std::max<std::size_t>(1, part_bytes / row);
  return {each, (rows + each - 1) / each};
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

void run(const LinearCopy& copy) noexcept { move(copy.dst, copy.src, copy.bytes, copy.bytes); }

void run(const Copy& copy) noexcept {
  char* dst_slice = static_cast<char*>(copy.dst);
  const char* src_slice = static_cast<const char*>(copy.src);
  const std::size_t total = copy.bytes();
  if (copy.row != 0) {
    for (std::size_t z = 0; z < copy.depth; ++z) {
      char* dst = dst_slice;
      const char* src = src_slice;
      for (std::size_t y = 0; y < copy.height; ++y) {
        move(dst, src, copy.row, total);
        dst += copy.dst_pitch;
        src += copy.src_pitch;
      }
      dst_slice += copy.dst_slice;
      src_slice += copy.src_slice;
    }
  }
  abandon(copy);
}

std::uint64_t parts(const LinearCopy& copy) noexcept {
  const auto to = reinterpret_cast<std::uintptr_t>(copy.dst), from = reinterpret_cast<std::uintptr_t>(copy.src);
  // Parts of ranges that overlap would overwrite each other's source.
  if (copy.bytes < divided_from || to - from < copy.bytes || from - to < copy.bytes) return 1;
  return divide(copy.bytes, 1).parts;
}

std::uint64_t parts(const Copy& copy) noexcept {
  const std::size_t bytes = copy.bytes();
  if (bytes < divided_from || (copy.flags & copy_owns_source)) return 1;
  const auto to = reinterpret_cast<std::uintptr_t>(copy.dst), from = reinterpret_cast<std::uintptr_t>(copy.src);
  const auto extent = [&](std::size_t pitch, std::size_t slice) {
    return (copy.depth > 1 ? (copy.depth - 1) * slice : 0) + (copy.height > 1 ? (copy.height - 1) * pitch : 0) +
           copy.row;
  };
  if (to - from < extent(copy.src_pitch, copy.src_slice) || from - to < extent(copy.dst_pitch, copy.dst_slice))
    return 1;
  return divide(copy.row, copy.height * copy.depth).parts;
}

std::uint64_t parts(const Fill& fill) noexcept {
  return fill.bytes() < divided_from ? 1 : divide(fill.row, fill.height * fill.depth).parts;
}

void run(const LinearCopy& copy, std::uint64_t first, std::uint64_t count) noexcept {
  const std::size_t begin = first * part_bytes, end = std::min(copy.bytes, (first + count) * part_bytes);
  move(static_cast<char*>(copy.dst) + begin, static_cast<const char*>(copy.src) + begin, end - begin, copy.bytes);
}

void run(const Copy& copy, std::uint64_t first, std::uint64_t count) noexcept {
  const std::size_t rows = copy.height * copy.depth, total = copy.bytes();
  const Division division = divide(copy.row, rows);
  if (division.rows == 0) {
    run(LinearCopy{copy.dst, copy.src, copy.row}, first, count);
    return;
  }
  const std::size_t end = std::min(rows, (first + count) * division.rows);
  for (std::size_t at = first * division.rows; at < end; ++at) {
    const std::size_t y = at % copy.height, z = at / copy.height;
    move(static_cast<char*>(copy.dst) + z * copy.dst_slice + y * copy.dst_pitch,
         static_cast<const char*>(copy.src) + z * copy.src_slice + y * copy.src_pitch, copy.row, total);
  }
}

void run(const Fill& fill, std::uint64_t first, std::uint64_t count) noexcept {
  const std::size_t rows = fill.height * fill.depth;
  const Division division = divide(fill.row, rows);
  if (division.rows == 0) {
    // Whole elements: part_bytes is a multiple of every size.
    const std::size_t begin = first * part_bytes, end = std::min(fill.row, (first + count) * part_bytes);
    fill_line(static_cast<char*>(fill.dst) + begin, fill.value, fill.element, end - begin);
    return;
  }
  const std::size_t end = std::min(rows, (first + count) * division.rows);
  for (std::size_t at = first * division.rows; at < end; ++at)
    fill_line(static_cast<char*>(fill.dst) + at / fill.height * fill.slice + at % fill.height * fill.pitch, fill.value,
              fill.element, fill.row);
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
