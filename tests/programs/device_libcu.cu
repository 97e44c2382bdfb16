// Newer parts of libcu++ in device code: expected, integers, alignment, loops over constants.
#include <cuda/bit>
#include <cuda/cmath>
#include <cuda/memory>
#include <cuda/numeric>
#include <cuda/std/expected>
#include <cuda/utility>

#include "check.h"

enum class Bad { negative, odd };
typedef cuda::std::expected<int, Bad> Half;
__host__ __device__ Half half(int v) {
  if (v < 0) return cuda::std::unexpected(Bad::negative);
  if (v % 2) return cuda::std::unexpected<Bad>(Bad::odd);
  return v / 2;
}
__host__ __device__ cuda::std::expected<void, int> nothing(bool good) {
  if (good) return {};
  return cuda::std::unexpected(7);
}
static_assert(__is_trivially_copyable(Half), "kernels take it as an argument");

__host__ __device__ int answers(int* o, Half argument) {
  int n = 0;
  o[n++] = half(8).value();
  o[n++] = half(7).value_or(-1);
  o[n++] = (int)half(7).error();
  o[n++] = half(12).and_then(half).transform([](int v) { return v * 100; }).value_or(0);
  o[n++] = half(10).and_then(half).or_else([](Bad b) { return Half((int)b + 40); }).value();
  o[n++] = half(8) == half(8) && half(8) != half(6) && half(8) == 4 && half(-1) == cuda::std::unexpected(Bad::negative);
  o[n++] = nothing(true).has_value() + 2 * nothing(false).error();
  o[n++] = argument.has_value() ? *argument : -5;
  o[n++] = cuda::ceil_div(10, 3) * 1000 + cuda::ilog2(1000) * 100 + cuda::isqrt(99) * 10 + cuda::ilog10(12345);
  o[n++] = (int)cuda::next_power_of_two(33) + cuda::is_power_of_two(64) + (int)cuda::uabs(-5);
  o[n++] = (int)cuda::bitfield_extract(0xabcdu, 4, 8) + (cuda::bit_reverse(1u) == 0x80000000u);
  o[n++] = (int)cuda::bitfield_insert(0u, 5u, 8, 4);
  o[n++] = cuda::add_overflow(2147483647, 1).overflow + 2 * cuda::mul_overflow(1000, 1000).overflow;
  o[n++] = cuda::overflow_cast<signed char>(300).overflow;
  o[n++] = cuda::is_aligned(cuda::align_up((char*)o + 1, 16), 16);
  int sum = 0;
  cuda::static_for<5>([&](auto i) { sum += i * decltype(i)::value; });
  o[n++] = sum;
  return n;
}
__global__ void kernel(int* o, Half argument, int* count) { *count = answers(o, argument); }

int main() {
  int *o, host[64];
  OK(cudaMallocManaged(&o, 65 * sizeof *o));
  kernel<<<1, 1>>>(o, half(42), o + 64);
  OK(cudaDeviceSynchronize());
  const int n = answers(host, half(42));
  CHECK(n == o[64]);
  const int right[] = {4, -1, 1, 300, 41, 1, 15, 21, 4994, 70, 0xbd, 0x500, 1, 1, 1, 30};
  for (int i = 0; i < n; ++i)
    if (o[i] != right[i] || host[i] != right[i])
      std::printf("%d: %d, host %d, not %d\n", i, o[i], host[i], right[i]), ++wrong;
  return report();
}
