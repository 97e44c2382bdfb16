// Rounding modes of conversion intrinsics.
#ifndef MILLRACE_DEVICE_TYPES_H
#define MILLRACE_DEVICE_TYPES_H

#include "host_defines.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#endif
