// The types of the runtime API, by chapter (API reference, "Data types used by CUDA Runtime"). C and C++.
#ifndef MILLRACE_DRIVER_TYPES_H
#define MILLRACE_DRIVER_TYPES_H
#define __DRIVER_TYPES_H__  // programs ask for this name

#include <limits.h>
#include <stddef.h>

#include "host_defines.h"
#include "millrace/types/array.h"
#include "millrace/types/device.h"
#include "millrace/types/error.h"
#include "millrace/types/external.h"
#include "millrace/types/graph.h"
#include "millrace/types/launch.h"
#include "millrace/types/memory.h"
#include "millrace/types/stream.h"
#include "vector_types.h"

#endif
