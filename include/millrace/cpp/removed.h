// What releases before 13.0 declare and programs written for them call: functions by those that took their places, and
// the former parameters of functions that have others now, as overloads.
#ifndef MILLRACE_CPP_REMOVED_H
#define MILLRACE_CPP_REMOVED_H

#include "begin.h"

__MR_INLINE cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
__MR_INLINE cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
__MR_INLINE cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
__MR_INLINE cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
__MR_INLINE cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
__MR_INLINE cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }

/* Releases before 13.0 name the place of managed memory by a device's number, cudaCpuDeviceId for the host. */
__MR_INLINE cudaMemLocation __mr_location(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
__MR_INLINE cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, int dstDevice, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(devPtr, count, __mr_location(dstDevice), 0, stream);
}
__MR_INLINE cudaError_t cudaMemAdvise(const void* devPtr, size_t count, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(devPtr, count, advice, __mr_location(device));
}

/* Edges of graphs without data. */
__MR_INLINE cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                 const cudaGraphNode_t* to, size_t numDependencies) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);
}
__MR_INLINE cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                    const cudaGraphNode_t* to, size_t numDependencies) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, numDependencies);
}
__MR_INLINE cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                          size_t* numEdges) {
  return cudaGraphGetEdges(graph, from, to, nullptr, numEdges);
}
__MR_INLINE cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                                     size_t* pNumDependencies) {
  return cudaGraphNodeGetDependencies(node, pDependencies, nullptr, pNumDependencies);
}
__MR_INLINE cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                                       size_t* pNumDependentNodes) {
  return cudaGraphNodeGetDependentNodes(node, pDependentNodes, nullptr, pNumDependentNodes);
}
__MR_INLINE cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                         cudaGraphNodeParams* nodeParams) {
  return cudaGraphAddNode(pGraphNode, graph, pDependencies, nullptr, numDependencies, nodeParams);
}
__MR_INLINE cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                            cudaGraphNode_t* hErrorNode_out,
                                            cudaGraphExecUpdateResult* updateResult_out) {
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t result = cudaGraphExecUpdate(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return result;
}

/* Capture. Only counts that are variables: a null or 0 in their place may be the edges' data of 13.0. */
template <class T> struct __mr_count;
template <> struct __mr_count<size_t> {
  typedef cudaError_t result;
};
template <class Count>
__MR_INLINE typename __mr_count<Count>::result cudaStreamGetCaptureInfo(
    cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out, unsigned long long* id_out, cudaGraph_t* graph_out,
    const cudaGraphNode_t** dependencies_out, Count* numDependencies_out) {
  return cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                  numDependencies_out);
}
__MR_INLINE cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out,
                                                    unsigned long long* id_out = nullptr,
                                                    cudaGraph_t* graph_out = nullptr,
                                                    const cudaGraphNode_t** dependencies_out = nullptr,
                                                    size_t* numDependencies_out = nullptr) {
  return cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                  numDependencies_out);
}
__MR_INLINE cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                            size_t numDependencies) {
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, numDependencies, 0);
}
template <class Count>
__MR_INLINE typename __mr_count<Count>::result cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                                   cudaGraphNode_t* dependencies,
                                                                                   Count numDependencies,
                                                                                   unsigned int flags) {
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, numDependencies, flags);
}

/* The names that 12.x gave to what 13.0 calls by the plain ones. */
__MR_INLINE cudaError_t cudaMemPrefetchAsync_v2(const void* devPtr, size_t count, cudaMemLocation location,
                                                unsigned int flags, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}
__MR_INLINE cudaError_t cudaMemAdvise_v2(const void* devPtr, size_t count, cudaMemoryAdvise advice,
                                         cudaMemLocation location) {
  return cudaMemAdvise(devPtr, count, advice, location);
}

#endif
