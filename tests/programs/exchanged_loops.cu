// Loops of kernels without barriers that all threads go around together, or all that are still there: whatever the
// order in which threads and iterations run, each thread's results are those of its own loop.
#include <vector>

#include "check.h"

__host__ __device__ inline unsigned scramble(unsigned h, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    h = (h << 5 | h >> 27) * 0x85ebca6bu + r;
    h ^= h >> 13;
  }
  return h;
}
__global__ void hash(const unsigned* in, unsigned* out, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = in[i];
  for (int r = 0; r < rounds; ++r) {
    h = (h << 5 | h >> 27) * 0x85ebca6bu + r;
    h ^= h >> 13;
  }
  out[i] = h;
}
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
  }
}
// Who doesn't go around does something else; two loops after each other, and one inside another.
__global__ void ways(const unsigned* in, unsigned* out, int n, int times) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 1) {
    out[i] = 7;
    return;
  }
  unsigned a = i, b = 1;
  for (int k = 0; k < times; ++k) a = a * 3 + in[k];
  for (int m = 0; m < 3; ++m) {
    b += a >> m;
    for (int k = 0; k < times; ++k) b = (b ^ in[k]) * 5 + (threadIdx.x & 3);
  }
  out[i] = a + b;
}
unsigned way_of(const std::vector<unsigned>& in, int i, int t, int times) {
  if (i % 3 == 1) return 7;
  unsigned a = i, b = 1;
  for (int k = 0; k < times; ++k) a = a * 3 + in[k];
  for (int m = 0; m < 3; ++m) {
    b += a >> m;
    for (int k = 0; k < times; ++k) b = (b ^ in[k]) * 5 + (t & 3);
  }
  return a + b;
}

int main() {
  constexpr int n = 5000;
  std::vector<unsigned> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i * 2654435761u;
  unsigned *from, *to;
  OK(cudaMalloc(&from, n * sizeof(unsigned)));
  OK(cudaMalloc(&to, n * sizeof(unsigned)));
  OK(cudaMemcpy(from, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  for (const int threads : {32, 100, 256, 1024})
    for (const int times : {0, 1, 50}) {
      hash<<<(n + threads - 1) / threads, threads>>>(from, to, n - 3, times);
      OK(cudaMemcpy(out.data(), to, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
      for (int i = 0; i < n - 3; ++i) CHECK(out[i] == scramble(in[i], times));
      ways<<<n / threads, threads>>>(from, to, n, times);
      OK(cudaMemcpy(out.data(), to, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
      for (int i = 0; i < n / threads * threads; ++i) CHECK(out[i] == way_of(in, i, i % threads, times));
    }
  hash<<<20, 256>>>(from, to, n, 64);
  OK(cudaMemcpy(out.data(), to, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(out[i] == scramble(in[i], 64));

  constexpr int m = 61;  // whole numbers, so that any way to add is exact
  std::vector<float> a(m * m), b(m * m), c(m * m);
  for (int i = 0; i < m * m; ++i) a[i] = static_cast<float>(i % 11), b[i] = static_cast<float>(i % 7 - 3);
  float *da, *db, *dc;
  OK(cudaMalloc(&da, m * m * sizeof(float)));
  OK(cudaMalloc(&db, m * m * sizeof(float)));
  OK(cudaMalloc(&dc, m * m * sizeof(float)));
  OK(cudaMemcpy(da, a.data(), m * m * sizeof(float), cudaMemcpyHostToDevice));
  OK(cudaMemcpy(db, b.data(), m * m * sizeof(float), cudaMemcpyHostToDevice));
  product<<<dim3(4, 4), dim3(16, 16)>>>(da, db, dc, m);
  OK(cudaMemcpy(c.data(), dc, m * m * sizeof(float), cudaMemcpyDeviceToHost));
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < m; ++x) {
      float sum = 0;
      for (int k = 0; k < m; ++k) sum += a[y * m + k] * b[k * m + x];
      CHECK(c[y * m + x] == sum);
    }
  return report();
}
