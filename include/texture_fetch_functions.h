// A name under which programs ask for the texture functions; in CUDA units mrcc declares them in front of the first
// line.
#ifndef MILLRACE_TEXTURE_FETCH_FUNCTIONS_H
#define MILLRACE_TEXTURE_FETCH_FUNCTIONS_H
#define __TEXTURE_FETCH_FUNCTIONS_H__  // programs ask for this name
#include "cuda_runtime.h"
#endif
