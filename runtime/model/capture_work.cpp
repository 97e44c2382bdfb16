// Hooks for work: what streams are given becomes nodes.
#include <model/capture_state.h>

#include <algorithm>

#include <memory/pool.h>
#include <model/graph_memory.h>
#include <model/launch.h>
#include <model/memory_copy.h>

namespace mr::model {

namespace {

// Work for a stream, told by `fill` (called with the new node).
template <class Fill>
bool record_work(Stream& stream, cudaGraphNodeType type, cudaError_t& result, Fill&& fill) noexcept {
  const Work work(stream, result);
  if (work.turn != Turn::record) return work.dealt_with();
  fill(*append(*work.capture, stream, type));
  return true;
}

}  // namespace

bool capture_launch(Stream& stream, const LaunchRequest& request, cudaError_t& result) noexcept {
  const EventLocks hold_events(request.programmatic_event, request.completion_event);
  const Work work(stream, result);
  if (work.turn != Turn::record) return work.dealt_with();
  KernelData made{};
  result = make_kernel(made, *stream.context, work.capture->graph->arena, request);
  if (result != cudaSuccess) {
    work.capture->invalidate();
    return true;
  }
  if (!request.has_priority) made.priority = made.asked_priority = static_cast<std::int8_t>(stream.priority);
  if (request.programmatic)
    for (EdgeRef& edge : work.capture->member_of(stream)->dependencies)
      if (edge.node->type == cudaGraphNodeTypeKernel)
        edge.data = {cudaGraphKernelNodePortProgrammatic, 0, cudaGraphDependencyTypeProgrammatic, {}};
  GraphNode* node = append(*work.capture, stream, cudaGraphNodeTypeKernel);
  *(node->kernel = work.capture->graph->arena.make<KernelData>()) = made;
  if (request.attribute_count || stream.attributes.hinted.load(std::memory_order_relaxed)) [[unlikely]]
    keep_launch_attributes(*node, request, hints_of(stream));
  if (request.device_updatable) {
    cudaLaunchAttributeValue value{};
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    result = set_kernel_attribute(*node, cudaLaunchAttributeDeviceUpdatableKernelNode, value);
    *request.device_updatable = value.deviceUpdatableKernelNode.devNode;
  }
  // Events that the launch records lead to edges from its ports. cudaGridDependencySynchronize doesn't know of launch
  // completion events: those are no programmatic edges.
  constexpr unsigned char trigger = cudaGraphKernelNodePortProgrammatic,
                          begin = cudaGraphKernelNodePortLaunchCompletion;
  if (request.programmatic_event)
    stand_for(*request.programmatic_event, *work.capture,
              {{node, {request.trigger_at_block_start ? begin : trigger, 0, cudaGraphDependencyTypeProgrammatic, {}}}});
  if (request.completion_event)
    stand_for(*request.completion_event, *work.capture, {{node, {begin, 0, cudaGraphDependencyTypeDefault, {}}}});
  return true;
}

bool capture_copy(Stream& stream, const memory::Copy& copy, cudaMemcpyKind kind, const cudaMemcpy3DParms* params,
                  cudaError_t& result) noexcept {
  if (copy.bytes() == 0) return capture_nothing(stream, result);
  return record_work(stream, cudaGraphNodeTypeMemcpy, result, [&](GraphNode& node) {
    node.copy = node.graph->arena.make<CopyData>();
    CopyData& data = *node.copy;
    data = {};
    data.copy = copy;
    data.one_dimensional = copy.height == 1 && copy.depth == 1;
    if (params) {
      data.params = shown_parameters(*params);
    } else {
      // As on a GPU: no number of rows, and a pitch only for copies of rows and from host to host.
      const bool rows = !data.one_dimensional || kind == cudaMemcpyHostToHost;
      data.params.srcPtr = {const_cast<void*>(copy.src), rows ? std::max(copy.src_pitch, copy.row) : 0, 0, 0};
      data.params.dstPtr = {copy.dst, rows ? std::max(copy.dst_pitch, copy.row) : 0, 0, 0};
      data.params.extent = {copy.row, copy.height, copy.depth};
      data.params.kind = kind;
    }
    data.source = memory::space().kind_of(copy.src);
    data.target = memory::space().kind_of(copy.dst);
    data.copy.coalesce();
  });
}

bool capture_fill(Stream& stream, const memory::Fill& fill, bool three_dimensional, std::size_t pitch,
                  cudaError_t& result) noexcept {
  if (fill.bytes() == 0) return capture_nothing(stream, result);
  const auto record = [&](void* dst, std::size_t width, std::size_t height, std::size_t row_pitch) {
    return record_work(stream, cudaGraphNodeTypeMemset, result, [&](GraphNode& node) {
      node.fill = node.graph->arena.make<FillData>();
      cudaMemsetParams params{};
      params.dst = dst;
      params.pitch = row_pitch;
      params.value = fill.value;
      params.elementSize = fill.element;
      params.width = width / fill.element;
      params.height = height;
      (void)make_fill(*node.fill, params, false);
    });
  };
  // As on a GPU: a box without gaps becomes one row; one whose slices lie apart becomes a node for each.
  const bool dense = fill.slice == fill.height * fill.pitch;
  const std::size_t height = dense ? fill.height * fill.depth : fill.height;
  if (fill.pitch == fill.row && (height * fill.depth == 1 || (three_dimensional && dense)))
    return record(fill.dst, fill.row * height, 1, height == 1 ? pitch : 0);
  bool dealt_with = record(fill.dst, fill.row, height, fill.pitch);
  for (std::size_t z = 1; !dense && z < fill.depth && dealt_with && result == cudaSuccess; ++z)
    dealt_with = record(static_cast<char*>(fill.dst) + z * fill.slice, fill.row, height, fill.pitch);
  return dealt_with;
}

bool capture_host(Stream& stream, cudaHostFn_t function, void* data, cudaError_t& result) noexcept {
  return record_work(stream, cudaGraphNodeTypeHost, result, [&](GraphNode& node) {
    node.host = node.graph->arena.make<HostData>();
    node.host->params = {function, data};
  });
}

bool capture_external(Stream& stream, const cudaExternalSemaphore_t* semaphores,
                      const cudaExternalSemaphoreSignalParams* signals, const cudaExternalSemaphoreWaitParams* waits,
                      unsigned count, cudaError_t& result) noexcept {
  const Work work(stream, result);
  if (work.turn != Turn::record) return work.dealt_with();
  GraphArena& arena = work.capture->graph->arena;
  ExternalData data{};
  result = make_external(data, arena, semaphores, signals, waits, count);
  if (result != cudaSuccess) {
    work.capture->invalidate();
    return true;
  }
  GraphNode* node = append(*work.capture, stream,
                           waits ? cudaGraphNodeTypeExtSemaphoreWait : cudaGraphNodeTypeExtSemaphoreSignal);
  *(node->external = arena.make<ExternalData>()) = data;
  return true;
}

namespace {
cudaError_t error_in_graphs(const memory::PoolOptions& pool) noexcept {
  if (pool.host) return cudaErrorNotSupported;
  if (!pool.managed || pool.location == cudaMemLocationTypeDevice) return cudaSuccess;
  const bool host = pool.location == cudaMemLocationTypeHost || pool.location == cudaMemLocationTypeHostNuma;
  return host ? cudaErrorNotSupported : cudaErrorInvalidValue;
}
}  // namespace

bool capture_alloc(Stream& stream, void** out, std::size_t bytes, const memory::Pool* pool,
                   cudaError_t& result) noexcept {
  const Work work(stream, result);
  if (work.turn == Turn::ordinary) return unsafe(result);
  if (work.turn == Turn::refused) return true;
  if (pool && (result = error_in_graphs(pool->options())) != cudaSuccess) return true;
  if (bytes == 0) {
    *out = nullptr;
    return true;
  }
  std::vector<GraphNode*> dependencies;
  for (const EdgeRef& edge : work.capture->member_of(stream)->dependencies) dependencies.push_back(edge.node);
  GraphAllocation* allocation = make_allocation(stream.context->ordinal, bytes, *work.capture->graph, dependencies);
  if (!allocation) {
    result = cudaErrorMemoryAllocation;
    return true;
  }
  GraphNode* node = append(*work.capture, stream, cudaGraphNodeTypeMemAlloc);
  node->alloc = work.capture->graph->arena.make<AllocData>();
  cudaMemAllocNodeParams& params = node->alloc->params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, stream.context->ordinal};
  params.bytesize = bytes;
  params.dptr = *out = address_of(*allocation);
  node->alloc->allocation = allocation;
  return true;
}

bool capture_free(Stream& stream, void* pointer, cudaError_t& result) noexcept {
  const Work work(stream, result);
  if (work.turn == Turn::ordinary) return unsafe(result);
  if (work.turn == Turn::refused) return true;
  if (!pointer) return true;
  GraphAllocation* allocation = add_free(pointer, *work.capture->graph);
  if (!allocation) {
    result = cudaErrorInvalidValue;
    return true;
  }
  GraphNode* node = append(*work.capture, stream, cudaGraphNodeTypeMemFree);
  node->free = work.capture->graph->arena.make<FreeData>();
  *node->free = {pointer, allocation};
  return true;
}

bool capture_nothing(Stream& stream, cudaError_t& result) noexcept {
  return Work(stream, result).turn != Turn::ordinary;
}

bool capture_refuse(Stream& stream, cudaError_t& result, bool invalidate) noexcept {
  const Work work(stream, result);
  if (work.turn == Turn::ordinary) return false;
  if (work.capture) {
    if (invalidate) work.capture->invalidate();
    result = cudaErrorStreamCaptureUnsupported;
  }
  return true;
}

}  // namespace mr::model
