// cuda::std algorithms on iterators: the common ones of <algorithm>, <numeric> and <iterator>, constexpr for host and
// device.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"
#include <bits/range_access.h>
#include <bits/stl_iterator.h>
#include <bits/stl_iterator_base_funcs.h>

namespace cuda {
namespace std {

using ::std::advance;
using ::std::distance;
using ::std::iterator_traits;
using ::std::make_reverse_iterator;
using ::std::next;
using ::std::prev;
using ::std::random_access_iterator_tag;
using ::std::reverse_iterator;
#if __cplusplus >= 201703L
using ::std::begin;
using ::std::data;
using ::std::empty;
using ::std::end;
using ::std::size;
#endif

template <class I, class F> __MR_CU constexpr F for_each(I a, I b, F f) {
  for (; a != b; ++a) f(*a);
  return f;
}
template <class I, class T> __MR_CU constexpr void fill(I a, I b, const T& v) {
  for (; a != b; ++a) *a = v;
}
template <class I, class N, class T> __MR_CU constexpr I fill_n(I a, N n, const T& v) {
  for (N i = 0; i < n; ++i, ++a) *a = v;
  return a;
}
template <class I, class G> __MR_CU constexpr void generate(I a, I b, G g) {
  for (; a != b; ++a) *a = g();
}
template <class I, class O> __MR_CU constexpr O copy(I a, I b, O o) {
  for (; a != b; ++a, ++o) *o = *a;
  return o;
}
template <class I, class N, class O> __MR_CU constexpr O copy_n(I a, N n, O o) {
  for (N i = 0; i < n; ++i, ++a, ++o) *o = *a;
  return o;
}
template <class I, class O, class P> __MR_CU constexpr O copy_if(I a, I b, O o, P p) {
  for (; a != b; ++a)
    if (p(*a)) *o++ = *a;
  return o;
}
template <class I, class O, class F> __MR_CU constexpr O transform(I a, I b, O o, F f) {
  for (; a != b; ++a, ++o) *o = f(*a);
  return o;
}
template <class I, class J, class O, class F> __MR_CU constexpr O transform(I a, I b, J c, O o, F f) {
  for (; a != b; ++a, ++c, ++o) *o = f(*a, *c);
  return o;
}
template <class I, class P> __MR_CU constexpr I find_if(I a, I b, P p) {
  while (a != b && !p(*a)) ++a;
  return a;
}
template <class I, class T> __MR_CU constexpr I find(I a, I b, const T& v) {
  while (a != b && !(*a == v)) ++a;
  return a;
}
template <class I, class T> __MR_CU constexpr ptrdiff_t count(I a, I b, const T& v) {
  ptrdiff_t n = 0;
  for (; a != b; ++a) n += *a == v;
  return n;
}
template <class I, class P> __MR_CU constexpr ptrdiff_t count_if(I a, I b, P p) {
  ptrdiff_t n = 0;
  for (; a != b; ++a) n += p(*a) ? 1 : 0;
  return n;
}
template <class I, class P> __MR_CU constexpr bool all_of(I a, I b, P p) {
  for (; a != b; ++a)
    if (!p(*a)) return false;
  return true;
}
template <class I, class P> __MR_CU constexpr bool any_of(I a, I b, P p) { return find_if(a, b, p) != b; }
template <class I, class P> __MR_CU constexpr bool none_of(I a, I b, P p) { return !any_of(a, b, p); }
template <class I, class J> __MR_CU constexpr bool equal(I a, I b, J c) {
  for (; a != b; ++a, ++c)
    if (!(*a == *c)) return false;
  return true;
}
template <class I, class L = less<>> __MR_CU constexpr I min_element(I a, I b, L l = L()) {
  I r = a;
  for (; a != b; ++a)
    if (l(*a, *r)) r = a;
  return r;
}
template <class I, class L = less<>> __MR_CU constexpr I max_element(I a, I b, L l = L()) {
  I r = a;
  for (; a != b; ++a)
    if (l(*r, *a)) r = a;
  return r;
}
template <class I> __MR_CU constexpr void reverse(I a, I b) {
  while (a != b && a != --b) {
    auto t = *a;
    *a = *b;
    *b = t;
    ++a;
  }
}
template <class I, class T, class L = less<>> __MR_CU constexpr I lower_bound(I a, I b, const T& v, L l = L()) {
  for (auto n = b - a; n > 0;) {
    const auto half = n / 2;
    if (l(a[half], v)) {
      a += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return a;
}
template <class I, class T, class L = less<>> __MR_CU constexpr I upper_bound(I a, I b, const T& v, L l = L()) {
  for (auto n = b - a; n > 0;) {
    const auto half = n / 2;
    if (!l(v, a[half])) {
      a += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return a;
}
template <class I, class T, class L = less<>> __MR_CU constexpr bool binary_search(I a, I b, const T& v, L l = L()) {
  const I p = lower_bound(a, b, v, l);
  return p != b && !l(v, *p);
}
// Heap sort: no recursion, no extra memory.
template <class I, class L = less<>> __MR_CU constexpr void sort(I a, I b, L l = L()) {
  const auto n = b - a;
  auto sift = [&](decltype(b - a) i, decltype(b - a) size) {
    for (auto child = 2 * i + 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size && l(a[child], a[child + 1])) ++child;
      if (!l(a[i], a[child])) return;
      auto t = a[i];
      a[i] = a[child];
      a[child] = t;
      i = child;
    }
  };
  for (auto i = n / 2; i-- > 0;) sift(i, n);
  for (auto i = n; i-- > 1;) {
    auto t = a[0];
    a[0] = a[i];
    a[i] = t;
    sift(0, i);
  }
}
template <class I, class L = less<>> __MR_CU constexpr bool is_sorted(I a, I b, L l = L()) {
  if (a == b) return true;
  for (I n = a; ++n != b; a = n)
    if (l(*n, *a)) return false;
  return true;
}

template <class I, class T, class F = plus<>> __MR_CU constexpr T accumulate(I a, I b, T v, F f = F()) {
  for (; a != b; ++a) v = f(v, *a);
  return v;
}
template <class I, class T, class F = plus<>> __MR_CU constexpr T reduce(I a, I b, T v, F f = F()) {
  return accumulate(a, b, v, f);
}
template <class I, class J, class T> __MR_CU constexpr T inner_product(I a, I b, J c, T v) {
  for (; a != b; ++a, ++c) v = v + *a * *c;
  return v;
}
template <class I, class T> __MR_CU constexpr void iota(I a, I b, T v) {
  for (; a != b; ++a, ++v) *a = v;
}
template <class I, class O, class F = plus<>> __MR_CU constexpr O partial_sum(I a, I b, O o, F f = F()) {
  if (a == b) return o;
  auto v = *a;
  *o = v;
  while (++a != b) *++o = v = f(v, *a);
  return ++o;
}

}  // namespace std
}  // namespace cuda
