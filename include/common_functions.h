// A name under which programs ask for the C library functions of device code; in CUDA units mrcc declares them in front
// of the first line.
#ifndef MILLRACE_COMMON_FUNCTIONS_H
#define MILLRACE_COMMON_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
