// Profiler control (runtime API reference, "Profiler Control"). Both calls succeed and do nothing unless a trace of
// this program is being recorded. Thread-safe.
#ifndef MILLRACE_CUDA_PROFILER_API_H
#define MILLRACE_CUDA_PROFILER_API_H
#define __CUDA_PROFILER_API_H__  // programs ask for this name

#include "driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

extern __host__ cudaError_t CUDARTAPI cudaProfilerStart(void);
extern __host__ cudaError_t CUDARTAPI cudaProfilerStop(void);

#if defined(__cplusplus)
}
#endif

#endif
