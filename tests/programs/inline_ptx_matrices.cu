// Inline PTX of warps' matrices (ldmatrix, mma.sync) and of parts of registers, against plain loops: small integers,
// whose sums are exact in every order.
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// Through shared memory, as kernels do it. B is [k][n].
__global__ void gemm(const half* A, const half* B, float* D) {
  __shared__ __align__(16) half a[16 * 16], b[16 * 8];
  int l = threadIdx.x;
  for (int i = l; i < 256; i += 32) a[i] = A[i];
  for (int i = l; i < 128; i += 32) b[i] = B[i];
  __syncthreads();
  uint32_t ra[4], rb[2];
  float c[4] = {1, 2, 3, 4};
  uint32_t pa = (uint32_t)__cvta_generic_to_shared(a + (l % 16) * 16 + (l / 16) * 8),
           pb = (uint32_t)__cvta_generic_to_shared(b + (l % 16) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  int g = l / 4, t = l % 4;
  D[g * 8 + 2 * t] = c[0];
  D[g * 8 + 2 * t + 1] = c[1];
  D[(g + 8) * 8 + 2 * t] = c[2];
  D[(g + 8) * 8 + 2 * t + 1] = c[3];
}
__global__ void s8(const int8_t* A, const int8_t* B, int* D) {
  int l = threadIdx.x, g = l / 4, t = l % 4;
  const int* a = (const int*)A;
  const int* b = (const int*)B;
  int c[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]),
        "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]), "r"(0), "r"(0), "r"(0), "r"(0));
  D[g * 8 + 2 * t] = c[0];
  D[g * 8 + 2 * t + 1] = c[1];
  D[(g + 8) * 8 + 2 * t] = c[2];
  D[(g + 8) * 8 + 2 * t + 1] = c[3];
}
__global__ void tf32(const float* A, const float* B, float* D) {
  int l = threadIdx.x, g = l / 4, t = l % 4;
  float c[4] = {};
  auto r = [](float x) {
    uint32_t y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
  };
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\n"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(r(A[g * 8 + t])), "r"(r(A[(g + 8) * 8 + t])), "r"(r(A[g * 8 + t + 4])), "r"(r(A[(g + 8) * 8 + t + 4])),
        "r"(r(B[g * 8 + t])), "r"(r(B[g * 8 + t + 4])), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
  D[g * 8 + 2 * t] = c[0];
  D[g * 8 + 2 * t + 1] = c[1];
  D[(g + 8) * 8 + 2 * t] = c[2];
  D[(g + 8) * 8 + 2 * t + 1] = c[3];
}
__global__ void h16(const half* A, const half* B, half* D) {
  int l = threadIdx.x, g = l / 4, t = l % 4;
  const uint32_t* a = (const uint32_t*)A;
  const uint32_t* b = (const uint32_t*)B;
  uint32_t c[2] = {};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%6};\n"
               : "=r"(c[0]), "=r"(c[1])
               : "r"(a[g * 4 + t]), "r"(a[(g + 8) * 4 + t]), "r"(b[g * 4 + t]), "r"(0), "r"(0));
  ((uint32_t*)D)[g * 4 + t] = c[0];
  ((uint32_t*)D)[(g + 8) * 4 + t] = c[1];
}
__global__ void parts(unsigned* o) {
  asm("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(o[0]) : "r"(0xff01807fu), "r"(0x02030405u), "r"(0));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(o[1]) : "r"(0x01ff0003u), "r"(0x02000500u), "r"(1000));
  asm("vsub2.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(o[2]) : "r"(0x80000005u), "r"(0x00010007u), "r"(0));
  asm("slct.b32.s32 %0, %1, %2, %3;" : "=r"(o[3]) : "r"(5), "r"(6), "r"(-1));
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(o[4]) : "r"(0x40003c00u), "r"(0x42004200u), "r"(0x3c003c00u));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(o[5]) : "f"(__uint_as_float(0x3f801000u)));
  asm volatile("{\n.reg .b32 l;\n.reg .pred p;\nelect.sync l|p, %1;\nselp.b32 %0, 1, 0, p;\n}"
               : "=r"(o[6 + threadIdx.x])
               : "r"(~0u));
}
int main() {
  half *A, *B, *H;
  float *D, *F, *G;
  int8_t *P, *Q;
  int* E;
  cudaMallocManaged(&A, 4096);
  cudaMallocManaged(&B, 4096);
  cudaMallocManaged(&H, 4096);
  cudaMallocManaged(&D, 4096);
  cudaMallocManaged(&F, 4096);
  cudaMallocManaged(&G, 4096);
  cudaMallocManaged(&P, 4096);
  cudaMallocManaged(&Q, 4096);
  cudaMallocManaged(&E, 4096);
  for (int i = 0; i < 512; i++) {
    A[i] = __float2half((i * 7 % 23) - 11);
    B[i] = __float2half((i * 5 % 17) - 8);
    P[i] = i * 37 % 251;
    Q[i] = i * 91 % 255;
    F[i] = (i * 3 % 19) / 4.f;
    G[i] = (i * 11 % 13) - 6;
  }
  int bad = 0;
  gemm<<<1, 32>>>(A, B, D);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int m = 0; m < 16; m++)
    for (int n = 0; n < 8; n++) {
      float s = (m < 8 ? 1 : 3) + n % 2;
      for (int k = 0; k < 16; k++) s += __half2float(A[m * 16 + k]) * __half2float(B[k * 8 + n]);
      bad += s != D[m * 8 + n];
    }
  printf("f16 %d\n", bad);
  s8<<<1, 32>>>(P, Q, E);
  cudaDeviceSynchronize();
  for (int m = 0; m < 16; m++)
    for (int n = 0; n < 8; n++) {
      int s = 0;
      for (int k = 0; k < 32; k++) s += P[m * 32 + k] * Q[n * 32 + k];
      bad += s != E[m * 8 + n];
    }
  printf("s8 %d\n", bad);
  tf32<<<1, 32>>>(F, G, D);
  cudaDeviceSynchronize();
  for (int m = 0; m < 16; m++)
    for (int n = 0; n < 8; n++) {
      float s = 0;
      for (int k = 0; k < 8; k++) s += F[m * 8 + k] * G[n * 8 + k];
      bad += s != D[m * 8 + n];
    }
  printf("tf32 %d\n", bad);
  h16<<<1, 32>>>(A, B, H);
  cudaDeviceSynchronize();
  for (int m = 0; m < 16; m++)
    for (int n = 0; n < 8; n++) {
      float s = 0;
      for (int k = 0; k < 8; k++) s += __half2float(A[m * 8 + k]) * __half2float(B[n * 8 + k]);
      bad += s != __half2float(H[m * 8 + n]);
    }
  printf("f16 sums %d\n", bad);
  unsigned* o;
  cudaMallocManaged(&o, 4096);
  parts<<<1, 32>>>(o);
  cudaDeviceSynchronize();
  const unsigned wanted[] = {0xff048484u, 1000 + 1 + 255 + 5 + 3, 0x8000fffeu, 6, 0x47004400u, 0x3f802000u, 1, 0};
  for (int i = 0; i < 8; i++) bad += o[i] != wanted[i];
  printf("parts %d\n", bad);
  return bad != 0;
}
