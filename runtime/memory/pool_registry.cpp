#include <memory/pool_registry.h>

#include <algorithm>

#include <memory/space.h>

namespace mr::memory {

std::atomic<int> pools_watching{0};

PoolRegistry& PoolRegistry::get() noexcept {
  static PoolRegistry* const instance = new PoolRegistry;
  return *instance;
}
void PoolRegistry::add(Pool* pool) {
  const std::lock_guard guard(lock_);
  pools_.push_back(pool);
}
bool PoolRegistry::contains(const Pool* pool) noexcept {
  const std::lock_guard guard(lock_);
  return std::find(pools_.begin(), pools_.end(), pool) != pools_.end() && !pool->destroyed_;
}
void PoolRegistry::visit_all(void (*visit)(Pool&, void*), void* data) {
  const std::lock_guard guard(lock_);
  for (Pool* pool : pools_)
    if (!pool->destroyed_) visit(*pool, data);
}
void PoolRegistry::synchronized(int device, void* queue) noexcept {
  const std::lock_guard guard(lock_);
  for (std::size_t i = 0; i < pools_.size();) {
    Pool* pool = pools_[i];
    if (pool->watching_ && (pool->options_.device == device || pool->options_.device < 0)) pool->synchronized(queue);
    if (pool->finished())
      remove(i);
    else
      ++i;
  }
}
bool PoolRegistry::reclaim(int device) noexcept {
  std::size_t before = 0, after = 0;
  const std::lock_guard guard(lock_);
  for (Pool* pool : pools_) {
    if (pool->options_.device != device || pool->imported_) continue;
    const std::lock_guard pool_guard(pool->lock_);
    before += pool->reserved_;
    pool->retire_done();
    pool->trim_locked(0);
    after += pool->reserved_;
  }
  return after < before;
}
void PoolRegistry::sweep(Pool* pool) noexcept {
  const std::lock_guard guard(lock_);
  for (std::size_t i = 0; i < pools_.size(); ++i)
    if (pools_[i] == pool && pool->finished()) {
      remove(i);
      return;
    }
}
void PoolRegistry::drop(int device) noexcept {
  const std::lock_guard guard(lock_);
  for (std::size_t i = 0; i < pools_.size();) {
    if (pools_[i]->options_.device == device)
      remove(i);
    else
      ++i;
  }
}

void PoolRegistry::remove(std::size_t at) noexcept {
  Pool* pool = pools_[at];
  pools_[at] = pools_.back();
  pools_.pop_back();
  if (pool->watching_) pools_watching.fetch_sub(1, std::memory_order_relaxed);
  space().ranges().erase(reinterpret_cast<std::uintptr_t>(pool->range_.base()));
  if (pool->budget_) pool->budget_->give(pool->reserved_);
  delete pool;
}

bool valid_pool(const Pool* pool) noexcept { return pool && PoolRegistry::get().contains(pool); }
bool reclaim(int device) noexcept {
  const bool pools = PoolRegistry::get().reclaim(device);
  Heap& heap = space().device_heap(device);
  const bool resting = heap.resting() != 0;
  heap.flush();
  return pools || resting;
}
void synchronized_slowly(int device, void* queue) noexcept { PoolRegistry::get().synchronized(device, queue); }
void each_pool(void (*visit)(Pool&, void*), void* data) { PoolRegistry::get().visit_all(visit, data); }
void drop_pools(int device) noexcept { PoolRegistry::get().drop(device); }

}  // namespace mr::memory
