// The part of the runtime API that device code may call (programming guide, "CUDA Dynamic Parallelism" and
// "Programmatic Dependent Launch"): streams that only exist in device code. The functions are in the device headers of
// mrcc.
#ifndef MILLRACE_CUDA_DEVICE_RUNTIME_API_H
#define MILLRACE_CUDA_DEVICE_RUNTIME_API_H

#include "builtin_types.h"

/* Launch behind the launching grid's completion, or beside it. */
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

/* Where a graph launched by a graph runs. */
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)

#endif
