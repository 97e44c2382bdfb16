// The kernels through mrcc.
#include <cuda_runtime.h>

#include "suite.h"

#define KERNEL extern "C" __global__ void
#define GLOBAL
#define CONST_GLOBAL const
#define LOCAL __shared__
#define TX ((int)threadIdx.x)
#define TY ((int)threadIdx.y)
#define BX ((int)blockIdx.x)
#define BY ((int)blockIdx.y)
#define DX ((int)blockDim.x)
#define DY ((int)blockDim.y)
#define BARRIER __syncthreads()
#define LOCAL_ADD(p, v) atomicAdd(p, v)
#define GLOBAL_ADD(p, v) atomicAdd(p, v)
#define SHUFFLE_DOWN(v, k) __shfl_down_sync(0xffffffffu, v, k)
#include "kernels.inc"

namespace {
template <class T> struct Buffer {
  T* p = nullptr;
  std::size_t n;
  explicit Buffer(std::size_t count) : n(count) {
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
  }
  explicit Buffer(const std::vector<T>& v) : Buffer(v.size()) {
    cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Buffer() { cudaFree(p); }
  std::vector<T> get() const {
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
  }
};
void wait() { cudaDeviceSynchronize(); }
}  // namespace

int main(int argc, char** argv) {
  using namespace suite;
  const Runner r(argc, argv);
  const int blocks = elements / block;
  if (r.wanted("saxpy")) {
    Buffer<float> x(floats(elements, 1, 0, 1)), y(floats(elements, 2, 0, 1));
    r.run(
        "saxpy", [&] { saxpy<<<blocks, block>>>(x.p, y.p, 0.5f, elements); }, wait, [&] { return checksum(y.get()); });
  }
  if (r.wanted("triad")) {
    Buffer<float> b(floats(elements, 1, 0, 1)), c(floats(elements, 2, 0, 1)), a(elements);
    r.run(
        "triad", [&] { triad<<<blocks, block>>>(b.p, c.p, a.p, 0.5f, elements); }, wait,
        [&] { return checksum(a.get()); });
  }
  if (r.wanted("stencil")) {
    Buffer<float> in(floats((side + 2) * (side + 2), 3, 0, 1)), out((side + 2) * (side + 2));
    r.run(
        "stencil", [&] { stencil<<<dim3(side / tile, side / tile), dim3(tile, tile)>>>(in.p, out.p, side); }, wait,
        [&] { return checksum(out.get()); });
  }
  if (r.wanted("matmul")) {
    Buffer<float> a(floats(matrix * matrix, 4, 0, 1)), b(floats(matrix * matrix, 5, 0, 1)), c(matrix * matrix);
    r.run(
        "matmul", [&] { matmul<<<dim3(matrix / tile, matrix / tile), dim3(tile, tile)>>>(a.p, b.p, c.p, matrix); },
        wait, [&] { return checksum(c.get()); });
  }
  if (r.wanted("block_reduce")) {
    Buffer<float> x(floats(elements, 6, 0, 1)), sums(blocks);
    r.run(
        "block_reduce", [&] { block_reduce<<<blocks, block>>>(x.p, sums.p); }, wait,
        [&] { return checksum(sums.get()); });
  }
  if (r.wanted("warp_reduce")) {
    Buffer<float> x(floats(elements, 6, 0, 1)), sums(elements / 32);
    r.run(
        "warp_reduce", [&] { warp_reduce<<<blocks, block>>>(x.p, sums.p); }, wait,
        [&] { return checksum(sums.get()); });
  }
  if (r.wanted("scan")) {
    Buffer<int> in(integers(elements, 7, 100)), out(elements);
    r.run("scan", [&] { scan<<<blocks, block>>>(in.p, out.p); }, wait, [&] { return checksum(out.get()); });
  }
  if (r.wanted("histogram")) {
    const auto data = integers(elements, 8, 1 << 20);
    Buffer<unsigned> in(std::vector<unsigned>(data.begin(), data.end()));
    Buffer<int> bins(256);
    r.run(
        "histogram", [&] { histogram<<<blocks / per_thread, block>>>(in.p, bins.p, per_thread); }, wait,
        [&] { return checksum(bins.get()); });
  }
  if (r.wanted("transpose")) {
    Buffer<float> in(floats(side * side, 9, 0, 1)), out(side * side);
    r.run(
        "transpose", [&] { transpose<<<dim3(side / tile, side / tile), dim3(tile, tile)>>>(in.p, out.p, side); }, wait,
        [&] { return checksum(out.get()); });
  }
  if (r.wanted("bitonic")) {
    Buffer<int> data(integers(elements / 4, 10, 1 << 30));
    r.run("bitonic", [&] { bitonic<<<blocks / 4, block>>>(data.p); }, wait, [&] { return checksum(data.get()); });
  }
  if (r.wanted("nbody")) {
    Buffer<float> x(floats(bodies, 11, -1, 1)), y(floats(bodies, 12, -1, 1)), m(floats(bodies, 13, 0, 1)), ax(bodies),
        ay(bodies);
    r.run(
        "nbody", [&] { nbody<<<bodies / block, block>>>(x.p, y.p, m.p, ax.p, ay.p, bodies); }, wait,
        [&] { return checksum(ax.get()) + checksum(ay.get()); });
  }
  if (r.wanted("black_scholes")) {
    Buffer<float> s(floats(elements / 4, 14, 5, 30)), k(floats(elements / 4, 15, 1, 100)),
        t(floats(elements / 4, 16, 0.25f, 10)), c(elements / 4);
    r.run(
        "black_scholes", [&] { black_scholes<<<blocks / 4, block>>>(s.p, k.p, t.p, c.p, elements / 4); }, wait,
        [&] { return checksum(c.get()); });
  }
  if (r.wanted("mandelbrot")) {
    Buffer<int> out(picture * picture);
    r.run(
        "mandelbrot",
        [&] { mandelbrot<<<dim3(picture / 32, picture / 8), dim3(32, 8)>>>(out.p, picture, picture, iterations); },
        wait, [&] { return checksum(out.get()); });
  }
  if (r.wanted("spmv")) {
    std::vector<int> first(rows + 1);
    for (int i = 0; i <= rows; ++i) first[i] = i * per_row;
    Buffer<int> f(first), column(integers(rows * per_row, 17, rows));
    Buffer<float> value(floats(rows * per_row, 18, 0, 1)), x(floats(rows, 19, 0, 1)), y(rows);
    r.run(
        "spmv", [&] { spmv<<<rows / block, block>>>(f.p, column.p, value.p, x.p, y.p, rows); }, wait,
        [&] { return checksum(y.get()); });
  }
  if (r.wanted("convolution")) {
    Buffer<float> in(floats((side + 2 * radius) * side, 20, 0, 1)), weight(floats(2 * radius + 1, 21, 0, 1)),
        out(side * side);
    r.run(
        "convolution", [&] { convolution<<<dim3(side / block, side), block>>>(in.p, weight.p, out.p, side); }, wait,
        [&] { return checksum(out.get()); });
  }
  return cudaGetLastError() != cudaSuccess;
}
