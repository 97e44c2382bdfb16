#include <model/device_graph.h>

#include <cstring>
#include <mutex>

#include <engine/graph_launch.h>
#include <model/context.h>
#include <model/device.h>
#include <model/graph_exec.h>
#include <model/object_pool.h>

namespace mr::model {
namespace {

using engine::GraphImage;

ObjectPool<DeviceNode>& pool() {
  static ObjectPool<DeviceNode>* const instance = new ObjectPool<DeviceNode>(1u << 20);
  return *instance;
}

}  // namespace

DeviceNode* make_device_node() {
  DeviceNode* node = pool().take();
  if (!node) return nullptr;
  node->references.store(1, std::memory_order_relaxed);
  node->images[DeviceNode::host_launches] = node->images[DeviceNode::device_launches] = nullptr;
  node->live.store(true, std::memory_order_release);
  return node;
}
void retain_device_node(DeviceNode& node) noexcept { node.references.fetch_add(1, std::memory_order_relaxed); }
void release_device_node(DeviceNode& node) noexcept {
  if (node.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  node.live.store(false, std::memory_order_relaxed);
  pool().release(&node);
}

// All copies lock in the image's order, and device code locks one node at a time.
NodesLocked::NodesLocked(const GraphImage& image) noexcept : image_(image) {
  for (const GraphImage::Updatable& entry : image.updatable) static_cast<DeviceNode*>(entry.handle)->lock.lock();
}
NodesLocked::~NodesLocked() {
  for (const GraphImage::Updatable& entry : image_.updatable) static_cast<DeviceNode*>(entry.handle)->lock.unlock();
}

void stand_for_nodes(GraphImage* image, const GraphImage* original, DeviceNode::Of of) noexcept {
  for (const GraphImage::Updatable& entry : image->updatable) {
    auto& node = *static_cast<DeviceNode*>(entry.handle);
    const std::scoped_lock hold(node.lock);
    node.images[of] = image;
    node.step = entry.step;
    if (!original) continue;
    engine::Step& step = image->steps[entry.step];
    const engine::Step& from = original->steps[entry.step];
    copy_work(*static_cast<const engine::KernelWork*>(from.payload), step.payload);
    step.flags = from.flags;
  }
}
void forget_nodes(const GraphImage* image, DeviceNode::Of of) noexcept {
  for (const GraphImage::Updatable& entry : image->updatable) {
    auto& node = *static_cast<DeviceNode*>(entry.handle);
    const std::scoped_lock hold(node.lock);
    node.images[of] = nullptr;
  }
}

int launch_from_device(const simt::Grid& caller, GraphExec* exec, std::uint64_t stream) noexcept {
  engine::DeviceLaunch how;
  switch (stream) {  // cuda_device_runtime_api.h
  case std::uint64_t{1} << 56: how = engine::DeviceLaunch::tail; break;
  case std::uint64_t{2} << 56: how = engine::DeviceLaunch::fire_and_forget; break;
  case std::uint64_t{3} << 56: how = engine::DeviceLaunch::sibling; break;
  default: return cudaErrorInvalidValue;
  }
  GraphImage* const launcher = engine::current_image();
  if (!launcher || !valid_exec(exec)) return cudaErrorInvalidValue;
  if (!(exec->flags & cudaGraphInstantiateFlagDeviceLaunch)) {
    // Recorded: what the handle of a graph for the host's launches points to is nothing that a device may use.
    launcher->domain.on_fault(launcher->domain, simt::Fault::illegal_address, caller);
    return cudaErrorIllegalAddress;
  }
  GraphImage* image = nullptr;
  {
    const std::scoped_lock hold(exec->lock);
    image = exec->device_image;
    if (image) image->retain();
  }
  if (!image) return cudaErrorInvalidValue;  // not uploaded
  const bool launched = engine::launch_from_device(*launcher, *image, launcher->executable == exec, how);
  image->release();
  return launched ? cudaSuccess : cudaErrorInvalidValue;
}

cudaGraphExec_t current_executable() noexcept {
  const GraphImage* image = engine::current_image();
  return image ? static_cast<cudaGraphExec_t>(image->executable) : nullptr;
}

namespace {

bool legal(const cudaGraphKernelNodeUpdate& update, const engine::KernelWork& work) noexcept {
  switch (update.field) {
  case cudaGraphKernelNodeFieldEnabled: return true;
  case cudaGraphKernelNodeFieldParam: {
    const auto& param = update.updateData.param;
    const std::size_t all = work.grid.kernel->args_size;
    return param.pValue && param.offset <= all && param.size <= all - param.offset;
  }
  case cudaGraphKernelNodeFieldGridDim: {
    const unsigned extents[3] = {update.updateData.gridDim.x, update.updateData.gridDim.y, update.updateData.gridDim.z};
    for (int i = 0; i < 3; ++i)
      if (extents[i] == 0 || extents[i] > shape::max_grid[i] ||
          (work.grid.cluster && extents[i] % work.grid.cluster[i] != 0))
        return false;
    return true;
  }
  default: return false;
  }
}

// The caller holds the node's lock.
bool apply(GraphImage& image, const DeviceNode& node, const cudaGraphKernelNodeUpdate& update) noexcept {
  const GraphImage::Updatable* const entry = updatable_at(image, node.step);
  if (!entry || entry->handle != &node) return false;
  engine::Step& step = image.steps[entry->step];
  auto& work = *static_cast<engine::KernelWork*>(step.payload);
  if (!legal(update, work)) return false;
  switch (update.field) {
  case cudaGraphKernelNodeFieldEnabled:
    step.flags = static_cast<std::uint8_t>(update.updateData.isEnabled ? step.flags & ~engine::step_disabled
                                                                       : step.flags | engine::step_disabled);
    break;
  case cudaGraphKernelNodeFieldParam: {
    const auto& param = update.updateData.param;
    std::memcpy(reinterpret_cast<char*>(&work) + work.args_offset + param.offset, param.pValue, param.size);
    break;
  }
  default: {
    const auto& grid = update.updateData.gridDim;
    work.grid.grid[0] = grid.x;
    work.grid.grid[1] = grid.y;
    work.grid.grid[2] = grid.z;
    work.grid.total_blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  }
  }
  return true;
}

}  // namespace

int update_nodes(const cudaGraphKernelNodeUpdate* updates, std::size_t count) noexcept {
  if (!updates && count) return cudaErrorInvalidValue;
  GraphImage* const running = engine::current_image();
  for (std::size_t i = 0; i < count; ++i) {
    auto* node = reinterpret_cast<DeviceNode*>(updates[i].node);
    if (!node || !pool().valid(node)) return cudaErrorInvalidValue;
    const std::scoped_lock hold(node->lock);
    bool done = running && apply(*running, *node, updates[i]);
    for (GraphImage* image : node->images)
      if (image && image != running) done |= apply(*image, *node, updates[i]);
    if (!done) return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

}  // namespace mr::model
