// Hand-written kernels for tests of graphs, registered as the program's own.
#pragma once
#include <cstdint>
#include <cstdlib>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <model/function.h>
#include <model/module.h>
#include <simt/grid.h>

namespace graph_test {

#define OK(call) ASSERT_EQ((call), cudaSuccess) << #call

// Every kernel here has one parameter: a block of `Bytes` bytes.
template <std::size_t Bytes> const MrParam* one_param() {
  static const MrParam param{0, Bytes, 8};
  return &param;
}

// Makes a kernel known under `key` (any address of its own), as registration of an image would.
template <std::size_t Bytes>
void register_kernel(const void* key, const char* name, MrRunBlocks blocks, MrRunLane lane, std::uint32_t flags = 0) {
  static mr::model::Module* const module = new mr::model::Module(nullptr);
  auto* kernel = new MrKernel{};
  kernel->name = name;
  kernel->run_blocks = blocks;
  kernel->run_lane = lane;
  kernel->params = one_param<Bytes>();
  kernel->param_count = 1;
  kernel->args_size = Bytes;
  kernel->flags = flags;
  auto* function = new mr::model::Function;
  function->host = key;
  function->device_name = name;
  function->module = module;
  for (auto& k : function->kernel) k.store(kernel, std::memory_order_release);
  module->add(function);
}

}  // namespace graph_test
