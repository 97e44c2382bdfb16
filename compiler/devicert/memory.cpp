// memcpy and kin, which compilers call for copies of unknown size. Built with -fno-builtin, so that they don't call
// themselves.
//
// `rep movsb/stosb` are the fastest portable choice for long runs on processors with ERMS (all x86-64-v3 machines);
// short runs are done by overlapping moves, without a branch per byte.
#include <cstddef>
#include <cstdint>

namespace {
// Values of any alignment and type.
template <typename V> struct [[gnu::packed, gnu::may_alias]] Loose {
  V v;
};
using Vec = Loose<long long __attribute__((vector_size(32)))>;
using Quad = Loose<long long __attribute__((vector_size(16)))>;
using Word = Loose<std::uint64_t>;
using Half = Loose<std::uint32_t>;
using Short = Loose<std::uint16_t>;

template <typename T> inline void ends(char* to, const char* from, std::size_t n) {
  const auto first = reinterpret_cast<const T*>(from)->v;
  const auto last = reinterpret_cast<const T*>(from + n - sizeof(T))->v;
  reinterpret_cast<T*>(to)->v = first;
  reinterpret_cast<T*>(to + n - sizeof(T))->v = last;
}

// Up to 64 bytes; reads everything before it writes.
inline void move_small(char* to, const char* from, std::size_t n) {
  if (n >= 32) return ends<Vec>(to, from, n);
  if (n >= 16) return ends<Quad>(to, from, n);
  if (n >= 8) return ends<Word>(to, from, n);
  if (n >= 4) return ends<Half>(to, from, n);
  if (n >= 2) return ends<Short>(to, from, n);
  if (n) *to = *from;
}

inline void forward(char* to, const char* from, std::size_t n) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

// 65 to 512 bytes or so, without overlap in the direction of the copy.
inline void move_vectors(char* to, const char* from, std::size_t n) {
  const Vec last = *reinterpret_cast<const Vec*>(from + n - 32);
  char* const end = to + n - 32;
  for (; to < end; to += 32, from += 32) *reinterpret_cast<Vec*>(to) = *reinterpret_cast<const Vec*>(from);
  *reinterpret_cast<Vec*>(end) = last;
}
}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, std::size_t n) {
  auto* d = static_cast<char*>(to);
  const auto* s = static_cast<const char*>(from);
  if (n <= 64)
    move_small(d, s, n);
  else if (n <= 512)
    move_vectors(d, s, n);
  else
    forward(d, s, n);
  return to;
}

void* memmove(void* to, const void* from, std::size_t n) {
  auto* d = static_cast<char*>(to);
  const auto* s = static_cast<const char*>(from);
  if (n <= 64) {
    move_small(d, s, n);
  } else if (static_cast<std::size_t>(d - s) >= n) {  // the destination doesn't start inside the source
    if (n <= 512 && static_cast<std::size_t>(s - d) >= n)
      move_vectors(d, s, n);
    else
      forward(d, s, n);
  } else {
    while (n >= 32) {
      n -= 32;
      *reinterpret_cast<Vec*>(d + n) = *reinterpret_cast<const Vec*>(s + n);
    }
    move_small(d, s, n);
  }
  return to;
}

void* memset(void* to, int value, std::size_t n) {
  auto* d = static_cast<char*>(to);
  if (n < 32) {
    for (std::size_t i = 0; i < n; ++i) d[i] = static_cast<char>(value);
  } else if (n <= 512) {
    const long long pattern = static_cast<long long>(0x0101010101010101ull * static_cast<unsigned char>(value));
    const Vec v = {{pattern, pattern, pattern, pattern}};
    char* const end = d + n - 32;
    for (; d < end; d += 32) *reinterpret_cast<Vec*>(d) = v;
    *reinterpret_cast<Vec*>(end) = v;
  } else {
    asm volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(value) : "memory");
  }
  return to;
}

int memcmp(const void* a, const void* b, std::size_t n) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < n; ++i)
    if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}

int bcmp(const void* a, const void* b, std::size_t n) { return memcmp(a, b, n); }

std::size_t strlen(const char* s) {
  std::size_t n = 0;
  while (s[n]) ++n;
  return n;
}

}  // extern "C"
