// API reference, "Error Handling". Each host thread has an error slot that a failing call sets; the last failure stays
// until cudaGetLastError takes it. Errors of device code stick: every later call that touches the device returns them.
#ifndef MILLRACE_API_ERROR_H
#define MILLRACE_API_ERROR_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Returns the slot and clears it. */
__MR_API cudaGetLastError(void);
/* Returns the slot and leaves it. */
__MR_API cudaPeekAtLastError(void);
/* The enumerator's name, and a sentence; static storage, never null. */
extern __host__ const char* CUDARTAPI cudaGetErrorName(cudaError_t error);
extern __host__ const char* CUDARTAPI cudaGetErrorString(cudaError_t error);

#if defined(__cplusplus)
}
#endif

#endif
