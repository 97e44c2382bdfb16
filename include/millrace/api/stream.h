// API reference, "Stream Management": ordered queues of asynchronous work. Thread-safe; a stream may be used by all
// host threads. Handle 0 is the default stream (legacy or per-thread, by the unit's option); cudaStreamLegacy and
// cudaStreamPerThread name them explicitly. Besides its own errors, a call may return the device's sticky error.
#ifndef MILLRACE_API_STREAM_H
#define MILLRACE_API_STREAM_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef void(CUDART_CB* cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* userData);

__MR_API cudaStreamCreate(cudaStream_t* pStream);
__MR_API cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags);
/* The priority is clamped to cudaDeviceGetStreamPriorityRange. */
__MR_API cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority);
__MR_API cudaStreamGetPriority(cudaStream_t hStream, int* priority);
__MR_API cudaStreamGetFlags(cudaStream_t hStream, unsigned int* flags);
/* Unique in the process, never reused. */
__MR_API cudaStreamGetId(cudaStream_t hStream, unsigned long long* streamId);
__MR_API cudaStreamGetDevice(cudaStream_t hStream, int* device);
__MR_API cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);
__MR_API cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr, cudaLaunchAttributeValue* value_out);
__MR_API cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                const cudaLaunchAttributeValue* value);
/* Returns at once; work already in the stream completes. */
__MR_API cudaStreamDestroy(cudaStream_t stream);
/* Later work of the stream waits for what the event stood for at this call. */
__MR_API cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags __MR_DEFAULT(0));
/* Behind earlier work and before later work; runs also, with the error as status, when the device has failed. */
__MR_API cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData, unsigned int flags);
__MR_API cudaStreamSynchronize(cudaStream_t stream);
/* cudaSuccess when all work is done, cudaErrorNotReady (which isn't recorded as last error) otherwise. */
__MR_API cudaStreamQuery(cudaStream_t stream);
__MR_API cudaStreamAttachMemAsync(cudaStream_t stream, void* devPtr, size_t length __MR_DEFAULT(0),
                                  unsigned int flags __MR_DEFAULT(cudaMemAttachSingle));

/* Capture of a stream's work into a graph. */
__MR_API cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
__MR_API cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                                       enum cudaStreamCaptureMode mode);
__MR_API cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode);
__MR_API cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph);
__MR_API cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* pCaptureStatus);
__MR_API cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* captureStatus_out,
                                  unsigned long long* id_out __MR_DEFAULT(0), cudaGraph_t* graph_out __MR_DEFAULT(0),
                                  const cudaGraphNode_t** dependencies_out __MR_DEFAULT(0),
                                  const cudaGraphEdgeData** edgeData_out __MR_DEFAULT(0),
                                  size_t* numDependencies_out __MR_DEFAULT(0));
__MR_API cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                             const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                                             unsigned int flags __MR_DEFAULT(0));

#if defined(__cplusplus)
}
#endif

#endif
