// Complex numbers of C and C++ programs for host and device: names and layout of CUDA's cuComplex.h (float2, double2).
// Division and modulus scale their operands, so that neither overflows where the result does not.
#ifndef MILLRACE_CUCOMPLEX_H
#define MILLRACE_CUCOMPLEX_H
#define CU_COMPLEX_H_  // programs ask for this name

#include <math.h>

#include "vector_types.h"

#define __MR_COMPLEX static __inline__ __host__ __device__ __attribute__((unused))

#if defined(__cplusplus)
extern "C" {
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

__MR_COMPLEX float cuCrealf(cuFloatComplex x) { return x.x; }
__MR_COMPLEX float cuCimagf(cuFloatComplex x) { return x.y; }
__MR_COMPLEX cuFloatComplex make_cuFloatComplex(float real, float imaginary) {
  cuFloatComplex z;
  z.x = real;
  z.y = imaginary;
  return z;
}
__MR_COMPLEX cuFloatComplex cuConjf(cuFloatComplex x) { return make_cuFloatComplex(x.x, -x.y); }
__MR_COMPLEX cuFloatComplex cuCaddf(cuFloatComplex x, cuFloatComplex y) {
  return make_cuFloatComplex(x.x + y.x, x.y + y.y);
}
__MR_COMPLEX cuFloatComplex cuCsubf(cuFloatComplex x, cuFloatComplex y) {
  return make_cuFloatComplex(x.x - y.x, x.y - y.y);
}
__MR_COMPLEX cuFloatComplex cuCmulf(cuFloatComplex x, cuFloatComplex y) {
  return make_cuFloatComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
__MR_COMPLEX cuFloatComplex cuCdivf(cuFloatComplex x, cuFloatComplex y) {
  const float scale = 1.0f / (fabsf(y.x) + fabsf(y.y));
  const float a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;
  const float inverse = 1.0f / (c * c + d * d);
  return make_cuFloatComplex((a * c + b * d) * inverse, (b * c - a * d) * inverse);
}
__MR_COMPLEX float cuCabsf(cuFloatComplex x) { return hypotf(x.x, x.y); }
__MR_COMPLEX cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex d) {
  return make_cuFloatComplex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);
}

__MR_COMPLEX double cuCreal(cuDoubleComplex x) { return x.x; }
__MR_COMPLEX double cuCimag(cuDoubleComplex x) { return x.y; }
__MR_COMPLEX cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) {
  cuDoubleComplex z;
  z.x = real;
  z.y = imaginary;
  return z;
}
__MR_COMPLEX cuDoubleComplex cuConj(cuDoubleComplex x) { return make_cuDoubleComplex(x.x, -x.y); }
__MR_COMPLEX cuDoubleComplex cuCadd(cuDoubleComplex x, cuDoubleComplex y) {
  return make_cuDoubleComplex(x.x + y.x, x.y + y.y);
}
__MR_COMPLEX cuDoubleComplex cuCsub(cuDoubleComplex x, cuDoubleComplex y) {
  return make_cuDoubleComplex(x.x - y.x, x.y - y.y);
}
__MR_COMPLEX cuDoubleComplex cuCmul(cuDoubleComplex x, cuDoubleComplex y) {
  return make_cuDoubleComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
__MR_COMPLEX cuDoubleComplex cuCdiv(cuDoubleComplex x, cuDoubleComplex y) {
  const double scale = 1.0 / (fabs(y.x) + fabs(y.y));
  const double a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;
  const double inverse = 1.0 / (c * c + d * d);
  return make_cuDoubleComplex((a * c + b * d) * inverse, (b * c - a * d) * inverse);
}
__MR_COMPLEX double cuCabs(cuDoubleComplex x) { return hypot(x.x, x.y); }
__MR_COMPLEX cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex d) {
  return make_cuDoubleComplex(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);
}

__MR_COMPLEX cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
__MR_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
__MR_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}

#if defined(__cplusplus)
}
#endif
#undef __MR_COMPLEX
#endif
