// Texture functions of texture objects (programming guide, "Texture Functions"). The runtime samples: it knows the
// resource, the addressing and the filter, and stores four components (float bits, or integers sign- or zero-extended)
// for reads of elements, floats for normalized reads and filtered ones.
#pragma once
#pragma clang system_header

#include "../../texture_types.h"
#include "../../vector_types.h"
#include "services.h"

// What `dimensions` of __mr_texture_fetch says: the number of coordinates, and how to read them.
enum __mr_texture_kind : unsigned {
  __mr_texture_1d = 1,
  __mr_texture_2d = 2,
  __mr_texture_3d = 3,
  __mr_texture_cube = 4,
  __mr_texture_linear = 1u | 0x100u,  // tex1Dfetch: the coordinate is an integer's bits
  __mr_texture_layered = 0x200u,      // the layer argument counts
  __mr_texture_gather = 0x400u,       // four neighbours' component, which the layer argument names
  __mr_texture_level = 0x800u,        // the level argument counts
  __mr_texture_gradients = 0x1000u,   // behind the coordinates: their change along x and along y, three numbers each
};

// Elements: the scalar and vector types that texture functions return, made from the four raw components.
template <class T> struct __mr_texel;
#define __MR_TEXEL(T, S, ...)                                                                                          \
  template <> struct __mr_texel<T> {                                                                                   \
    typedef S scalar;                                                                                                  \
    static __attribute__((device, always_inline)) T make(const S* v) { return __VA_ARGS__; }                           \
  };
#define __MR_TEXELS(S, name)                                                                                           \
  __MR_TEXEL(S, S, v[0])                                                                                               \
  __MR_TEXEL(name##1, S, name##1 {v[0]})                                                                               \
  __MR_TEXEL(name##2, S, name##2 {v[0], v[1]})                                                                         \
  __MR_TEXEL(name##4, S, name##4 {v[0], v[1], v[2], v[3]})
__MR_TEXEL(char, char, v[0])
__MR_TEXELS(signed char, char)
__MR_TEXELS(unsigned char, uchar)
__MR_TEXELS(short, short)
__MR_TEXELS(unsigned short, ushort)
__MR_TEXELS(int, int)
__MR_TEXELS(unsigned int, uint)
__MR_TEXELS(float, float)

template <class T> __MR_D T __mr_component(unsigned bits) { return (T)bits; }
template <> __MR_D float __mr_component<float>(unsigned bits) { return __builtin_bit_cast(float, bits); }
template <class T>
__MR_D T __mr_texture_at(cudaTextureObject_t object, unsigned kind, const float* coordinates, int layer, float level) {
  unsigned raw[4] = {0, 0, 0, 0};
  __mr_texture_fetch((unsigned long)object, kind, coordinates, layer, level, raw);
  typedef typename __mr_texel<T>::scalar scalar;
  const scalar v[4] = {__mr_component<scalar>(raw[0]), __mr_component<scalar>(raw[1]), __mr_component<scalar>(raw[2]),
                       __mr_component<scalar>(raw[3])};
  return __mr_texel<T>::make(v);
}
template <class T>
__MR_D T __mr_texture(cudaTextureObject_t object, unsigned kind, float x, float y, float z, int layer, float level) {
  const float coordinates[3] = {x, y, z};
  return __mr_texture_at<T>(object, kind, coordinates, layer, level);
}
template <class T>
__MR_D T __mr_texture_gradient(cudaTextureObject_t object, unsigned kind, float x, float y, float z, int layer,
                               float4 dx, float4 dy) {
  const float coordinates[9] = {x, y, z, dx.x, dx.y, dx.z, dy.x, dy.y, dy.z};
  return __mr_texture_at<T>(object, kind | __mr_texture_gradients, coordinates, layer, 0);
}

template <class T> __MR_D T tex1Dfetch(cudaTextureObject_t t, int x) {
  return __mr_texture<T>(t, __mr_texture_linear, __builtin_bit_cast(float, x), 0, 0, 0, 0);
}
template <class T> __MR_D T tex1D(cudaTextureObject_t t, float x) {
  return __mr_texture<T>(t, __mr_texture_1d, x, 0, 0, 0, 0);
}
template <class T> __MR_D T tex2D(cudaTextureObject_t t, float x, float y) {
  return __mr_texture<T>(t, __mr_texture_2d, x, y, 0, 0, 0);
}
template <class T> __MR_D T tex3D(cudaTextureObject_t t, float x, float y, float z) {
  return __mr_texture<T>(t, __mr_texture_3d, x, y, z, 0, 0);
}
template <class T> __MR_D T tex1DLayered(cudaTextureObject_t t, float x, int layer) {
  return __mr_texture<T>(t, __mr_texture_1d | __mr_texture_layered, x, 0, 0, layer, 0);
}
template <class T> __MR_D T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
  return __mr_texture<T>(t, __mr_texture_2d | __mr_texture_layered, x, y, 0, layer, 0);
}
template <class T> __MR_D T texCubemap(cudaTextureObject_t t, float x, float y, float z) {
  return __mr_texture<T>(t, __mr_texture_cube, x, y, z, 0, 0);
}
template <class T> __MR_D T texCubemapLayered(cudaTextureObject_t t, float x, float y, float z, int layer) {
  return __mr_texture<T>(t, __mr_texture_cube | __mr_texture_layered, x, y, z, layer, 0);
}
template <class T> __MR_D T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0) {
  return __mr_texture<T>(t, __mr_texture_2d | __mr_texture_gather, x, y, 0, component, 0);
}
template <class T> __MR_D T tex1DLod(cudaTextureObject_t t, float x, float level) {
  return __mr_texture<T>(t, __mr_texture_1d | __mr_texture_level, x, 0, 0, 0, level);
}
template <class T> __MR_D T tex2DLod(cudaTextureObject_t t, float x, float y, float level) {
  return __mr_texture<T>(t, __mr_texture_2d | __mr_texture_level, x, y, 0, 0, level);
}
template <class T> __MR_D T tex3DLod(cudaTextureObject_t t, float x, float y, float z, float level) {
  return __mr_texture<T>(t, __mr_texture_3d | __mr_texture_level, x, y, z, 0, level);
}
template <class T> __MR_D T tex1DLayeredLod(cudaTextureObject_t t, float x, int layer, float level) {
  return __mr_texture<T>(t, __mr_texture_1d | __mr_texture_layered | __mr_texture_level, x, 0, 0, layer, level);
}
template <class T> __MR_D T tex2DLayeredLod(cudaTextureObject_t t, float x, float y, int layer, float level) {
  return __mr_texture<T>(t, __mr_texture_2d | __mr_texture_layered | __mr_texture_level, x, y, 0, layer, level);
}
template <class T> __MR_D T texCubemapLod(cudaTextureObject_t t, float x, float y, float z, float level) {
  return __mr_texture<T>(t, __mr_texture_cube | __mr_texture_level, x, y, z, 0, level);
}

template <class T>
__MR_D T texCubemapLayeredLod(cudaTextureObject_t t, float x, float y, float z, int layer, float level) {
  return __mr_texture<T>(t, __mr_texture_cube | __mr_texture_layered | __mr_texture_level, x, y, z, layer, level);
}
template <class T> __MR_D T tex1DGrad(cudaTextureObject_t t, float x, float dx, float dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_1d, x, 0, 0, 0, float4{dx, 0, 0, 0}, float4{dy, 0, 0, 0});
}
template <class T> __MR_D T tex2DGrad(cudaTextureObject_t t, float x, float y, float2 dx, float2 dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_2d, x, y, 0, 0, float4{dx.x, dx.y, 0, 0}, float4{dy.x, dy.y, 0, 0});
}
template <class T> __MR_D T tex3DGrad(cudaTextureObject_t t, float x, float y, float z, float4 dx, float4 dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_3d, x, y, z, 0, dx, dy);
}
template <class T> __MR_D T tex1DLayeredGrad(cudaTextureObject_t t, float x, int layer, float dx, float dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_1d | __mr_texture_layered, x, 0, 0, layer, float4{dx, 0, 0, 0},
                                  float4{dy, 0, 0, 0});
}
template <class T> __MR_D T tex2DLayeredGrad(cudaTextureObject_t t, float x, float y, int layer, float2 dx, float2 dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_2d | __mr_texture_layered, x, y, 0, layer, float4{dx.x, dx.y, 0, 0},
                                  float4{dy.x, dy.y, 0, 0});
}
template <class T> __MR_D T texCubemapGrad(cudaTextureObject_t t, float x, float y, float z, float4 dx, float4 dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_cube, x, y, z, 0, dx, dy);
}
template <class T>
__MR_D T texCubemapLayeredGrad(cudaTextureObject_t t, float x, float y, float z, int layer, float4 dx, float4 dy) {
  return __mr_texture_gradient<T>(t, __mr_texture_cube | __mr_texture_layered, x, y, z, layer, dx, dy);
}

// The forms that store through a pointer.
#define __MR_TEXTURE_OUT(name, parameters, arguments)                                                                  \
  template <class T> __MR_D void name parameters { *out = name<T> arguments; }
__MR_TEXTURE_OUT(tex1Dfetch, (T * out, cudaTextureObject_t t, int x), (t, x))
__MR_TEXTURE_OUT(tex1D, (T * out, cudaTextureObject_t t, float x), (t, x))
__MR_TEXTURE_OUT(tex2D, (T * out, cudaTextureObject_t t, float x, float y), (t, x, y))
__MR_TEXTURE_OUT(tex3D, (T * out, cudaTextureObject_t t, float x, float y, float z), (t, x, y, z))
__MR_TEXTURE_OUT(tex1DLayered, (T * out, cudaTextureObject_t t, float x, int layer), (t, x, layer))
__MR_TEXTURE_OUT(tex2DLayered, (T * out, cudaTextureObject_t t, float x, float y, int layer), (t, x, y, layer))
__MR_TEXTURE_OUT(texCubemap, (T * out, cudaTextureObject_t t, float x, float y, float z), (t, x, y, z))
__MR_TEXTURE_OUT(texCubemapLayered, (T * out, cudaTextureObject_t t, float x, float y, float z, int layer),
                 (t, x, y, z, layer))
__MR_TEXTURE_OUT(tex2Dgather, (T * out, cudaTextureObject_t t, float x, float y, int component = 0),
                 (t, x, y, component))
__MR_TEXTURE_OUT(tex1DLod, (T * out, cudaTextureObject_t t, float x, float level), (t, x, level))
__MR_TEXTURE_OUT(tex2DLod, (T * out, cudaTextureObject_t t, float x, float y, float level), (t, x, y, level))
__MR_TEXTURE_OUT(tex3DLod, (T * out, cudaTextureObject_t t, float x, float y, float z, float level),
                 (t, x, y, z, level))
__MR_TEXTURE_OUT(tex1DGrad, (T * out, cudaTextureObject_t t, float x, float dx, float dy), (t, x, dx, dy))
__MR_TEXTURE_OUT(tex2DGrad, (T * out, cudaTextureObject_t t, float x, float y, float2 dx, float2 dy), (t, x, y, dx, dy))
__MR_TEXTURE_OUT(tex3DGrad, (T * out, cudaTextureObject_t t, float x, float y, float z, float4 dx, float4 dy),
                 (t, x, y, z, dx, dy))
__MR_TEXTURE_OUT(tex1DLayeredLod, (T * out, cudaTextureObject_t t, float x, int layer, float level),
                 (t, x, layer, level))
__MR_TEXTURE_OUT(tex2DLayeredLod, (T * out, cudaTextureObject_t t, float x, float y, int layer, float level),
                 (t, x, y, layer, level))
__MR_TEXTURE_OUT(texCubemapLod, (T * out, cudaTextureObject_t t, float x, float y, float z, float level),
                 (t, x, y, z, level))
__MR_TEXTURE_OUT(texCubemapLayeredLod,
                 (T * out, cudaTextureObject_t t, float x, float y, float z, int layer, float level),
                 (t, x, y, z, layer, level))
__MR_TEXTURE_OUT(tex1DLayeredGrad, (T * out, cudaTextureObject_t t, float x, int layer, float dx, float dy),
                 (t, x, layer, dx, dy))
__MR_TEXTURE_OUT(tex2DLayeredGrad, (T * out, cudaTextureObject_t t, float x, float y, int layer, float2 dx, float2 dy),
                 (t, x, y, layer, dx, dy))
__MR_TEXTURE_OUT(texCubemapGrad, (T * out, cudaTextureObject_t t, float x, float y, float z, float4 dx, float4 dy),
                 (t, x, y, z, dx, dy))
__MR_TEXTURE_OUT(texCubemapLayeredGrad,
                 (T * out, cudaTextureObject_t t, float x, float y, float z, int layer, float4 dx, float4 dy),
                 (t, x, y, z, layer, dx, dy))
#undef __MR_TEXTURE_OUT

// The forms that say whether what was read of a sparse array is there: all of it always is.
#define __MR_TEXTURE_RESIDENT(name, arguments, ...)                                                                    \
  template <class T> __MR_D T name(cudaTextureObject_t t, __VA_ARGS__, bool* is_resident) {                            \
    *is_resident = true;                                                                                               \
    return name<T> arguments;                                                                                          \
  }                                                                                                                    \
  template <class T> __MR_D void name(T* out, cudaTextureObject_t t, __VA_ARGS__, bool* is_resident) {                 \
    *is_resident = true;                                                                                               \
    *out = name<T> arguments;                                                                                          \
  }
__MR_TEXTURE_RESIDENT(tex2D, (t, x, y), float x, float y)
__MR_TEXTURE_RESIDENT(tex3D, (t, x, y, z), float x, float y, float z)
__MR_TEXTURE_RESIDENT(tex2DLayered, (t, x, y, layer), float x, float y, int layer)
__MR_TEXTURE_RESIDENT(tex2DLod, (t, x, y, level), float x, float y, float level)
__MR_TEXTURE_RESIDENT(tex3DLod, (t, x, y, z, level), float x, float y, float z, float level)
__MR_TEXTURE_RESIDENT(tex2DLayeredLod, (t, x, y, layer, level), float x, float y, int layer, float level)
__MR_TEXTURE_RESIDENT(tex2DGrad, (t, x, y, dx, dy), float x, float y, float2 dx, float2 dy)
__MR_TEXTURE_RESIDENT(tex3DGrad, (t, x, y, z, dx, dy), float x, float y, float z, float4 dx, float4 dy)
__MR_TEXTURE_RESIDENT(tex2DLayeredGrad, (t, x, y, layer, dx, dy), float x, float y, int layer, float2 dx, float2 dy)
#undef __MR_TEXTURE_RESIDENT
template <class T> __MR_D T tex2Dgather(cudaTextureObject_t t, float x, float y, bool* is_resident, int component = 0) {
  *is_resident = true;
  return tex2Dgather<T>(t, x, y, component);
}
template <class T>
__MR_D void tex2Dgather(T* out, cudaTextureObject_t t, float x, float y, bool* is_resident, int component = 0) {
  *is_resident = true;
  *out = tex2Dgather<T>(t, x, y, component);
}
