// Shared by the chapters of cuda_runtime_api.h. __MR_API starts a declaration; __MR_DEFAULT(v) is a default argument in
// C++ and nothing in C.
#ifndef MILLRACE_API_BEGIN_H
#define MILLRACE_API_BEGIN_H

#include "per_thread_names.h"

#include "../../builtin_types.h"

#define __MR_API extern __host__ cudaError_t CUDARTAPI

#if defined(__cplusplus)
#define __MR_DEFAULT(v) = v
#else
#define __MR_DEFAULT(v)
#endif

#endif
