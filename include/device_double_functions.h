// A name under which programs ask for the double-precision intrinsics; in CUDA units mrcc declares them in front of the
// first line.
#ifndef MILLRACE_DEVICE_DOUBLE_FUNCTIONS_H
#define MILLRACE_DEVICE_DOUBLE_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
