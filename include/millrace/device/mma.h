// The bodies of mma.h.
#pragma once
#pragma clang system_header

#include "services.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;  // a float whose lower 13 bits are not looked at
}
enum layout_t { mem_row_major, mem_col_major };

namespace details {

// What an element of type T is kept as and computed in, and the tiles there are.
constexpr bool wide(int m, int n, int k) {
  return k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
}
template <class T> struct element {
  static constexpr bool known = false;
};
template <class S, class Sum, int repeated = 0> struct of_wide_tiles {
  using storage = S;
  using sum = Sum;
  static constexpr bool known = true;
  static constexpr int held = repeated;  // elements in a lane of A and B, if there are more than it needs
  static __device__ Sum widened(S v) { return (Sum)v; }
  static constexpr bool has(int m, int n, int k) { return wide(m, n, k); }
};
template <> struct element<__half> : of_wide_tiles<__half, float, 16> {};
template <> struct element<__nv_bfloat16> : of_wide_tiles<__nv_bfloat16, float> {};
template <> struct element<signed char> : of_wide_tiles<signed char, int> {};
template <> struct element<char> : of_wide_tiles<char, int> {};
template <> struct element<unsigned char> : of_wide_tiles<unsigned char, int> {};
template <> struct element<precision::tf32> : of_wide_tiles<float, float> {
  static __device__ float widened(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }
  static constexpr bool has(int m, int n, int k) { return m == 16 && n == 16 && k == 8; }
};
template <> struct element<double> : of_wide_tiles<double, double> {
  static constexpr bool has(int m, int n, int k) { return m == 8 && n == 8 && k == 4; }
};

__MR_D unsigned lane() { return __mr_lane()->linear % 32u; }
__MR_D __attribute__((convergent)) void sync() { __mr_warp_sync(0xffffffffu); }

// A tile of `rows` x `columns` of which each lane has x[num_elements].
template <class S, int rows, int columns, int held> struct tile {
  using element_type = S;
  using storage_element_type = S;
  static constexpr int mr_rows = rows, mr_columns = columns;
  static constexpr int mr_own = rows * columns / 32;  // what follows repeats these
  static constexpr int num_elements = held > mr_own ? held : mr_own;
  S x[num_elements];

  // Calls visit(place in x, row, column) for each element.
  template <class F> static __device__ void each(F visit) {
    const int first = (int)lane() * mr_own;
    for (int e = 0; e < num_elements; ++e) visit(e, (first + e % mr_own) / columns, (first + e % mr_own) % columns);
  }
};

__MR_D float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__MR_D double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
__MR_D int multiply_add(int a, int b, int c) { return (int)((unsigned)c + (unsigned)(a * b)); }
// The finite value that replaces infinities and NaN.
template <class D> __MR_D D finite(float v) {
  const float most = sizeof(D) == 2 ? 65504.0f : 0x1.fffffep127f;
  return (D)(v != v ? 0.0f : v > most ? most : v < -most ? -most : v);
}

}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;
#define __MR_FRAGMENT_CHECK(T)                                                                                         \
  static_assert(details::element<T>::known, "wmma: there are no tiles of this element type");                          \
  static_assert(details::element<T>::has(m, n, k), "wmma: this element type has no tiles of this shape")
template <int m, int n, int k, class T, class Layout>
class fragment<matrix_a, m, n, k, T, Layout>
    : public details::tile<typename details::element<T>::storage, m, k, details::element<T>::held> {
  __MR_FRAGMENT_CHECK(T);
};
template <int m, int n, int k, class T, class Layout>
class fragment<matrix_b, m, n, k, T, Layout>
    : public details::tile<typename details::element<T>::storage, k, n, details::element<T>::held> {
  __MR_FRAGMENT_CHECK(T);
};
#undef __MR_FRAGMENT_CHECK
template <int m, int n, int k, class T>
class fragment<accumulator, m, n, k, T, void> : public details::tile<T, m, n, 0> {};

// Every lane of the warp calls these together, with the same arguments. `stride` is the distance of rows (of columns,
// in column-major memory), in elements.
template <class Use, int m, int n, int k, class T, class Layout, class S>
__MR_D __attribute__((convergent)) void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const S* from,
                                                         unsigned stride) {
  details::sync();
  f.each([&](int e, int row, int column) {
    f.x[e] = __is_same(Layout, row_major) ? from[row * (long)stride + column] : from[column * (long)stride + row];
  });
  details::sync();
}
template <int m, int n, int k, class T>
__MR_D __attribute__((convergent)) void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from,
                                                         unsigned stride, layout_t layout) {
  details::sync();
  f.each([&](int e, int row, int column) {
    f.x[e] = layout == mem_row_major ? from[row * (long)stride + column] : from[column * (long)stride + row];
  });
  details::sync();
}
template <int m, int n, int k, class T>
__MR_D __attribute__((convergent)) void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f,
                                                          unsigned stride, layout_t layout) {
  details::sync();
  f.each([&](int e, int row, int column) {
    (layout == mem_row_major ? to[row * (long)stride + column] : to[column * (long)stride + row]) = f.x[e];
  });
  details::sync();
}
template <class Use, int m, int n, int k, class T, class Layout>
__MR_D void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                          const typename fragment<Use, m, n, k, T, Layout>::storage_element_type& value) {
  for (auto& x : f.x) x = value;
}

// D = A B + C. `saturate`: integers stop at their limits; infinities become the largest value and NaN 0.
template <int m, int n, int k, class T, class LA, class LB, class C, class D>
__MR_D __attribute__((convergent)) void mma_sync(fragment<accumulator, m, n, k, D>& d,
                                                 const fragment<matrix_a, m, n, k, T, LA>& a,
                                                 const fragment<matrix_b, m, n, k, T, LB>& b,
                                                 const fragment<accumulator, m, n, k, C>& c, bool saturate = false) {
  using Element = details::element<T>;
  using Sum = typename Element::sum;
  // The whole of A and B, in lane 0's memory: lanes can read each other's stacks.
  Sum memory[m * k + k * n];
  int in_range;
  Sum* const all_a = (Sum*)__mr_shuffle(0xffffffffu, 0, (unsigned long)&memory[0], 0, 32, &in_range);
  Sum* const all_b = all_a + m * k;
  const int lane = (int)details::lane();
  for (int e = 0; e < a.mr_own; ++e) all_a[lane * a.mr_own + e] = Element::widened(a.x[e]);
  for (int e = 0; e < b.mr_own; ++e) all_b[lane * b.mr_own + e] = Element::widened(b.x[e]);
  details::sync();
  d.each([&](int e, int row, int column) {
    Sum sum = 0;
    if constexpr (__is_same(Sum, int)) {
      for (int i = 0; i < k; ++i) sum = details::multiply_add(all_a[row * k + i], all_b[i * n + column], sum);
      // At most 16 products of 16 bits: no overflow so far.
      const long total = (long)sum + c.x[e];
      d.x[e] = !saturate              ? (D)total
               : total > 0x7fffffffl  ? 0x7fffffff
               : total < -0x80000000l ? -0x7fffffff - 1
                                      : (D)total;
    } else {
      sum = (Sum)c.x[e];
      for (int i = 0; i < k; ++i) sum = details::multiply_add(all_a[row * k + i], all_b[i * n + column], sum);
      if constexpr (__is_same(Sum, float))
        d.x[e] = saturate ? details::finite<D>(sum) : (D)sum;
      else
        d.x[e] = sum;
    }
  });
  details::sync();
}

// Rounded to tf32, ties away from zero.
__MR_D float __float_to_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  return __uint_as_float((x != x ? bits : bits + 0x1000u) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace nvcuda
