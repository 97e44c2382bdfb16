// Rule: what fetches give for each format, filter, address mode and kind of coordinates, in each shape of texture. A
// case is one line, with a hash of the results' bits; with an argument, the bits of the cases whose names contain it.
#include <cuda_runtime.h>

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

struct Coordinate {
  float x, y, z, level;
  int layer;
};
enum Shape { one, two, three, one_layers, two_layers, cube, cube_layers, shapes };
static const char* const shape_names[] = {"1D", "2D", "3D", "1Dlayered", "2Dlayered", "cube", "cubelayered"};
enum How { plain, level, gather };
static const char* const how_names[] = {"", " level", " gather"};

template <class V>
__global__ void fetch(cudaTextureObject_t t, const Coordinate* c, V* out, int n, Shape shape, How how) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Coordinate p = c[i];
  V v{};
  if (how == plain) switch (shape) {
    case one: v = tex1D<V>(t, p.x); break;
    case two: v = tex2D<V>(t, p.x, p.y); break;
    case three: v = tex3D<V>(t, p.x, p.y, p.z); break;
    case one_layers: v = tex1DLayered<V>(t, p.x, p.layer); break;
    case two_layers: v = tex2DLayered<V>(t, p.x, p.y, p.layer); break;
    case cube: v = texCubemap<V>(t, p.x, p.y, p.z); break;
    default: v = texCubemapLayered<V>(t, p.x, p.y, p.z, p.layer); break;
    }
  if (how == level) switch (shape) {
    case one: v = tex1DLod<V>(t, p.x, p.level); break;
    case two: v = tex2DLod<V>(t, p.x, p.y, p.level); break;
    case three: v = tex3DLod<V>(t, p.x, p.y, p.z, p.level); break;
    case one_layers: v = tex1DLayeredLod<V>(t, p.x, p.layer, p.level); break;
    case two_layers: v = tex2DLayeredLod<V>(t, p.x, p.y, p.layer, p.level); break;
    case cube: v = texCubemapLod<V>(t, p.x, p.y, p.z, p.level); break;
    default: v = texCubemapLayeredLod<V>(t, p.x, p.y, p.z, p.layer, p.level); break;
    }
  out[i] = v;
}
template <class V> __global__ void gathered(cudaTextureObject_t t, const Coordinate* c, V* out, int n, int component) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2Dgather<V>(t, c[i].x, c[i].y, component);
}
template <class V> __global__ void elements(cudaTextureObject_t t, const Coordinate* c, V* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<V>(t, i - 8);
}

static const int count = 256;
static Coordinate coordinates[2][count], *on_device[2];  // [1]: normalized
static void* results;
static const char* wanted;

static unsigned state = 7;
static unsigned next() { return state = state * 1664525u + 1013904223u; }
static float fraction() { return (float)(next() >> 8) / (1 << 24); }

static void prepare() {
  for (int normalized = 0; normalized < 2; ++normalized) {
    for (int i = 0; i < count; ++i) {
      Coordinate& c = coordinates[normalized][i];
      const float w = normalized ? 1 : 16, h = normalized ? 1 : 8, d = normalized ? 1 : 4;
      if (i < 160) {
        c = {fraction() * w * 1.5f - w * 0.25f, fraction() * h * 1.5f - h * 0.25f, fraction() * d * 1.5f - d * 0.25f,
             fraction() * 6 - 1, (int)(next() >> 28) - 3};
      } else if (i < 224) {  // sixteenths of elements
        c = {((int)(next() >> 20) % 600 - 100) / 256.0f * w, ((int)(next() >> 20) % 300 - 50) / 128.0f * h,
             ((int)(next() >> 20) % 150 - 25) / 64.0f * d, ((int)(next() >> 20) % 24) / 4.0f, (int)(next() >> 29)};
      } else {  // whole periods away
        c = {((int)(next() >> 25) - 64 + fraction()) * w, ((int)(next() >> 25) - 64 + fraction()) * h,
             ((int)(next() >> 25) - 64 + fraction()) * d, 20 * fraction() - 10, (int)(next() >> 20) - 2000};
      }
    }
    MUST(cudaMalloc(&on_device[normalized], sizeof coordinates[0]));
    MUST(cudaMemcpy(on_device[normalized], coordinates[normalized], sizeof coordinates[0], cudaMemcpyHostToDevice));
  }
  MUST(cudaMalloc(&results, count * 16));
}

struct Format {
  const char* name;
  int bits, channels;
  cudaChannelFormatKind kind;
  int bytes() const { return bits / 8 * channels; }
  cudaChannelFormatDesc desc() const {
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind};
  }
};
static const Format formats[] = {
    {"char", 8, 1, cudaChannelFormatKindSigned},     {"uchar", 8, 1, cudaChannelFormatKindUnsigned},
    {"short", 16, 1, cudaChannelFormatKindSigned},   {"ushort", 16, 1, cudaChannelFormatKindUnsigned},
    {"int", 32, 1, cudaChannelFormatKindSigned},     {"uint", 32, 1, cudaChannelFormatKindUnsigned},
    {"half", 16, 1, cudaChannelFormatKindFloat},     {"float", 32, 1, cudaChannelFormatKindFloat},
    {"char4", 8, 4, cudaChannelFormatKindSigned},    {"uchar4", 8, 4, cudaChannelFormatKindUnsigned},
    {"short4", 16, 4, cudaChannelFormatKindSigned},  {"ushort4", 16, 4, cudaChannelFormatKindUnsigned},
    {"int4", 32, 4, cudaChannelFormatKindSigned},    {"uint4", 32, 4, cudaChannelFormatKindUnsigned},
    {"half4", 16, 4, cudaChannelFormatKindFloat},    {"float4", 32, 4, cudaChannelFormatKindFloat},
    {"uchar2", 8, 2, cudaChannelFormatKindUnsigned}, {"short2", 16, 2, cudaChannelFormatKindSigned},
    {"float2", 32, 2, cudaChannelFormatKindFloat},
};
static std::vector<unsigned char> bytes_of(const Format& f, size_t elements) {
  std::vector<unsigned char> data(elements * f.bytes());
  state = 77;
  for (size_t i = 0; i < elements * f.channels; ++i) {
    const unsigned q = next();
    if (f.bits == 8) data[i] = i % 16 == 5 ? 0x80 : q >> 24;
    if (f.bits == 16) {
      unsigned short v = f.kind == cudaChannelFormatKindFloat ? (q >> 16 & 0x83ff) | ((q >> 8 & 7) + 11) << 10
                                                              : q >> 16;
      if (i % 16 == 5 && f.kind == cudaChannelFormatKindSigned) v = 0x8000;
      std::memcpy(&data[2 * i], &v, 2);
    }
    if (f.bits == 32) {
      if (f.kind == cudaChannelFormatKindFloat) {
        const float v = (int)(q >> 8) / 1048576.0f - 8;
        std::memcpy(&data[4 * i], &v, 4);
      } else {
        std::memcpy(&data[4 * i], &q, 4);
      }
    }
  }
  return data;
}

static void report(const std::string& name, int bytes) {
  static unsigned char host[count * 16];
  MUST(cudaMemcpy(host, results, count * bytes, cudaMemcpyDeviceToHost));
  unsigned long long hash = 14695981039346656037ull;
  for (int i = 0; i < count * bytes; ++i) hash = (hash ^ host[i]) * 1099511628211ull;
  std::printf("%s %016llx\n", name.c_str(), hash);
  if (!wanted || !std::strstr(name.c_str(), wanted)) return;
  for (int i = 0; i < count; ++i) {
    std::printf("  %d:", i);
    for (int b = 0; b < bytes; b += 4) {
      unsigned v;
      std::memcpy(&v, host + i * bytes + b, 4);
      std::printf(" %08x", v);
    }
    std::puts("");
  }
}

template <class V>
static void run(const std::string& name, cudaTextureObject_t t, Shape shape, How how, bool normalized) {
  MUST(cudaMemset(results, 0, count * 16));
  fetch<V><<<count / 64, 64>>>(t, on_device[normalized], (V*)results, count, shape, how);
  report(name, sizeof(V));
}
static void run_format(const std::string& name, cudaTextureObject_t t, Shape shape, How how, bool normalized,
                       const Format& f, bool as_float) {
  if (as_float || f.kind == cudaChannelFormatKindFloat) {
    if (f.channels == 1)
      run<float>(name, t, shape, how, normalized);
    else if (f.channels == 2)
      run<float2>(name, t, shape, how, normalized);
    else
      run<float4>(name, t, shape, how, normalized);
  } else if (f.channels == 1) {
    run<unsigned>(name, t, shape, how, normalized);
  } else if (f.channels == 2) {
    run<uint2>(name, t, shape, how, normalized);
  } else {
    run<uint4>(name, t, shape, how, normalized);
  }
}

static const cudaExtent extents[] = {{16, 0, 0}, {16, 8, 0}, {16, 8, 4}, {16, 0, 3}, {16, 8, 3}, {8, 8, 6}, {8, 8, 12}};
static const unsigned flags[] = {
    0, 0, 0, cudaArrayLayered, cudaArrayLayered, cudaArrayCubemap, cudaArrayCubemap | cudaArrayLayered};

static void fill(cudaArray_t a, const Format& f) {
  cudaExtent e;
  MUST(cudaArrayGetInfo(nullptr, &e, nullptr, a));
  const size_t h = e.height ? e.height : 1, d = e.depth ? e.depth : 1;
  const std::vector<unsigned char> data = bytes_of(f, e.width * h * d);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr((void*)data.data(), e.width * f.bytes(), e.width, h);
  p.dstArray = a;
  p.extent = make_cudaExtent(e.width, h, d);
  p.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&p));
}

static void texture(const std::string& name, const cudaResourceDesc& r, Shape shape, const Format& f, bool as_float,
                    int filter, int mode, bool normalized, How how, int anisotropy = 0, int level_filter = 0,
                    float bias = 0) {
  cudaTextureDesc d;
  std::memset(&d, 0, sizeof d);
  for (auto& m : d.addressMode) m = (cudaTextureAddressMode)mode;
  d.filterMode = (cudaTextureFilterMode)filter;
  d.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.normalizedCoords = normalized;
  d.maxAnisotropy = anisotropy;
  d.mipmapFilterMode = (cudaTextureFilterMode)level_filter;
  d.mipmapLevelBias = bias;
  d.minMipmapLevelClamp = 0;
  d.maxMipmapLevelClamp = 8;
  d.borderColor[0] = 0.25f;
  d.borderColor[1] = 0.75f;
  d.borderColor[2] = -0.3f;
  d.borderColor[3] = 2;
  cudaTextureObject_t t = 0;
  const cudaError_t e = cudaCreateTextureObject(&t, &r, &d, nullptr);
  static const char* const modes[] = {"wrap", "clamp", "mirror", "border"};
  const std::string full = std::string(shape_names[shape]) + name + how_names[how] + " " + f.name +
                           (as_float ? " float " : " ") + (filter ? "linear " : "point ") + modes[mode] +
                           (normalized ? " normalized" : "");
  if (e != cudaSuccess) {
    cudaGetLastError();
    std::printf("%s %s\n", full.c_str(), cudaGetErrorName(e));
    return;
  }
  if (how == gather) {
    MUST(cudaMemset(results, 0, count * 16));
    for (int c = 0; c < f.channels; ++c) {
      if (as_float || f.kind == cudaChannelFormatKindFloat)
        gathered<float4><<<count / 64, 64>>>(t, on_device[normalized], (float4*)results, count, c);
      else
        gathered<uint4><<<count / 64, 64>>>(t, on_device[normalized], (uint4*)results, count, c);
      report(full + " component " + std::to_string(c), 16);
    }
  } else {
    run_format(full, t, shape, how, normalized, f, as_float);
  }
  MUST(cudaDestroyTextureObject(t));
}

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  prepare();
  for (const Format& f : formats) {
    const cudaChannelFormatDesc desc = f.desc();
    const bool can_be_float = f.bits < 32 && f.kind != cudaChannelFormatKindFloat;
    for (int s = 0; s < shapes; ++s) {
      cudaArray_t a;
      MUST(cudaMalloc3DArray(&a, &desc, extents[s], flags[s] | (s == two ? cudaArrayTextureGather : 0)));
      fill(a, f);
      cudaResourceDesc r = {};
      r.resType = cudaResourceTypeArray;
      r.res.array.array = a;
      for (int as_float = 0; as_float <= (can_be_float ? 1 : 0); ++as_float) {
        const bool interpolated = as_float || f.kind == cudaChannelFormatKindFloat;
        for (int filter = 0; filter <= (interpolated ? 1 : 0); ++filter)
          for (int normalized = s == cube || s == cube_layers ? 1 : 0; normalized < 2; ++normalized)
            for (int mode = 0; mode < 4; ++mode) {
              texture("", r, (Shape)s, f, as_float, filter, mode, normalized, plain);
              if (s == two) texture("", r, two, f, as_float, filter, mode, normalized, gather);
            }
      }
      MUST(cudaFreeArray(a));
    }
    // Memory that is no array.
    char* g;
    const std::vector<unsigned char> data = bytes_of(f, 16 * 8);
    MUST(cudaMalloc(&g, 512 * 8));
    MUST(cudaMemset(g, 0, 512 * 8));
    MUST(cudaMemcpy2D(g, 512, data.data(), 16 * f.bytes(), 16 * f.bytes(), 8, cudaMemcpyHostToDevice));
    for (int as_float = 0; as_float <= (can_be_float ? 1 : 0); ++as_float) {
      const bool interpolated = as_float || f.kind == cudaChannelFormatKindFloat;
      cudaResourceDesc r = {};
      r.resType = cudaResourceTypePitch2D;
      r.res.pitch2D.devPtr = g;
      r.res.pitch2D.desc = desc;
      r.res.pitch2D.width = 16;
      r.res.pitch2D.height = 8;
      r.res.pitch2D.pitchInBytes = 512;
      for (int filter = 0; filter <= (interpolated ? 1 : 0); ++filter)
        for (int normalized = 0; normalized < 2; ++normalized)
          for (int mode = 0; mode < 4; ++mode) texture(" pitch", r, two, f, as_float, filter, mode, normalized, plain);
      r = {};
      r.resType = cudaResourceTypeLinear;
      r.res.linear.devPtr = g;
      r.res.linear.desc = desc;
      r.res.linear.sizeInBytes = 200;
      cudaTextureDesc d;
      std::memset(&d, 0, sizeof d);
      d.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
      cudaTextureObject_t t;
      MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
      MUST(cudaMemset(results, 0, count * 16));
      if (interpolated && f.channels == 1) elements<float><<<4, 64>>>(t, nullptr, (float*)results, count);
      if (interpolated && f.channels == 2) elements<float2><<<4, 64>>>(t, nullptr, (float2*)results, count);
      if (interpolated && f.channels == 4) elements<float4><<<4, 64>>>(t, nullptr, (float4*)results, count);
      if (!interpolated && f.channels == 1) elements<unsigned><<<4, 64>>>(t, nullptr, (unsigned*)results, count);
      if (!interpolated && f.channels == 2) elements<uint2><<<4, 64>>>(t, nullptr, (uint2*)results, count);
      if (!interpolated && f.channels == 4) elements<uint4><<<4, 64>>>(t, nullptr, (uint4*)results, count);
      report(std::string("elements ") + f.name + (as_float ? " float" : ""), 4 * f.channels);
      MUST(cudaDestroyTextureObject(t));
    }
    MUST(cudaFree(g));
  }
  for (const Format& f : {formats[1], formats[7], formats[9], formats[15]}) {
    const cudaChannelFormatDesc desc = f.desc();
    for (int s = 0; s < shapes; ++s) {
      cudaMipmappedArray_t m;
      MUST(cudaMallocMipmappedArray(&m, &desc, extents[s], 4, flags[s]));
      for (unsigned l = 0; l < 4; ++l) {
        cudaArray_t a;
        MUST(cudaGetMipmappedArrayLevel(&a, m, l));
        fill(a, f);
      }
      cudaResourceDesc r = {};
      r.resType = cudaResourceTypeMipmappedArray;
      r.res.mipmap.mipmap = m;
      const bool as_float = f.kind != cudaChannelFormatKindFloat;
      for (int filter = 0; filter < 2; ++filter)
        // (Between two levels of a box hardware rounds weights in a way of its own.)
        for (int level_filter = 0; level_filter < (s == three && filter ? 1 : 2); ++level_filter)
          for (float bias : {0.0f, 0.7f})
            for (How how : {plain, level})
              texture(std::string(" levels ") + (level_filter ? "linear" : "point") + (bias ? " bias" : ""), r,
                      (Shape)s, f, as_float, filter, cudaAddressModeWrap, true, how, 0, level_filter, bias);
      MUST(cudaFreeMipmappedArray(m));
    }
  }
}
