// Deduction guides, the standard library's and a program's own, in code for the device and for both sides.
#include <array>
#include <tuple>
#include <utility>

#include "check.h"

template <class T> struct Wrapped {
  T v;
  __host__ __device__ Wrapped(T x) : v(x) {}
};
template <class T> Wrapped(T*) -> Wrapped<T>;
Wrapped(const char*) -> Wrapped<int>;

namespace app {
template <class... F> struct Overloaded : F... {
  using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;
template <class T, int N> struct Row {
  T a[N];
};
template <class T, class... U> Row(T, U...) -> Row<T, 1 + sizeof...(U)>;

__host__ __device__ int both() {
  const Row row{1, 2, 3};
  const Overloaded f{[](int x) { return x; }, [](float) { return 20; }};
  return f(row.a[1]) + f(1.0f);
}
}  // namespace app

__global__ void kernel(int* o) {
  const std::array a{1, 2, 3};
  const std::pair p(1, 2.5f);
  const std::tuple t(1, 2);
  const app::Row row{4, 5};
  const app::Overloaded f{[](int x) { return x; }, [](float) { return 2; }};
  const Wrapped w(3);
  o[0] = a[2] + p.first + std::get<1>(t) + row.a[1] + f(7) + f(1.0f) + w.v;
  o[1] = app::both();
}

int main() {
  int* o;
  OK(cudaMallocManaged(&o, 2 * sizeof *o));
  kernel<<<1, 1>>>(o);
  OK(cudaDeviceSynchronize());
  CHECK(o[0] == 3 + 1 + 2 + 5 + 7 + 2 + 3);
  CHECK(o[1] == 22 && app::both() == 22);
  return report();
}
