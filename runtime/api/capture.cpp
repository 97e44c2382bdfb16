// Stream capture (CUDA Runtime API, "Stream Management"; specification 2.5.9.2).
#include <api/graph_handles.h>

using namespace mr;
using namespace mr::api;

namespace {

bool known_mode(cudaStreamCaptureMode mode) noexcept {
  return static_cast<unsigned>(mode) <= cudaStreamCaptureModeRelaxed;
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode, bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  if (!known_mode(mode)) return result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  return result(model::begin_capture(*stream, mode, nullptr, nullptr, nullptr, 0));
}

cudaError_t begin_to_graph(cudaStream_t handle, cudaGraph_t graph_handle, const cudaGraphNode_t* dependencies,
                           const cudaGraphEdgeData* data, size_t count, cudaStreamCaptureMode mode, bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  model::Graph* graph = graph_of(graph_handle);
  if (!graph || !known_mode(mode)) return result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  return result(model::begin_capture(*stream, mode, graph, nodes_of(dependencies), data, count));
}

cudaError_t end(cudaStream_t handle, cudaGraph_t* out, bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (out) *out = nullptr;
  return result(model::end_capture(*stream, reinterpret_cast<model::Graph**>(out)));
}

cudaError_t is_capturing(cudaStream_t handle, cudaStreamCaptureStatus* out, bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  if (!out) return result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  return result(model::capture_status(*stream, out));
}

cudaError_t info(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                 const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges, size_t* count,
                 bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  if (!status) return result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  model::CaptureInfo found;
  if (const cudaError_t error = model::capture_info(*stream, found)) return result(error);
  const bool active = found.status == cudaStreamCaptureStatusActive;
  // What is asked for ahead of what can't be told is told (recorded).
  if (id && active) *id = found.id;
  if (graph && active) *graph = handle_of(found.graph);
  if (edges && !dependencies) return result(cudaErrorInvalidValue);
  if (dependencies && active) *dependencies = reinterpret_cast<const cudaGraphNode_t*>(found.dependencies);
  if (dependencies && !edges && found.has_edge_data) return result(cudaErrorLossyQuery);
  *status = found.status;
  if (!active) return cudaSuccess;
  if (edges) *edges = found.edges;
  if (count) *count = found.count;
  return cudaSuccess;
}

cudaError_t update(cudaStream_t handle, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data, size_t count,
                   unsigned flags, bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  return result(model::update_capture_dependencies(*stream, nodes_of(dependencies), data, count, flags));
}

}  // namespace

MR_TWINS(cudaStreamBeginCapture, _ptsz, begin, (cudaStream_t stream, cudaStreamCaptureMode mode), stream, mode)
MR_TWINS(cudaStreamBeginCaptureToGraph, _ptsz, begin_to_graph,
         (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
          size_t count, cudaStreamCaptureMode mode),
         stream, graph, dependencies, data, count, mode)
MR_TWINS(cudaStreamEndCapture, _ptsz, end, (cudaStream_t stream, cudaGraph_t* graph), stream, graph)
MR_TWINS(cudaStreamIsCapturing, _ptsz, is_capturing, (cudaStream_t stream, cudaStreamCaptureStatus* status), stream,
         status)
MR_TWINS(cudaStreamGetCaptureInfo, _ptsz, info,
         (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
          const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges, size_t* count),
         stream, status, id, graph, dependencies, edges, count)
MR_TWINS(cudaStreamUpdateCaptureDependencies, _ptsz, update,
         (cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data, size_t count,
          unsigned flags),
         stream, dependencies, data, count, flags)

MR_API cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (!mode) return result(cudaErrorInvalidValue);
  *mode = model::exchange_capture_mode(*mode);
  return cudaSuccess;
}
