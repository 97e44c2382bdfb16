// Rule: warp matrix functions: every shape and type, both layouts, on values whose products and sums are exact;
// how many elements a fragment has; what __float_to_tf32 gives; saturation.
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>
#include <vector>
using namespace nvcuda;

template <class T> struct Stored {
  using type = T;
};
template <> struct Stored<wmma::precision::tf32> {
  using type = float;
};
template <class T> using stored = typename Stored<T>::type;

template <class T> __host__ __device__ T make(int v) { return (T)v; }
template <> __host__ __device__ __half make<__half>(int v) { return __float2half((float)v); }
template <> __host__ __device__ __nv_bfloat16 make<__nv_bfloat16>(int v) { return __float2bfloat16((float)v); }
template <class T> __host__ __device__ double value(T v) { return (double)v; }
template <> __host__ __device__ double value<__half>(__half v) { return (double)__half2float(v); }
template <> __host__ __device__ double value<__nv_bfloat16>(__nv_bfloat16 v) { return (double)__bfloat162float(v); }

template <int M, int N, int K, class T, class C, class D, class LA, class LB>
__global__ void multiply(const stored<T>* a, const stored<T>* b, const C* c, D* d, int lda, int ldb, int ldc, bool rows,
                         int* elements) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fragment<wmma::accumulator, M, N, K, D> fd;
  const auto layout = rows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, layout);
  wmma::fill_fragment(fd, make<D>(0));
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = make<C>((int)value(fc.x[i]) * 2);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = make<stored<T>>((int)value(fa.x[i]) + 1);
  wmma::mma_sync(fd, fa, fb, fc);
  wmma::store_matrix_sync(d, fd, ldc, layout);
  if (threadIdx.x == 0) elements[0] = fa.num_elements, elements[1] = fb.num_elements, elements[2] = fd.num_elements;
}

template <int M, int N, int K, class T, class C, class D, class LA, class LB> void one(const char* name, bool rows) {
  using S = stored<T>;
  const bool ra = std::is_same<LA, wmma::row_major>::value, rb = std::is_same<LB, wmma::row_major>::value;
  const int lda = (ra ? K : M) + 16, ldb = (rb ? N : K) + 16, ldc = (rows ? N : M) + 16;
  S *a, *b;
  C* c;
  D* d;
  int* e;
  cudaMallocManaged(&a, sizeof(S) * 64 * 64);
  cudaMallocManaged(&b, sizeof(S) * 64 * 64);
  cudaMallocManaged(&c, sizeof(C) * 64 * 64);
  cudaMallocManaged(&d, sizeof(D) * 64 * 64);
  cudaMallocManaged(&e, 12);
  const int low = std::is_unsigned<S>::value ? 0 : -3;
  for (int i = 0; i < 64 * 64; ++i) {
    a[i] = make<S>(i * 7 % 11 % 7 + low), b[i] = make<S>(i * 5 % 13 % 7 + low), c[i] = make<C>(i % 9 - 4);
    d[i] = make<D>(77);
  }
  multiply<M, N, K, T, C, D, LA, LB><<<1, 32>>>(a, b, c, d, lda, ldb, ldc, rows, e);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0;
  double total = 0;
  std::vector<char> written(64 * 64);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      const int at = rows ? i * ldc + j : j * ldc + i;
      double s = 2 * value(c[at]);
      for (int k = 0; k < K; ++k)
        s += (value(a[ra ? i * lda + k : k * lda + i]) + 1) * value(b[rb ? k * ldb + j : j * ldb + k]);
      wrong += s != value(d[at]);
      total += s * (i + 1) * (j + 2);
      written[at] = 1;
    }
  for (int i = 0; i < 64 * 64; ++i) wrong += !written[i] && value(d[i]) != 77;
  std::printf("%s %dx%dx%d %c%c%c: elements %d %d %d, wrong %d, total %.0f, %s\n", name, M, N, K, ra ? 'r' : 'c',
              rb ? 'r' : 'c', rows ? 'r' : 'c', e[0], e[1], e[2], wrong, total, cudaGetErrorName(error));
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d), cudaFree(e);
}
using R = wmma::row_major;
using L = wmma::col_major;
template <class T, class C, class D> void shapes(const char* name) {
  one<16, 16, 16, T, C, D, R, L>(name, false);
  one<32, 8, 16, T, C, D, L, R>(name, false);
  one<8, 32, 16, T, C, D, R, R>(name, true);
}

__global__ void tf32(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = __float_as_uint(wmma::__float_to_tf32(__uint_as_float(in[threadIdx.x])));
}
__global__ void saturated(int* o) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> c, d;
  wmma::fill_fragment(a, (signed char)127);
  wmma::fill_fragment(b, (signed char)127);
  wmma::fill_fragment(c, 0x7fffff00);
  wmma::mma_sync(d, a, b, c, true);
  wmma::store_matrix_sync(o, d, 16, wmma::mem_row_major);
  wmma::mma_sync(d, a, b, c);
  wmma::store_matrix_sync(o + 256, d, 16, wmma::mem_row_major);
}
// Several warps, a shared tile, an accumulator that lives across a loop.
__global__ void tiled(const __half* a, const __half* b, float* c, int n) {
  __shared__ __half ta[4][256], tb[4][256];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 16;
  for (int k = 0; k < n; k += 16) {
    for (int i = lane; i < 256; i += 32) {
      ta[warp][i] = a[(row + i / 16) * n + k + i % 16];
      tb[warp][i] = b[(k + i / 16) * n + column + i % 16];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, ta[warp], 16);
    wmma::load_matrix_sync(fb, tb[warp], 16);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncthreads();
  }
  wmma::store_matrix_sync(c + row * n + column, acc, n, wmma::mem_row_major);
}

int main() {
  one<16, 16, 16, __half, float, float, R, R>("half float float", true);
  one<16, 16, 16, __half, float, float, R, L>("half float float", false);
  one<16, 16, 16, __half, float, float, L, R>("half float float", false);
  one<16, 16, 16, __half, float, float, L, L>("half float float", true);
  one<32, 8, 16, __half, __half, __half, R, R>("half half half", true);
  one<8, 32, 16, __half, __half, __half, L, L>("half half half", true);
  one<16, 16, 16, __half, float, __half, L, R>("half float half", false);
  one<16, 16, 16, __half, __half, float, R, L>("half half float", false);
  shapes<__nv_bfloat16, float, float>("bfloat16");
  shapes<signed char, int, int>("signed char");
  shapes<unsigned char, int, int>("unsigned char");
  one<16, 16, 8, wmma::precision::tf32, float, float, R, R>("tf32", true);
  one<16, 16, 8, wmma::precision::tf32, float, float, L, L>("tf32", true);
  one<8, 8, 4, double, double, double, R, L>("double", false);
  one<8, 8, 4, double, double, double, L, R>("double", false);
  unsigned *in, *out;
  cudaMallocManaged(&in, 64), cudaMallocManaged(&out, 64);
  const unsigned patterns[16] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000,
                                 0xbf801000, 0x7f7fffff, 0x7f800000, 0x7fc00001, 0x00000fff, 0x00001000,
                                 0x80001fff, 0x3fffffff, 0xff800001, 0};
  std::memcpy(in, patterns, 64);
  tf32<<<1, 16>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 16; ++i) std::printf("tf32 of %08x: %08x\n", in[i], out[i]);
  int* o;
  cudaMallocManaged(&o, 2048);
  saturated<<<1, 32>>>(o);
  cudaDeviceSynchronize();
  std::printf("saturated %x, not %x\n", o[7], o[256 + 7]);
  const int n = 128;
  __half *a, *b;
  float* c;
  cudaMallocManaged(&a, n * n * 2), cudaMallocManaged(&b, n * n * 2), cudaMallocManaged(&c, n * n * 4);
  for (int i = 0; i < n * n; ++i) a[i] = make<__half>(i * 3 % 7 - 3), b[i] = make<__half>(i * 5 % 9 - 4);
  tiled<<<dim3(n / 64, n / 16), 128>>>(a, b, c, n);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k) s += value(a[i * n + k]) * value(b[k * n + j]);
      wrong += s != c[i * n + j];
    }
  std::printf("tiled: %d wrong, %s\n", wrong, cudaGetErrorName(error));
}
