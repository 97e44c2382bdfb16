// The same computations as hand-written OpenMP loops.
#include <algorithm>
#include <cmath>

#include "suite.h"

namespace {
using namespace suite;
void nothing() {}
}  // namespace

int main(int argc, char** argv) {
  const Runner r(argc, argv);
  const int blocks = elements / block;
  if (r.wanted("saxpy")) {
    auto xs = floats(elements, 1, 0, 1), ys = floats(elements, 2, 0, 1);
    const float* x = xs.data();
    float* y = ys.data();
    r.run(
        "saxpy",
        [&] {
#pragma omp parallel for simd
          for (int i = 0; i < elements; ++i) y[i] = 0.5f * x[i] + y[i];
        },
        nothing, [&] { return checksum(ys); });
  }
  if (r.wanted("triad")) {
    auto bs = floats(elements, 1, 0, 1), cs = floats(elements, 2, 0, 1), as = std::vector<float>(elements);
    const float *b = bs.data(), *c = cs.data();
    float* a = as.data();
    r.run(
        "triad",
        [&] {
#pragma omp parallel for simd
          for (int i = 0; i < elements; ++i) a[i] = b[i] + 0.5f * c[i];
        },
        nothing, [&] { return checksum(as); });
  }
  if (r.wanted("stencil")) {
    const int pitch = side + 2;
    auto ins = floats(pitch * pitch, 3, 0, 1), outs = std::vector<float>(pitch * pitch);
    const float* in = ins.data();
    float* out = outs.data();
    r.run(
        "stencil",
        [&] {
#pragma omp parallel for
          for (int y = 1; y <= side; ++y)
#pragma omp simd
            for (int x = 1; x <= side; ++x) {
              const float* p = in + y * pitch + x;
              out[y * pitch + x] = 0.5f * p[0] + 0.125f * (p[-pitch] + p[pitch] + p[-1] + p[1]);
            }
        },
        nothing, [&] { return checksum(outs); });
  }
  if (r.wanted("matmul")) {
    auto as = floats(matrix * matrix, 4, 0, 1), bs = floats(matrix * matrix, 5, 0, 1),
         cs = std::vector<float>(matrix * matrix);
    const float *a = as.data(), *b = bs.data();
    float* c = cs.data();
    r.run(
        "matmul",
        [&] {
#pragma omp parallel for collapse(2)
          for (int y0 = 0; y0 < matrix; y0 += tile)
            for (int x0 = 0; x0 < matrix; x0 += tile) {
              float sum[tile][tile] = {};
              for (int k = 0; k < matrix; ++k)
                for (int y = 0; y < tile; ++y)
#pragma omp simd
                  for (int x = 0; x < tile; ++x) sum[y][x] += a[(y0 + y) * matrix + k] * b[k * matrix + x0 + x];
              for (int y = 0; y < tile; ++y)
                for (int x = 0; x < tile; ++x) c[(y0 + y) * matrix + x0 + x] = sum[y][x];
            }
        },
        nothing, [&] { return checksum(cs); });
  }
  if (r.wanted("block_reduce") || r.wanted("warp_reduce")) {
    auto xs = floats(elements, 6, 0, 1);
    const float* x = xs.data();
    const auto reduce = [&](const char* name, int width) {
      std::vector<float> sums(elements / width);
      r.run(
          name,
          [&] {
#pragma omp parallel for
            for (int k = 0; k < elements / width; ++k) {
              float sum = 0;
#pragma omp simd reduction(+ : sum)
              for (int i = 0; i < width; ++i) sum += x[k * width + i];
              sums[k] = sum;
            }
          },
          nothing, [&] { return checksum(sums); });
    };
    if (r.wanted("block_reduce")) reduce("block_reduce", block);
    if (r.wanted("warp_reduce")) reduce("warp_reduce", 32);
  }
  if (r.wanted("scan")) {
    auto in = integers(elements, 7, 100);
    std::vector<int> out(elements);
    r.run(
        "scan",
        [&] {
#pragma omp parallel for
          for (int k = 0; k < blocks; ++k) {
            int sum = 0;
            for (int i = 0; i < block; ++i) out[k * block + i] = sum += in[k * block + i];
          }
        },
        nothing, [&] { return checksum(out); });
  }
  if (r.wanted("histogram")) {
    auto data = integers(elements, 8, 1 << 20);
    std::vector<int> bins(256);
    r.run(
        "histogram",
        [&] {
#pragma omp parallel
          {
            int mine[256] = {};
#pragma omp for
            for (int i = 0; i < elements; ++i) ++mine[data[i] & 255];
#pragma omp critical
            for (int i = 0; i < 256; ++i) bins[i] += mine[i];
          }
        },
        nothing, [&] { return checksum(bins); });
  }
  if (r.wanted("transpose")) {
    auto in = floats(side * side, 9, 0, 1);
    std::vector<float> out(side * side);
    r.run(
        "transpose",
        [&] {
#pragma omp parallel for collapse(2)
          for (int y0 = 0; y0 < side; y0 += tile)
            for (int x0 = 0; x0 < side; x0 += tile)
              for (int x = x0; x < x0 + tile; ++x)
                for (int y = y0; y < y0 + tile; ++y) out[x * side + y] = in[y * side + x];
        },
        nothing, [&] { return checksum(out); });
  }
  if (r.wanted("bitonic")) {
    auto data = integers(elements / 4, 10, 1 << 30);
    r.run(
        "bitonic",
        [&] {
#pragma omp parallel for
          for (int k = 0; k < blocks / 4; ++k) {
            int* s = data.data() + k * block;
            for (int size = 2; size <= block; size *= 2)
              for (int step = size / 2; step > 0; step /= 2)
                for (int base = 0; base < block; base += 2 * step) {
                  const bool up = (base & size) == 0;
#pragma omp simd
                  for (int i = base; i < base + step; ++i) {
                    const int a = s[i], b = s[i + step], low = std::min(a, b), high = std::max(a, b);
                    s[i] = up ? low : high;
                    s[i + step] = up ? high : low;
                  }
                }
          }
        },
        nothing, [&] { return checksum(data); });
  }
  if (r.wanted("nbody")) {
    auto xs = floats(bodies, 11, -1, 1), ys = floats(bodies, 12, -1, 1), ms = floats(bodies, 13, 0, 1);
    std::vector<float> ax(bodies), ay(bodies);
    r.run(
        "nbody",
        [&] {
#pragma omp parallel for simd
          for (int i = 0; i < bodies; ++i) {
            float fx = 0, fy = 0;
            for (int k = 0; k < bodies; ++k) {
              const float dx = xs[k] - xs[i], dy = ys[k] - ys[i], d = dx * dx + dy * dy + 0.01f;
              const float q = 1.0f / std::sqrt(d), w = ms[k] * q * q * q;
              fx += w * dx;
              fy += w * dy;
            }
            ax[i] = fx;
            ay[i] = fy;
          }
        },
        nothing, [&] { return checksum(ax) + checksum(ay); });
  }
  if (r.wanted("black_scholes")) {
    const int n = elements / 4;
    auto spot = floats(n, 14, 5, 30), strike = floats(n, 15, 1, 100), years = floats(n, 16, 0.25f, 10);
    std::vector<float> call(n);
    r.run(
        "black_scholes",
        [&] {
#pragma omp parallel for simd
          for (int i = 0; i < n; ++i) {
            const float s = spot[i], k = strike[i], t = years[i], root = 0.3f * std::sqrt(t);
            const float d1 = (std::log(s / k) + (0.02f + 0.045f) * t) / root, d2 = d1 - root;
            const float c1 = 0.5f * std::erfc(-d1 * 0.70710678f), c2 = 0.5f * std::erfc(-d2 * 0.70710678f);
            call[i] = s * c1 - k * std::exp(-0.02f * t) * c2;
          }
        },
        nothing, [&] { return checksum(call); });
  }
  if (r.wanted("mandelbrot")) {
    std::vector<int> out(picture * picture);
    r.run(
        "mandelbrot",
        [&] {
#pragma omp parallel for schedule(dynamic, 4)
          for (int py = 0; py < picture; ++py)
            for (int px = 0; px < picture; ++px) {
              const float cx = px * (3.0f / picture) - 2.0f, cy = py * (2.0f / picture) - 1.0f;
              float x = 0, y = 0;
              int k = 0;
              while (k < iterations && x * x + y * y < 4.0f) {
                const float t = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = t;
                ++k;
              }
              out[py * picture + px] = k;
            }
        },
        nothing, [&] { return checksum(out); });
  }
  if (r.wanted("spmv")) {
    std::vector<int> first(rows + 1);
    for (int i = 0; i <= rows; ++i) first[i] = i * per_row;
    auto column = integers(rows * per_row, 17, rows);
    auto value = floats(rows * per_row, 18, 0, 1), x = floats(rows, 19, 0, 1);
    std::vector<float> y(rows);
    r.run(
        "spmv",
        [&] {
#pragma omp parallel for
          for (int row = 0; row < rows; ++row) {
            float sum = 0;
            for (int k = first[row]; k < first[row + 1]; ++k) sum += value[k] * x[column[k]];
            y[row] = sum;
          }
        },
        nothing, [&] { return checksum(y); });
  }
  if (r.wanted("convolution")) {
    const int pitch = side + 2 * radius;
    auto in = floats(pitch * side, 20, 0, 1), weight = floats(2 * radius + 1, 21, 0, 1);
    std::vector<float> out(side * side);
    r.run(
        "convolution",
        [&] {
#pragma omp parallel for
          for (int y = 0; y < side; ++y)
#pragma omp simd
            for (int x = 0; x < side; ++x) {
              float sum = 0;
              for (int k = 0; k <= 2 * radius; ++k) sum += weight[k] * in[y * pitch + x + k];
              out[y * side + x] = sum;
            }
        },
        nothing, [&] { return checksum(out); });
  }
  return 0;
}
