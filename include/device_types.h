// Rounding modes of conversion intrinsics.
#ifndef MILLRACE_DEVICE_TYPES_H
#define MILLRACE_DEVICE_TYPES_H
#define __DEVICE_TYPES_H__  // programs ask for this name

#include "host_defines.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#endif
