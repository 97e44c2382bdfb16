// A name under which programs ask for the mathematical functions; in CUDA units mrcc declares them in front of the
// first line.
#ifndef MILLRACE_MATH_FUNCTIONS_H
#define MILLRACE_MATH_FUNCTIONS_H
#define __MATH_FUNCTIONS_H__  // programs ask for this name
#include "cuda_runtime.h"
#endif
