// What a virtual device is (properties, attributes) and how it is set up (limits, cache preference, peers).
//
// Every device is an H200-class GPU of compute capability 9.0: the sizes that programs compute with (warps, blocks,
// shared memory, registers) are those of the real device, so that they behave as there.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <driver_types.h>
#include <model/function.h>

namespace mr::model {

// Of one multiprocessor and of one block; what launch checks and the occupancy calculator use.
namespace shape {
inline constexpr int warp = 32;
inline constexpr int max_threads_per_block = 1024;
inline constexpr int max_threads_per_multiprocessor = 2048;
inline constexpr int max_blocks_per_multiprocessor = 32;
inline constexpr int registers_per_multiprocessor = 65536;
inline constexpr int max_block[3] = {1024, 1024, 64};
inline constexpr unsigned max_grid[3] = {2147483647, 65535, 65535};
inline constexpr std::size_t shared_per_block = 48 * 1024;
inline constexpr std::size_t shared_per_block_opt_in = 227 * 1024;
inline constexpr std::size_t shared_per_multiprocessor = 228 * 1024;
inline constexpr std::size_t shared_reserved_per_block = 1024;
inline constexpr int max_cluster = 8;  // blocks, portable
inline constexpr int max_cluster_non_portable = 16;
inline constexpr int copy_engines = 2;
}  // namespace shape

// As many as can be filled with resident lanes, whose stacks are limited (simt/stacks.h), and no more than the real
// device has: so that what the occupancy calculator promises can be launched cooperatively.
int multiprocessors() noexcept;

// cudaDeviceProp of a device: the same at every call. `device` must exist. Thread-safe.
const cudaDeviceProp& properties(int device) noexcept;
// cudaDeviceGetAttribute; false for an attribute that isn't one.
bool attribute(int device, cudaDeviceAttr which, int* value) noexcept;

// What can be set on a device. One per device, made with the process; cudaDeviceReset calls reset(). Thread-safe: each
// member by itself.
class DeviceSettings {
 public:
  // cudaDeviceGetLimit, cudaDeviceSetLimit. cudaErrorInvalidValue: not a limit, or (set) the buffer is in use already;
  // cudaErrorUnsupportedLimit: a limit that this kind of device doesn't have.
  cudaError_t limit(cudaLimit which, std::size_t* value) const noexcept;
  cudaError_t set_limit(cudaLimit which, std::size_t value, bool in_use) noexcept;

  cudaFuncCache cache_config() const noexcept { return cache_config_.load(std::memory_order_relaxed); }
  void set_cache_config(cudaFuncCache config) noexcept { cache_config_.store(config, std::memory_order_relaxed); }
  cudaSharedMemConfig bank_size() const noexcept { return bank_size_.load(std::memory_order_relaxed); }
  void set_bank_size(cudaSharedMemConfig config) noexcept { bank_size_.store(config, std::memory_order_relaxed); }

  // cudaDeviceSchedule* and kin, as cudaSetDeviceFlags gave them. A reset by the thread that set them forgets them, one
  // by another thread doesn't (as recorded).
  unsigned flags() const noexcept { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) noexcept;

  // Whether this device may access that one's memory.
  bool peer(int device) const noexcept { return peers_.load(std::memory_order_acquire) >> device & 1u; }
  // False when it was so already. Acquire/release: accesses behind the call see the change.
  bool set_peer(int device, bool enabled) noexcept {
    const std::uint32_t bit = 1u << device;
    const std::uint32_t before = enabled ? peers_.fetch_or(bit, std::memory_order_acq_rel)
                                         : peers_.fetch_and(~bit, std::memory_order_acq_rel);
    return ((before & bit) != 0) != enabled;
  }

  void reset() noexcept;

 private:
  static constexpr int limit_count = 10;
  static constexpr std::size_t initial[limit_count] = {
      1024,           // stack, bytes per thread
      132u << 16,     // printf buffer: 64 KiB for each multiprocessor of an H200
      8u << 20,       // malloc heap
      0,              // synchronisation depth of device code: no such limit
      2048,           // pending launches of device code
      64,             // L2 fetch granularity
      45u << 18,      // persisting L2: three of its sixteen parts
      232448,         // shared memory of a block, which can only be asked for
      0,          0,  // limits of shared contexts, which only the driver API names
  };
  std::atomic<std::size_t> limits_[limit_count] = {initial[0], initial[1], initial[2], initial[3], initial[4],
                                                   initial[5], initial[6], initial[7], initial[8], initial[9]};
  std::atomic<cudaFuncCache> cache_config_{cudaFuncCachePreferNone};
  std::atomic<cudaSharedMemConfig> bank_size_{cudaSharedMemBankSizeFourByte};
  std::atomic<unsigned> flags_{cudaDeviceScheduleAuto};
  std::atomic<const void*> flags_setter_{nullptr};  // tells threads apart; relaxed: only its own thread finds itself
  std::atomic<std::uint32_t> peers_{0};
  static_assert(max_devices <= 32);
};
DeviceSettings& settings(int device) noexcept;

}  // namespace mr::model
