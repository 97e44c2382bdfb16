// The smallest whole program: copy two vectors in, add them on the device, copy the sum out.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main() {
  const int n = 1 << 20;
  const std::size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *da, *db, *ds;
  cudaMalloc(&da, bytes);
  cudaMalloc(&db, bytes);
  cudaMalloc(&ds, bytes);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(da, db, ds, n);
  cudaMemcpy(sum.data(), ds, bytes, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaGetLastError();
  cudaFree(da);
  cudaFree(db);
  cudaFree(ds);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += sum[i] != static_cast<float>(i) + static_cast<float>(2 * i);
  std::printf("%d sums, %d wrong, %s\n", n, wrong, cudaGetErrorName(error));
  return wrong != 0 || error != cudaSuccess;
}
