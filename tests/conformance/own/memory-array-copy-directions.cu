// Rule: which directions copies to and from arrays take, by where the other side lies. Words that are no direction pass
// in the forms of one dimension.
#include <cuda_runtime.h>

#include <cstdio>
static const char* k(int i) {
  static const char* n[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default", "five"};
  return n[i];
}
#define T(what, kind, call)                                                                                            \
  do {                                                                                                                 \
    cudaError_t r_ = (call), l_ = cudaGetLastError(), s_ = cudaDeviceSynchronize();                                    \
    std::printf("%s %s = %s | last %s | sync %s\n", what, k(kind), cudaGetErrorName(r_), cudaGetErrorName(l_),         \
                cudaGetErrorName(s_));                                                                                 \
  } while (0)
int main() {
  cudaArray_t a, b;
  cudaChannelFormatDesc c = cudaCreateChannelDesc<int>();
  cudaMallocArray(&a, &c, 16, 16);
  cudaMallocArray(&b, &c, 16, 16);
  static int page[256];
  int *pin, *dev, *man;
  cudaMallocHost(&pin, 1024);
  cudaMalloc(&dev, 1024);
  cudaMallocManaged(&man, 1024);
  cudaStream_t s;
  cudaStreamCreate(&s);
  struct {
    const char* n;
    void* p;
  } m[] = {{"page", page}, {"pin", pin}, {"dev", dev}, {"man", man}};
  for (auto& x : m)
    for (int i = 0; i < 6; ++i) {
      cudaMemcpyKind d = (cudaMemcpyKind)i;
      char t[64];
      std::snprintf(t, 64, "%s toArray", x.n);
      T(t, i, cudaMemcpyToArray(a, 0, 0, x.p, 64, d));
      std::snprintf(t, 64, "%s fromArray", x.n);
      T(t, i, cudaMemcpyFromArray(x.p, a, 0, 0, 64, d));
      std::snprintf(t, 64, "%s 2DtoArray", x.n);
      T(t, i, cudaMemcpy2DToArray(a, 0, 0, x.p, 64, 64, 4, d));
      std::snprintf(t, 64, "%s 2DfromArray", x.n);
      T(t, i, cudaMemcpy2DFromArray(x.p, 64, a, 0, 0, 64, 4, d));
      std::snprintf(t, 64, "%s 2DtoArrayAsync", x.n);
      T(t, i, cudaMemcpy2DToArrayAsync(a, 0, 0, x.p, 64, 64, 4, d, s));
      std::snprintf(t, 64, "%s 2DfromArrayAsync", x.n);
      T(t, i, cudaMemcpy2DFromArrayAsync(x.p, 64, a, 0, 0, 64, 4, d, s));
      std::snprintf(t, 64, "%s toArrayAsync", x.n);
      T(t, i, cudaMemcpyToArrayAsync(a, 0, 0, x.p, 64, d, s));
      std::snprintf(t, 64, "%s fromArrayAsync", x.n);
      T(t, i, cudaMemcpyFromArrayAsync(x.p, a, 0, 0, 64, d, s));
    }
  for (int i = 0; i < 6; ++i) {
    T("arrayToArray", i, cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 64, (cudaMemcpyKind)i));
    T("2DarrayToArray", i, cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 64, 4, (cudaMemcpyKind)i));
  }
}
