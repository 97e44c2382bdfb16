// Rule: which arrays, mipmapped arrays, textures and surfaces can be made, and what is said about them.
#include "random_memory_calls.h"

struct ArrayOf {
  cudaArray_t array;
  std::string name;
};
static std::vector<ArrayOf> arrays;
struct MipmapOf {
  cudaMipmappedArray_t array;
  unsigned levels;
};
static std::vector<MipmapOf> mipmaps;
static char *device, *managed, *pinned;
static char pageable[4096];

static std::string array_name(cudaArray_t a) {
  for (auto& x : arrays)
    if (x.array == a) return x.name;
  return a ? "other" : "null";
}
static std::string memory_name(const void* p) {
  const char* q = (const char*)p;
  if (!p) return "null";
  if (q >= device && q < device + (1 << 20)) return "device+" + std::to_string(q - device);
  if (q >= managed && q < managed + (1 << 20)) return "managed+" + std::to_string(q - managed);
  if (q >= pinned && q < pinned + (1 << 20)) return "pinned+" + std::to_string(q - pinned);
  return "other";
}
static cudaChannelFormatDesc some_format() {
  cudaChannelFormatDesc f = {};
  if (chance(60)) {
    const int bits = pick({8, 16, 32, 32}), channels = pick({1, 1, 2, 4, 4, 3});
    f.x = bits;
    f.y = channels > 1 ? bits : 0;
    f.z = channels > 2 ? bits : 0;
    f.w = channels > 3 ? bits : 0;
    f.f = (cudaChannelFormatKind)(bits == 8 ? pick({0, 1}) : pick({0, 1, 2}));
  } else if (chance(50)) {
    f.x = pick({8, 16, 32, 0, 64, 24, 10});
    f.y = pick({0, 8, 16, 32, 10});
    f.z = pick({0, 0, 8, 16, 32, 10});
    f.w = pick({0, 0, 8, 16, 32, 2});
    f.f = (cudaChannelFormatKind)pick({0, 1, 2, 3, 4, 5});
  } else {
    const int kind = below(17);  // the compressed formats behind these aren't there
    f.f = (cudaChannelFormatKind)kind;
    f.x = pick({8, 16, 32});
    if (chance(60)) f.y = f.x;
    if (f.y && chance(60)) f.z = f.w = f.x;
  }
  say(" format %d,%d,%d,%d/%d", f.x, f.y, f.z, f.w, f.f);
  return f;
}
static cudaExtent some_extent() {
  const size_t w = pick({16, 32, 64, 1, 0, 100, 33, 131072, 131073, 2097152, 16385}),
               h = pick({0, 8, 32, 16, 64, 1, 65536, 65537, 3}), d = pick({0, 0, 6, 4, 1, 12, 3, 2048, 2049});
  // Little memory, however large one side is.
  cudaExtent e = {w, h, d};
  if (w > 100) e.height = e.height > 4 ? pick({0, 1, 2}) : e.height, e.depth = e.depth > 6 ? 0 : e.depth;
  if (h > 64 && w <= 100) e.width = pick({1, 4, 16}), e.depth = e.depth > 6 ? 0 : e.depth;
  if (d > 12 && w <= 100 && h <= 64) e.width = pick({1, 4}), e.height = pick({0, 1, 2});
  say(" extent %zu,%zu,%zu", e.width, e.height, e.depth);
  return e;
}
static unsigned some_flags() {
  const unsigned f = pick({0, 0, 0, 0, 1, 1, 2, 2, 4, 4, 5, 6, 8, 3, 7, 64, 128, 16, 32});
  say(" flags %u", f);
  return f;
}
static void describe(cudaArray_t a) {
  cudaChannelFormatDesc f;
  cudaExtent e;
  unsigned flags = 99;
  memset(&f, 0, sizeof f);
  memset(&e, 0, sizeof e);
  say(" info");
  result(cudaArrayGetInfo(&f, &e, &flags, a));
  say(" %d,%d,%d,%d/%d %zu,%zu,%zu %u", f.x, f.y, f.z, f.w, f.f, e.width, e.height, e.depth, flags);
  memset(&f, 0, sizeof f);
  say(" desc");
  result(cudaGetChannelDesc(&f, a));
  say(" %d,%d,%d,%d/%d", f.x, f.y, f.z, f.w, f.f);
}
static void make() {
  if (arrays.size() > 8) return;
  const bool simple = chance(35);
  say("make%s", simple ? " simple" : "");
  const cudaChannelFormatDesc f = some_format();
  const cudaExtent e = some_extent();
  const unsigned flags = some_flags();
  cudaArray_t a = nullptr;
  const cudaError_t error = simple ? cudaMallocArray(&a, &f, e.width, e.height, flags)
                                   : cudaMalloc3DArray(&a, &f, e, flags);
  result(error);
  if (error) return;
  arrays.push_back({a, "a" + std::to_string(arrays.size())});
  describe(a);
  cudaArray_t plane = nullptr;
  const unsigned which = pick({0, 0, 1, 2});
  say(" plane %u", which);
  const cudaError_t e2 = cudaArrayGetPlane(&plane, a, which);
  result(e2);
  if (!e2) describe(plane);
  cudaArraySparseProperties s;
  memset(&s, 0, sizeof s);
  say(" sparse");
  const cudaError_t e3 = cudaArrayGetSparseProperties(&s, a);
  result(e3);
  if (!e3)
    say(" %u,%u,%u tail %u flags %u", s.tileExtent.width, s.tileExtent.height, s.tileExtent.depth, s.miptailFirstLevel,
        s.flags);
  cudaArrayMemoryRequirements m;
  memset(&m, 0, sizeof m);
  const int device = pick({0, 0, 1, -1});
  say(" requirements on %d", device);
  const cudaError_t e4 = cudaArrayGetMemoryRequirements(&m, a, device);
  result(e4);
  if (!e4) say(" %d", m.size > 0 && m.alignment > 0);
}
static void make_mipmap() {
  if (mipmaps.size() > 4) return;
  say("mipmap");
  const cudaChannelFormatDesc f = some_format();
  const cudaExtent e = some_extent();
  const unsigned flags = some_flags(), levels = pick({1, 2, 3, 0, 5, 20, 100});
  say(" levels %u", levels);
  cudaMipmappedArray_t a = nullptr;
  const cudaError_t error = cudaMallocMipmappedArray(&a, &f, e, levels, flags);
  result(error);
  if (error) return;
  mipmaps.push_back({a, levels});
  cudaArraySparseProperties s;
  memset(&s, 0, sizeof s);
  say(" sparse");
  const cudaError_t e3 = cudaMipmappedArrayGetSparseProperties(&s, a);
  result(e3);
  if (!e3)
    say(" %u,%u,%u tail %u flags %u", s.tileExtent.width, s.tileExtent.height, s.tileExtent.depth, s.miptailFirstLevel,
        s.flags);
  for (unsigned level = 0; level < 8; ++level) {
    cudaArray_t l = nullptr;
    say(" level %u", level);
    const cudaError_t e2 = cudaGetMipmappedArrayLevel(&l, a, level);
    result(e2);
    if (e2) break;
    describe(l);
  }
}
static void show(const cudaResourceDesc& r) {
  say(" resource %d", r.resType);
  if (r.resType == cudaResourceTypeArray) say(" %s", array_name(r.res.array.array).c_str());
  if (r.resType == cudaResourceTypeMipmappedArray) say(" %d", (int)(r.res.mipmap.mipmap != nullptr));
  if (r.resType == cudaResourceTypeLinear)
    say(" %s %d,%d,%d,%d/%d %zu", memory_name(r.res.linear.devPtr).c_str(), r.res.linear.desc.x, r.res.linear.desc.y,
        r.res.linear.desc.z, r.res.linear.desc.w, r.res.linear.desc.f, r.res.linear.sizeInBytes);
  if (r.resType == cudaResourceTypePitch2D)
    say(" %s %d,%d,%d,%d/%d %zux%zu/%zu", memory_name(r.res.pitch2D.devPtr).c_str(), r.res.pitch2D.desc.x,
        r.res.pitch2D.desc.y, r.res.pitch2D.desc.z, r.res.pitch2D.desc.w, r.res.pitch2D.desc.f, r.res.pitch2D.width,
        r.res.pitch2D.height, r.res.pitch2D.pitchInBytes);
}
// What is said of the border may be left over from somewhere.
static void show(const cudaTextureDesc& t, bool border) {
  if (border) say(" border %g,%g,%g,%g", t.borderColor[0], t.borderColor[1], t.borderColor[2], t.borderColor[3]);
  say(" texture %d,%d,%d filter %d read %d srgb %d normalized %d aniso %u mip %d bias %g clamp %g..%g trilinear %d "
      "seamless %d",
      t.addressMode[0], t.addressMode[1], t.addressMode[2], t.filterMode, t.readMode, t.sRGB, t.normalizedCoords,
      t.maxAnisotropy, t.mipmapFilterMode, t.mipmapLevelBias, t.minMipmapLevelClamp, t.maxMipmapLevelClamp,
      t.disableTrilinearOptimization, t.seamlessCubemap);
}
static void show(const cudaResourceViewDesc& v) {
  say(" view %d %zu,%zu,%zu levels %u-%u layers %u-%u", v.format, v.width, v.height, v.depth, v.firstMipmapLevel,
      v.lastMipmapLevel, v.firstLayer, v.lastLayer);
}
static cudaResourceDesc some_resource() {
  cudaResourceDesc r;
  memset(&r, 0, sizeof r);
  char* const at = pick(
      {device, device, managed, pinned, device + 512, device + 32, device + 1, pageable, (char*)nullptr});
  const int type = pick({0, 0, 0, 1, 2, 2, 3, 3, 4});
  r.resType = (cudaResourceType)type;
  if (type == 0) r.res.array.array = arrays.empty() || chance(3) ? nullptr : arrays[below((int)arrays.size())].array;
  if (type == 1)
    r.res.mipmap.mipmap = mipmaps.empty() || chance(3) ? nullptr : mipmaps[below((int)mipmaps.size())].array;
  if (type == 2) {
    r.res.linear.devPtr = at;
    r.res.linear.desc = some_format();
    r.res.linear.sizeInBytes = pick({4096ul, 256ul, 0ul, 100ul, 1ul << 20, 1ul << 32, 7ul});
  }
  if (type == 3) {
    r.res.pitch2D.devPtr = at;
    r.res.pitch2D.desc = some_format();
    r.res.pitch2D.width = pick({16, 32, 1, 0, 100, 131073});
    r.res.pitch2D.height = pick({8, 16, 1, 2, 65001});  // no height makes linear memory of it
    r.res.pitch2D.pitchInBytes = pick({512, 1024, 64, 32, 100, 0, 2097152});
  }
  show(r);
  return r;
}
static cudaTextureDesc some_texture() {
  cudaTextureDesc t;
  memset(&t, 0, sizeof t);
  const bool wild = chance(30);
  for (auto& m : t.addressMode) m = (cudaTextureAddressMode)(wild ? pick({0, 1, 2, 3, 4, -1}) : pick({0, 1, 2, 3}));
  t.filterMode = (cudaTextureFilterMode)(wild ? pick({0, 1, 2}) : pick({0, 1}));
  t.readMode = (cudaTextureReadMode)(wild ? pick({0, 1, 2}) : pick({0, 1}));
  t.sRGB = pick({0, 0, 0, 1, 2});
  t.borderColor[1] = pick({0.f, 0.5f, 2.f});
  t.normalizedCoords = pick({0, 1, 1, 2});
  t.maxAnisotropy = pick({0, 0, 1, 4, 16, 17, 100});
  t.mipmapFilterMode = (cudaTextureFilterMode)(wild ? pick({0, 1, 2}) : pick({0, 1}));
  t.mipmapLevelBias = pick({0.f, 0.f, 1.5f, -20.f});
  t.minMipmapLevelClamp = pick({0.f, 0.f, 1.f, -1.f});
  t.maxMipmapLevelClamp = pick({0.f, 3.f, 99.f, -1.f});
  t.disableTrilinearOptimization = pick({0, 0, 1, 3});
  t.seamlessCubemap = pick({0, 0, 1, 2});
  show(t, true);
  return t;
}
static cudaResourceViewDesc some_view() {
  cudaResourceViewDesc v;
  memset(&v, 0, sizeof v);
  v.format = (cudaResourceViewFormat)below(36);
  v.width = pick({16, 32, 64, 0, 8});
  v.height = pick({0, 8, 32, 16});
  v.depth = pick({0, 0, 6, 4, 1});
  v.firstMipmapLevel = pick({0, 0, 0, 1});
  v.lastMipmapLevel = pick({0, 0, 1, 2});
  v.firstLayer = pick({0, 0, 0, 1});
  v.lastLayer = pick({0, 0, 3, 5});
  show(v);
  return v;
}
static void texture() {
  say("texture");
  const cudaResourceDesc r = some_resource();
  const cudaTextureDesc t = some_texture();
  const bool viewed = chance(20) && r.resType < cudaResourceTypeLinear;
  cudaResourceViewDesc v;
  if (viewed) v = some_view();
  cudaTextureObject_t o = 0;
  const cudaError_t e = cudaCreateTextureObject(&o, &r, &t, viewed ? &v : nullptr);
  result(e);
  if (e) return;
  cudaResourceDesc r2;
  cudaTextureDesc t2;
  cudaResourceViewDesc v2;
  memset(&r2, 0, sizeof r2);
  memset(&t2, 0, sizeof t2);
  memset(&v2, 0, sizeof v2);
  result(cudaGetTextureObjectResourceDesc(&r2, o));
  show(r2);
  result(cudaGetTextureObjectTextureDesc(&t2, o));
  show(t2, false);
  const cudaError_t e2 = cudaGetTextureObjectResourceViewDesc(&v2, o);
  result(e2);
  if (!e2 && viewed) show(v2);
  result(cudaDestroyTextureObject(o));
}
static void surface() {
  say("surface");
  const cudaResourceDesc r = some_resource();
  cudaSurfaceObject_t o = 0;
  const cudaError_t e = cudaCreateSurfaceObject(&o, &r);
  result(e);
  if (e) return;
  cudaResourceDesc r2;
  memset(&r2, 0, sizeof r2);
  result(cudaGetSurfaceObjectResourceDesc(&r2, o));
  show(r2);
  result(cudaDestroySurfaceObject(o));
}
static void pitched() {
  const size_t w = pick({1, 100, 512, 513, 4096, 0}), h = pick({1, 8, 0, 3}), d = pick({1, 2, 0});
  void* p = (void*)0x10;
  cudaError_t e;
  if (chance(50)) {
    size_t pitch = 7;
    say("mallocPitch %zu %zu", w, h);
    e = cudaMallocPitch(&p, &pitch, w, h);
    result(e);
    say(" %zu", pitch);
  } else {
    cudaPitchedPtr q = {(void*)0x10, 7, 7, 7};
    say("malloc3D %zu %zu %zu", w, h, d);
    e = cudaMalloc3D(&q, cudaExtent{w, h, d});
    result(e);
    say(" %zu %zu %zu", q.pitch, q.xsize, q.ysize);
    p = q.ptr;
  }
  say(" %s", p == (void*)0x10 ? "untouched" : p ? "block" : "null");
  if (!e && p) MUST(cudaFree(p));
}
static void widest() {
  size_t n = 7;
  const int device = pick({0, 0, 1, -1});
  say("linear width on %d", device);
  const cudaChannelFormatDesc f = some_format();
  result(cudaDeviceGetTexture1DLinearMaxWidth(&n, &f, device));
  say(" %zu", n);
}

int main(int count, char** arguments) {
  MUST(cudaMalloc(&device, 1 << 20));
  MUST(cudaMallocManaged(&managed, 1 << 20));
  MUST(cudaMallocHost(&pinned, 1 << 20));
  return run_seeds(count, arguments, 1000, {}, [&] {
    for (int i = 0; i < 24; ++i) {
      switch (pick({0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 5})) {
      case 0: make(); break;
      case 1: make_mipmap(); break;
      case 2: texture(); break;
      case 3: surface(); break;
      case 4: pitched(); break;
      case 5: widest(); break;
      }
      say("\n");
    }
    for (auto& a : arrays) MUST(cudaFreeArray(a.array));
    for (auto& m : mipmaps) MUST(cudaFreeMipmappedArray(m.array));
    arrays.clear();
    mipmaps.clear();
  });
}
