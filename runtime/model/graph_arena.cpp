#include <model/graph_arena.h>

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <engine/spinlock.h>

namespace mr::model {
namespace {

// A graph of one node takes a small block; one of a million takes few large ones (huge pages).
constexpr std::size_t small_block = 2048, usual_block = 64 * 1024, large_block = 2u << 20;
// This much of usual blocks is kept as it is: touching fresh pages would cost more than building a graph does.
constexpr std::size_t usual_kept = (16u << 20) / usual_block;
constexpr std::size_t range_bytes = std::size_t{64} << 30, range_least = std::size_t{1} << 30;
constexpr std::size_t opened_at_once = 16u << 20;
constexpr std::size_t page = 4096;

[[noreturn]] void out_of_memory() {
  std::fputs("millrace: out of memory for the nodes of graphs\n", stderr);
  std::abort();
}

// Blocks of the three sizes, from one range of addresses that is never unmapped. Thread-safe.
class BlockPool {
 public:
  static BlockPool& get() {
    static BlockPool* const instance = new BlockPool;
    return *instance;
  }

  void* take(std::size_t size) {
    std::scoped_lock hold(lock_);
    std::vector<char*>& free = list(size);
    if (!free.empty()) {
      char* block = free.back();
      free.pop_back();
      return block;
    }
    if (size == large_block) return fresh_large();
    // The pieces of the next larger block: low addresses first.
    const std::size_t larger = size == small_block ? usual_block : large_block;
    char* whole;
    if (size == small_block && !usual_.empty()) {
      whole = usual_.back();
      usual_.pop_back();
    } else if (size == small_block) {
      whole = cut(fresh_large(), large_block, usual_block, usual_);
    } else {
      whole = fresh_large();
    }
    return cut(whole, larger, size, free);
  }

  void give(void* memory, std::size_t size) noexcept {
    std::scoped_lock hold(lock_);
    std::vector<char*>& free = list(size);
    // Small ones are pieces of pages; of the others only some keep their memory.
    if (size == large_block || (size == usual_block && free.size() >= usual_kept)) madvise(memory, size, MADV_DONTNEED);
    free.push_back(static_cast<char*>(memory));
  }

  bool contains(const void* at, std::size_t bytes) const noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(base_);
    const std::size_t opened = opened_.load(std::memory_order_acquire);
    return offset < opened && bytes <= opened - offset;
  }

 private:
  BlockPool() {
    for (std::size_t bytes = range_bytes; bytes >= range_least; bytes /= 2) {
      void* at = mmap(nullptr, bytes + large_block, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) continue;
      const auto address = reinterpret_cast<std::uintptr_t>(at);
      base_ = static_cast<char*>(at) + (large_block - address % large_block) % large_block;
      size_ = bytes;
      return;
    }
    std::fputs("millrace: the address space for graphs could not be reserved; raise the limit on virtual memory "
               "(ulimit -v)\n",
               stderr);
    std::abort();
  }

  std::vector<char*>& list(std::size_t size) noexcept {
    return size == small_block ? small_ : size == usual_block ? usual_ : large_;
  }

  char* fresh_large() {
    if (used_ == size_) out_of_memory();
    const std::size_t opened = opened_.load(std::memory_order_relaxed);
    if (used_ == opened) {
      if (mprotect(base_ + opened, opened_at_once, PROT_READ | PROT_WRITE) != 0) out_of_memory();
      opened_.store(opened + opened_at_once, std::memory_order_release);
    }
    char* block = base_ + used_;
    used_ += large_block;
    return block;
  }

  // Returns the first piece; the rest go to `free`, the last one at the front.
  static char* cut(char* whole, std::size_t bytes, std::size_t piece, std::vector<char*>& free) {
    for (std::size_t offset = bytes - piece; offset; offset -= piece) free.push_back(whole + offset);
    return whole;
  }

  engine::SpinLock lock_;
  char* base_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
  // Bytes from the base that can be read and written, for good. Release: pairs with contains().
  std::atomic<std::size_t> opened_{0};
  std::vector<char*> small_, usual_, large_;
};
static_assert(range_least % opened_at_once == 0 && opened_at_once % large_block == 0 && usual_block % page == 0);

}  // namespace

bool GraphArena::in_range(const void* at, std::size_t bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % 16 == 0 && BlockPool::get().contains(at, bytes);
}

void* GraphArena::allocate_slowly(std::size_t bytes) {
  const std::size_t need = bytes + sizeof(Block);
  std::size_t size = usual_block;
  if (need > usual_block)
    size = taken_ >= large_block && need <= large_block / 4 ? large_block : need;  // or a block of its own
  else if (!blocks_ && need <= small_block)
    size = small_block;
  else if (taken_ >= large_block)
    size = large_block;
  const bool pooled = size == small_block || size == usual_block || size == large_block;
  auto* block = static_cast<Block*>(pooled ? BlockPool::get().take(size) : std::malloc(size));
  if (!block) out_of_memory();
  if (size == large_block) madvise(block, size, MADV_HUGEPAGE);
  taken_ += size;
  block->next = blocks_;
  block->bytes = size;
  blocks_ = block;
  char* begin = reinterpret_cast<char*>(block) + sizeof(Block);
  if (!pooled) return begin;  // the current block stays in use
  at_ = begin + bytes;
  end_ = reinterpret_cast<char*>(block) + size;
  return begin;
}

void GraphArena::clear() noexcept {
  while (blocks_) {
    Block* block = blocks_;
    blocks_ = block->next;
    const std::size_t size = block->bytes;
    if (size == small_block || size == usual_block || size == large_block)
      BlockPool::get().give(block, size);
    else
      std::free(block);
  }
  at_ = end_ = nullptr;
  taken_ = 0;
}

}  // namespace mr::model
