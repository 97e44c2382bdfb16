// Surface objects and their boundary and format modes (runtime API reference, "Surface Object Management").
#ifndef MILLRACE_SURFACE_TYPES_H
#define MILLRACE_SURFACE_TYPES_H
#define __SURFACE_TYPES_H__  // programs ask for this name

#include "driver_types.h"

#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,  /* reads outside give 0, writes outside are dropped */
  cudaBoundaryModeClamp = 1, /* clamp to the nearest element */
  cudaBoundaryModeTrap = 2   /* fault */
};

enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

typedef unsigned long long cudaSurfaceObject_t;

#endif
