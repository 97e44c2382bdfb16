// API reference, "Event Management": markers in streams. Thread-safe. An event that was never recorded counts as
// complete.
#ifndef MILLRACE_API_EVENT_H
#define MILLRACE_API_EVENT_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaEventCreate(cudaEvent_t* event);
__MR_API cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
__MR_API cudaEventRecord(cudaEvent_t event, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream __MR_DEFAULT(0),
                                  unsigned int flags __MR_DEFAULT(0));
__MR_API cudaEventQuery(cudaEvent_t event);
__MR_API cudaEventSynchronize(cudaEvent_t event);
__MR_API cudaEventDestroy(cudaEvent_t event);
/* Milliseconds between two completed records of events with timing. */
__MR_API cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);

/* Events of other processes of the same user. */
__MR_API cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
__MR_API cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

#if defined(__cplusplus)
}
#endif

#endif
