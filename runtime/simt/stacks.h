// Device stacks: MR_STACK_BYTES each, in one reservation, so that "is this a device stack?" is a compare.
//
// A stack, from its lowest address: one page with the MrLane (at a line that depends on the stack's number, see
// mr_lane_of), an inaccessible guard, the stack proper. Stack pointers begin at a line that depends on the number too.
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/abi.h>
#include <simt/context.h>

namespace mr::simt {

using StackId = std::uint32_t;
inline constexpr StackId no_stack = ~StackId{0};
inline constexpr std::uint64_t stack_page_bytes = 4096;
inline constexpr std::uint64_t stack_guard_bytes = 4 * stack_page_bytes;

// All stacks of the process. Thread-safe. Stacks are made on first use and never unmapped.
class StackPool {
 public:
  static StackPool& instance() noexcept;

  // How many stacks the process may have (address space, and the kernel's limit on mappings where guards cost one
  // each).
  std::uint32_t capacity() const noexcept { return capacity_; }
  // Sets `count` stacks aside for a resident. False when fewer are left.
  bool reserve(std::uint32_t count) noexcept;
  void unreserve(std::uint32_t count) noexcept;

  // Takes up to `count` free stacks, linked by next(); returns the first. `taken` is at least 1 unless memory is
  // exhausted (then no_stack).
  StackId take(std::uint32_t count, std::uint32_t& taken) noexcept;
  void give(StackId first, StackId last) noexcept;

  std::uint64_t base_of(StackId id) const noexcept { return base_ + (std::uint64_t{id} << MR_STACK_BITS); }
  // Where the stack pointer starts; 16-byte aligned.
  std::uint64_t top_of(StackId id) const noexcept {
    const std::uint64_t base = base_of(id);
    return base + MR_STACK_BYTES - 64 - (base >> MR_STACK_BITS & 63) * 64;
  }
  MrLane* lane_of(StackId id) const noexcept { return mr_lane_of(base_of(id)); }
  StackId id_of(std::uint64_t address) const noexcept {
    return static_cast<StackId>((address - base_) >> MR_STACK_BITS);
  }
  bool contains(std::uint64_t address) const noexcept { return address - base_ < size_; }
  // True for an address in the guard of the stack that holds `sp`.
  bool in_guard(std::uint64_t address) const noexcept {
    const std::uint64_t offset = address & (MR_STACK_BYTES - 1);
    return contains(address) && offset >= stack_page_bytes && offset < stack_page_bytes + stack_guard_bytes;
  }

  StackId& next(StackId id) noexcept { return info_[id].next; }
  SanitizedStack& sanitized(StackId id) noexcept { return info_[id].sanitized; }
  // The stack's frames were abandoned; makes it fit for new ones.
  void reset(StackId id) noexcept;

 private:
  struct Info {
    StackId next;
    [[no_unique_address]] SanitizedStack sanitized;
  };

  StackPool() noexcept;
  bool grow() noexcept;

  std::uint64_t base_ = 0, size_ = 0;
  Info* info_ = nullptr;
  std::uint32_t capacity_ = 0, made_ = 0;
  StackId free_ = no_stack;
  bool guard_by_advice_ = false;
};

// A thread's own few stacks. Last in, first out, so that the next lane finds a warm one.
class StackCache {
 public:
  StackId take() noexcept {
    if (head_ == no_stack && !refill()) return no_stack;
    const StackId id = head_;
    head_ = StackPool::instance().next(id);
    --count_;
    return id;
  }
  void give(StackId id) noexcept {
    StackPool::instance().next(id) = head_;
    head_ = id;
    ++count_;
  }
  // Returns stacks above `keep` to the pool.
  void trim(std::uint32_t keep) noexcept;

 private:
  bool refill() noexcept;
  StackId head_ = no_stack;
  std::uint32_t count_ = 0;
};

}  // namespace mr::simt
