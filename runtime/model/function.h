// Kernels and device variables as the host knows them: by the address of the host stub or shadow variable
// (__cudaRegister*).
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include <driver_types.h>
#include <simt/abi.h>

namespace mr::model {

class Module;  // one registered image (module.h)
inline constexpr int max_devices = 16;

// One kernel. Created at registration, never freed. The per-device part is filled when the image is loaded on that
// device.
struct Function {
  const void* host = nullptr;         // address of the host stub: the key
  const char* device_name = nullptr;  // mangled
  Module* module = nullptr;
  // Acquire: what the loader wrote before. Null until loaded on that device.
  std::atomic<const MrKernel*> kernel[max_devices] = {};
  // cudaFuncSetAttribute, on each device. One more than was set; 0: not set, so what
  // 48 KiB leave beside the static shared memory. Each attribute is read by itself; nothing is published by them.
  std::atomic<int> max_dynamic_shared[max_devices] = {};
  // The other attributes, on all devices.
  std::atomic<int> preferred_carveout{-1};
  std::atomic<int> cache_config{0};
  std::atomic<int> required_cluster[3] = {};
  std::atomic<bool> wants_cluster{false};    // any of them isn't 0
  std::atomic<int> non_portable_cluster{0};  // allowed unless 0; kept as it was set
  std::atomic<int> cluster_policy{0};

  // The share of a multiprocessor's shared memory that is preferred, in percent; -1: all. The older preference between
  // shared memory and cache counts where no share was asked for.
  int carveout() const noexcept {
    if (const int share = preferred_carveout.load(std::memory_order_relaxed); share >= 0) return share;
    switch (cache_config.load(std::memory_order_relaxed)) {
    case cudaFuncCachePreferL1: return 0;
    case cudaFuncCachePreferEqual: return 50;
    default: return -1;
    }
  }

  // The most dynamic shared memory that a launch on a device may ask for, in bytes.
  std::size_t dynamic_shared_limit(const MrKernel& on, int device) const noexcept {
    const int set = max_dynamic_shared[device].load(std::memory_order_relaxed);
    if (set > 0) return static_cast<std::size_t>(set - 1);
    return on.static_shared < 48 * 1024 ? 48 * 1024 - on.static_shared : 0;
  }
};

struct Variable {
  const void* host = nullptr;  // address of the shadow variable (or of the managed pointer)
  const char* device_name = nullptr;
  Module* module = nullptr;
  std::size_t size = 0;
  bool constant = false, managed = false;
};

// By host address; null if nothing is registered there. Lock-free, a few nanoseconds. A function is also found by its
// own address: what the API hands out as cudaKernel_t and cudaFunction_t.
Function* find_function(const void* host) noexcept;
Variable* find_variable(const void* host) noexcept;

// The kernel on a device, its image loaded now if need be. Null with *error set: no image, an image for another
// processor, ...
const MrKernel* kernel_on(Function& function, int device, cudaError_t* error) noexcept;
// Where a variable lies on a device, likewise.
void* variable_on(Variable& variable, int device, cudaError_t* error) noexcept;

}  // namespace mr::model
