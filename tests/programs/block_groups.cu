// Small two-dimensional blocks, neighbours of which run together: whatever the grid's extents are, whether blocks keep
// values across barriers, choose their way by blockIdx, or return early, results are those of blocks one by one.
#include <vector>

#include "check.h"

constexpr int pitch = 700, height = 130;

template <int X, int Y> __global__ void stencil(const float* in, float* out) {
  __shared__ float tile[Y + 2][X + 2];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * X + tx + 1, y = blockIdx.y * Y + ty + 1;
  tile[ty + 1][tx + 1] = in[y * pitch + x];
  if (tx == 0) tile[ty + 1][0] = in[y * pitch + x - 1];
  if (tx == X - 1) tile[ty + 1][X + 1] = in[y * pitch + x + 1];
  if (ty == 0) tile[0][tx + 1] = in[(y - 1) * pitch + x];
  if (ty == Y - 1) tile[Y + 1][tx + 1] = in[(y + 1) * pitch + x];
  __syncthreads();
  out[y * pitch + x] = tile[ty + 1][tx + 1] + 0.5f * (tile[ty][tx + 1] - tile[ty + 2][tx + 1]) +
                       0.25f * (tile[ty + 1][tx] - tile[ty + 1][tx + 2]);
}
// Two tiles one after the other, and a value of the thread's and one of the block's that live across barriers.
template <int X, int Y> __global__ void mirrored(const float* in, float* out) {
  __shared__ float a[Y][X], b[Y][X];
  const int tx = threadIdx.x, ty = threadIdx.y,
            at = (blockIdx.y * blockDim.y + ty) * pitch + blockIdx.x * blockDim.x + tx;
  const float mine = in[at] / 3;
  const float of_block = 1.0f / (blockIdx.x + 2);
  a[ty][tx] = mine;
  __syncthreads();
  b[ty][tx] = a[Y - 1 - ty][X - 1 - tx] + of_block;
  __syncthreads();
  out[at] = b[ty][X - 1 - tx] * 2 + mine + of_block;
}
template <int X, int Y> __global__ void by_block(const float* in, float* out) {
  __shared__ float s[Y][X];
  const int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * Y + ty) * pitch + blockIdx.x * X + tx;
  s[ty][tx] = in[at];
  if (blockIdx.x % 3 == 1) {
    __syncthreads();
    s[ty][tx] += 1;
  }
  __syncthreads();
  out[at] = s[Y - 1 - ty][tx];
}
__global__ void guarded(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  out[y * pitch + x] = in[y * pitch + x] * 2 + x + blockIdx.z;
}
__global__ void backwards(const float* in, float* out, int w) {
  const int x = w - 1 - (blockIdx.x * 8 + threadIdx.x), y = blockIdx.y * 8 + threadIdx.y;
  out[y * pitch + x] = in[y * pitch + x] - y;
}
// What only one block does wrong. (Out of shared memory by an offset that isn't known: such blocks run one by one.)
__global__ void beyond(float* out, int which, long far) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * pitch + x + (static_cast<int>(blockIdx.x) == which ? far : 0)] = 1;
}
__global__ void beyond_shared(float* out, int far) {
  __shared__ float s[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  s[threadIdx.y][threadIdx.x + far] = x;
  __syncthreads();
  out[y * pitch + x] = s[threadIdx.y][threadIdx.x];
}

struct Picture {
  std::vector<float> in, want, got;
  float *from, *to;
  Picture() : in(pitch * height), want(pitch * height), got(pitch * height) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 7 % 1000) / 8;
    OK(cudaMalloc(&from, in.size() * sizeof(float)));
    OK(cudaMalloc(&to, in.size() * sizeof(float)));
    OK(cudaMemcpy(from, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  void begin() {
    std::fill(want.begin(), want.end(), -1.0f);
    OK(cudaMemcpy(to, want.data(), want.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  void compare(const char* what, int x, int y) {
    OK(cudaMemcpy(got.data(), to, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    if (got != want) std::printf("%s differs, grid %d x %d\n", what, x, y), ++wrong;
  }
};

template <int X, int Y> void check_tiles(Picture& p, dim3 grid) {
  const int w = grid.x * X, h = grid.y * Y;
  const dim3 block(X, Y);
  const auto at = [&](int y, int x) { return p.in[y * pitch + x]; };
  p.begin();
  stencil<X, Y><<<grid, dim3(X, Y)>>>(p.from, p.to);
  for (int y = 1; y <= h; ++y)
    for (int x = 1; x <= w; ++x)
      p.want[y * pitch + x] = at(y, x) + 0.5f * (at(y - 1, x) - at(y + 1, x)) + 0.25f * (at(y, x - 1) - at(y, x + 1));
  p.compare("stencil", grid.x, grid.y);
  p.begin();
  mirrored<X, Y><<<grid, dim3(X, Y)>>>(p.from, p.to);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const int other = y / Y * Y + Y - 1 - y % Y;
      const float of_block = 1.0f / (x / X + 2);
      p.want[y * pitch + x] = (at(other, x) / 3 + of_block) * 2 + at(y, x) / 3 + of_block;
    }
  p.compare("mirrored", grid.x, grid.y);
  p.begin();
  by_block<X, Y><<<grid, dim3(X, Y)>>>(p.from, p.to);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) p.want[y * pitch + x] = at(y / Y * Y + Y - 1 - y % Y, x) + (x / X % 3 == 1 ? 1 : 0);
  p.compare("by_block", grid.x, grid.y);
}

int main() {
  Picture p;
  for (const dim3 grid : {dim3(1, 1), dim3(7, 3), dim3(8, 1), dim3(9, 2), dim3(16, 4), dim3(21, 3)}) {
    check_tiles<16, 16>(p, grid);
    check_tiles<8, 8>(p, grid);
    check_tiles<32, 4>(p, grid);
    check_tiles<12, 5>(p, grid);
    const int w = grid.x * 16 - 3, h = grid.y * 16 - 5;
    p.begin();
    guarded<<<dim3(grid.x, grid.y, 2), dim3(16, 16)>>>(p.from, p.to, w, h);
    guarded<<<grid, dim3(16, 16)>>>(p.from, p.to, w, h);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) p.want[y * pitch + x] = p.in[y * pitch + x] * 2 + x;
    p.compare("guarded", grid.x, grid.y);
    p.begin();
    backwards<<<grid, dim3(8, 8)>>>(p.from, p.to, grid.x * 8);
    for (int y = 0; y < static_cast<int>(grid.y) * 8; ++y)
      for (int x = 0; x < static_cast<int>(grid.x) * 8; ++x) p.want[y * pitch + x] = p.in[y * pitch + x] - y;
    p.compare("backwards", grid.x, grid.y);
  }
  beyond_shared<<<dim3(13, 2), dim3(16, 16)>>>(p.to, 0);
  beyond<<<dim3(13, 2), dim3(16, 16)>>>(p.to, -1, 1l << 44);
  OK(cudaDeviceSynchronize());
  beyond<<<dim3(13, 2), dim3(16, 16)>>>(p.to, 5, 1l << 44);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  return report();
}
