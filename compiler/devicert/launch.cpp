// A kernel launch in device code, as the passes call it (passes/launches.cpp), the device's last error, and graphs.
#include <cstdint>

#include <simt/abi.h>

namespace {
MrLane* lane() {
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  return mr_lane_of(sp);
}
// The header's __mr_launch_config (millrace/device/launch.h).
struct Configuration {
  std::uint32_t grid_block[6];
  std::uint64_t shared, stream;
};
struct Pending {
  const void* kernel;
  void* const* arguments;
};
}  // namespace

extern "C" {
int __mr_device_launch(const void* kernel, const std::uint32_t* grid_block, void* const* arguments,
                       std::uint64_t shared_bytes, std::uint64_t stream);
int __mr_device_api(std::uint32_t function, const std::uint64_t* arguments);

void __mr_launch(const Pending* pending, const Configuration* c) {
  const int error = __mr_device_launch(pending->kernel, c->grid_block, pending->arguments, c->shared, c->stream);
  if (error) lane()->last_error = static_cast<std::uint32_t>(error);
}
int __mr_last_error(int clear) {
  const std::uint32_t error = lane()->last_error;
  if (clear) lane()->last_error = 0;
  return static_cast<int>(error);
}
// Under names of their own: they need no last error, and kernels that launch graphs or change their nodes are told
// apart (MR_KERNEL_GRAPHS, MR_KERNEL_UPDATES).
int __mr_graph_launch(std::uint32_t function, const std::uint64_t* arguments) {
  return __mr_device_api(function, arguments);
}
int __mr_graph_update(std::uint32_t function, const std::uint64_t* arguments) {
  return __mr_device_api(function, arguments);
}
int __mr_graph_api(std::uint32_t function, const std::uint64_t* arguments) {
  return __mr_device_api(function, arguments);
}
}
