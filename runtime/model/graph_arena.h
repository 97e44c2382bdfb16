// Memory of graphs' nodes and of what they hold.
//
// Blocks come from one range of addresses that stays readable once it was used: a handle of a node whose graph is gone,
// or of something else altogether, can be looked at and refused.
#pragma once
#include <cstddef>
#include <new>

namespace mr::model {

// Memory of one graph's nodes: blocks that are given back as a whole. Blocks are recycled between graphs. Not
// thread-safe (but for the blocks' pool).
class GraphArena {
 public:
  GraphArena() = default;
  ~GraphArena() { clear(); }
  GraphArena(const GraphArena&) = delete;
  GraphArena& operator=(const GraphArena&) = delete;
  // 16-byte aligned, uninitialised; valid until clear(). Never null. In the range unless larger than `largest_inside`.
  void* allocate(std::size_t bytes) {
    bytes = (bytes + 15) & ~std::size_t{15};
    if (static_cast<std::size_t>(end_ - at_) < bytes) return allocate_slowly(bytes);
    void* result = at_;
    at_ += bytes;
    return result;
  }
  template <class T> T* make() {
    static_assert(sizeof(T) <= largest_inside);
    return new (allocate(sizeof(T))) T;
  }
  void clear() noexcept;

  static constexpr std::size_t largest_inside = 1024;
  // Whether `bytes` bytes at `at` (aligned as allocate() does) can be read and lie in the range. Thread-safe.
  static bool in_range(const void* at, std::size_t bytes) noexcept;

 private:
  struct Block {
    Block* next;
    std::size_t bytes;
  };
  void* allocate_slowly(std::size_t bytes);
  char *at_ = nullptr, *end_ = nullptr;
  Block* blocks_ = nullptr;
  std::size_t taken_ = 0;
};

}  // namespace mr::model
