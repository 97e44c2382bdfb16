// Device generators of cuRAND: what seeds, subsequences and offsets give, jumps, and distributions. Floats of the
// normal distribution are shown by three digits (a GPU takes approximations); Poisson's numbers where the algorithm is
// a known one.
#include <cstdio>
#include <curand.h>
#include <curand_kernel.h>

template <class State>
__device__ void show(const char* name, unsigned long long seed, unsigned long long subsequence,
                     unsigned long long offset) {
  State s;
  curand_init(seed, subsequence, offset, &s);
  printf("%s %llu %llu %llu:", name, seed, subsequence, offset);
  for (int i = 0; i < 5; i++) printf(" %u", curand(&s));
  for (int i = 0; i < 3; i++) printf(" %a", curand_uniform(&s));
  for (int i = 0; i < 2; i++) printf(" %a", curand_uniform_double(&s));
  State t = s;
  skipahead(5ull, &t);
  printf("\n ahead %u", curand(&t));
  t = s;
  skipahead(123456789012345ull, &t);
  printf(" %u", curand(&t));
  t = s;
  skipahead_sequence(3ull, &t);
  printf(" %u\n normal", curand(&t));
  for (int i = 0; i < 5; i++) printf(" %.3g", curand_normal(&s));
  printf(" %.3g", curand_log_normal(&s, 0.5f, 0.25f));
  const float2 f = curand_normal2(&s);
  printf(" %.3g %.3g", f.x, f.y);
  for (int i = 0; i < 3; i++) printf(" %.10g", curand_normal_double(&s));
  printf(" %.10g", curand_log_normal_double(&s, 0.1, 0.2));
  printf(" %.10g", curand_log_normal_double(&s, 0.1, 0.2));
  const double2 d = curand_normal2_double(&s);
  printf(" %.10g %.10g\n poisson", d.x, d.y);
  for (double mean : {0.5, 3.0, 30.0, 63.0, 5000.0}) printf(" %u", curand_poisson(&s, mean));
  printf(" %u\n", curand(&s));
}

__global__ void generators() {
  for (unsigned long long seed : {0ull, 1ull, 1234ull, 0x123456789abcdefull}) {
    show<curandState>("xorwow", seed, 0, 0);
    show<curandState_t>("xorwow", seed, 7, 3);
    show<curandStateXORWOW_t>("xorwow", seed, 1000003, 100000000001ull);
    show<curandStateMRG32k3a>("mrg32k3a", seed, 0, 0);
    show<curandStateMRG32k3a_t>("mrg32k3a", seed, 5, 11);
    show<curandStatePhilox4_32_10>("philox", seed, 0, 0);
    show<curandStatePhilox4_32_10_t>("philox", seed, 9, 6);
  }
}

__global__ void fours() {
  curandStatePhilox4_32_10_t s;
  for (unsigned offset = 0; offset < 4; ++offset) {
    curand_init(42, 1, offset, &s);
    const uint4 v = curand4(&s);
    const float4 f = curand_uniform4(&s), g = curand_normal4(&s), h = curand_log_normal4(&s, 0.f, 1.f);
    const double2 e = curand_uniform2_double(&s);
    const uint4 o = curand_poisson4(&s, 10.0);
    printf("%u %u %u %u, %a %a %a %a, ", v.x, v.y, v.z, v.w, f.x, f.y, f.z, f.w);
    printf("%.3g %.3g %.3g %.3g, %.3g %.3g, %a %a, ", g.x, g.y, g.z, g.w, h.x, h.w, e.x, e.y);
    printf("%u %u %u %u\n", o.x, o.y, o.z, o.w);
  }
}

// Every thread its own subsequence.
__global__ void start(curandState* states) { curand_init(1234, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void take(curandState* states, float* sums) {
  curandState s = states[threadIdx.x];
  float sum = 0;
  for (int i = 0; i < 1000; i++) sum += curand_uniform(&s);
  sums[threadIdx.x] = sum;
  states[threadIdx.x] = s;
}

int main() {
  generators<<<1, 1>>>();
  fours<<<1, 1>>>();
  cudaDeviceSynchronize();
  curandState* states;
  float *sums, host[64];
  cudaMalloc(&states, 64 * sizeof *states);
  cudaMalloc(&sums, sizeof host);
  start<<<1, 64>>>(states);
  take<<<1, 64>>>(states, sums);
  cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
  for (float f : host) printf("%a\n", f);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
