// cuda::std::mdspan (C++23's, from C++17 on): a view of memory as a multidimensional array. Elements are reached by
// m(i, j), by m[array{i, j}], and by m[i, j] where the language has it. Indices are not checked.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_array.h"
#include "std_span.h"

namespace cuda {
namespace std {

using full_extent_t = struct __mr_full_extent {
  explicit __mr_full_extent() = default;
};
inline constexpr full_extent_t full_extent{};

// The extents of an array: constants, or dynamic_extent for those that are known when it runs.
template <class Index, ::std::size_t... E> class extents {
 public:
  using index_type = Index;
  using size_type = typename ::std::make_unsigned<Index>::type;
  using rank_type = ::std::size_t;

  __MR_CUM static constexpr rank_type rank() noexcept { return sizeof...(E); }
  __MR_CUM static constexpr rank_type rank_dynamic() noexcept { return (rank_type(0) + ... + (E == dynamic_extent)); }
  __MR_CUM static constexpr ::std::size_t static_extent(rank_type r) noexcept {
    const ::std::size_t all[] = {E..., 0};
    return all[r];
  }
  __MR_CUM constexpr index_type extent(rank_type r) const noexcept { return values_[r]; }

  __MR_CUM constexpr extents() noexcept : values_{(E == dynamic_extent ? Index(0) : Index(E))..., 0} {}
  // All extents, or the dynamic ones alone.
  template <class... I, class = ::std::enable_if_t<(::std::is_convertible<I, Index>::value && ...) &&
                                                   (sizeof...(I) == rank() || sizeof...(I) == rank_dynamic()) &&
                                                   (sizeof...(I) > 0)>>
  __MR_CUM explicit constexpr extents(I... given) noexcept : extents() {
    const Index list[] = {static_cast<Index>(given)...};
    take(list, sizeof...(I));
  }
  template <class I, ::std::size_t N,
            class = ::std::enable_if_t<::std::is_convertible<I, Index>::value && (N == rank() || N == rank_dynamic())>>
  __MR_CUM constexpr extents(const array<I, N>& given) noexcept : extents() {
    Index list[N + 1] = {};
    for (::std::size_t i = 0; i < N; ++i) list[i] = static_cast<Index>(given[i]);
    take(list, N);
  }
  template <class I, ::std::size_t... F, class = ::std::enable_if_t<sizeof...(F) == sizeof...(E)>>
  __MR_CUM constexpr extents(const extents<I, F...>& other) noexcept : extents() {
    for (rank_type r = 0; r < rank(); ++r) values_[r] = static_cast<Index>(other.extent(r));
  }
  template <class I, ::std::size_t... F>
  __MR_CUM friend constexpr bool operator==(const extents& a, const extents<I, F...>& b) noexcept {
    bool same = sizeof...(F) == rank();
    for (rank_type r = 0; same && r < rank(); ++r) same = a.extent(r) == static_cast<Index>(b.extent(r));
    return same;
  }

 private:
  __MR_CUM constexpr void take(const Index* list, ::std::size_t count) noexcept {
    rank_type next = 0;
    for (rank_type r = 0; r < rank(); ++r)
      if (count == rank() || static_extent(r) == dynamic_extent) values_[r] = list[next++];
  }
  Index values_[sizeof...(E) + 1];
};

namespace __mr_mdspan {
template <class Index, class Ranks> struct dynamic;
template <class Index, ::std::size_t... R> struct dynamic<Index, ::std::index_sequence<R...>> {
  using type = extents<Index, (R, dynamic_extent)...>;
};
// The product of the extents from `first` up to, not including, `end`.
template <class E>
__MR_CU constexpr typename E::index_type product(const E& e, ::std::size_t first, ::std::size_t end) noexcept {
  typename E::index_type p = 1;
  for (::std::size_t r = first; r < end; ++r) p *= e.extent(r);
  return p;
}
}  // namespace __mr_mdspan

template <class Index, ::std::size_t Rank>
using dextents = typename __mr_mdspan::dynamic<Index, ::std::make_index_sequence<Rank>>::type;
template <::std::size_t Rank, class Index = ::std::size_t> using dims = dextents<Index, Rank>;

// ---- Layouts: where the element at given indices is ----
// The last index is contiguous (C), or the first (Fortran).
template <bool last> struct __mr_layout_dense {
  template <class E> class mapping {
   public:
    using extents_type = E;
    using index_type = typename E::index_type;
    using size_type = typename E::size_type;
    using rank_type = typename E::rank_type;

    constexpr mapping() noexcept = default;
    __MR_CUM constexpr mapping(const E& e) noexcept : extents_(e) {}
    template <class F> __MR_CUM constexpr mapping(const mapping<F>& other) noexcept : extents_(other.extents()) {}
    __MR_CUM constexpr const E& extents() const noexcept { return extents_; }
    __MR_CUM constexpr index_type required_span_size() const noexcept {
      return __mr_mdspan::product(extents_, 0, E::rank());
    }
    template <class... I> __MR_CUM constexpr index_type operator()(I... indices) const noexcept {
      static_assert(sizeof...(I) == E::rank(), "one index for each dimension");
      const index_type list[] = {static_cast<index_type>(indices)..., 0};
      index_type at = 0;
      for (rank_type i = 0; i < E::rank(); ++i) {
        const rank_type r = last ? i : E::rank() - 1 - i;
        at = at * extents_.extent(r) + list[r];
      }
      return at;
    }
    __MR_CUM constexpr index_type stride(rank_type r) const noexcept {
      return last ? __mr_mdspan::product(extents_, r + 1, E::rank()) : __mr_mdspan::product(extents_, 0, r);
    }
    __MR_CUM static constexpr bool is_always_unique() noexcept { return true; }
    __MR_CUM static constexpr bool is_always_exhaustive() noexcept { return true; }
    __MR_CUM static constexpr bool is_always_strided() noexcept { return true; }
    __MR_CUM static constexpr bool is_unique() noexcept { return true; }
    __MR_CUM static constexpr bool is_exhaustive() noexcept { return true; }
    __MR_CUM static constexpr bool is_strided() noexcept { return true; }

   private:
    E extents_{};
  };
};
struct layout_right : __mr_layout_dense<true> {};
struct layout_left : __mr_layout_dense<false> {};

struct layout_stride {
  template <class E> class mapping {
   public:
    using extents_type = E;
    using index_type = typename E::index_type;
    using size_type = typename E::size_type;
    using rank_type = typename E::rank_type;

    constexpr mapping() noexcept = default;
    template <class I>
    __MR_CUM constexpr mapping(const E& e, const array<I, E::rank()>& strides) noexcept : extents_(e) {
      for (rank_type r = 0; r < E::rank(); ++r) strides_[r] = static_cast<index_type>(strides[r]);
    }
    __MR_CUM constexpr const E& extents() const noexcept { return extents_; }
    __MR_CUM constexpr index_type required_span_size() const noexcept {
      index_type size = 1;
      for (rank_type r = 0; r < E::rank(); ++r) {
        if (extents_.extent(r) == 0) return 0;
        size += (extents_.extent(r) - 1) * strides_[r];
      }
      return size;
    }
    template <class... I> __MR_CUM constexpr index_type operator()(I... indices) const noexcept {
      static_assert(sizeof...(I) == E::rank(), "one index for each dimension");
      const index_type list[] = {static_cast<index_type>(indices)..., 0};
      index_type at = 0;
      for (rank_type r = 0; r < E::rank(); ++r) at += list[r] * strides_[r];
      return at;
    }
    __MR_CUM constexpr index_type stride(rank_type r) const noexcept { return strides_[r]; }
    __MR_CUM static constexpr bool is_always_unique() noexcept { return true; }
    __MR_CUM static constexpr bool is_always_exhaustive() noexcept { return false; }
    __MR_CUM static constexpr bool is_always_strided() noexcept { return true; }
    __MR_CUM static constexpr bool is_unique() noexcept { return true; }
    __MR_CUM constexpr bool is_exhaustive() const noexcept {
      return required_span_size() == __mr_mdspan::product(extents_, 0, E::rank());
    }
    __MR_CUM static constexpr bool is_strided() noexcept { return true; }

   private:
    E extents_{};
    index_type strides_[E::rank() + 1] = {};
  };
};

template <class T> struct default_accessor {
  using offset_policy = default_accessor;
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;
  constexpr default_accessor() noexcept = default;
  template <class U, class = ::std::enable_if_t<::std::is_convertible<U (*)[], T (*)[]>::value>>
  __MR_CUM constexpr default_accessor(default_accessor<U>) noexcept {}
  __MR_CUM constexpr reference access(data_handle_type p, ::std::size_t i) const noexcept { return p[i]; }
  __MR_CUM constexpr data_handle_type offset(data_handle_type p, ::std::size_t i) const noexcept { return p + i; }
};

template <class T, class Extents, class Layout = layout_right, class Accessor = default_accessor<T>> class mdspan {
 public:
  using extents_type = Extents;
  using layout_type = Layout;
  using accessor_type = Accessor;
  using mapping_type = typename Layout::template mapping<Extents>;
  using element_type = T;
  using value_type = ::std::remove_cv_t<T>;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = typename Extents::rank_type;
  using data_handle_type = typename Accessor::data_handle_type;
  using reference = typename Accessor::reference;

  constexpr mdspan() = default;
  template <class... I,
            class = ::std::enable_if_t<(::std::is_convertible<I, index_type>::value && ...) &&
                                       (sizeof...(I) == Extents::rank() || sizeof...(I) == Extents::rank_dynamic())>>
  __MR_CUM explicit constexpr mdspan(data_handle_type p, I... e) : data_(p), map_(make(e...)) {}
  template <class I, ::std::size_t N, class = ::std::enable_if_t<N == Extents::rank() || N == Extents::rank_dynamic()>>
  __MR_CUM constexpr mdspan(data_handle_type p, const array<I, N>& e) : data_(p), map_(Extents(e)) {}
  __MR_CUM constexpr mdspan(data_handle_type p, const Extents& e) : data_(p), map_(e) {}
  __MR_CUM constexpr mdspan(data_handle_type p, const mapping_type& m) : data_(p), map_(m) {}
  __MR_CUM constexpr mdspan(data_handle_type p, const mapping_type& m, const Accessor& a)
      : data_(p), map_(m), accessor_(a) {}
  template <class U, class E, class L, class A,
            class = ::std::enable_if_t<::std::is_constructible<mapping_type, const typename L::template mapping<E>&>::
                                           value&& ::std::is_constructible<Accessor, const A&>::value>>
  __MR_CUM constexpr mdspan(const mdspan<U, E, L, A>& other)
      : data_(other.data_handle()), map_(other.mapping()), accessor_(other.accessor()) {}

  template <class... I> __MR_CUM constexpr reference operator()(I... indices) const {
    return accessor_.access(data_, static_cast<::std::size_t>(map_(indices...)));
  }
  template <class I> __MR_CUM constexpr reference operator[](const array<I, Extents::rank()>& indices) const {
    return at(indices, ::std::make_index_sequence<Extents::rank()>());
  }
#if defined(__cpp_multidimensional_subscript)
  template <class... I, class = ::std::enable_if_t<(::std::is_convertible<I, index_type>::value && ...)>>
  __MR_CUM constexpr reference operator[](I... indices) const {
    return (*this)(indices...);
  }
#else
  template <class I, class = ::std::enable_if_t<::std::is_convertible<I, index_type>::value && Extents::rank() == 1>>
  __MR_CUM constexpr reference operator[](I index) const {
    return (*this)(index);
  }
#endif

  __MR_CUM static constexpr rank_type rank() noexcept { return Extents::rank(); }
  __MR_CUM static constexpr rank_type rank_dynamic() noexcept { return Extents::rank_dynamic(); }
  __MR_CUM static constexpr ::std::size_t static_extent(rank_type r) noexcept { return Extents::static_extent(r); }
  __MR_CUM constexpr index_type extent(rank_type r) const noexcept { return map_.extents().extent(r); }
  __MR_CUM constexpr const Extents& extents() const noexcept { return map_.extents(); }
  __MR_CUM constexpr size_type size() const noexcept {
    return static_cast<size_type>(__mr_mdspan::product(map_.extents(), 0, rank()));
  }
  __MR_CUM constexpr bool empty() const noexcept { return size() == 0; }
  __MR_CUM constexpr index_type stride(rank_type r) const { return map_.stride(r); }
  __MR_CUM constexpr const data_handle_type& data_handle() const noexcept { return data_; }
  __MR_CUM constexpr const mapping_type& mapping() const noexcept { return map_; }
  __MR_CUM constexpr const Accessor& accessor() const noexcept { return accessor_; }
  __MR_CUM constexpr bool is_exhaustive() const { return map_.is_exhaustive(); }

 private:
  template <class... I> __MR_CUM static constexpr Extents make(I... e) {
    if constexpr (sizeof...(I) == 0)
      return Extents();
    else
      return Extents(e...);
  }
  template <class I, ::std::size_t... R>
  __MR_CUM constexpr reference at(const array<I, Extents::rank()>& indices, ::std::index_sequence<R...>) const {
    return (*this)(indices[R]...);
  }
  data_handle_type data_{};
  mapping_type map_{};
  Accessor accessor_{};
};
template <class T, class... I,
          class = ::std::enable_if_t<(sizeof...(I) > 0) && (::std::is_convertible<I, ::std::size_t>::value && ...)>>
mdspan(T*, I...) -> mdspan<T, dextents<::std::size_t, sizeof...(I)>>;
template <class T, class I, ::std::size_t... E> mdspan(T*, const extents<I, E...>&) -> mdspan<T, extents<I, E...>>;
template <class T, class I, ::std::size_t N> mdspan(T*, const array<I, N>&) -> mdspan<T, dextents<::std::size_t, N>>;

}  // namespace std
}  // namespace cuda
