// A name under which programs ask for the device intrinsics; in CUDA units mrcc declares them in front of the first
// line.
#ifndef MILLRACE_DEVICE_FUNCTIONS_H
#define MILLRACE_DEVICE_FUNCTIONS_H
#define __DEVICE_FUNCTIONS_H__  // programs ask for this name
#include "cuda_runtime.h"
#endif
