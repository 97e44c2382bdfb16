// Parameter types for abi.cu and abi_test.cpp: X(name, type).
#pragma once
#ifdef __CUDA__
#define ABI_BOTH __attribute__((host, device))
#else
#define ABI_BOTH
#endif
namespace types {
enum Small : unsigned char { small_a };
enum class Wide : long { wide_a };
struct Empty {};
struct DerivedOfEmpty : Empty {
  int v;
};
struct HoldsEmpty {
  Empty e;
  double d;
};
template <int N> struct Bytes {
  unsigned char v[N];
};
struct IntFloat {
  int i;
  float f;
};
struct FloatInt {
  float f;
  int i;
};
struct DoubleChar {
  double d;
  char c;
};
struct CharDouble {
  char c;
  double d;
};
struct Floats2 {
  float v[2];
};
struct Floats3 {
  float v[3];
};
struct Floats4 {
  float v[4];
};
struct Doubles2 {
  double v[2];
};
struct Doubles3 {
  double v[3];
};
struct LongFloat {
  long l;
  float f;
};
struct PointerInt {
  int* p;
  int n;
};
struct Pointer {
  int* p;
};
struct alignas(8) Float2 {
  float x, y;
};
struct alignas(16) Float4 {
  float x, y, z, w;
};
struct alignas(16) Double2 {
  double x, y;
};
struct alignas(4) Char4 {
  char x, y, z, w;
};
struct Char3 {
  char x, y, z;
};
struct alignas(8) Short4 {
  short x, y, z, w;
};
struct Ints10 {
  int v[10];
};
struct alignas(32) Wide32 {
  int v;
};
struct alignas(16) Padded {
  int v;
};
struct Big {
  long v[20];
};
union IntOrDouble {
  int i;
  double d;
};
union Mixed {
  float f[3];
  char c;
};
struct Bits {
  unsigned a : 3;
  unsigned b : 13;
  long c : 40;
};
struct __attribute__((packed)) Packed {
  char c;
  double d;
  short s;
};
struct Holds128 {
  __int128 v;
};
struct Copies {
  int v[3];
  ABI_BOTH Copies() {}
  ABI_BOTH Copies(const Copies& o) { v[0] = o.v[0]; }
};
struct Destroys {
  double v;
  ABI_BOTH ~Destroys() {}
};
struct Virtual {
  long v;
  ABI_BOTH virtual int f() { return 1; }
};
struct Inner {
  CharDouble a;
  Char3 b;
};
using Vec16 = float __attribute__((ext_vector_type(4)));
using Vec32 = float __attribute__((ext_vector_type(8)));
using Vec8 = int __attribute__((ext_vector_type(2)));
using Member = int IntFloat::*;
using Method = int (Virtual::*)();
using FunctionPointer = int (*)(int);
using Complex = float _Complex;
using Complex2 = double _Complex;
using Null = decltype(nullptr);
}  // namespace types
// clang-format off
#define ABI_TYPES(X) \
  X(i8, signed char) X(u8, unsigned char) X(i16, short) X(u16, unsigned short) X(i32, int) X(u32, unsigned) \
  X(i64, long) X(u64, unsigned long long) X(i128, __int128) X(f16, _Float16) X(f32, float) X(f64, double) \
  X(pointer, int*) X(function, types::FunctionPointer) X(member, types::Member) X(method, types::Method) \
  X(null, types::Null) X(enum8, types::Small) X(enum64, types::Wide) X(empty, types::Empty) \
  X(derived, types::DerivedOfEmpty) X(holds_empty, types::HoldsEmpty) X(b1, types::Bytes<1>) X(b2, types::Bytes<2>) \
  X(b3, types::Bytes<3>) X(b4, types::Bytes<4>) X(b5, types::Bytes<5>) X(b6, types::Bytes<6>) X(b7, types::Bytes<7>) \
  X(b8, types::Bytes<8>) X(b9, types::Bytes<9>) X(b12, types::Bytes<12>) X(b15, types::Bytes<15>) \
  X(b16, types::Bytes<16>) X(b17, types::Bytes<17>) X(b31, types::Bytes<31>) X(int_float, types::IntFloat) \
  X(float_int, types::FloatInt) X(double_char, types::DoubleChar) X(char_double, types::CharDouble) \
  X(floats2, types::Floats2) X(floats3, types::Floats3) X(floats4, types::Floats4) X(doubles2, types::Doubles2) \
  X(doubles3, types::Doubles3) X(long_float, types::LongFloat) X(pointer_int, types::PointerInt) \
  X(one_pointer, types::Pointer) X(float2, types::Float2) X(float4, types::Float4) X(double2, types::Double2) \
  X(char4, types::Char4) X(char3, types::Char3) X(short4, types::Short4) X(ints10, types::Ints10) \
  X(wide32, types::Wide32) X(padded, types::Padded) X(big, types::Big) X(int_or_double, types::IntOrDouble) \
  X(mixed, types::Mixed) X(bits, types::Bits) X(packed, types::Packed) X(holds128, types::Holds128) \
  X(copies, types::Copies) X(destroys, types::Destroys) X(virtual_, types::Virtual) X(inner, types::Inner) \
  X(vec8, types::Vec8) X(vec16, types::Vec16) X(vec32, types::Vec32) X(complex_, types::Complex) \
  X(complex2, types::Complex2)
// clang-format on
