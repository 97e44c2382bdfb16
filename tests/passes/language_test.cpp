#include <climits>
#include <cmath>
#include <cstdio>
#include <limits>

#include "harness.h"

namespace {
using namespace harness;
using Run = void (*)(const MrKernel&, const Shape&, const void*);

template <class... T> struct Args {
  alignas(16) unsigned char buffer[256];
  explicit Args(const MrKernel& k, T... values) {
    unsigned i = 0;
    (std::memcpy(buffer + k.params[i++].offset, &values, sizeof values), ...);
  }
};
template <class... T> void launch(Run run, const MrKernel& k, Shape s, T... values) {
  Args<T...> args(k, values...);
  run(k, s, args.buffer);
}
Shape shape(unsigned g, unsigned b) {
  Shape s;
  s.grid[0] = g;
  s.block[0] = b;
  return s;
}

void indices(const Image& m, Run run) {
  struct Index {
    std::uint32_t t[3], b[3], bd[3], gd[3];
  };
  static Index out[3 * 2 * 4 * 5 * 3 * 2];
  std::memset(out, 0xff, sizeof out);
  Shape s{{3, 2, 4}, {5, 3, 2}, 0};
  launch(run, m.kernel("indices"), s, static_cast<Index*>(out));
  bool good = true;
  for (unsigned i = 0; i < std::size(out); ++i) {
    const unsigned t = i % 30, b = i / 30;
    const Index want{{t % 5, t / 5 % 3, t / 15}, {b % 3, b / 3 % 2, b / 6}, {5, 3, 2}, {3, 2, 4}};
    good = good && std::memcmp(&want, &out[i], sizeof want) == 0;
  }
  check(good, "index variables in three dimensions");
}

void functions(const Image& m, Run run) {
  unsigned out[8] = {};
  launch(run, m.kernel("calls"), shape(2, 4), static_cast<unsigned*>(out));
  check(out[0] == 30 && out[3] == 39 && out[4] == 31 && out[7] == 40, "recursive function that reads threadIdx");
  launch(run, m.kernel("pointers"), shape(1, 4), static_cast<unsigned*>(out));
  check(out[0] == 1400 && out[1] == 1001 && out[2] == 1402 && out[3] == 1003, "function pointers");
  launch(run, m.kernel("virtuals"), shape(1, 4), static_cast<unsigned*>(out));
  check(out[0] == 5 && out[3] == 8, "virtual functions");
  int local[32], want[32];
  for (int i = 0; i < 32; ++i) {
    const int at = (3 + i) & 15;
    want[i] = at * i + (at == 3);
  }
  launch(run, m.kernel("private_memory"), shape(1, 32), static_cast<int*>(local), 3);
  check(std::memcmp(local, want, sizeof want) == 0, "private arrays");
}

void shared(const Image& m, Run run) {
  unsigned long one[4], two[4], three[4];
  Shape s = shape(1, 1);
  s.dynamic_shared = 64;
  launch(run, m.kernel("shared_one"), s, static_cast<unsigned long*>(one));
  launch(run, m.kernel("shared_two"), s, static_cast<unsigned long*>(two));
  launch(run, m.kernel("shared_three"), s, static_cast<unsigned long*>(three));
  const unsigned long base = three[3];
  check(m.kernel("shared_three").static_shared == 0, "no static shared memory");
  check(one[2] == two[2], "a shared variable of a function has one place in all kernels");
  const auto apart = [](unsigned long a, unsigned n, unsigned long b, unsigned k) { return a + n <= b || b + k <= a; };
  check(apart(one[0], 3, one[1], 8) && apart(one[0], 3, one[2], 32) && apart(one[1], 8, one[2], 32) &&
            apart(two[0], 100, two[2], 32),
        "shared variables of a kernel don't overlap");
  check(one[1] % 8 == 0 && one[2] % 4 == 0, "shared variables are aligned");
  check(one[3] == base + (m.kernel("shared_one").static_shared + 15) / 16 * 16, "dynamic shared memory follows");
  check(m.kernel("shared_one").static_shared <= 48 && m.kernel("shared_two").static_shared <= 136,
        "static sizes are tight");
}

void arithmetic(const Image& m, Run run) {
  {
    int a[8] = {7, -7, 0, INT_MIN, INT_MIN, 100, 5, -1}, b[8] = {0, 0, 0, -1, 0, 7, -1, 1}, q[8], r[8];
    unsigned uq[8], ur[8];
    launch(run, m.kernel("divide"), shape(1, 8), (const int*)a, (const int*)b, (int*)q, (int*)r, (unsigned*)uq,
           (unsigned*)ur);
    const int wq[8] = {-1, -1, -1, INT_MIN, -1, 14, -5, -1}, wr[8] = {-1, -1, -1, 0, -1, 2, 0, 0};
    check(!std::memcmp(q, wq, sizeof q) && !std::memcmp(r, wr, sizeof r), "division by zero and overflow");
    check(uq[0] == ~0u && ur[0] == ~0u && uq[3] == 0 && ur[3] == 0x80000000u && uq[5] == 14, "unsigned division");
  }
  {
    long a[4] = {7, LONG_MIN, LONG_MIN, 1000}, b[4] = {0, -1, 0, 9}, q[4], r[4];
    launch(run, m.kernel("divide64"), shape(1, 4), (const long*)a, (const long*)b, (long*)q, (long*)r);
    check(q[0] == 0xffffffffl && r[0] == 0xffffffffl && q[1] == LONG_MIN && r[1] == 0 && q[2] == -1 && r[2] == -1 &&
              q[3] == 111 && r[3] == 1,
          "64-bit division");
    int together[2];
    launch(run, m.kernel("divide_together"), shape(1, 1), 7, 0, (int*)together);
    check(together[0] == -1 && together[1] == 7, "a remainder beside its quotient");
  }
  {
    int a[6] = {1, -8, -8, 3, -1, 5}, n[6] = {32, 33, 31, 4, -1, 64}, l[6], r[6];
    unsigned ur[6];
    long l64[6], r64[6];
    launch(run, m.kernel("shift"), shape(1, 6), (const int*)a, (const int*)n, (int*)l, (int*)r, (unsigned*)ur,
           (long*)l64, (long*)r64);
    check(l[0] == 0 && l[1] == 0 && l[3] == 48 && l[4] == 0, "left shifts");
    check(r[0] == 0 && r[1] == -1 && r[2] == -1 && r[4] == -1 && ur[1] == 0 && ur[4] == 0, "right shifts");
    check(l64[0] == 1l << 32 && l64[5] == 0 && r64[5] == 0 && r64[4] == -1, "64-bit shifts");
  }
  {
    const float inf = INFINITY;
    float a[8] = {3e9f, -3e9f, NAN, inf, -inf, 1e20f, -1.5f, 2.9f};
    int i[8];
    unsigned u[8];
    long l[8];
    unsigned long ul[8];
    launch(run, m.kernel("convert"), shape(1, 8), (const float*)a, (int*)i, (unsigned*)u, (long*)l, (unsigned long*)ul);
    const int wi[8] = {INT_MAX, INT_MIN, 0, INT_MAX, INT_MIN, INT_MAX, -1, 2};
    const unsigned wu[8] = {3000000000u, 0, 0, ~0u, 0, ~0u, 0, 2};
    check(!std::memcmp(i, wi, sizeof i), "float to int");
    check(!std::memcmp(u, wu, sizeof u), "float to unsigned");
    check(l[5] == LONG_MAX && l[2] == LONG_MIN && ul[2] == 1ul << 63 && ul[5] == ~0ul && ul[1] == 0,
          "float to 64 bits");
    double d[5] = {NAN, 3e9, -300.5, 300.5, INFINITY};
    unsigned char c[5];
    signed char sc[5];
    launch(run, m.kernel("convert_double"), shape(1, 5), (const double*)d, (int*)i, (unsigned*)u, (long*)l,
           (unsigned char*)c, (signed char*)sc);
    check(i[0] == INT_MIN && u[0] == 0x80000000u && l[0] == LONG_MIN && c[0] == 0 && sc[0] == 0, "NaN of a double");
    check(i[1] == INT_MAX && u[1] == 3000000000u && c[2] == 0 && sc[2] == -44 && c[3] == 44 && sc[4] == -1 &&
              c[4] == 255,
          "double to narrow integers");
  }
}

void services(const Image& m, Run run) {
  seen.printed.clear();
  launch(run, m.kernel("prints"), shape(1, 1), -3);
  check(seen.printed.size() == 2 && seen.printed[0] == "plain\n", "printf without arguments");
  double d = 1.5;
  std::uint64_t bits;
  std::memcpy(&bits, &d, 8);
  const std::string want = "%d %f %s %c %lld %u\n|" + std::to_string(~0ull - 2) + ":0|" + std::to_string(bits) + ":1|";
  check(seen.printed.size() == 2 && seen.printed[1].compare(0, want.size(), want) == 0, "printf arguments");
  launch(run, m.kernel("asserts"), shape(1, 4), 1);
  check(seen.assertion == "x > 0" && seen.assert_tid[0] == 2 && seen.assert_tid[1] == 0, "assert knows its thread");
  int* pointers[4];
  launch(run, m.kernel("heap"), shape(1, 4), (int**)pointers);
  check(*pointers[0] == 0 && *pointers[3] == 3 && pointers[0] != pointers[3], "malloc");
  int out[4];
  launch(run, m.kernel("heap_cpp"), shape(1, 4), (int*)out);
  check(out[3] == 4, "new and delete");
}

void tables(const Image& m, Run run) {
  const MrImage& i = m.image();
  check(i.abi_version == MR_ABI_VERSION &&
            (i.cpu_level == 3 ? std::string(i.cpu) == "x86-64-v3" : i.cpu_level == 0xffff),
        "image header");
  const auto inside = [&](const MrVariable& v) {
    auto* const begin = static_cast<char*>(v.address);
    return (begin >= i.data_begin && begin + v.size <= i.data_end) ||
           (begin >= i.zero_begin && begin + v.size <= i.zero_end);
  };
  check(inside(m.variable("variable")) && inside(m.variable("table")) && inside(m.variable("_ZL8internal")) &&
            inside(m.variable("managed")),
        "variables lie in their section");
  check(reinterpret_cast<std::uintptr_t>(i.data_begin) % 4096 == 0 &&
            reinterpret_cast<std::uintptr_t>(i.data_end) % 4096 == 0 &&
            reinterpret_cast<std::uintptr_t>(i.zero_begin) % 4096 == 0 &&
            reinterpret_cast<std::uintptr_t>(i.zero_end) % 4096 == 0,
        "sections are page aligned");
  check(m.variable("table").kind == MR_VAR_CONSTANT && m.variable("managed").kind == MR_VAR_MANAGED &&
            m.variable("variable").kind == MR_VAR_DEVICE && m.variable("table").size == 16,
        "variable kinds");
  const MrKernel& q = m.kernel("qualified");
  check(q.max_threads == 128 && q.min_blocks == 2 && q.max_cluster == 4, "launch bounds");
  check(q.cluster_dim[0] == 2 && q.cluster_dim[1] == 1 && q.cluster_dim[2] == 1, "cluster extents");
  check(m.kernel("_Z7boundedILi96EEvi").max_threads == 96, "launch bounds from a template");
  check(q.file && std::string(q.file).find("language.cu") != std::string::npos && q.line > 50, "file and line");
  int out[4];
  launch(run, m.kernel("variables"), shape(1, 4), (int*)out);
  check(out[0] == 7 + 1 + 3 + 11 && out[3] == 7 + 4 + 3 + 11, "initial values of variables");
  *static_cast<int*>(m.variable("table").address) = 50;
  *static_cast<int*>(m.variable("_ZL8internal").address) = 1000;
  launch(run, m.kernel("variables"), shape(1, 4), (int*)out);
  check(out[0] == 7 + 50 + 1000 + 3 + 11, "variables written from outside");
  check(static_cast<int*>(m.variable("_ZL8internal").address)[1] == 9, "variables written by a kernel");
  *static_cast<int*>(m.variable("table").address) = 1;
  *static_cast<int*>(m.variable("_ZL8internal").address) = 0;
}

void loops(const Image& m, Run run) {
  static float x[1000], y[1000];
  for (int i = 0; i < 1000; ++i) x[i] = static_cast<float>(i), y[i] = 1;
  launch(run, m.kernel("saxpy"), shape(4, 256), 999, 2.0f, (const float*)x, (float*)y);
  bool good = y[999] == 1;
  for (int i = 0; i < 999; ++i) good = good && y[i] == 2 * i + 1;
  check(good, "saxpy");
  unsigned char data[1000];
  unsigned bins[256] = {};
  for (int i = 0; i < 1000; ++i) data[i] = static_cast<unsigned char>(i * i);
  launch(run, m.kernel("counts"), shape(3, 64), 1000, (const unsigned char*)data, (unsigned*)bins);
  unsigned sum = 0, zeros = 0;
  for (unsigned b : bins) sum += b;
  for (unsigned char d : data) zeros += d == 0;
  check(sum == 1000 && bins[0] == zeros, "histogram with atomics");
}

void alignment(const Image& m, Run run) {
  alignas(64) static char data[256];
  alignas(64) static int out[64];
  const auto reports = [&](const char* name, const char* p) {
    seen.misaligned = 0;
    if (m.kernel(name).param_count == 3)
      launch(run, m.kernel(name), shape(2, 4), p, (int*)out, 0);
    else
      launch(run, m.kernel(name), shape(2, 4), p, (int*)out);
    return seen.misaligned != 0;
  };
  check(!reports("misaligned_int", data) && !reports("misaligned_int", data + 4), "aligned ints");
  check(reports("misaligned_int", data + 1) && reports("misaligned_int", data + 2), "misaligned ints are reported");
  check(!reports("misaligned_quad", data + 16) && reports("misaligned_quad", data + 4) &&
            reports("misaligned_quad", data + 8),
        "misaligned vectors");
  check(!reports("misaligned_not_taken", data + 1), "an access that isn't made isn't reported");
  check(reports("misaligned_pointer", data), "misaligned access behind a function pointer");
  check(!reports("aligned_bytes", data + 1), "bytes have no alignment");
}

void all(const Image& m, Run run) {
  alignment(m, run);
  indices(m, run);
  functions(m, run);
  shared(m, run);
  arithmetic(m, run);
  services(m, run);
  tables(m, run);
  loops(m, run);
}
}  // namespace

int main(int, char** argv) {
  Image image(argv[1]);
  all(image, run_lanes);
  if (image.kernel("saxpy").run_blocks) {
    all(image, [](const MrKernel& k, const Shape& s, const void* a) { harness::run_blocks(k, s, a); });
    all(image, [](const MrKernel& k, const Shape& s, const void* a) { harness::run_blocks(k, s, a, 1); });
    all(image, [](const MrKernel& k, const Shape& s, const void* a) { harness::run_blocks(k, s, a, 7); });
  }
  return failures() != 0;
}
