// Rule: what surface reads and writes do, for each element size, shape and boundary mode, inside and outside. A case is
// one line with a hash of the bits read and of the array written; with an argument, the bits of the cases whose names
// contain it.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) {                                                                                           \
      std::printf("unexpected at line %d: %s\n", __LINE__, cudaGetErrorName(r_));                                      \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

enum Shape { one, two, three, one_layers, two_layers, cube, cube_layers, shapes };
static const char* const shape_names[] = {"1D", "2D", "3D", "1Dlayered", "2Dlayered", "cube", "cubelayered"};
static const cudaExtent extents[] = {{16, 0, 0}, {16, 8, 0}, {16, 8, 4}, {16, 0, 3}, {16, 8, 3}, {8, 8, 6}, {8, 8, 12}};
static const unsigned flags[] = {
    0, 0, 0, cudaArrayLayered, cudaArrayLayered, cudaArrayCubemap, cudaArrayCubemap | cudaArrayLayered};
struct Place {
  int x, y, z;
};
template <class V>
__global__ void access(cudaSurfaceObject_t s, const Place* at, V* v, int n, Shape shape, bool store,
                       cudaSurfaceBoundaryMode mode) {
  for (int i = 0; i < n; ++i) {  // one after the other: stores may meet
    const Place p = at[i];
    V* q = v + i;
#define BOTH(READ, WRITE, ...)                                                                                         \
  if (store && mode == cudaBoundaryModeZero) WRITE(*q, s, __VA_ARGS__, cudaBoundaryModeZero);                          \
  if (store && mode == cudaBoundaryModeClamp) WRITE(*q, s, __VA_ARGS__, cudaBoundaryModeClamp);                        \
  if (store && mode == cudaBoundaryModeTrap) WRITE(*q, s, __VA_ARGS__, cudaBoundaryModeTrap);                          \
  if (!store && mode == cudaBoundaryModeZero) *q = READ<V>(s, __VA_ARGS__, cudaBoundaryModeZero);                      \
  if (!store && mode == cudaBoundaryModeClamp) *q = READ<V>(s, __VA_ARGS__, cudaBoundaryModeClamp);                    \
  if (!store && mode == cudaBoundaryModeTrap) *q = READ<V>(s, __VA_ARGS__, cudaBoundaryModeTrap);                      \
  break
    const int x = p.x * (int)sizeof(V);
    switch (shape) {
    case one: BOTH(surf1Dread, surf1Dwrite, x);
    case two: BOTH(surf2Dread, surf2Dwrite, x, p.y);
    case three: BOTH(surf3Dread, surf3Dwrite, x, p.y, p.z);
    case one_layers: BOTH(surf1DLayeredread, surf1DLayeredwrite, x, p.z);
    case two_layers: BOTH(surf2DLayeredread, surf2DLayeredwrite, x, p.y, p.z);
    case cube: BOTH(surfCubemapread, surfCubemapwrite, x, p.y, p.z);
    default: BOTH(surfCubemapLayeredread, surfCubemapLayeredwrite, x, p.y, p.z);
    }
  }
}

static unsigned state = 7;
static unsigned next() { return state = state * 1664525u + 1013904223u; }
static unsigned long long hash(const void* p, size_t n) {
  unsigned long long h = 14695981039346656037ull;
  for (size_t i = 0; i < n; ++i) h = (h ^ ((const unsigned char*)p)[i]) * 1099511628211ull;
  return h;
}
static const char* wanted;

template <class V> static void run(const char* name) {
  const int n = 128;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<V>();
  for (int s = 0; s < shapes; ++s)
    for (int mode = 0; mode < 2; ++mode) {  // zero, clamp
      const cudaExtent e = extents[s];
      const size_t h = e.height ? e.height : 1, d = e.depth ? e.depth : 1;
      cudaArray_t a;
      MUST(cudaMalloc3DArray(&a, &desc, e, flags[s] | cudaArraySurfaceLoadStore));
      std::vector<V> data(e.width * h * d), values(n);
      state = 5;
      for (size_t i = 0; i < data.size() * sizeof(V); ++i) ((unsigned char*)data.data())[i] = next() >> 24;
      for (size_t i = 0; i < values.size() * sizeof(V); ++i) ((unsigned char*)values.data())[i] = next() >> 24;
      cudaMemcpy3DParms p = {};
      p.srcPtr = make_cudaPitchedPtr(data.data(), e.width * sizeof(V), e.width, h);
      p.dstArray = a;
      p.extent = make_cudaExtent(e.width, h, d);
      p.kind = cudaMemcpyHostToDevice;
      MUST(cudaMemcpy3D(&p));
      std::vector<Place> at(n);
      for (Place& q : at)
        q = {(int)(next() >> 24) % 26 - 5, (int)(next() >> 24) % 14 - 3, (int)(next() >> 24) % 16 - 2};
      at[0] = {1000000, 0, 0};
      at[1] = {0, 1000000, 0};
      at[2] = {0, 0, 1000000};
      at[3] = {-1000000, -1000000, 0};
      Place* places;
      V* v;
      MUST(cudaMalloc(&places, n * sizeof(Place)));
      MUST(cudaMalloc(&v, n * sizeof(V)));
      MUST(cudaMemcpy(places, at.data(), n * sizeof(Place), cudaMemcpyHostToDevice));
      MUST(cudaMemcpy(v, values.data(), n * sizeof(V), cudaMemcpyHostToDevice));
      cudaResourceDesc r = {};
      r.resType = cudaResourceTypeArray;
      r.res.array.array = a;
      cudaSurfaceObject_t t;
      MUST(cudaCreateSurfaceObject(&t, &r));
      const auto boundary = mode ? cudaBoundaryModeClamp : cudaBoundaryModeZero;
      access<V><<<1, 1>>>(t, places, v, n, (Shape)s, true, boundary);
      MUST(cudaDeviceSynchronize());
      p = {};
      p.dstPtr = make_cudaPitchedPtr(data.data(), e.width * sizeof(V), e.width, h);
      p.srcArray = a;
      p.extent = make_cudaExtent(e.width, h, d);
      p.kind = cudaMemcpyDeviceToHost;
      MUST(cudaMemcpy3D(&p));
      access<V><<<1, 1>>>(t, places, v, n, (Shape)s, false, boundary);
      MUST(cudaMemcpy(values.data(), v, n * sizeof(V), cudaMemcpyDeviceToHost));
      const std::string full = std::string(shape_names[s]) + " " + name + (mode ? " clamp" : " zero");
      std::printf("%s written %016llx read %016llx\n", full.c_str(), hash(data.data(), data.size() * sizeof(V)),
                  hash(values.data(), n * sizeof(V)));
      if (wanted && std::strstr(full.c_str(), wanted)) {
        for (int i = 0; i < n; ++i) {
          std::printf("  %d %d %d:", at[i].x, at[i].y, at[i].z);
          for (size_t b = 0; b < sizeof(V); ++b) std::printf("%02x", ((unsigned char*)&values[i])[b]);
          std::puts("");
        }
        for (size_t i = 0; i < data.size() * sizeof(V); ++i)
          std::printf("%02x%s", ((unsigned char*)data.data())[i],
                      i % (e.width * sizeof(V)) == e.width * sizeof(V) - 1 ? "\n" : "");
      }
      MUST(cudaDestroySurfaceObject(t));
      MUST(cudaFree(places));
      MUST(cudaFree(v));
      MUST(cudaFreeArray(a));
    }
}
// Each in a process of its own, since the context dies.
static void trap(Shape shape, Place p, bool store) {
  std::fflush(stdout);
  if (const pid_t child = fork()) {
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("signal\n");
    return;
  }
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  MUST(cudaMalloc3DArray(&a, &desc, extents[shape], flags[shape] | cudaArraySurfaceLoadStore));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t t;
  MUST(cudaCreateSurfaceObject(&t, &r));
  Place* place;
  float* v;
  MUST(cudaMalloc(&place, sizeof p));
  MUST(cudaMalloc(&v, 4));
  MUST(cudaMemcpy(place, &p, sizeof p, cudaMemcpyHostToDevice));
  access<float><<<1, 1>>>(t, place, v, 1, shape, store, cudaBoundaryModeTrap);
  std::printf("%s trap %d %d %d %s: %s\n", shape_names[shape], p.x, p.y, p.z, store ? "store" : "read",
              cudaGetErrorName(cudaDeviceSynchronize()));
  std::fflush(stdout);
  _exit(0);
}
int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  for (bool store : {false, true}) {
    trap(one, {3, 0, 0}, store);
    trap(one, {-1, 0, 0}, store);
    trap(two, {16, 0, 0}, store);
    trap(two, {0, 8, 0}, store);
    trap(three, {0, 0, 4}, store);
    trap(two_layers, {0, 0, 3}, store);
    trap(cube, {0, 0, 6}, store);
  }
  run<unsigned char>("1");
  run<short>("2");
  run<float>("4");
  run<uchar4>("uchar4");
  run<float2>("8");
  run<float4>("16");
  run<short2>("short2");
}
