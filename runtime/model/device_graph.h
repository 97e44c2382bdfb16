// What device code does with graphs (programming guide, "Device Graph Launch", "Device-side graph node updates";
// engine/graph_launch.h for how launches run).
//
// An executable graph for device launches has a second image, made when it is uploaded (by cudaGraphUpload or a launch
// by the host): what device code launches. Changes by the host reach it with the next upload.
//
// Kernel nodes that device code may change have a DeviceNode, which knows the images that stand for the node now: what
// is set goes to all of them, and to that of the launch that the caller is part of, and stays. When the host changes
// such a node in the executable graph, all of it is as the host has it again.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <engine/graph_run.h>
#include <engine/spinlock.h>
#include <simt/grid.h>

namespace mr::model {

struct GraphExec;

// cudaGraphDeviceNode_t points to one. Type-stable (ObjectPool); belongs to the graph's node and the executable graph.
struct DeviceNode {
  std::atomic<bool> live{false};
  DeviceNode* next_free = nullptr;
  std::atomic<std::uint32_t> references{0};
  engine::SpinLock lock;  // guards what follows, and the step's parameters in both images
  enum Of : unsigned { host_launches, device_launches, count };
  engine::GraphImage* images[count] = {};
  std::uint32_t step = 0;  // in both
};

DeviceNode* make_device_node();
void retain_device_node(DeviceNode& node) noexcept;
void release_device_node(DeviceNode& node) noexcept;

// `image` stands for its updatable nodes from now on. It was copied from `original` (or from none), and gets what
// device code has set there meanwhile.
void stand_for_nodes(engine::GraphImage* image, const engine::GraphImage* original, DeviceNode::Of of) noexcept;
// No image does any more.
void forget_nodes(const engine::GraphImage* image, DeviceNode::Of of) noexcept;

// Keeps device code from changing steps of an image while it is copied.
class NodesLocked {
 public:
  explicit NodesLocked(const engine::GraphImage& image) noexcept;
  ~NodesLocked();
  NodesLocked(const NodesLocked&) = delete;
  NodesLocked& operator=(const NodesLocked&) = delete;

 private:
  const engine::GraphImage& image_;
};

// Device code's calls; each returns a cudaError_t. Thread-safe.
int launch_from_device(const simt::Grid& caller, GraphExec* exec, std::uint64_t stream) noexcept;
cudaGraphExec_t current_executable() noexcept;
// All of the updates before a wrong one are made.
int update_nodes(const cudaGraphKernelNodeUpdate* updates, std::size_t count) noexcept;

}  // namespace mr::model
