// The CUDA runtime API for C++: the C interface plus typed overloads (API reference, "C++ API Routines"), one header
// per chapter below millrace/cpp. Without a C++ compiler, the C interface.
//
// In CUDA units mrcc includes this by itself, behind the device headers (millrace/device_prelude.h).
#ifndef MILLRACE_CUDA_RUNTIME_H
#define MILLRACE_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__  // programs ask for this name

#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"

#if defined(__CUDACC__)
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif

#if defined(__cplusplus)
#include "millrace/cpp/graph.h"
#include "millrace/cpp/launch.h"
#include "millrace/cpp/memory.h"
#include "millrace/cpp/occupancy.h"
#include "millrace/cpp/removed.h"
#include "millrace/cpp/stream.h"
#endif

#endif
