// Device intrinsics against what they are defined to give, computed here in plain C++. Exit status 0 when all agree.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"
namespace cg = cooperative_groups;

struct In {
  unsigned a, b, c;
  float f, g, h;
  double d, e, k;
};
constexpr int N = 512, U = 96, F = 64, D = 48;

__global__ void integers(const In* in, unsigned* out) {
  const int t = threadIdx.x;
  const In x = in[t];
  unsigned* o = out + t * U;
  int k = 0;
  auto put = [&](unsigned v) { o[k++] = v; };
  auto put64 = [&](unsigned long long v) {
    put((unsigned)v);
    put((unsigned)(v >> 32));
  };
  const unsigned a = x.a, b = x.b, c = x.c;
  const unsigned long long ab = (unsigned long long)a << 32 | b, bc = (unsigned long long)b << 32 | c;
  put(__popc(a)), put(__popcll(ab)), put(__clz(a)), put(__clzll(ab)), put(__ffs(a)), put(__ffsll(ab)), put(__brev(a)),
      put64(__brevll(ab));
  put(__byte_perm(a, b, c)), put(__funnelshift_l(a, b, c)), put(__funnelshift_r(a, b, c)),
      put(__funnelshift_lc(a, b, c)), put(__funnelshift_rc(a, b, c));
  put(__mulhi((int)a, (int)b)), put(__umulhi(a, b)), put64(__mul64hi(ab, bc)), put64(__umul64hi(ab, bc));
  put(__mul24((int)a, (int)b)), put(__umul24(a, b)), put(__sad((int)a, (int)b, c)), put(__usad(a, b, c));
  put(__hadd((int)a, (int)b)), put(__rhadd((int)a, (int)b)), put(__uhadd(a, b)), put(__urhadd(a, b));
  put(__dp4a((int)a, (int)b, (int)c)), put(__dp4a(a, b, c)), put(__dp2a_lo((int)a, (int)b, (int)c)),
      put(__dp2a_hi(a, b, c));
  put(__vadd2(a, b)), put(__vsubss2(a, b)), put(__vaddus4(a, b)), put(__vabsdiffu4(a, b)), put(__vmaxs2(a, b)),
      put(__vcmpgts4(a, b)), put(__vavgu4(a, b)), put(__vsadu4(a, b));
  put(__fns(a, c % 32, 1 + (int)(b % 3)));
  put(min((int)a, (int)b)), put(max(a, b)), put(abs((int)a));
  o[U - 1] = k;
}
static void integers_host(const In& x, unsigned* o) {
  int k = 0;
  auto put = [&](unsigned v) { o[k++] = v; };
  auto put64 = [&](unsigned long long v) {
    put((unsigned)v);
    put((unsigned)(v >> 32));
  };
  const unsigned a = x.a, b = x.b, c = x.c;
  const unsigned long long ab = (unsigned long long)a << 32 | b, bc = (unsigned long long)b << 32 | c;
  auto bit_count = [](unsigned long long v) {
    unsigned n = 0;
    for (; v; v >>= 1) n += v & 1;
    return n;
  };
  auto leading = [](unsigned long long v, int bits) {
    unsigned n = 0;
    for (int i = bits - 1; i >= 0 && !(v >> i & 1); --i) ++n;
    return n;
  };
  auto first = [](unsigned long long v) {
    for (unsigned i = 0; i < 64; ++i)
      if (v >> i & 1) return i + 1;
    return 0u;
  };
  auto reversed = [](unsigned long long v, int bits) {
    unsigned long long r = 0;
    for (int i = 0; i < bits; ++i) r |= (v >> i & 1) << (bits - 1 - i);
    return r;
  };
  put(bit_count(a)), put(bit_count(ab)), put(leading(a, 32)), put(leading(ab, 64)), put(first(a)), put(first(ab)),
      put((unsigned)reversed(a, 32)), put64(reversed(ab, 64));
  unsigned p = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = c >> 4 * i & 15, n = s & 7, byte = (n < 4 ? a >> 8 * n : b >> 8 * (n - 4)) & 255;
    p |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  put(p);
  const unsigned s = c & 31;
  put(s ? b << s | a >> (32 - s) : b), put(s ? a >> s | b << (32 - s) : a);
  put(c >= 32 ? a : s ? b << s | a >> (32 - s) : b), put(c >= 32 ? b : s ? a >> s | b << (32 - s) : a);
  put((unsigned)((std::int64_t)(int)a * (int)b >> 32)), put((unsigned)((std::uint64_t)a * b >> 32));
  put64((unsigned long long)((__int128)(long long)ab * (long long)bc >> 64)),
      put64((unsigned long long)((unsigned __int128)ab * bc >> 64));
  auto s24 = [](unsigned v) { return (long long)((int)(v << 8) >> 8); };
  put((unsigned)(s24(a) * s24(b))), put((a & 0xffffff) * (b & 0xffffff));
  put((unsigned)std::llabs((long long)(int)a - (int)b) + c), put((a < b ? b - a : a - b) + c);
  put((unsigned)(((long long)(int)a + (int)b) >> 1)), put((unsigned)(((long long)(int)a + (int)b + 1) >> 1)),
      put((unsigned)(((unsigned long long)a + b) >> 1)), put((unsigned)(((unsigned long long)a + b + 1) >> 1));
  auto sb = [](unsigned v, int i) { return (int)(signed char)(v >> 8 * i); };
  auto ub = [](unsigned v, int i) { return (int)(v >> 8 * i & 255); };
  unsigned r = c;
  for (int i = 0; i < 4; ++i) r += sb(a, i) * sb(b, i);
  put(r);
  r = c;
  for (int i = 0; i < 4; ++i) r += ub(a, i) * ub(b, i);
  put(r);
  put(c + (short)a * sb(b, 0) + (short)(a >> 16) * sb(b, 1)), put(c + (a & 65535) * ub(b, 2) + (a >> 16) * ub(b, 3));
  auto clamp = [](int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; };
  put(((a & 65535) + (b & 65535)) % 65536 | ((a >> 16) + (b >> 16)) << 16);
  put((clamp((short)a - (short)b, -32768, 32767) & 65535) | clamp((short)(a >> 16) - (short)(b >> 16), -32768, 32767)
                                                                << 16);
  unsigned v[6] = {};
  for (int i = 0; i < 4; ++i) {
    v[0] |= (unsigned)clamp(ub(a, i) + ub(b, i), 0, 255) << 8 * i;
    v[1] |= (unsigned)std::abs(ub(a, i) - ub(b, i)) << 8 * i;
    v[3] |= (sb(a, i) > sb(b, i) ? 255u : 0u) << 8 * i;
    v[4] |= (unsigned)((ub(a, i) + ub(b, i) + 1) / 2) << 8 * i;
    v[5] += std::abs(ub(a, i) - ub(b, i));
  }
  v[2] = ((short)a > (short)b ? a & 65535 : b & 65535) |
         ((short)(a >> 16) > (short)(b >> 16) ? a & 0xffff0000 : b & 0xffff0000);
  for (unsigned w : v) put(w);
  unsigned nth = 0xffffffffu, left = 1 + b % 3;
  for (unsigned i = c % 32; i < 32; ++i)
    if (a >> i & 1 && --left == 0) {
      nth = i;
      break;
    }
  put(nth);
  put((int)a < (int)b ? a : b), put(a > b ? a : b), put((int)a < 0 ? 0u - a : a);
  o[U - 1] = k;
}

__global__ void rounded(const In* in, float* fo, double* dout) {
  const int t = threadIdx.x;
  const In x = in[t];
  float* o = fo + t * F;
  double* p = dout + t * D;
  int i = 0, j = 0;
#define EACH(m)                                                                                                        \
  o[i++] = __fadd_##m(x.f, x.g), o[i++] = __fmul_##m(x.f, x.g), o[i++] = __fdiv_##m(x.f, x.g),                         \
  o[i++] = __fsqrt_##m(fabsf(x.f)), o[i++] = __fmaf_##m(x.f, x.g, x.h), o[i++] = __double2float_##m(x.d),              \
  o[i++] = __int2float_##m((int)x.a), o[i++] = __ull2float_##m((unsigned long long)x.a << 32 | x.b),                   \
  p[j++] = __dadd_##m(x.d, x.e), p[j++] = __dmul_##m(x.d, x.e), p[j++] = __ddiv_##m(x.d, x.e),                         \
  p[j++] = __dsqrt_##m(fabs(x.d)), p[j++] = __fma_##m(x.d, x.e, x.k),                                                  \
  p[j++] = __ull2double_##m((unsigned long long)x.a << 32 | x.b),                                                      \
  p[j++] = __ll2double_##m((long long)((unsigned long long)x.b << 32 | x.a));
  EACH(rn) EACH(rz) EACH(ru) EACH(rd)
#undef EACH
}
__attribute__((noinline, optnone)) static void rounded_host(const In& x, float* o, double* p) {
  int i = 0, j = 0;
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  for (int m : modes) {
    std::fesetround(m);
    volatile float f = x.f, g = x.g, h = x.h;
    volatile double d = x.d, e = x.e, k = x.k;
    volatile int n = (int)x.a;
    volatile unsigned long long u = (unsigned long long)x.a << 32 | x.b;
    volatile long long s = (long long)((unsigned long long)x.b << 32 | x.a);
    o[i++] = f + g, o[i++] = f * g, o[i++] = f / g, o[i++] = std::sqrt(std::fabs(f)), o[i++] = std::fma(f, g, h),
    o[i++] = (float)d, o[i++] = (float)n;
    // The compiler's conversion of unsigned 64-bit integers doesn't heed the rounding mode: through long double, which
    // is exact.
    volatile long double wide = u;
    o[i++] = (float)wide;
    p[j++] = d + e, p[j++] = d * e, p[j++] = d / e, p[j++] = std::sqrt(std::fabs(d)), p[j++] = std::fma(d, e, k),
    p[j++] = (double)wide, p[j++] = (double)s;
  }
  std::fesetround(FE_TONEAREST);
}

template <class T> static bool same(T a, T b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }

__global__ void halves(const float* in, unsigned short* h, unsigned short* b) {
  const int t = threadIdx.x;
  h[t] = __half_as_ushort(__float2half_rn(in[t]));
  b[t] = __bfloat16_as_ushort(__float2bfloat16_rn(in[t]));
}
__global__ void wide_atomics(ulonglong2* o) {
  struct alignas(16) Pair {
    unsigned long long x, y;
  };
  Pair* p = reinterpret_cast<Pair*>(o);
  for (;;) {
    const Pair old = *p;
    const Pair got = atomicCAS(p, old, Pair{old.x + 1, old.y + 2});
    if (got.x == old.x && got.y == old.y) break;
  }
}
__global__ void counters(unsigned* o) {
  atomicInc(&o[0], 6);
  atomicDec(&o[1], 9);
}
__global__ void wide_tiles(int* o) {  // tiles of two sizes beyond a warp, at the same time
  auto block = cg::this_thread_block();
  auto a = cg::tiled_partition<64>(block);
  auto b = cg::tiled_partition<128>(block);
  int v = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    if ((threadIdx.x / 128 + i) % 2)
      v += cg::reduce(a, v % 13, cg::plus<int>());
    else
      v += cg::inclusive_scan(b, v % 7);
  }
  o[threadIdx.x] = v;
}
__global__ void complex_numbers(float* o) {
  std::complex<float> z(1.0f + threadIdx.x, 2.0f);
  z = z * z / std::complex<float>(0.5f, -1.0f) + std::conj(z);
  o[0] = z.real(), o[1] = z.imag(), o[2] = std::abs(z), o[3] = std::exp(std::complex<float>(0.0f, 1.0f)).imag();
}

int main() {
  std::vector<In> in(N);
  unsigned s = 1;
  auto next = [&] {
    s = s * 1664525u + 1013904223u;
    return s ^ s >> 15;
  };
  auto value = [&] {
    const std::uint64_t bits = (std::uint64_t)next() << 32 | next();
    double d;
    std::memcpy(&d, &bits, 8);
    return next() % 2 ? d : (double)(int)next() / (1u << next() % 32);
  };
  auto single = [&] {
    const unsigned bits = next();
    float f;
    std::memcpy(&f, &bits, 4);
    return next() % 2 ? f : (float)(int)next() / (1u << next() % 32);
  };
  for (In& x : in)
    x = {next() >> next() % 32,
         next() >> next() % 32,
         next() % 3 ? next() : next() % 40,
         single(),
         single(),
         single(),
         value(),
         value(),
         value()};
  in[0].a = in[1].b = 0x80000000u;
  in[2].a = 0;
  In* din;
  unsigned* du;
  float* df;
  double* dd;
  cudaMalloc(&din, N * sizeof(In));
  cudaMalloc(&du, N * U * 4);
  cudaMalloc(&df, N * F * 4);
  cudaMalloc(&dd, N * D * 8);
  cudaMemcpy(din, in.data(), N * sizeof(In), cudaMemcpyHostToDevice);
  integers<<<1, N>>>(din, du);
  rounded<<<1, N>>>(din, df, dd);
  std::vector<unsigned> hu(N * U);
  std::vector<float> hf(N * F);
  std::vector<double> hd(N * D);
  CHECK(cudaMemcpy(hu.data(), du, N * U * 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaMemcpy(hf.data(), df, N * F * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(hd.data(), dd, N * D * 8, cudaMemcpyDeviceToHost);
  int wrong_integer[U] = {}, wrong_float[F] = {}, wrong_double[D] = {};
  for (int t = 0; t < N; ++t) {
    unsigned w[U];
    float f[F];
    double d[D];
    integers_host(in[t], w);
    CHECK(w[U - 1] == hu[t * U + U - 1]);
    for (unsigned k = 0; k < w[U - 1]; ++k) wrong_integer[k] += w[k] != hu[t * U + k];
    rounded_host(in[t], f, d);
    for (int k = 0; k < 32; ++k) wrong_float[k] += !same(f[k], hf[t * F + k]);
    for (int k = 0; k < 28; ++k) wrong_double[k] += !same(d[k], hd[t * D + k]);
  }
  for (int k = 0; k < U; ++k)
    if (wrong_integer[k]) std::printf("integer result %d: %d wrong\n", k, wrong_integer[k]), ++wrong;
  for (int k = 0; k < 32; ++k)
    if (wrong_float[k]) std::printf("float result %d: %d wrong\n", k, wrong_float[k]), ++wrong;
  for (int k = 0; k < 28; ++k)
    if (wrong_double[k]) std::printf("double result %d: %d wrong\n", k, wrong_double[k]), ++wrong;

  // Every half and bfloat16 survives the way through float; halfway points round to even.
  std::vector<float> f(1024);
  std::vector<unsigned short> h(1024), b(1024);
  auto* dh = reinterpret_cast<unsigned short*>(du);
  for (int base = 0; base < 65536; base += 1024) {
    for (int i = 0; i < 1024; ++i) f[i] = __half2float(__ushort_as_half((unsigned short)(base + i)));
    cudaMemcpy(df, f.data(), 4096, cudaMemcpyHostToDevice);
    halves<<<1, 1024>>>(df, dh, dh + 1024);
    cudaMemcpy(h.data(), dh, 2048, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 1024; ++i) CHECK(f[i] != f[i] || h[i] == base + i);
    for (int i = 0; i < 1024; ++i) f[i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)(base + i)));
    cudaMemcpy(df, f.data(), 4096, cudaMemcpyHostToDevice);
    halves<<<1, 1024>>>(df, dh, dh + 1024);
    cudaMemcpy(b.data(), dh + 1024, 2048, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 1024; ++i) CHECK(f[i] != f[i] || b[i] == base + i);
  }
  CHECK(__half_as_ushort(__float2half(1.00048828125f)) == 0x3c00 &&
        __half_as_ushort(__float2half(1.00146484375f)) == 0x3c02);
  CHECK(__half_as_ushort(__float2half_ru(1.0001f)) == 0x3c01 && __half_as_ushort(__float2half_rz(65535.0f)) == 0x7bff &&
        __half_as_ushort(__float2half(65520.0f)) == 0x7c00);

  ulonglong2 pair = {};
  cudaMemset(dd, 0, 64);
  wide_atomics<<<10, 100>>>(reinterpret_cast<ulonglong2*>(dd));
  cudaMemcpy(&pair, dd, 16, cudaMemcpyDeviceToHost);
  CHECK(pair.x == 1000 && pair.y == 2000);
  unsigned counts[2] = {};
  cudaMemset(du, 0, 8);
  counters<<<4, 25>>>(du);
  cudaMemcpy(counts, du, 8, cudaMemcpyDeviceToHost);
  CHECK(counts[0] == 100 % 7 && counts[1] == 0);
  std::vector<int> tiles(256), expected(256);
  wide_tiles<<<1, 256>>>(reinterpret_cast<int*>(du));
  cudaMemcpy(tiles.data(), du, 1024, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 256; ++t) expected[t] = t;
  for (int i = 0; i < 4; ++i) {
    const std::vector<int> v = expected;
    for (int t = 0; t < 256; ++t) {
      int sum = 0;
      if ((t / 128 + i) % 2)
        for (int k = t / 64 * 64; k < t / 64 * 64 + 64; ++k) sum += v[k] % 13;
      else
        for (int k = t / 128 * 128; k <= t; ++k) sum += v[k] % 7;
      expected[t] += sum;
    }
  }
  CHECK(tiles == expected);
  float z[4] = {};
  complex_numbers<<<1, 1>>>(df);
  cudaMemcpy(z, df, 16, cudaMemcpyDeviceToHost);
  const std::complex<float> one(1, 2), w = one * one / std::complex<float>(0.5f, -1) + std::conj(one);
  CHECK(std::fabs(z[0] - w.real()) < 1e-5f && std::fabs(z[1] - w.imag()) < 1e-5f &&
        std::fabs(z[2] - std::abs(w)) < 1e-5f && std::fabs(z[3] - std::sin(1.0f)) < 1e-6f);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
