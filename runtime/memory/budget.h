// How much memory a device has, and how much of it is taken.
#pragma once
#include <atomic>
#include <cstddef>

namespace mr::memory {

// Shared by a device's heap and its pools, so that together they never exceed the device. Thread-safe. The counter
// orders nothing: memory is published by the locks of the allocators that take it.
class Budget {
 public:
  explicit Budget(std::size_t total) noexcept : total_(total) {}
  // False, and nothing taken, when fewer than `bytes` are left.
  bool take(std::size_t bytes) noexcept {
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > total_ || used > total_ - bytes) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t total() const noexcept { return total_; }
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t total_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace mr::memory
