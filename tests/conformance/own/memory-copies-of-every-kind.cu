// What copies and sets say to every pairing of memories, every direction word, sizes beyond a block's end, wrong
// pitches and null pointers: plain, of rows and of boxes, with and without a stream, between devices.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static const char* E(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return cudaGetErrorName(e);
}
#define CALL(...) std::printf("%s = %s\n", #__VA_ARGS__, E(__VA_ARGS__))
#define FACT(v) std::printf("%s = %lld\n", #v, (long long)(v))
#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected at line %d: %s\n", __LINE__, E(r_));                                \
  } while (0)

int main() {
  char *d, *h, *m, *d2;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  static char g[8192];
  char* ps[] = {d, h, m, g, nullptr, d + 4000, (char*)d + 4096};
  const char* pn[] = {"d", "h", "m", "g", "0", "d+4000", "end"};
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  for (int k = 0; k < 6; ++k)
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 7; ++j) {
        auto K = (cudaMemcpyKind)k;
        std::printf("k%d %s<-%s:", k, pn[i], pn[j]);
        if (!((i == 4 || j == 4) && (i == 3 || j == 3) && k == 0) && !(i == 4 && j == 4 && k == 0) &&
            !(k == 0 && (i == 4 || j == 4)) && !(k == 4 && (i == 4 || j == 4))) {
          std::printf(" %s", E(cudaMemcpy(ps[i], ps[j], 64, K)));
          std::printf(" %s", E(cudaMemcpyAsync(ps[i], ps[j], 64, K, s)));
          std::printf(" %s", E(cudaMemcpy2D(ps[i], 16, ps[j], 16, 8, 4, K)));
          std::printf(" %s", E(cudaMemcpy2DAsync(ps[i], 16, ps[j], 16, 8, 4, K, s)));
          cudaMemcpy3DParms p{};
          p.srcPtr = make_cudaPitchedPtr(ps[j], 16, 16, 2);
          p.dstPtr = make_cudaPitchedPtr(ps[i], 16, 16, 2);
          p.extent = {8, 2, 2};
          p.kind = K;
          std::printf(" %s", E(cudaMemcpy3D(&p)));
        }
        std::printf(" z %s", E(cudaMemcpy(ps[i], ps[j], 0, K)));
        std::printf(" %s", E(cudaMemcpyAsync(ps[i], ps[j], 0, K, s)));
        std::printf(" %s", E(cudaMemcpy2D(ps[i], 16, ps[j], 16, 0, 4, K)));
        std::printf(" %s\n", E(cudaMemcpy2D(ps[i], 16, ps[j], 16, 4, 0, K)));
      }
  for (int k = 0; k < 6; ++k)
    for (size_t n : {(size_t)4096, (size_t)4097, (size_t)8192, (size_t)1 << 40}) {
      auto K = (cudaMemcpyKind)k;
      if (n > 8192 && (k == 0 || k == 4)) continue;
      std::printf("over k%d %zu:", k, n);
      for (int i = 0; i < 3; ++i) {
        std::printf(" %s", n > 8192 ? "-" : E(cudaMemcpy(ps[i], g, n, k == 1 || k == 4 ? K : cudaMemcpyHostToDevice)));
        std::printf(" %s", n > 8192 ? "-" : E(cudaMemcpy(g, ps[i], n, cudaMemcpyDeviceToHost)));
      }
      std::printf(" %s\n", E(cudaMemcpy(d, d2, n, cudaMemcpyDeviceToDevice)));
      if (n > 8192) break;
    }
  for (size_t dp : {0, 7, 8, 16, 4096})
    for (size_t sp : {0, 7, 8, 16})
      for (size_t w : {0, 8, 9})
        for (size_t hh : {0, 1, 4}) {
          if (dp == 4096 && hh > 1) continue;
          std::printf("2d %zu %zu %zu %zu %s", dp, sp, w, hh,
                      E(cudaMemcpy2D(d, dp, g, sp, w, hh, cudaMemcpyHostToDevice)));
          std::printf(" %s", E(cudaMemcpy2D(g, sp, d, dp, w, hh, cudaMemcpyDeviceToHost)));
          std::printf(" %s\n", E(cudaMemcpy2DAsync(d, dp, d2, sp, w, hh, cudaMemcpyDeviceToDevice, s)));
        }
  CALL(cudaMemcpy2D(d, 64, g, 64, 64, 64, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(d, 64, g, 64, 64, 65, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(d + 32, 64, g, 64, 32, 64, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(d, (size_t)1 << 33, g, 64, 32, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(d, (size_t)1 << 31, g, 64, 32, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(d + 100, d + 50, 100, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy(d, d, 100, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy(d, g, 10, (cudaMemcpyKind)-1));
  CALL(cudaMemcpyAsync(d, g, 10, (cudaMemcpyKind)99, s));
  CALL(cudaMemcpyPeer(d, 0, d2, 0, 64));
  CALL(cudaMemcpyPeer(d, 0, d2, 5, 64));
  CALL(cudaMemcpyPeer(d, -1, d2, 0, 64));
  CALL(cudaMemcpyPeerAsync(d, 0, d2, 0, 64, s));
  CALL(cudaMemcpyPeer(d, 0, g, 0, 64));
  CALL(cudaMemcpyPeer(d, 0, h, 0, 64));
  CALL(cudaMemcpyPeer(d, 0, m, 0, 64));
  CALL(cudaMemcpyPeer(nullptr, 0, d, 0, 64));
  CALL(cudaMemcpyPeer(d, 0, d2, 0, 0));
  CALL(cudaMemcpyPeer(d, 0, d2, 0, 5000));
  cudaMemcpy3DPeerParms pp{};
  pp.srcPtr = make_cudaPitchedPtr(d, 16, 16, 4);
  pp.dstPtr = make_cudaPitchedPtr(d2, 16, 16, 4);
  pp.extent = {16, 4, 4};
  CALL(cudaMemcpy3DPeer(&pp));
  pp.srcDevice = 3;
  CALL(cudaMemcpy3DPeer(&pp));
  CALL(cudaMemcpy3DPeer(nullptr));
  pp.srcDevice = 0;
  CALL(cudaMemcpy3DPeerAsync(&pp, s));
  // memset
  for (int i = 0; i < 7; ++i) {
    std::printf("set %s", pn[i]);
    for (size_t n : {(size_t)0, (size_t)10, (size_t)96, (size_t)97, (size_t)4096, (size_t)4097}) {
      std::printf(" %s", E(cudaMemset(ps[i], 1, n)));
      std::printf(" %s", E(cudaMemsetAsync(ps[i], 1, n, s)));
    }
    puts("");
    for (size_t p : {0, 8, 16})
      for (size_t w : {0, 8, 9})
        for (size_t hh : {0, 1, 4}) {
          std::printf(" 2d %s %zu %zu %zu %s", pn[i], p, w, hh, E(cudaMemset2D(ps[i], p, 1, w, hh)));
          cudaPitchedPtr q = make_cudaPitchedPtr(ps[i], p, w, hh);
          std::printf(" %s", E(cudaMemset3D(q, 1, cudaExtent{w, hh, 1})));
          std::printf(" %s", E(cudaMemset3D(q, 1, cudaExtent{w, hh, 0})));
          std::printf(" %s\n", E(cudaMemset3D(q, 1, cudaExtent{w, hh, 2})));
        }
  }
  CALL(cudaMemset(d, 0x1ff, 4));
  CALL(cudaMemcpy(g, d, 4, cudaMemcpyDeviceToHost));
  FACT((unsigned char)g[0]);
  cudaPitchedPtr q = make_cudaPitchedPtr(d, 64, 32, 4);
  CALL(cudaMemset3D(q, 1, cudaExtent{33, 4, 4}));
  CALL(cudaMemset3D(q, 1, cudaExtent{32, 5, 4}));
  CALL(cudaMemset3D(q, 1, cudaExtent{65, 4, 4}));
  CALL(cudaMemset3D(q, 1, cudaExtent{32, 4, 17}));
  CALL(cudaMemset3D(q, 1, cudaExtent{32, 4, 16}));
  CALL(cudaMemset3DAsync(q, 1, cudaExtent{32, 4, 16}, s));
  q.pitch = 0;
  CALL(cudaMemset3D(q, 1, cudaExtent{32, 1, 1}));
  q.ptr = nullptr;
  CALL(cudaMemset3D(q, 1, cudaExtent{0, 0, 0}));
  size_t pitch;
  void* x;
  for (size_t w : {(size_t)0, (size_t)1, (size_t)511, (size_t)512, (size_t)513, (size_t)100000})
    for (size_t hh : {0, 1, 3}) {
      x = (void*)8;
      pitch = 77;
      std::printf("pitch %zu %zu %s", w, hh, E(cudaMallocPitch(&x, &pitch, w, hh)));
      std::printf(" %zu %d\n", pitch, x == nullptr);
      if (x != (void*)8) cudaFree(x);
    }
  cudaPitchedPtr pz;
  for (auto e : {cudaExtent{10, 2, 3}, cudaExtent{0, 2, 3}, cudaExtent{10, 0, 3}, cudaExtent{10, 2, 0}}) {
    pz = make_cudaPitchedPtr((void*)8, 7, 7, 7);
    std::printf("m3d %s", E(cudaMalloc3D(&pz, e)));
    std::printf(" %zu %zu %zu %d\n", pz.pitch, pz.xsize, pz.ysize, pz.ptr == nullptr);
  }
  CALL(cudaMalloc3D(nullptr, cudaExtent{1, 1, 1}));
}
