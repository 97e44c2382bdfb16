// cuda::std::mdspan and <cuda/std/numbers> in kernels: layouts, static and dynamic extents, strides, deduction,
// conversion.
#include <cuda/std/mdspan>
#include <cuda/std/numbers>

#include "check.h"
namespace cs = cuda::std;

using Dynamic = cs::dextents<int, 2>;
using Rows = cs::mdspan<float, Dynamic>;
using Columns = cs::mdspan<float, Dynamic, cs::layout_left>;
using Mixed = cs::mdspan<const float, cs::extents<int, 8, cs::dynamic_extent>>;

__global__ void combine(Rows a, Columns b, Mixed c) {
  const int i = threadIdx.y, j = threadIdx.x;
  b(i, j) = a(i, j) * 2 + c(i, j) + a[cs::array<int, 2>{0, 1}];
  __syncthreads();
  if (i == 7 && j == 3) b(i, j) = cs::numbers::pi_v<float> + a.extent(0) * 10 + c.static_extent(0) + b.stride(1) * 100;
}

int main() {
  float *a, *b;
  OK(cudaMallocManaged(&a, 8 * 4 * sizeof *a));
  OK(cudaMallocManaged(&b, 8 * 4 * sizeof *b));
  for (int i = 0; i < 32; ++i) a[i] = (float)i;
  const Rows rows(a, 8, 4);
  combine<<<1, dim3(4, 8)>>>(rows, Columns(b, 8, 4), Mixed(a, 4));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j)
      CHECK(b[j * 8 + i] == (i == 7 && j == 3 ? 3.14159265f + 80 + 8 + 800 : 3.0f * (i * 4 + j) + 1));

  const cs::mdspan deduced(a, 8, 4);
  static_assert(decltype(deduced)::rank() == 2 && decltype(deduced)::rank_dynamic() == 2, "");
  CHECK(deduced.size() == 32 && deduced.extent(1) == 4 && deduced.stride(0) == 4 && deduced(2, 3) == 11);
  const cs::layout_stride::mapping<Dynamic> every_other(Dynamic(3, 2), cs::array<int, 2>{8, 2});
  const cs::mdspan<float, Dynamic, cs::layout_stride> strided(a, every_other);
  CHECK(strided(2, 1) == 18 && every_other.required_span_size() == 19 && !strided.is_exhaustive());
  const cs::mdspan<float, cs::extents<int, 2, 3>> fixed(a);
  CHECK(fixed(1, 2) == 5 && fixed.extents() == Dynamic(2, 3) && sizeof fixed <= 4 * sizeof(void*));
  const cs::mdspan<const float, Dynamic> reading = rows;
  CHECK(reading(1, 1) == 5 && !reading.empty());
  return report();
}
