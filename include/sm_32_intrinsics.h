// A name under which programs ask for the loads with cache hints; in CUDA units mrcc declares them in front of the
// first line.
#ifndef MILLRACE_SM_32_INTRINSICS_H
#define MILLRACE_SM_32_INTRINSICS_H
#include "cuda_runtime.h"
#endif
