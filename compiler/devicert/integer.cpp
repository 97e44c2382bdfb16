// Helpers that code generation calls for 128-bit division.
namespace {
using U128 = unsigned __int128;
using I128 = __int128;

struct Division {
  U128 quotient, remainder;
};

inline int leading_zeros(U128 v) {
  const auto high = static_cast<unsigned long long>(v >> 64);
  return high ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<unsigned long long>(v));
}

// Shift and subtract, from the highest bit in which the operands differ in magnitude. The divisor isn't 0: the passes
// see to it.
Division divide(U128 n, U128 d) {
  if (d > n) return {0, n};
  U128 quotient = 0;
  int shift = leading_zeros(d) - leading_zeros(n);
  U128 part = d << shift;
  for (; shift >= 0; --shift, part >>= 1) {
    quotient <<= 1;
    if (n >= part) {
      n -= part;
      quotient |= 1;
    }
  }
  return {quotient, n};
}

inline U128 magnitude(I128 v) { return v < 0 ? -static_cast<U128>(v) : static_cast<U128>(v); }
}  // namespace

extern "C" {
U128 __udivti3(U128 n, U128 d) { return divide(n, d).quotient; }
U128 __umodti3(U128 n, U128 d) { return divide(n, d).remainder; }
I128 __divti3(I128 n, I128 d) {
  const U128 q = divide(magnitude(n), magnitude(d)).quotient;
  return static_cast<I128>((n < 0) != (d < 0) ? -q : q);
}
I128 __modti3(I128 n, I128 d) {
  const U128 r = divide(magnitude(n), magnitude(d)).remainder;
  return static_cast<I128>(n < 0 ? -r : r);
}
I128 __multi3(I128 a, I128 b) {
  const auto al = static_cast<unsigned long long>(a), bl = static_cast<unsigned long long>(b);
  const auto ah = static_cast<unsigned long long>(static_cast<U128>(a) >> 64),
             bh = static_cast<unsigned long long>(static_cast<U128>(b) >> 64);
  const U128 low = static_cast<U128>(al) * bl;
  return static_cast<I128>(low + (static_cast<U128>(al * bh + ah * bl) << 64));
}
}
