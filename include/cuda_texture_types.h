// A name under which programs ask for the texture types; in CUDA units mrcc declares them in front of the first line.
#ifndef MILLRACE_CUDA_TEXTURE_TYPES_H
#define MILLRACE_CUDA_TEXTURE_TYPES_H
#define __CUDA_TEXTURE_TYPES_H__  // programs ask for this name
#include "cuda_runtime.h"
#endif
