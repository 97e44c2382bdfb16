// Type-stable storage of API objects (streams, events, ...): handles are checked by address, and slots are reused,
// never unmapped.
#pragma once
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include <engine/spinlock.h>

namespace mr::model {

// All objects of one kind, in one reserved range of addresses. A slot is constructed when it is first used and then
// reused: its members survive release() and take(), so that late readers (an operation that stamps a destroyed event)
// always touch a valid object. T must be default-constructible and have `std::atomic<bool> live`.
//
// There is one pool of each kind in the process, and it is never destroyed.
//
// Thread-safe. take/release: no atomic instruction for the slots that a thread has given back itself, of which it keeps
// some until it ends; else one short lock. valid: two compares and a load, inline; a handle that the API never gave
// out, or has destroyed, is told apart from a live one (unless its slot is in use again, as with any reuse of
// addresses).
template <class T> class ObjectPool {
 public:
  explicit ObjectPool(std::size_t capacity) : capacity_(capacity) {
    void* base = mmap(nullptr, capacity * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      std::fputs("millrace: the address space for API objects could not be reserved; raise the limit on virtual memory "
                 "(ulimit -v)\n",
                 stderr);
      std::abort();
    }
    base_ = static_cast<T*>(base);
    begin_.store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
    bytes_.store(capacity * sizeof(T), std::memory_order_relaxed);
  }
  // A slot that is not live yet; the caller sets it up and then stores live = true. Null when the capacity is used up.
  T* take() noexcept {
    Spares& mine = spares_;
    if (T* t = mine.first) {
      mine.first = *link(t);
      --mine.count;
      return t;
    }
    return take_shared();
  }
  // `t` must not be live any more.
  void release(T* t) noexcept {
    Spares& mine = spares_;
    if (mine.count >= mine.most) return release_shared(t);
    *link(t) = mine.first;
    mine.first = t;
    ++mine.count;
  }
  // Null isn't.
  static bool valid(const T* t) noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(t) - begin_.load(std::memory_order_relaxed);
    return offset < bytes_.load(std::memory_order_relaxed) && offset % sizeof(T) == 0 &&
           t->live.load(std::memory_order_acquire);
  }
  // Calls visit(T&) for every live object. Objects made meanwhile may be missed.
  template <class Visit> void for_each_live(Visit visit) {
    std::size_t used;
    {
      std::scoped_lock hold(lock_);
      used = used_;
    }
    for (std::size_t i = 0; i < used; ++i)
      if (base_[i].live.load(std::memory_order_acquire)) visit(base_[i]);
  }

 private:
  // Slots that this thread has given back. `most` is 0 before the first one, and when the thread ends.
  struct Spares {
    T* first = nullptr;
    unsigned count = 0, most = 0;
    bool ended = false;
  };
  static constexpr unsigned most_spares = 256;
  // Hands them to the others at the thread's end.
  struct Return {
    ObjectPool& pool;
    ~Return() {
      Spares& mine = spares_;
      mine.most = 0;
      mine.ended = true;
      while (T* t = mine.first) {
        mine.first = *link(t);
        pool.give(t);
      }
      mine.count = 0;
    }
  };

  [[gnu::noinline]] T* take_shared() noexcept {
    std::scoped_lock hold(lock_);
    if (T* t = free_) {
      free_ = *link(t);
      return t;
    }
    if (used_ == capacity_) return nullptr;
    return new (base_ + used_++) T;
  }
  [[gnu::noinline]] void release_shared(T* t) noexcept {
    Spares& mine = spares_;
    if (mine.most == 0 && !mine.ended) {
      thread_local const Return at_end{*this};
      mine.most = most_spares;
      return release(t);
    }
    give(t);
  }
  void give(T* t) noexcept {
    std::scoped_lock hold(lock_);
    *link(t) = free_;
    free_ = t;
  }

  static T** link(T* t) noexcept { return &t->next_free; }
  // The range of slots; no bytes before the pool is made. Relaxed: whoever was given a handle sees them.
  static inline constinit std::atomic<std::uintptr_t> begin_{0};
  static inline constinit std::atomic<std::size_t> bytes_{0};
  static inline constinit thread_local Spares spares_{};
  T* base_;
  const std::size_t capacity_;
  engine::SpinLock lock_;
  T* free_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace mr::model
