// Rule: which descriptions make texture and surface objects, and what is told about an object.
#include "call_sections.h"

static cudaTextureDesc plain() {
  cudaTextureDesc t;
  std::memset(&t, 0, sizeof t);
  return t;
}
static void make(const char* name, const cudaResourceDesc& r, const cudaTextureDesc& t,
                 const cudaResourceViewDesc* v = nullptr) {
  cudaTextureObject_t o = 0;
  const cudaError_t e = cudaCreateTextureObject(&o, &r, &t, v);
  std::printf("%s: %s", name, E(e));
  if (e == cudaSuccess) {
    cudaTextureDesc u;
    cudaResourceDesc q;
    cudaResourceViewDesc w;
    std::memset(&u, 0, sizeof u);
    std::printf(" %s %s", E(cudaGetTextureObjectTextureDesc(&u, o)), E(cudaGetTextureObjectResourceDesc(&q, o)));
    std::printf(" %s", E(cudaGetTextureObjectResourceViewDesc(&w, o)));
    std::printf(" [%d %d %d f%d r%d s%d n%d a%u m%d %g %g %g o%d c%d]", u.addressMode[0], u.addressMode[1],
                u.addressMode[2], u.filterMode, u.readMode, u.sRGB, u.normalizedCoords, u.maxAnisotropy,
                u.mipmapFilterMode, u.mipmapLevelBias, u.minMipmapLevelClamp, u.maxMipmapLevelClamp,
                u.disableTrilinearOptimization, u.seamlessCubemap);
    std::printf(" %s", E(cudaDestroyTextureObject(o)));
  }
  std::puts("");
}
static const struct {
  int x, y, z, w, f;
} formats[] = {{8, 0, 0, 0, 0},   {8, 0, 0, 0, 1},    {16, 0, 0, 0, 0}, {16, 0, 0, 0, 1}, {32, 0, 0, 0, 0},
               {32, 0, 0, 0, 1},  {32, 0, 0, 0, 2},   {16, 0, 0, 0, 2}, {8, 8, 8, 8, 1},  {32, 32, 32, 32, 2},
               {16, 16, 0, 0, 2}, {32, 32, 32, 0, 2}, {8, 8, 8, 0, 1}};
static void arrays() {
  for (auto f : formats) {
    cudaChannelFormatDesc d = {f.x, f.y, f.z, f.w, (cudaChannelFormatKind)f.f};
    cudaArray_t a;
    if (cudaMallocArray(&a, &d, 16, 16) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    for (int read = 0; read < 3; ++read)
      for (int filter = 0; filter < 3; ++filter)
        for (int norm = 0; norm < 2; ++norm) {
          cudaTextureDesc t = plain();
          t.readMode = (cudaTextureReadMode)read;
          t.filterMode = (cudaTextureFilterMode)filter;
          t.normalizedCoords = norm;
          char name[64];
          std::snprintf(name, sizeof name, "%d %d %d %d %d read %d filter %d norm %d", f.x, f.y, f.z, f.w, f.f, read,
                        filter, norm);
          make(name, r, t);
        }
  }
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  MUST(cudaMallocArray(&a, &d, 16, 16));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  for (int m = -1; m < 6; ++m)
    for (int norm = 0; norm < 2; ++norm) {
      cudaTextureDesc t = plain();
      t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = (cudaTextureAddressMode)m;
      t.normalizedCoords = norm;
      char name[64];
      std::snprintf(name, sizeof name, "address %d norm %d", m, norm);
      make(name, r, t);
    }
  cudaTextureDesc t = plain();
  for (unsigned n : {1u, 2u, 16u, 17u, 100u}) {
    t.maxAnisotropy = n;
    make("anisotropy", r, t);
  }
  t = plain();
  t.mipmapFilterMode = cudaFilterModeLinear;
  t.mipmapLevelBias = 2.5f;
  t.minMipmapLevelClamp = 1;
  t.maxMipmapLevelClamp = 20;
  make("levels of an array", r, t);
  t = plain();
  t.borderColor[1] = 7;
  make("border", r, t);
  t.sRGB = 1;
  make("sRGB", r, t);
  t = plain();
  t.seamlessCubemap = 1;
  make("seamless", r, t);
  t = plain();
  t.disableTrilinearOptimization = 1;
  make("trilinear", r, t);
  for (auto f : formats) {
    cudaChannelFormatDesc e = {f.x, f.y, f.z, f.w, (cudaChannelFormatKind)f.f};
    cudaArray_t b;
    if (cudaMallocArray(&b, &e, 16, 16) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    r.res.array.array = b;
    for (int read = 0; read < 2; ++read) {
      if (read && f.x == 32) continue;
      t = plain();
      t.sRGB = 1;
      t.readMode = (cudaTextureReadMode)read;
      std::printf("%d %d %d %d %d read %d ", f.x, f.y, f.z, f.w, f.f, read);
      make("sRGB", r, t);
    }
  }
  r.res.array.array = a;
  t = plain();
  cudaTextureObject_t o;
  CALL(cudaCreateTextureObject(nullptr, &r, &t, nullptr));
  CALL(cudaCreateTextureObject(&o, nullptr, &t, nullptr));
  CALL(cudaCreateTextureObject(&o, &r, nullptr, nullptr));
  r.res.array.array = nullptr;
  make("no array", r, t);
  r.resType = (cudaResourceType)9;
  make("unknown resource", r, t);
  CALL(cudaDestroyTextureObject(0));
  CALL(cudaDestroyTextureObject(12345678));
  cudaTextureDesc u;
  CALL(cudaGetTextureObjectTextureDesc(&u, 0));
  cudaResourceDesc q;
  CALL(cudaGetTextureObjectResourceDesc(&q, 0));
  cudaResourceViewDesc w;
  CALL(cudaGetTextureObjectResourceViewDesc(&w, 0));
}
static void linear() {
  char* g;
  MUST(cudaMalloc(&g, 1 << 20));
  for (auto f : formats)
    for (int read = 0; read < 2; ++read)
      for (int filter = 0; filter < 2; ++filter) {
        cudaResourceDesc r = {};
        r.resType = cudaResourceTypeLinear;
        r.res.linear.devPtr = g;
        r.res.linear.desc = {f.x, f.y, f.z, f.w, (cudaChannelFormatKind)f.f};
        r.res.linear.sizeInBytes = 4096;
        cudaTextureDesc t = plain();
        t.readMode = (cudaTextureReadMode)read;
        t.filterMode = (cudaTextureFilterMode)filter;
        char name[64];
        std::snprintf(name, sizeof name, "linear %d %d %d %d %d read %d filter %d", f.x, f.y, f.z, f.w, f.f, read,
                      filter);
        make(name, r, t);
        r.resType = cudaResourceTypePitch2D;
        r.res.pitch2D.devPtr = g;
        r.res.pitch2D.desc = {f.x, f.y, f.z, f.w, (cudaChannelFormatKind)f.f};
        r.res.pitch2D.width = 16;
        r.res.pitch2D.height = 16;
        r.res.pitch2D.pitchInBytes = 512;
        name[0] = 'p';
        make(name, r, t);
      }
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc t = plain();
  for (size_t off : {0, 1, 4, 16, 32, 256, 512})
    for (size_t n : {(size_t)0, (size_t)1, (size_t)3, (size_t)4, (size_t)100, (size_t)1 << 20, (size_t)1 << 29,
                     ((size_t)1 << 29) + 4, (size_t)1 << 33}) {
      if (off > 16 && n != 100) continue;
      r.res.linear.devPtr = g + off;
      r.res.linear.sizeInBytes = n;
      std::printf("offset %zu bytes %zu ", off, n);
      make("linear", r, t);
    }
  r.res.linear.sizeInBytes = 4096;
  static char host[4096];
  char *h, *m;
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  r.res.linear.devPtr = nullptr;
  make("null", r, t);
  r.res.linear.devPtr = h;
  make("pinned", r, t);
  r.res.linear.devPtr = m;
  make("managed", r, t);
  r.res.linear.devPtr = g;
  for (int norm = 0; norm < 2; ++norm)
    for (int mode = 0; mode < 4; ++mode) {
      t = plain();
      t.normalizedCoords = norm;
      t.addressMode[0] = (cudaTextureAddressMode)mode;
      std::printf("norm %d mode %d ", norm, mode);
      make("linear", r, t);
    }
  t = plain();
  r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  for (size_t off : {0, 4, 16, 32, 256, 512})
    for (size_t pitch : {0, 4, 32, 60, 64, 96, 512})
      for (size_t w : {0, 1, 8, 16, 17}) {
        if (off && w != 8) continue;
        r.res.pitch2D.devPtr = g + off;
        r.res.pitch2D.width = w;
        r.res.pitch2D.height = 4;
        r.res.pitch2D.pitchInBytes = pitch;
        std::printf("offset %zu pitch %zu width %zu ", off, pitch, w);
        make("pitch", r, t);
      }
  r.res.pitch2D.devPtr = g;
  r.res.pitch2D.pitchInBytes = 512;
  r.res.pitch2D.height = 0;
  make("no rows", r, t);
  r.res.pitch2D.width = 131072;
  r.res.pitch2D.pitchInBytes = 131072 * 4;
  r.res.pitch2D.height = 1;
  make("wide", r, t);
  r.res.pitch2D.width = 131073;
  r.res.pitch2D.pitchInBytes = 131080 * 4;
  make("too wide", r, t);
  r.res.pitch2D.width = 16;
  r.res.pitch2D.pitchInBytes = 64;
  r.res.pitch2D.height = 65000;
  make("high", r, t);
  r.res.pitch2D.height = 65001;
  make("too high", r, t);
  (void)host;
}
static void views() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<unsigned>();
  cudaArray_t a;
  MUST(cudaMallocArray(&a, &d, 16, 16));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureDesc t = plain();
  for (int f = 0; f < 37; ++f)
    for (size_t w : {16, 8, 64}) {
      cudaResourceViewDesc v = {};
      v.format = (cudaResourceViewFormat)f;
      v.width = w;
      v.height = 16;
      v.depth = 0;
      std::printf("view %d %zu ", f, w);
      make("array", r, t, &v);
    }
  cudaMipmappedArray_t m;
  d = cudaCreateChannelDesc<float>();
  MUST(cudaMallocMipmappedArray(&m, &d, cudaExtent{16, 16, 0}, 5, 0));
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  for (int norm = 0; norm < 2; ++norm) {
    t = plain();
    t.normalizedCoords = norm;
    make("mipmapped", r, t);
    t.mipmapFilterMode = cudaFilterModeLinear;
    t.filterMode = cudaFilterModeLinear;
    t.maxMipmapLevelClamp = 99;
    t.maxAnisotropy = 4;
    make("mipmapped linear", r, t);
    cudaResourceViewDesc v = {};
    v.format = cudaResViewFormatFloat1;
    v.width = v.height = 16;
    for (unsigned first : {0u, 1u, 4u, 5u})
      for (unsigned last : {0u, 1u, 4u, 5u}) {
        v.firstMipmapLevel = first;
        v.lastMipmapLevel = last;
        std::printf("levels %u %u ", first, last);
        make("mipmapped view", r, t, &v);
      }
  }
  r.res.mipmap.mipmap = nullptr;
  make("no mipmap", r, t);
}
static void surfaces() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaArray_t a, b;
  char* g;
  MUST(cudaMalloc(&g, 4096));
  MUST(cudaMallocArray(&a, &d, 16, 16, cudaArraySurfaceLoadStore));
  MUST(cudaMallocArray(&b, &d, 16, 16));
  cudaSurfaceObject_t s = 0;
  cudaResourceDesc r = {}, q;
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  CALL(cudaCreateSurfaceObject(&s, &r));
  CALL(cudaGetSurfaceObjectResourceDesc(&q, s));
  FACT(q.res.array.array == a);
  CALL(cudaGetSurfaceObjectResourceDesc(nullptr, s));
  CALL(cudaGetSurfaceObjectResourceDesc(&q, 0));
  CALL(cudaDestroySurfaceObject(s));
  CALL(cudaDestroySurfaceObject(0));
  CALL(cudaCreateSurfaceObject(nullptr, &r));
  CALL(cudaCreateSurfaceObject(&s, nullptr));
  r.res.array.array = b;
  CALL(cudaCreateSurfaceObject(&s, &r));
  r.res.array.array = nullptr;
  CALL(cudaCreateSurfaceObject(&s, &r));
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = g;
  r.res.linear.desc = d;
  r.res.linear.sizeInBytes = 4096;
  CALL(cudaCreateSurfaceObject(&s, &r));
}
int main() {
  alone("arrays", arrays);
  alone("linear", linear);
  alone("views", views);
  alone("surfaces", surfaces);
}
