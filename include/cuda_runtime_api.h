// The CUDA runtime API, version 13.0, as C declarations. One header per chapter of the reference below millrace/api.
#ifndef MILLRACE_CUDA_RUNTIME_API_H
#define MILLRACE_CUDA_RUNTIME_API_H
#define __CUDA_RUNTIME_API_H__  // programs ask for this name

#define CUDART_VERSION 13000
#define __CUDART_API_VERSION CUDART_VERSION

#include "builtin_types.h"
#include "cuda_device_runtime_api.h"
#include "host_defines.h"

#include "millrace/api/array.h"
#include "millrace/api/device.h"
#include "millrace/api/error.h"
#include "millrace/api/event.h"
#include "millrace/api/execution.h"
#include "millrace/api/graph.h"
#include "millrace/api/graph_exec.h"
#include "millrace/api/interop.h"
#include "millrace/api/memory.h"
#include "millrace/api/pool.h"
#include "millrace/api/stream.h"

#endif
