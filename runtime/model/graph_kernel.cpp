// Kernel nodes: parameters and attributes.
#include <model/graph.h>

#include <algorithm>
#include <cstring>

#include <model/device_graph.h>
#include <model/stream.h>

namespace mr::model {
namespace {

std::size_t arguments_offset(const MrKernel& kernel) noexcept {
  for (std::uint32_t i = 0; i < kernel.param_count; ++i)
    if (kernel.params[i].align > 16) return 128;
  return engine::KernelWork::header;
}

// Builds the block that runs. `packed` holds the arguments as the kernel's parameters lay them out, or `pointers` one
// pointer each.
engine::KernelWork* build_work(GraphArena& arena, engine::KernelWork* reuse, const MrKernel& kernel, Context& context,
                               dim3 grid_dim, dim3 block_dim, std::size_t shared, void* const* pointers,
                               const void* packed, bool cooperative, dim3 cluster) {
  const std::size_t offset = arguments_offset(kernel);
  const std::size_t args = (kernel.args_size + 3u) & ~3u;
  const std::size_t bytes = offset + args + (cluster.x ? 12 : 0);
  // Into memory first: the old block may hold what `packed` or `pointers` point to.
  alignas(64) char small[512];
  std::vector<char> large;
  char* at = small;
  if (bytes > sizeof small) {
    large.resize(bytes);
    at = large.data();
  }
  std::memset(at, 0, bytes);
  auto* work = new (at) engine::KernelWork{};
  if (packed) {
    std::memcpy(at + offset, packed, kernel.args_size);
  } else {
    for (std::uint32_t i = 0; i < kernel.param_count; ++i)
      std::memcpy(at + offset + kernel.params[i].offset, pointers[i], kernel.params[i].size);
  }
  work->bytes = static_cast<std::uint32_t>(bytes);
  work->args_offset = static_cast<std::uint32_t>(offset);
  simt::Grid& grid = work->grid;
  grid.kernel = &kernel;
  grid.args = at + offset;
  grid.grid[0] = grid_dim.x;
  grid.grid[1] = grid_dim.y;
  grid.grid[2] = grid_dim.z;
  grid.block[0] = block_dim.x;
  grid.block[1] = block_dim.y;
  grid.block[2] = block_dim.z;
  grid.dynamic_shared = static_cast<std::uint32_t>(shared);
  grid.flags = cooperative ? simt::grid_cooperative : 0u;
  grid.total_blocks = std::uint64_t{grid_dim.x} * grid_dim.y * grid_dim.z;
  grid.device = &context.device;
  if (cluster.x) {
    auto* extents = reinterpret_cast<std::uint32_t*>(at + offset + args);
    extents[0] = cluster.x;
    extents[1] = cluster.y;
    extents[2] = cluster.z;
    grid.cluster = extents;
  }
  void* block;
  if (reuse && reuse->bytes >= bytes && offset == engine::KernelWork::header) {
    block = reuse;
  } else if (offset == engine::KernelWork::header) {
    block = arena.allocate(bytes);
  } else {
    block = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(arena.allocate(bytes + 64)) + 63) &
                                    ~std::uintptr_t{63});
  }
  return copy_work(*work, block);
}

dim3 cluster_of(const engine::KernelWork& work) noexcept {
  return work.grid.cluster ? dim3{work.grid.cluster[0], work.grid.cluster[1], work.grid.cluster[2]} : dim3{0, 0, 0};
}

// The old way to hand over packed arguments: pairs of a key and a value, ended by 0 (1: the buffer, 2: its size).
const void* packed_arguments(void* const* extra, std::size_t& bytes) noexcept {
  const void* buffer = nullptr;
  bytes = 0;
  for (; extra && *extra; extra += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(*extra);
    if (key == 1)
      buffer = extra[1];
    else if (key == 2)
      bytes = *static_cast<const std::size_t*>(extra[1]);
    else
      break;
  }
  return buffer;
}

}  // namespace

cudaError_t error_with_function(cudaError_t error, const void* function) noexcept {
  if (error == cudaSuccess) [[likely]]
    return cudaSuccess;
  if (!function) return cudaErrorInvalidDeviceFunction;
  return find_function(function) ? error : cudaErrorInvalidResourceHandle;
}

cudaError_t make_kernel(KernelData& out, Context& context, GraphArena& arena, const cudaKernelNodeParams& params) {
  if (!params.func) return cudaErrorInvalidDeviceFunction;
  Function* function = find_function(params.func);
  if (!function) return cudaErrorInvalidResourceHandle;
  LaunchRequest request;
  request.function = function;
  request.grid = params.gridDim;
  request.block = params.blockDim;
  request.dynamic_shared = params.sharedMemBytes;
  const KernelAttributes attributes = out.work ? attributes_of(out) : KernelAttributes{};
  request.cooperative = attributes.cooperative != 0;
  request.cluster = attributes.cluster;
  const MrKernel* kernel = nullptr;
  if (const cudaError_t error = check_launch(request, context, Purpose::node, &kernel)) return error;
  std::size_t bytes = 0;
  const void* packed = nullptr;
  // An empty list beside the pointers says nothing.
  if (params.kernelParams && params.extra && *params.extra) return cudaErrorInvalidValue;
  if (!params.kernelParams) {
    packed = packed_arguments(params.extra, bytes);
    if (kernel->param_count && (!packed || bytes != kernel->args_size)) return cudaErrorInvalidValue;
  }
  out.work = build_work(arena, out.work, *kernel, context, params.gridDim, params.blockDim, params.sharedMemBytes,
                        params.kernelParams, packed, request.cooperative, request.cluster);
  out.function = function;
  out.pointers = nullptr;
  out.packed = packed != nullptr;
  return cudaSuccess;
}

cudaError_t make_kernel(KernelData& out, Context& context, GraphArena& arena, const LaunchRequest& request) {
  const MrKernel* kernel = nullptr;
  if (const cudaError_t error = check_launch(request, context, Purpose::node, &kernel)) return error;
  // Straight into the arena: the common case of a capture.
  const std::size_t offset = arguments_offset(*kernel);
  // The node shows the clusters that the launch has, whoever asked for them.
  const dim3 cluster = has_clusters(request, *kernel) ? model::cluster_of(request, *kernel) : dim3{0, 0, 0};
  if (offset == engine::KernelWork::header && !cluster.x) {
    const std::size_t bytes = offset + ((kernel->args_size + 3u) & ~3u);
    auto* work = new (arena.allocate(bytes)) engine::KernelWork;
    char* args = reinterpret_cast<char*>(work) + offset;
    for (std::uint32_t i = 0; i < kernel->param_count; ++i) {
      const MrParam& p = kernel->params[i];
      if (p.size == 8)
        std::memcpy(args + p.offset, request.arguments[i], 8);
      else if (p.size == 4)
        std::memcpy(args + p.offset, request.arguments[i], 4);
      else
        std::memcpy(args + p.offset, request.arguments[i], p.size);
    }
    work->bytes = static_cast<std::uint32_t>(bytes);
    work->args_offset = static_cast<std::uint32_t>(offset);
    simt::Grid& grid = work->grid;
    grid = {kernel,
            args,
            {request.grid.x, request.grid.y, request.grid.z},
            {request.block.x, request.block.y, request.block.z},
            static_cast<std::uint32_t>(request.dynamic_shared),
            request.cooperative ? simt::grid_cooperative : 0u,
            std::uint64_t{request.grid.x} * request.grid.y * request.grid.z,
            0,
            &context.device,
            nullptr,
            nullptr,
            0,
            nullptr};
    out.work = work;
  } else {
    out.work = build_work(arena, nullptr, *kernel, context, request.grid, request.block, request.dynamic_shared,
                          request.arguments, nullptr, request.cooperative, cluster);
  }
  out.function = request.function;
  out.attributes = nullptr;
  out.pointers = nullptr;
  out.packed = false;
  out.cooperative = request.cooperative;
  out.captured = true;
  const int priority = request.has_priority ? request.priority : 0;
  out.priority = static_cast<std::int8_t>(std::clamp(priority, greatest_priority, 0));
  out.asked_priority = as_asked(priority);
  return cudaSuccess;
}

KernelAttributes attributes_of(const KernelData& kernel) noexcept {
  if (kernel.attributes) return *kernel.attributes;
  KernelAttributes attributes;
  attributes.priority = kernel.priority;
  attributes.asked_priority = kernel.asked_priority;
  attributes.cooperative = kernel.cooperative ? 1 : 0;
  attributes.cluster = cluster_of(*kernel.work);
  // The default of launches has been looked up, that of nodes has not (recorded).
  if (kernel.captured) attributes.cluster_policy = cudaClusterSchedulingPolicySpread;
  return attributes;
}

void apply_attributes(KernelData& kernel, GraphArena& arena) {
  const KernelAttributes attributes = attributes_of(kernel);
  kernel.priority = static_cast<std::int8_t>(attributes.priority);
  kernel.asked_priority = as_asked(attributes.asked_priority);
  kernel.cooperative = attributes.cooperative != 0;
  const simt::Grid grid = kernel.work->grid;
  Context& context = context_of(*grid.device);
  kernel.work = build_work(arena, kernel.work, *grid.kernel, context, {grid.grid[0], grid.grid[1], grid.grid[2]},
                           {grid.block[0], grid.block[1], grid.block[2]}, grid.dynamic_shared, nullptr, grid.args,
                           kernel.cooperative, attributes.cluster);
  kernel.pointers = nullptr;
}

void get_kernel_params(KernelData& kernel, GraphArena& arena, cudaKernelNodeParams& out) {
  const simt::Grid& grid = kernel.work->grid;
  const MrKernel& k = *grid.kernel;
  void* const arguments = const_cast<void*>(grid.args);
  if (!kernel.pointers && kernel.packed) {  // as packed_arguments reads it, the size behind the list
    kernel.pointers = static_cast<void**>(arena.allocate(6 * sizeof(void*)));
    void** const list = kernel.pointers;
    const std::size_t bytes = k.args_size;
    std::memcpy(&list[5], &bytes, sizeof bytes);
    list[0] = reinterpret_cast<void*>(1);
    list[1] = arguments;
    list[2] = reinterpret_cast<void*>(2);
    list[3] = &list[5];
    list[4] = nullptr;
  } else if (!kernel.pointers && k.param_count) {
    kernel.pointers = static_cast<void**>(arena.allocate((k.param_count + 1) * sizeof(void*)));
    for (std::uint32_t i = 0; i < k.param_count; ++i)
      kernel.pointers[i] = static_cast<char*>(arguments) + k.params[i].offset;
    kernel.pointers[k.param_count] = nullptr;
  }
  out.func = const_cast<void*>(kernel.function->host);
  out.gridDim = {grid.grid[0], grid.grid[1], grid.grid[2]};
  out.blockDim = {grid.block[0], grid.block[1], grid.block[2]};
  out.sharedMemBytes = grid.dynamic_shared;
  out.kernelParams = kernel.packed ? nullptr : kernel.pointers;
  out.extra = kernel.packed ? kernel.pointers : nullptr;
}

cudaError_t get_kernel_attribute(const KernelData& kernel, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue* out) noexcept {
  const KernelAttributes attributes = attributes_of(kernel);
  cudaLaunchAttributeValue value{};
  switch (id) {
  case cudaLaunchAttributeAccessPolicyWindow: value.accessPolicyWindow = attributes.window; break;
  case cudaLaunchAttributeCooperative: value.cooperative = attributes.cooperative; break;
  case cudaLaunchAttributePriority: value.priority = attributes.priority; break;
  case cudaLaunchAttributeClusterDimension:
    value.clusterDim.x = attributes.cluster.x;
    value.clusterDim.y = attributes.cluster.y;
    value.clusterDim.z = attributes.cluster.z;
    break;
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    value.clusterSchedulingPolicyPreference = attributes.cluster_policy;
    break;
  case cudaLaunchAttributeMemSyncDomain: value.memSyncDomain = attributes.domain; break;
  case cudaLaunchAttributeMemSyncDomainMap: value.memSyncDomainMap = attributes.domain_map; break;
  case cudaLaunchAttributePreferredSharedMemoryCarveout: value.sharedMemCarveout = attributes.carveout; break;
  case cudaLaunchAttributeDeviceUpdatableKernelNode:
    value.deviceUpdatableKernelNode.deviceUpdatable = attributes.device_node ? 1 : 0;
    value.deviceUpdatableKernelNode.devNode = reinterpret_cast<cudaGraphDeviceNode_t>(attributes.device_node);
    break;
  default: return cudaErrorInvalidValue;
  }
  *out = value;
  return cudaSuccess;
}

namespace {

// What the attribute stands for is kept in the node; some of it shows in how the kernel runs.
cudaError_t store_attribute(GraphNode& node, KernelAttributes& attributes, cudaLaunchAttributeID id,
                            cudaLaunchAttributeValue& value) {
  const KernelData& kernel = *node.kernel;
  switch (id) {
  case cudaLaunchAttributeAccessPolicyWindow: {
    const cudaAccessPolicyWindow& window = value.accessPolicyWindow;
    constexpr std::size_t most = 128u << 20;  // accessPolicyMaxWindowSize
    if (!(window.hitRatio >= 0 && window.hitRatio <= 1) || window.num_bytes > most ||
        window.missProp == cudaAccessPropertyPersisting)
      return cudaErrorInvalidValue;
    attributes.window = window;
    return cudaSuccess;
  }
  case cudaLaunchAttributeCooperative: {
    if (value.cooperative) {
      LaunchRequest request;
      const simt::Grid& grid = kernel.work->grid;
      request.function = kernel.function;
      request.grid = {grid.grid[0], grid.grid[1], grid.grid[2]};
      request.block = {grid.block[0], grid.block[1], grid.block[2]};
      request.dynamic_shared = grid.dynamic_shared;
      request.cluster = attributes.cluster;
      request.cooperative = true;
      const MrKernel* ignored;
      if (const cudaError_t error = check_launch(request, *node.graph->context, Purpose::node, &ignored)) return error;
    }
    attributes.cooperative = value.cooperative;
    return cudaSuccess;
  }
  case cudaLaunchAttributePriority:
    attributes.priority = std::clamp(value.priority, greatest_priority, 0);
    attributes.asked_priority = value.priority;
    return cudaSuccess;
  case cudaLaunchAttributeClusterDimension: {
    const auto& c = value.clusterDim;
    const dim3 cluster{c.x, c.y, c.z};
    if (c.x || c.y || c.z) {
      LaunchRequest request;
      const simt::Grid& grid = kernel.work->grid;
      request.function = kernel.function;
      request.grid = {grid.grid[0], grid.grid[1], grid.grid[2]};
      request.block = {grid.block[0], grid.block[1], grid.block[2]};
      request.dynamic_shared = grid.dynamic_shared;
      request.cluster = cluster;
      const MrKernel* ignored;
      if (c.x == 0 || c.y == 0 || c.z == 0) return cudaErrorInvalidClusterSize;
      if (const cudaError_t error = check_launch(request, *node.graph->context, Purpose::node, &ignored)) return error;
    }
    attributes.cluster = cluster;
    return cudaSuccess;
  }
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    attributes.cluster_policy = value.clusterSchedulingPolicyPreference;
    return cudaSuccess;
  case cudaLaunchAttributeMemSyncDomain:
    if (value.memSyncDomain != cudaLaunchMemSyncDomainDefault && value.memSyncDomain != cudaLaunchMemSyncDomainRemote)
      return cudaErrorInvalidValue;
    attributes.domain = value.memSyncDomain;
    return cudaSuccess;
  case cudaLaunchAttributeMemSyncDomainMap:
    if (value.memSyncDomainMap.default_ > 3 || value.memSyncDomainMap.remote > 3)  // cudaDevAttrMemSyncDomainCount
      return cudaErrorInvalidValue;
    attributes.domain_map = value.memSyncDomainMap;
    return cudaSuccess;
  case cudaLaunchAttributePreferredSharedMemoryCarveout:
    if (value.sharedMemCarveout > 100) return cudaErrorInvalidValue;
    attributes.carveout = value.sharedMemCarveout;
    return cudaSuccess;
  case cudaLaunchAttributeNvlinkUtilCentricScheduling:
    attributes.nvlink = value.nvlinkUtilCentricScheduling;
    return cudaSuccess;
  case cudaLaunchAttributeDeviceUpdatableKernelNode:
    if (value.deviceUpdatableKernelNode.deviceUpdatable == 0)  // there is no way back
      return attributes.device_node ? cudaErrorNotSupported : cudaSuccess;
    if (value.deviceUpdatableKernelNode.deviceUpdatable != 1) return cudaErrorInvalidValue;
    if (const auto other = reinterpret_cast<DeviceNode*>(value.deviceUpdatableKernelNode.devNode);
        other && other != attributes.device_node)
      return cudaErrorInvalidValue;
    if (!attributes.device_node) {
      attributes.device_node = make_device_node();
      if (!attributes.device_node) return cudaErrorMemoryAllocation;
      count_special(*node.graph, 0, 0, 1);
    }
    value.deviceUpdatableKernelNode.devNode = reinterpret_cast<cudaGraphDeviceNode_t>(attributes.device_node);
    return cudaSuccess;
  default: return cudaErrorInvalidValue;
  }
}

void keep(GraphNode& node, const KernelAttributes& attributes) {
  if (!node.kernel->attributes) node.kernel->attributes = node.graph->arena.make<KernelAttributes>();
  *node.kernel->attributes = attributes;
  apply_attributes(*node.kernel, node.graph->arena);
}

}  // namespace

void keep_launch_attributes(GraphNode& node, const LaunchRequest& request, const StreamHints& hints) {
  KernelAttributes attributes = attributes_of(*node.kernel);
  attributes.window = hints.window;
  attributes.domain = hints.domain;
  attributes.domain_map = hints.domain_map;
  for (unsigned i = 0; i < request.attribute_count; ++i) {
    const cudaLaunchAttributeValue& value = request.attributes[i].val;
    switch (request.attributes[i].id) {
    case cudaLaunchAttributeAccessPolicyWindow: attributes.window = value.accessPolicyWindow; break;
    case cudaLaunchAttributeCooperative: attributes.cooperative = value.cooperative; break;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      attributes.cluster_policy = value.clusterSchedulingPolicyPreference == cudaClusterSchedulingPolicyDefault
                                      ? cudaClusterSchedulingPolicySpread
                                      : value.clusterSchedulingPolicyPreference;
      break;
    case cudaLaunchAttributeMemSyncDomain: attributes.domain = value.memSyncDomain; break;
    case cudaLaunchAttributeMemSyncDomainMap: attributes.domain_map = value.memSyncDomainMap; break;
    case cudaLaunchAttributePreferredSharedMemoryCarveout: attributes.carveout = value.sharedMemCarveout; break;
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: attributes.nvlink = value.nvlinkUtilCentricScheduling; break;
    default: break;  // shown by the grid, or by edges
    }
  }
  keep(node, attributes);
}

cudaError_t set_kernel_attribute(GraphNode& node, cudaLaunchAttributeID id, cudaLaunchAttributeValue& value) {
  KernelAttributes attributes = attributes_of(*node.kernel);
  if (const cudaError_t error = store_attribute(node, attributes, id, value)) return error;
  keep(node, attributes);
  return cudaSuccess;
}

cudaError_t copy_kernel_attributes(GraphNode& to, const GraphNode& from) {
  if (attributes_of(*to.kernel).device_node || attributes_of(*from.kernel).device_node) return cudaErrorNotSupported;
  if (&to != &from) keep(to, attributes_of(*from.kernel));
  return cudaSuccess;
}

}  // namespace mr::model
