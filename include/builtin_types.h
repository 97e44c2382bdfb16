// All types of the runtime API at once.
#ifndef MILLRACE_BUILTIN_TYPES_H
#define MILLRACE_BUILTIN_TYPES_H
#define __BUILTIN_TYPES_H__  // programs ask for this name

#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif
