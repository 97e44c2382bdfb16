// threadIdx, blockIdx, blockDim, gridDim and warpSize. mrcc declares them for device code by itself; host code compiled
// by other compilers only gets their types from here.
#ifndef MILLRACE_DEVICE_LAUNCH_PARAMETERS_H
#define MILLRACE_DEVICE_LAUNCH_PARAMETERS_H
#define __DEVICE_LAUNCH_PARAMETERS_H__  // programs ask for this name

#include "vector_types.h"

#endif
