// Rule: formats, extents and flags of arrays and mipmapped arrays, and what the functions that ask about them say.
#include "call_sections.h"

static void print(cudaArray_t a) {
  cudaChannelFormatDesc d = {};
  cudaExtent e = {};
  unsigned f = 99;
  std::printf(" %s", E(cudaArrayGetInfo(&d, &e, &f, a)));
  std::printf(" %d %d %d %d %d %zux%zux%zu %u", d.x, d.y, d.z, d.w, d.f, e.width, e.height, e.depth, f);
}
static void formats() {
  for (int f = 0; f < 5; ++f)
    for (int bits : {0, 4, 8, 16, 24, 32, 64})
      for (int n = 0; n < 5; ++n) {
        cudaChannelFormatDesc d = {n > 0 ? bits : 0, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
                                   (cudaChannelFormatKind)f};
        cudaArray_t a = (cudaArray_t)8;
        const cudaError_t e = cudaMallocArray(&a, &d, 16, 16);
        std::printf("%d %dx%d %s", f, n, bits, E(e));
        if (e == cudaSuccess) {
          print(a);
          cudaFreeArray(a);
        }
        std::puts("");
      }
  for (auto d : {cudaChannelFormatDesc{8, 16, 0, 0, cudaChannelFormatKindUnsigned},
                 cudaChannelFormatDesc{0, 8, 0, 0, cudaChannelFormatKindUnsigned},
                 cudaChannelFormatDesc{8, 0, 8, 0, cudaChannelFormatKindUnsigned},
                 cudaChannelFormatDesc{-8, 0, 0, 0, cudaChannelFormatKindUnsigned},
                 cudaChannelFormatDesc{8, 8, 8, 8, (cudaChannelFormatKind)99}}) {
    cudaArray_t a;
    std::printf("%d %d %d %d %d: %s\n", d.x, d.y, d.z, d.w, d.f, E(cudaMallocArray(&a, &d, 16, 16)));
  }
}
static void extents() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  for (size_t w : {(size_t)0, (size_t)1, (size_t)131072, (size_t)131073})
    for (size_t h : {(size_t)0, (size_t)1, (size_t)65536, (size_t)65537}) {
      if (w > 1 && h > 1) continue;
      std::printf("%zu %zu %s", w, h, E(cudaMallocArray(&a, &d, w, h)));
      print(a);
      std::puts("");
    }
  CALL(cudaMallocArray(nullptr, &d, 1, 1));
  CALL(cudaMallocArray(&a, nullptr, 1, 1));
  for (unsigned f = 0; f < 72; ++f) {
    for (cudaExtent e : {cudaExtent{8, 0, 0}, cudaExtent{8, 8, 0}, cudaExtent{8, 8, 8}, cudaExtent{8, 0, 8},
                         cudaExtent{8, 8, 6}, cudaExtent{8, 8, 12}}) {
      a = nullptr;
      const cudaError_t r = cudaMalloc3DArray(&a, &d, e, f);
      std::printf("flags %u %zux%zux%zu %s", f, e.width, e.height, e.depth, E(r));
      if (r == cudaSuccess) print(a), cudaFreeArray(a);
      std::puts("");
    }
  }
  for (unsigned f : {0x80u, 0x100u, 0x40u, 0x41u, 0x42u, 0x44u}) {
    std::printf("flags %u %s", f, E(cudaMallocArray(&a, &d, 8, 8, f)));
    std::printf(" %s\n", E(cudaMalloc3DArray(&a, &d, cudaExtent{8, 8, 8}, f)));
  }
  for (cudaExtent e : {cudaExtent{0, 0, 0}, cudaExtent{0, 8, 8}, cudaExtent{8, 0, 8}, cudaExtent{16384, 1, 1},
                       cudaExtent{16385, 1, 1}, cudaExtent{1, 16385, 1}, cudaExtent{1, 1, 16385}}) {
    a = nullptr;
    const cudaError_t r = cudaMalloc3DArray(&a, &d, e, 0);
    std::printf("%zux%zux%zu %s\n", e.width, e.height, e.depth, E(r));
    if (r == cudaSuccess && a) cudaFreeArray(a);
  }
  for (cudaExtent e :
       {cudaExtent{32768, 0, 2048}, cudaExtent{32769, 0, 1}, cudaExtent{8, 0, 2049}, cudaExtent{8, 8, 2049}}) {
    a = nullptr;
    const cudaError_t r = cudaMalloc3DArray(&a, &d, e, cudaArrayLayered);
    std::printf("layered %zux%zux%zu %s\n", e.width, e.height, e.depth, E(r));
    if (r == cudaSuccess && a) cudaFreeArray(a);
  }
  CALL(cudaFreeArray(nullptr));
  CALL(cudaMalloc3DArray(nullptr, &d, cudaExtent{8, 8, 8}, 0));
  CALL(cudaMalloc3DArray(&a, nullptr, cudaExtent{8, 8, 8}, 0));
}
static void ask() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaArray_t a, b, c, p = nullptr;
  MUST(cudaMallocArray(&a, &d, 100, 50));
  MUST(cudaMalloc3DArray(&b, &d, cudaExtent{8, 8, 6}, cudaArrayCubemap));
  MUST(cudaMalloc3DArray(&c, &d, cudaExtent{8, 8, 8}, cudaArraySurfaceLoadStore));
  cudaExtent e;
  unsigned f;
  CALL(cudaArrayGetInfo(nullptr, nullptr, nullptr, a));
  CALL(cudaArrayGetInfo(&d, nullptr, nullptr, a));
  CALL(cudaArrayGetInfo(nullptr, &e, nullptr, a));
  CALL(cudaArrayGetInfo(nullptr, nullptr, &f, a));
  CALL(cudaArrayGetInfo(&d, &e, &f, nullptr));
  CALL(cudaGetChannelDesc(&d, a));
  CALL(cudaGetChannelDesc(nullptr, a));
  CALL(cudaGetChannelDesc(&d, nullptr));
  CALL(cudaArrayGetPlane(&p, a, 0));
  CALL(cudaArrayGetPlane(&p, a, 1));
  CALL(cudaArrayGetPlane(nullptr, a, 0));
  CALL(cudaArrayGetPlane(&p, nullptr, 0));
  cudaArraySparseProperties sp;
  CALL(cudaArrayGetSparseProperties(&sp, a));
  CALL(cudaArrayGetSparseProperties(nullptr, a));
  CALL(cudaArrayGetSparseProperties(&sp, nullptr));
  cudaArrayMemoryRequirements m;
  CALL(cudaArrayGetMemoryRequirements(&m, a, 0));
  CALL(cudaArrayGetMemoryRequirements(&m, a, 1));
  CALL(cudaArrayGetMemoryRequirements(&m, a, -1));
  CALL(cudaArrayGetMemoryRequirements(nullptr, a, 0));
  CALL(cudaArrayGetMemoryRequirements(&m, nullptr, 0));
  cudaArray_t q;
  CALL(cudaMallocArray(&q, &d, 100, 50, cudaArrayDeferredMapping));
  CALL(cudaArrayGetMemoryRequirements(&m, q, 0));
}
static void levels() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t m;
  cudaArray_t a;
  for (cudaExtent e : {cudaExtent{16, 0, 0}, cudaExtent{16, 8, 0}, cudaExtent{16, 8, 4}, cudaExtent{0, 0, 0}})
    for (unsigned n : {0u, 1u, 4u, 5u, 6u, 20u, 100u}) {
      m = nullptr;
      const cudaError_t r = cudaMallocMipmappedArray(&m, &d, e, n, 0);
      std::printf("%zux%zux%zu %u %s", e.width, e.height, e.depth, n, E(r));
      if (r == cudaSuccess && m)
        for (unsigned l = 0; l < 7; ++l) {
          a = nullptr;
          const cudaError_t s = cudaGetMipmappedArrayLevel(&a, m, l);
          std::printf(" | %s", E(s));
          if (s == cudaSuccess) print(a);
        }
      std::puts("");
    }
  for (unsigned f : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u, 32u, 64u})
    for (cudaExtent e :
         {cudaExtent{8, 0, 0}, cudaExtent{8, 8, 0}, cudaExtent{8, 8, 6}, cudaExtent{8, 0, 3}, cudaExtent{8, 8, 12}}) {
      m = nullptr;
      const cudaError_t r = cudaMallocMipmappedArray(&m, &d, e, 2, f);
      std::printf("flags %u %zux%zux%zu %s", f, e.width, e.height, e.depth, E(r));
      if (r == cudaSuccess && m)
        for (unsigned l = 0; l < 2; ++l) {
          MUST(cudaGetMipmappedArrayLevel(&a, m, l));
          print(a);
        }
      std::puts("");
    }
  MUST(cudaMallocMipmappedArray(&m, &d, cudaExtent{16, 16, 0}, 3, 0));
  CALL(cudaGetMipmappedArrayLevel(nullptr, m, 0));
  CALL(cudaGetMipmappedArrayLevel(&a, nullptr, 0));
  MUST(cudaGetMipmappedArrayLevel(&a, m, 1));
  CALL(cudaFreeArray(a));
  CALL(cudaMallocMipmappedArray(nullptr, &d, cudaExtent{16, 16, 0}, 3, 0));
  CALL(cudaMallocMipmappedArray(&m, nullptr, cudaExtent{16, 16, 0}, 3, 0));
  CALL(cudaFreeMipmappedArray(nullptr));
  cudaArraySparseProperties sp;
  cudaArrayMemoryRequirements q;
  CALL(cudaMipmappedArrayGetSparseProperties(&sp, m));
  CALL(cudaMipmappedArrayGetSparseProperties(nullptr, m));
  CALL(cudaMipmappedArrayGetMemoryRequirements(&q, m, 0));
  CALL(cudaMipmappedArrayGetMemoryRequirements(nullptr, m, 0));
  CALL(cudaMipmappedArrayGetMemoryRequirements(&q, m, 5));
}
static char host[1 << 16];
static void copies() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaArray_t a, b, one, box, layers;
  MUST(cudaMallocArray(&a, &d, 16, 8));
  MUST(cudaMallocArray(&b, &d, 16, 8));
  MUST(cudaMallocArray(&one, &d, 16));
  MUST(cudaMalloc3DArray(&box, &d, cudaExtent{16, 8, 4}));
  MUST(cudaMalloc3DArray(&layers, &d, cudaExtent{16, 8, 4}, cudaArrayLayered));
  char* g;
  MUST(cudaMalloc(&g, 1 << 16));
  const auto H2D = cudaMemcpyHostToDevice;
  const auto D2H = cudaMemcpyDeviceToHost;
  const auto D2D = cudaMemcpyDeviceToDevice;
  for (cudaArray_t x : {a, one, box, layers})
    for (size_t wo : {0, 3, 4, 32, 60, 64, 68})
      for (size_t ho : {0, 1, 7, 8, 9})
        for (size_t w : {0, 2, 4, 32, 64, 68}) {
          if ((wo + ho + w) % 3 && wo != 0) continue;
          std::printf("array %d at %zu %zu width %zu:", x == a ? 2 : x == one ? 1 : x == box ? 3 : 4, wo, ho, w);
          for (size_t h : {0, 1, 8})
            for (size_t p : {0, 64, 68}) std::printf(" %s", E(cudaMemcpy2DToArray(x, wo, ho, host, p, w, h, H2D)));
          std::printf(" | %s", E(cudaMemcpy2DFromArray(host, 128, x, wo, ho, w, 1, D2H)));
          std::printf(" %s", E(cudaMemcpy2DArrayToArray(b, 0, 0, x, wo, ho, w, 1, D2D)));
          std::printf(" %s", E(cudaMemcpyToArray(x, wo, ho, host, w, H2D)));
          std::printf(" %s\n", E(cudaMemcpyFromArray(host, x, wo, ho, w, D2H)));
        }
  for (size_t n : {0, 4, 64, 65, 68, 512, 516, 2048}) {
    std::printf("bytes %zu:", n);
    for (cudaArray_t x : {a, one, box, layers}) {
      std::printf(" %s", E(cudaMemcpyToArray(x, 0, 0, host, n, H2D)));
      std::printf(" %s", E(cudaMemcpyFromArray(host, x, 0, 0, n, D2H)));
      std::printf(" %s", E(cudaMemcpyArrayToArray(b, 0, 0, x, 0, 0, n, D2D)));
      std::printf(" %s", E(cudaMemcpyToArray(x, 32, 0, host, n, H2D)));
    }
    std::puts("");
  }
  for (int k = -1; k < 6; ++k)
    for (char* p : {host, g, (char*)nullptr}) {
      if (!p && (k < 0 || k > 3)) continue;
      auto K = (cudaMemcpyKind)k;
      std::printf("kind %d %s:", k, p == host ? "host" : p ? "device" : "null");
      std::printf(" %s", E(cudaMemcpy2DToArray(a, 0, 0, p, 64, 64, 1, K)));
      std::printf(" %s", E(cudaMemcpy2DFromArray(p, 64, a, 0, 0, 64, 1, K)));
      std::printf(" %s", E(cudaMemcpyToArray(a, 0, 0, p, 64, K)));
      std::printf(" %s", E(cudaMemcpyFromArray(p, a, 0, 0, 64, K)));
      std::printf(" %s", E(cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, 64, 1, K)));
      std::printf(" %s", E(cudaMemcpy2DToArrayAsync(a, 0, 0, p, 64, 64, 1, K, 0)));
      std::printf(" %s\n", E(cudaMemcpy2DFromArrayAsync(p, 64, a, 0, 0, 64, 1, K, 0)));
    }
  CALL(cudaMemcpy2DToArray(nullptr, 0, 0, host, 64, 64, 1, H2D));
  CALL(cudaMemcpy2DFromArray(host, 64, nullptr, 0, 0, 64, 1, D2H));
  CALL(cudaMemcpy2DArrayToArray(nullptr, 0, 0, b, 0, 0, 64, 1));
  CALL(cudaMemcpy2DArrayToArray(a, 0, 0, nullptr, 0, 0, 64, 1));
  CALL(cudaMemcpyToArray(nullptr, 0, 0, host, 64, H2D));
  CALL(cudaMemcpyFromArray(host, nullptr, 0, 0, 64, D2H));
  CALL(cudaMemcpy2DArrayToArray(a, 0, 0, a, 0, 1, 64, 1));
  CALL(cudaMemcpy2DArrayToArray(a, 0, 0, a, 0, 0, 64, 2));
  for (cudaArray_t x : {a, one, box, layers})
    for (auto at : {cudaPos{0, 0, 0}, cudaPos{1, 0, 0}, cudaPos{0, 1, 0}, cudaPos{0, 0, 1}, cudaPos{16, 0, 0}})
      for (auto e : {cudaExtent{16, 8, 4}, cudaExtent{16, 8, 1}, cudaExtent{16, 1, 1}, cudaExtent{17, 1, 1},
                     cudaExtent{16, 0, 0}, cudaExtent{0, 0, 0}, cudaExtent{16, 8, 0}}) {
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(host, 64, 16, 8);
        p.dstArray = x;
        p.dstPos = at;
        p.extent = e;
        p.kind = H2D;
        std::printf("box %d at %zu %zu %zu of %zu %zu %zu: %s",
                    x == a     ? 2
                    : x == one ? 1
                    : x == box ? 3
                               : 4,
                    at.x, at.y, at.z, e.width, e.height, e.depth, E(cudaMemcpy3D(&p)));
        p.srcPtr = {};
        p.srcArray = box;
        p.kind = D2D;
        std::printf(" %s", E(cudaMemcpy3D(&p)));
        p.srcPtr = make_cudaPitchedPtr(host, 64, 16, 8);
        std::printf(" %s", E(cudaMemcpy3D(&p)));
        p.srcArray = nullptr;
        p.dstPtr = make_cudaPitchedPtr(g, 64, 16, 8);
        p.kind = H2D;
        std::printf(" %s\n", E(cudaMemcpy3D(&p)));
      }
}
int main() {
  alone("formats", formats);
  alone("extents", extents);
  alone("ask", ask);
  alone("levels", levels);
  alone("copies", copies);
}
