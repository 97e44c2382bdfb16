// All pools, for the calls that concern every one of them.
#pragma once
#include <mutex>
#include <vector>

#include <memory/pool.h>

namespace mr::memory {

// Thread-safe. A pool is in it from its creation until its last block is gone.
class PoolRegistry {
 public:
  static PoolRegistry& get() noexcept;
  void add(Pool* pool);
  // Is it a pool that has not been destroyed?
  bool contains(const Pool* pool) noexcept;
  void visit_all(void (*visit)(Pool&, void*), void* data);
  // Pool::synchronized for the pools of a device, and of the host.
  void synchronized(int device, void* queue) noexcept;
  // Gives back what a device's pools hold without using it; false if that was nothing.
  bool reclaim(int device) noexcept;
  // Removes the pool if it is finished.
  void sweep(Pool* pool) noexcept;
  // Removes all pools of a device (device reset).
  void drop(int device) noexcept;

 private:
  // Called with lock_ held and nobody using the pool.
  void remove(std::size_t at) noexcept;

  std::mutex lock_;
  std::vector<Pool*> pools_;
};

}  // namespace mr::memory
