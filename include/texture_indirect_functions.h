// A name under which programs ask for the texture functions; in CUDA units mrcc declares them in front of the first
// line.
#ifndef MILLRACE_TEXTURE_INDIRECT_FUNCTIONS_H
#define MILLRACE_TEXTURE_INDIRECT_FUNCTIONS_H
#include "cuda_runtime.h"
#endif
