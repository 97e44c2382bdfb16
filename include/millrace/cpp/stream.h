// Streams and events.
#ifndef MILLRACE_CPP_STREAM_H
#define MILLRACE_CPP_STREAM_H

#include "begin.h"

__MR_INLINE cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

template <class T>
__MR_INLINE cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* devPtr, size_t length = 0,
                                                 unsigned int flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, const_cast<void*>(static_cast<const volatile void*>(devPtr)), length, flags);
}

#endif
