// Makers of the small structs that describe pitched and three-dimensional copies.
#ifndef MILLRACE_DRIVER_FUNCTIONS_H
#define MILLRACE_DRIVER_FUNCTIONS_H
#define __DRIVER_FUNCTIONS_H__  // programs ask for this name

#include "driver_types.h"

#define MILLRACE_MAKER static __inline__ __host__ __attribute__((unused))

/* A pointer to pitched memory: `p` bytes from row to row, rows of `xsz` elements used, `ysz` rows. */
MILLRACE_MAKER struct cudaPitchedPtr make_cudaPitchedPtr(void* d, size_t p, size_t xsz, size_t ysz) {
  struct cudaPitchedPtr s;
  s.ptr = d;
  s.pitch = p;
  s.xsize = xsz;
  s.ysize = ysz;
  return s;
}

/* A position: x in elements (arrays) or bytes (linear memory). */
MILLRACE_MAKER struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos p;
  p.x = x;
  p.y = y;
  p.z = z;
  return p;
}

/* An extent: width in elements (arrays) or bytes (linear memory). */
MILLRACE_MAKER struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  struct cudaExtent e;
  e.width = w;
  e.height = h;
  e.depth = d;
  return e;
}

#undef MILLRACE_MAKER

#endif
