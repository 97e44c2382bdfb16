// Kernel launches in device code: what `k<<<...>>>(...)` becomes in the device pass
// (compiler/frontend/device_launches.h).
#pragma once
#pragma clang system_header

#include "../../driver_types.h"
#include "../../vector_types.h"
#include "services.h"

// The execution configuration. compiler/devicert/launch.cpp knows its layout.
struct __mr_launch_config {
  dim3 grid, block;
  unsigned long shared;
  cudaStream_t stream;
  __attribute__((host, device)) __mr_launch_config(dim3 g, dim3 b, unsigned long bytes = 0, cudaStream_t s = nullptr)
      : grid(g), block(b), shared(bytes), stream(s) {}
};

// Launches the kernel called just before, in the same full expression. The passes replace both calls.
extern "C" __attribute__((host, device, nothrow)) void __mr_launch_go(const __mr_launch_config& config);
