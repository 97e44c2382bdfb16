// The runtime API of device code (programming guide, "Programmatic Dependent Launch", "Conditional Graph Nodes" and
// "CUDA Dynamic Parallelism"): device overloads beside the host's functions of the same names.
//
// What the runtime serves through __mr_device_api is identified by the numbers below; a function it does not implement
// answers cudaErrorNotSupported.
#pragma once
#pragma clang system_header

#include "services.h"

enum __mr_device_function : unsigned {
  __mr_api_stream_create_with_flags = 2,  // (cudaStream_t* out, flags)
  __mr_api_stream_destroy = 3,            // (stream)
  __mr_api_event_create_with_flags = 4,   // (cudaEvent_t* out, flags)
  __mr_api_event_record = 5,              // (event, stream)
  __mr_api_event_destroy = 6,             // (event)
  __mr_api_stream_wait_event = 7,         // (stream, event, flags)
  __mr_api_get_device = 8,                // (int* out)
  __mr_api_get_device_count = 9,          // (int* out)
  __mr_api_device_get_attribute = 10,     // (int* out, attribute, device)
  __mr_api_memcpy_async = 11,             // (to, from, bytes, kind, stream)
  __mr_api_memset_async = 12,             // (to, byte, bytes, stream)
  __mr_api_graph_launch = 13,             // (graph exec, stream)
  __mr_api_get_current_graph_exec = 14,   // (cudaGraphExec_t* out)
  __mr_api_device_get_limit = 17,         // (size_t* out, limit)
  __mr_api_runtime_get_version = 18,      // (int* out)
  __mr_api_graph_node_update = 19,        // (const cudaGraphKernelNodeUpdate*, count)
};

template <class... Arguments> __MR_D cudaError_t __mr_call(unsigned function, Arguments... arguments) {
  const unsigned long packed[sizeof...(Arguments) + 1] = {(unsigned long)arguments..., 0};
  return (cudaError_t)__mr_device_api(function, packed);
}

// Programmatic dependent launch.
__MR_D void cudaGridDependencySynchronize() { __mr_pdl_wait(); }
__MR_D void cudaTriggerProgrammaticLaunchCompletion() { __mr_pdl_trigger(); }
// Conditional nodes.
__MR_D void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  __mr_graph_set_conditional((unsigned long)handle, value);
}

__MR_D cudaError_t cudaGetLastError() { return (cudaError_t)__mr_last_error(1); }
__MR_D cudaError_t cudaPeekAtLastError() { return (cudaError_t)__mr_last_error(0); }
__MR_D const char* cudaGetErrorName(cudaError_t error) { return __mr_error_name((int)error); }
__MR_D const char* cudaGetErrorString(cudaError_t error) { return __mr_error_string((int)error); }
__MR_D cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return __mr_call(__mr_api_stream_create_with_flags, stream, flags);
}
__MR_D cudaError_t cudaStreamDestroy(cudaStream_t stream) { return __mr_call(__mr_api_stream_destroy, stream); }
__MR_D cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0) {
  return __mr_call(__mr_api_stream_wait_event, stream, event, flags);
}
__MR_D cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return __mr_call(__mr_api_event_create_with_flags, event, flags);
}
__MR_D cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return __mr_call(__mr_api_event_record, event, stream);
}
__MR_D cudaError_t cudaEventDestroy(cudaEvent_t event) { return __mr_call(__mr_api_event_destroy, event); }
__MR_D cudaError_t cudaGetDevice(int* device) { return __mr_call(__mr_api_get_device, device); }
__MR_D cudaError_t cudaGetDeviceCount(int* count) { return __mr_call(__mr_api_get_device_count, count); }
__MR_D cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return __mr_call(__mr_api_device_get_attribute, value, attribute, device);
}
__MR_D cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return __mr_call(__mr_api_device_get_limit, value, limit);
}
__MR_D cudaError_t cudaRuntimeGetVersion(int* version) { return __mr_call(__mr_api_runtime_get_version, version); }
__MR_D cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr) {
  return __mr_call(__mr_api_memcpy_async, to, from, bytes, kind, stream);
}
__MR_D cudaError_t cudaMemsetAsync(void* to, int byte, size_t bytes, cudaStream_t stream = nullptr) {
  return __mr_call(__mr_api_memset_async, to, byte, bytes, stream);
}
// Row by row.
__MR_D_BIG cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                         size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  if (height > 1 && (width > to_pitch || width > from_pitch)) return cudaErrorInvalidPitchValue;
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && error == cudaSuccess; ++row)
    error = cudaMemcpyAsync((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind, stream);
  return error;
}
__MR_D_BIG cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int byte, size_t width, size_t height,
                                         cudaStream_t stream = nullptr) {
  if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && error == cudaSuccess; ++row)
    error = cudaMemsetAsync((char*)to + row * pitch, byte, width, stream);
  return error;
}
__MR_D cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  *pointer = bytes ? __mr_heap_malloc(bytes) : nullptr;
  return bytes && !*pointer ? cudaErrorMemoryAllocation : cudaSuccess;
}
template <class T> __MR_D cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc((void**)pointer, bytes);
}
__MR_D cudaError_t cudaFree(void* pointer) {
  __mr_heap_free(pointer);
  return cudaSuccess;
}

// Graphs: launches by device code, and kernel nodes that it may change.
__MR_D cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const unsigned long packed[] = {(unsigned long)graph, (unsigned long)stream};
  return (cudaError_t)__mr_graph_launch(__mr_api_graph_launch, packed);
}
__MR_D cudaGraphExec_t cudaGetCurrentGraphExec() {
  cudaGraphExec_t graph = nullptr;
  const unsigned long packed[] = {(unsigned long)&graph};
  __mr_graph_api(__mr_api_get_current_graph_exec, packed);
  return graph;
}
// Reads what the runtime is about to read: an address that device code may not use faults here, as anywhere in it.
__MR_D void __mr_touch(const void* from, size_t bytes) {
  if (!from || !bytes) return;
  (void)*(const volatile char*)from;
  (void)*((const volatile char*)from + bytes - 1);
}
__MR_D cudaError_t cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate* updates, size_t count) {
  __mr_touch(updates, count * sizeof *updates);
  for (size_t i = 0; updates && i < count; ++i)
    if (updates[i].field == cudaGraphKernelNodeFieldParam)
      __mr_touch(updates[i].updateData.param.pValue, updates[i].updateData.param.size);
  const unsigned long packed[] = {(unsigned long)updates, count};
  return (cudaError_t)__mr_graph_update(__mr_api_graph_node_update, packed);
}
// One update, of the size and layout of cudaGraphKernelNodeUpdate, which has no default constructor.
struct __mr_node_update {
  cudaGraphDeviceNode_t node;
  cudaGraphKernelNodeField field;
  unsigned long data[3];
};
static_assert(sizeof(__mr_node_update) == sizeof(cudaGraphKernelNodeUpdate), "the layouts differ");
__MR_D cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const void* value,
                                               size_t bytes) {
  const __mr_node_update update = {node, cudaGraphKernelNodeFieldParam, {(unsigned long)value, offset, bytes}};
  return cudaGraphKernelNodeUpdatesApply((const cudaGraphKernelNodeUpdate*)&update, 1);
}
template <class T>
__MR_D cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const T& value) {
  return cudaGraphKernelNodeSetParam(node, offset, &value, sizeof(T));
}
__MR_D cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable) {
  const __mr_node_update update = {node, cudaGraphKernelNodeFieldEnabled, {enable, 0, 0}};
  return cudaGraphKernelNodeUpdatesApply((const cudaGraphKernelNodeUpdate*)&update, 1);
}
__MR_D cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 grid) {
  const __mr_node_update update = {
      node, cudaGraphKernelNodeFieldGridDim, {grid.x | (unsigned long)grid.y << 32, grid.z, 0}};
  return cudaGraphKernelNodeUpdatesApply((const cudaGraphKernelNodeUpdate*)&update, 1);
}

// What the rewriting of launches replaces, for the bodies of libraries that launch by hand. They have no place of their
// own for arguments here, so the first says so by null, and the caller's launch is refused.
__MR_D void* cudaGetParameterBuffer(size_t, size_t) { return nullptr; }
__MR_D void* cudaGetParameterBufferV2(void*, dim3, dim3, unsigned) { return nullptr; }
__MR_D cudaError_t cudaLaunchDevice(void*, void*, dim3, dim3, unsigned, cudaStream_t) { return cudaErrorNotSupported; }
__MR_D cudaError_t cudaLaunchDeviceV2(void*, cudaStream_t) { return cudaErrorNotSupported; }
// A parent doesn't wait for its children: they begin when it has ended.
__MR_D cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance() { return cudaErrorNotSupported; }
