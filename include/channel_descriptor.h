// cudaCreateChannelDesc<T>: the channel format of an array of T, for the scalar and vector types an array can hold.
#ifndef MILLRACE_CHANNEL_DESCRIPTOR_H
#define MILLRACE_CHANNEL_DESCRIPTOR_H
#define __CHANNEL_DESCRIPTOR_H__  // programs ask for this name

#if defined(__cplusplus)

#include "cuda_runtime_api.h"

template <class T> static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

static __inline__ __host__ __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf1() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ __attribute__((unused)) cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#define MR_CHANNEL(T, x, y, z, w, kind)                                                                                \
  template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                                   \
    return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind);                                             \
  }
#define MR_CHANNELS(T, bits, kind)                                                                                     \
  MR_CHANNEL(T##1, bits, 0, 0, 0, kind)                                                                                \
  MR_CHANNEL(T##2, bits, bits, 0, 0, kind)                                                                             \
  MR_CHANNEL(T##4, bits, bits, bits, bits, kind)

MR_CHANNEL(char, 8, 0, 0, 0, Signed)
MR_CHANNEL(signed char, 8, 0, 0, 0, Signed)
MR_CHANNEL(unsigned char, 8, 0, 0, 0, Unsigned)
MR_CHANNEL(short, 16, 0, 0, 0, Signed)
MR_CHANNEL(unsigned short, 16, 0, 0, 0, Unsigned)
MR_CHANNEL(int, 32, 0, 0, 0, Signed)
MR_CHANNEL(unsigned int, 32, 0, 0, 0, Unsigned)
MR_CHANNEL(float, 32, 0, 0, 0, Float)
MR_CHANNELS(char, 8, Signed)
MR_CHANNELS(uchar, 8, Unsigned)
MR_CHANNELS(short, 16, Signed)
MR_CHANNELS(ushort, 16, Unsigned)
MR_CHANNELS(int, 32, Signed)
MR_CHANNELS(uint, 32, Unsigned)
MR_CHANNELS(float, 32, Float)

#undef MR_CHANNELS
#undef MR_CHANNEL

#endif

#endif
