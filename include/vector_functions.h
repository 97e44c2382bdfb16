// make_TYPE(x, ...) for every short vector of vector_types.h.
#ifndef MILLRACE_VECTOR_FUNCTIONS_H
#define MILLRACE_VECTOR_FUNCTIONS_H
#define __VECTOR_FUNCTIONS_H__  // programs ask for this name

#include "host_defines.h"
#include "vector_types.h"

#if defined(__CUDACC__)
#define MILLRACE_VECTOR_FUNCTION static __inline__ __host__ __device__
#else
#define MILLRACE_VECTOR_FUNCTION static __inline__ __attribute__((unused))
#endif

MILLRACE_VECTOR_FUNCTION char1 make_char1(signed char x) {
  char1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION char2 make_char2(signed char x, signed char y) {
  char2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION char3 make_char3(signed char x, signed char y, signed char z) {
  char3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION char4 make_char4(signed char x, signed char y, signed char z, signed char w) {
  char4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION uchar1 make_uchar1(unsigned char x) {
  uchar1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION uchar2 make_uchar2(unsigned char x, unsigned char y) {
  uchar2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) {
  uchar3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
  uchar4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION short1 make_short1(short x) {
  short1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION short2 make_short2(short x, short y) {
  short2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION short3 make_short3(short x, short y, short z) {
  short3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION short4 make_short4(short x, short y, short z, short w) {
  short4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ushort1 make_ushort1(unsigned short x) {
  ushort1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION ushort2 make_ushort2(unsigned short x, unsigned short y) {
  ushort2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) {
  ushort3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
  ushort4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION int1 make_int1(int x) {
  int1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION int2 make_int2(int x, int y) {
  int2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION int3 make_int3(int x, int y, int z) {
  int3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION int4 make_int4(int x, int y, int z, int w) {
  int4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION uint1 make_uint1(unsigned int x) {
  uint1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION uint2 make_uint2(unsigned int x, unsigned int y) {
  uint2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) {
  uint3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) {
  uint4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION long1 make_long1(long x) {
  long1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION long2 make_long2(long x, long y) {
  long2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION long3 make_long3(long x, long y, long z) {
  long3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION long4 make_long4(long x, long y, long z, long w) {
  long4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION long4_16a make_long4_16a(long x, long y, long z, long w) {
  long4_16a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION long4_32a make_long4_32a(long x, long y, long z, long w) {
  long4_32a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulong1 make_ulong1(unsigned long x) {
  ulong1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulong2 make_ulong2(unsigned long x, unsigned long y) {
  ulong2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) {
  ulong3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) {
  ulong4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulong4_16a make_ulong4_16a(unsigned long x, unsigned long y, unsigned long z,
                                                    unsigned long w) {
  ulong4_16a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulong4_32a make_ulong4_32a(unsigned long x, unsigned long y, unsigned long z,
                                                    unsigned long w) {
  ulong4_32a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION float1 make_float1(float x) {
  float1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION float2 make_float2(float x, float y) {
  float2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION float3 make_float3(float x, float y, float z) {
  float3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION float4 make_float4(float x, float y, float z, float w) {
  float4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION longlong1 make_longlong1(long long x) {
  longlong1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION longlong2 make_longlong2(long long x, long long y) {
  longlong2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION longlong3 make_longlong3(long long x, long long y, long long z) {
  longlong3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION longlong4 make_longlong4(long long x, long long y, long long z, long long w) {
  longlong4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION longlong4_16a make_longlong4_16a(long long x, long long y, long long z, long long w) {
  longlong4_16a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION longlong4_32a make_longlong4_32a(long long x, long long y, long long z, long long w) {
  longlong4_32a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulonglong1 make_ulonglong1(unsigned long long x) {
  ulonglong1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) {
  ulonglong2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) {
  ulonglong3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z,
                                                    unsigned long long w) {
  ulonglong4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulonglong4_16a make_ulonglong4_16a(unsigned long long x, unsigned long long y,
                                                            unsigned long long z, unsigned long long w) {
  ulonglong4_16a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION ulonglong4_32a make_ulonglong4_32a(unsigned long long x, unsigned long long y,
                                                            unsigned long long z, unsigned long long w) {
  ulonglong4_32a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION double1 make_double1(double x) {
  double1 t;
  t.x = x;
  return t;
}
MILLRACE_VECTOR_FUNCTION double2 make_double2(double x, double y) {
  double2 t;
  t.x = x;
  t.y = y;
  return t;
}
MILLRACE_VECTOR_FUNCTION double3 make_double3(double x, double y, double z) {
  double3 t;
  t.x = x;
  t.y = y;
  t.z = z;
  return t;
}
MILLRACE_VECTOR_FUNCTION double4 make_double4(double x, double y, double z, double w) {
  double4 t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION double4_16a make_double4_16a(double x, double y, double z, double w) {
  double4_16a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}
MILLRACE_VECTOR_FUNCTION double4_32a make_double4_32a(double x, double y, double z, double w) {
  double4_32a t;
  t.x = x;
  t.y = y;
  t.z = z;
  t.w = w;
  return t;
}

#undef MILLRACE_VECTOR_FUNCTION

#endif
