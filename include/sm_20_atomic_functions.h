// A name under which programs ask for the atomic functions; in CUDA units mrcc declares them in front of the first
// line.
#ifndef MILLRACE_SM_20_ATOMIC_FUNCTIONS_H
#define MILLRACE_SM_20_ATOMIC_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
