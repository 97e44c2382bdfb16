// A name under which programs ask for the surface functions; in CUDA units mrcc declares them in front of the first
// line.
#ifndef MILLRACE_SURFACE_FUNCTIONS_H
#define MILLRACE_SURFACE_FUNCTIONS_H
#define __SURFACE_FUNCTIONS_H__  // programs ask for this name
#include "cuda_runtime.h"
#endif
