#include <simt/stacks.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include <simt/lock.h>
#include <simt/protect.h>

namespace mr::simt {
namespace {

constexpr int advice_guard_install = 102;  // MADV_GUARD_INSTALL, Linux 6.13: a guard that costs no mapping
constexpr std::uint32_t most_stacks = 1u << 17;
constexpr std::uint32_t stacks_per_step = 16;
constexpr std::uint32_t mappings_left_to_others = 16384;

Lock pool_lock;
// Stacks set aside by residents. Relaxed: a counter that publishes nothing.
std::atomic<std::uint32_t> reserved_stacks{0};

std::uint32_t most_mappings() noexcept {
  unsigned count = 65530;
  if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
    if (std::fscanf(file, "%u", &count) != 1) count = 65530;
    std::fclose(file);
  }
  return count;
}

// Tells valgrind, if it runs the process, that [begin, end) is a stack: a switch to it is not a huge frame. A client
// request: to a processor, rotations of a register by 128 bits in all and an exchange of a register with itself.
void tell_valgrind([[maybe_unused]] std::uint64_t begin, [[maybe_unused]] std::uint64_t end) noexcept {
#if !defined(MR_SIMT_ASAN) && !defined(MR_SIMT_TSAN)
  constexpr std::uint64_t stack_register = 0x1501;
  volatile std::uint64_t request[6] = {stack_register, begin, end - 1, 0, 0, 0};
  std::uint64_t result = 0;
  asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
               : "+d"(result)
               : "a"(&request[0])
               : "cc", "memory", "rdi");
#endif
}

}  // namespace

StackPool& StackPool::instance() noexcept {
  // Never destroyed: threads may still run kernels while the process exits.
  alignas(StackPool) static unsigned char storage[sizeof(StackPool)];
  static StackPool* const pool = new (storage) StackPool;
  return *pool;
}

StackPool::StackPool() noexcept {
  for (std::uint32_t count = most_stacks; count >= 256; count /= 2) {
    // 64 stacks' alignment, so that a stack's colour depends on its number alone.
    const std::uint64_t bytes = std::uint64_t{count} << MR_STACK_BITS, slack = MR_STACK_BYTES * 64;
    void* memory = mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    base_ = (reinterpret_cast<std::uint64_t>(memory) + slack - 1) & ~(slack - 1);
    size_ = bytes;
    capacity_ = count;
    break;
  }
  if (!capacity_) return;
  info_ = static_cast<Info*>(mmap(nullptr, sizeof(Info) * capacity_, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (info_ == MAP_FAILED) {
    capacity_ = 0;
    return;
  }
  // Try the cheap guard on the first stack; grow() makes that stack usable later.
  guard_by_advice_ = mprotect(reinterpret_cast<void*>(base_), MR_STACK_BYTES, PROT_READ | PROT_WRITE) == 0 &&
                     madvise(reinterpret_cast<void*>(base_ + stack_page_bytes), stack_guard_bytes,
                             advice_guard_install) == 0;
  if (!guard_by_advice_) {
    const std::uint32_t mappings = most_mappings();
    const std::uint32_t usable = mappings > 2 * mappings_left_to_others ? mappings - mappings_left_to_others
                                                                        : mappings / 2;
    capacity_ = std::min(capacity_, usable / 2 / stacks_per_step * stacks_per_step);
  }
}

bool StackPool::grow() noexcept {
  const std::uint32_t count = std::min(stacks_per_step, capacity_ - made_);
  if (count == 0) return false;
  const std::uint64_t begin = base_of(made_);
  if (!protect::make_lane_memory(reinterpret_cast<void*>(begin), count * MR_STACK_BYTES)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    void* guard = reinterpret_cast<void*>(begin + i * MR_STACK_BYTES + stack_page_bytes);
    const int failed = guard_by_advice_ ? madvise(guard, stack_guard_bytes, advice_guard_install)
                                        : mprotect(guard, stack_guard_bytes, PROT_NONE);
    if (failed) return false;
    tell_valgrind(begin + i * MR_STACK_BYTES, begin + (i + 1) * MR_STACK_BYTES);
  }
  for (std::uint32_t i = count; i-- > 0;) {
    const StackId id = made_ + i;
    info_[id].sanitized = SanitizedStack{};
#ifdef MR_SIMT_ASAN
    info_[id].sanitized.bottom = reinterpret_cast<void*>(base_of(id) + stack_page_bytes + stack_guard_bytes);
    info_[id].sanitized.size = MR_STACK_BYTES - stack_page_bytes - stack_guard_bytes;
#endif
#ifdef MR_SIMT_TSAN
    info_[id].sanitized.fiber = __tsan_create_fiber(0);
#endif
    info_[id].next = free_;
    free_ = id;
  }
  made_ += count;
  return true;
}

bool StackPool::reserve(std::uint32_t count) noexcept {
  std::uint32_t now = reserved_stacks.load(std::memory_order_relaxed);
  do {
    if (count > capacity_ || now > capacity_ - count) return false;
  } while (!reserved_stacks.compare_exchange_weak(now, now + count, std::memory_order_relaxed));
  return true;
}
void StackPool::unreserve(std::uint32_t count) noexcept { reserved_stacks.fetch_sub(count, std::memory_order_relaxed); }

StackId StackPool::take(std::uint32_t count, std::uint32_t& taken) noexcept {
  std::lock_guard guard(pool_lock);
  taken = 0;
  StackId first = no_stack, last = no_stack;
  while (taken < count && (free_ != no_stack || grow())) {
    const StackId id = free_;
    free_ = info_[id].next;
    info_[id].next = no_stack;
    if (last == no_stack)
      first = id;
    else
      info_[last].next = id;
    last = id;
    ++taken;
  }
  return first;
}

void StackPool::give(StackId first, StackId last) noexcept {
  std::lock_guard guard(pool_lock);
  info_[last].next = free_;
  free_ = first;
}

void StackPool::reset([[maybe_unused]] StackId id) noexcept {
#ifdef MR_SIMT_ASAN
  __asan_unpoison_memory_region(info_[id].sanitized.bottom, info_[id].sanitized.size);
  info_[id].sanitized.fake = nullptr;
#endif
#ifdef MR_SIMT_TSAN
  __tsan_destroy_fiber(info_[id].sanitized.fiber);
  info_[id].sanitized.fiber = __tsan_create_fiber(0);
#endif
}

bool StackCache::refill() noexcept {
  std::uint32_t taken = 0;
  const StackId first = StackPool::instance().take(stacks_per_step, taken);
  if (first == no_stack) return false;
  head_ = first;
  count_ = taken;
  return true;
}

void StackCache::trim(std::uint32_t keep) noexcept {
  if (count_ <= keep) return;
  StackPool& pool = StackPool::instance();
  StackId first = head_, last = head_;
  if (keep) {
    StackId kept = head_;
    for (std::uint32_t i = 1; i < keep; ++i) kept = pool.next(kept);
    first = last = pool.next(kept);
    pool.next(kept) = no_stack;
  } else {
    head_ = no_stack;
  }
  while (pool.next(last) != no_stack) last = pool.next(last);
  pool.give(first, last);
  count_ = keep;
}

}  // namespace mr::simt
