// Host code of a CUDA unit: OpenMP threads with a stream each, x86 intrinsics, and waiting loops that use them.
// nvcc-flags: -Xcompiler -fopenmp,-mavx2 -lgomp
#include <cstdio>
#include <cuda_runtime.h>
#include <immintrin.h>
#include <omp.h>

__global__ void answer(volatile int* question, volatile int* reply) {
  while (*question == 0);
  *reply = *question + 1;
}
__global__ void fill(float* p, float v) { p[threadIdx.x] = v; }

static float sum(const float* p, int n) {
  __m256 s = _mm256_setzero_ps();
  for (int i = 0; i < n; i += 8) s = _mm256_add_ps(s, _mm256_loadu_ps(p + i));
  const __m128 half = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
  float parts[4], total = 0;
  _mm_storeu_ps(parts, half);
  for (float part : parts) total += part;
  return total;
}

int main() {
  int* flags;
  cudaMallocHost(&flags, 2 * sizeof *flags);
  flags[0] = flags[1] = 0;
  answer<<<1, 1>>>(flags, flags + 1);
  _mm_mfence();
  __atomic_store_n(flags, 41, __ATOMIC_RELEASE);
  const unsigned long long start = __rdtsc();
  while (__atomic_load_n(flags + 1, __ATOMIC_ACQUIRE) != 42) _mm_pause();
  if (__rdtsc() < start || cudaDeviceSynchronize() != cudaSuccess) return 1;

  int bad = 0, threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : bad, threads)
  {
    float *device, host[64];
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocAsync(&device, sizeof host, stream);
    fill<<<1, 64, 0, stream>>>(device, omp_get_thread_num() + 1.0f);
    cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(device, stream);
    bad += cudaStreamSynchronize(stream) != cudaSuccess || sum(host, 64) != 64.0f * (omp_get_thread_num() + 1);
    threads += omp_get_num_threads() == 4;
    cudaStreamDestroy(stream);
  }
  if (bad || threads != 4) std::printf("%d of %d threads failed\n", bad, threads);
  return bad || threads != 4;
}
