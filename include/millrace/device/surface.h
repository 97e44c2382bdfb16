// Surface functions of surface objects (programming guide, "Surface Functions"): x counts bytes, y rows, z slices or
// layers.
#pragma once
#pragma clang system_header

#include "../../surface_types.h"
#include "services.h"

template <class T>
__MR_D T __mr_surface_read(cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  T value;
  __mr_surface_access((unsigned long)s, 0, x, y, z, &value, sizeof(T), (unsigned)mode);
  return value;
}
template <class T>
__MR_D void __mr_surface_write(T value, cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  __mr_surface_access((unsigned long)s, 1, x, y, z, &value, sizeof(T), (unsigned)mode);
}

// name, coordinate parameters, (x, y, z)
#define __MR_SURFACE(name, coordinates, x, y, z)                                                                       \
  template <class T>                                                                                                   \
  __MR_D T name##read(cudaSurfaceObject_t s, __MR_UNWRAP coordinates,                                                  \
                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                           \
    return __mr_surface_read<T>(s, x, y, z, mode);                                                                     \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  __MR_D void name##read(T* out, cudaSurfaceObject_t s, __MR_UNWRAP coordinates,                                       \
                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                        \
    *out = __mr_surface_read<T>(s, x, y, z, mode);                                                                     \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  __MR_D void name##write(T value, cudaSurfaceObject_t s, __MR_UNWRAP coordinates,                                     \
                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                       \
    __mr_surface_write<T>(value, s, x, y, z, mode);                                                                    \
  }
#define __MR_UNWRAP(...) __VA_ARGS__
__MR_SURFACE(surf1D, (int x), x, 0, 0)
__MR_SURFACE(surf2D, (int x, int y), x, y, 0)
__MR_SURFACE(surf3D, (int x, int y, int z), x, y, z)
__MR_SURFACE(surf1DLayered, (int x, int layer), x, 0, layer)
__MR_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, layer)
// Clamped, a negative face is the last one.
__MR_SURFACE(surfCubemap, (int x, int y, int face), x, y, (mode == cudaBoundaryModeClamp && face < 0 ? 5 : face))
__MR_SURFACE(surfCubemapLayered, (int x, int y, int layer_face), x, y, layer_face)
#undef __MR_SURFACE
#undef __MR_UNWRAP
