// What kernels touch: instrumented device code tells each access; per thread the accesses of one block are gathered by
// 64-byte line, and handed over to the operation's record when the thread goes on to another block.
//
// The record finds out at once whether two blocks of the grid are in conflict, and in the end which bytes the grid
// touched as a whole.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

struct MrBlock;
struct MrCheckSite;

namespace mr::check {

struct Op;

enum Way : unsigned { way_read, way_write, way_atomic, way_poll, ways };  // poll: reads atomically, or volatile
struct LineTouch {
  std::uint64_t bytes[ways] = {};  // a bit per byte
  const MrCheckSite* site[ways] = {};
};
// Kind of an access made in this way.
std::uint32_t kind_of(unsigned way) noexcept;
// Bytes that two blocks touch in ways that need an order; the ways are the answer's.
struct WayConflict {
  std::uint64_t bytes = 0;
  unsigned a = 0, b = 0;
};
WayConflict conflict_of(const LineTouch& a, const LineTouch& b) noexcept;

struct BlockTouch {
  std::uint64_t block = 0;
  std::uint32_t phase = 0;  // grid barriers that the block has passed
  LineTouch touch;
};

struct KernelLine {
  LineTouch all;
  std::vector<BlockTouch> blocks;  // bytes that one block alone has touched so far, in the newest phase
  std::uint32_t phase = 0;
  std::uint64_t shared_reads = 0;  // by several blocks
  const MrCheckSite* shared_reader = nullptr;
};

struct BlockConflict {
  const MrCheckSite *a, *b;
  std::uint32_t kind_a, kind_b;
  std::uintptr_t begin, end;
  std::uint64_t block_a, block_b;
};

// Of one launch. Under the checker's lock.
struct KernelRecord {
  std::unordered_map<std::uint64_t, KernelLine> lines, early_lines;  // early: before the wait of a programmatic launch
  std::vector<BlockConflict> conflicts;
  bool programmatic = false;  // launched so that it may begin early
  bool triggered = false;
  bool seen = false;          // instrumented code has run
  std::shared_ptr<Op> early;  // stands for what is done before the wait
  std::weak_ptr<Op> primary;
  struct BlockState {
    std::uint32_t phase = 0;
    bool late = false, fenced = false;
    // Of each address that the block synchronised by: how many releases it has seen.
    std::unordered_map<std::uintptr_t, std::size_t> seen;
  };
  std::unordered_map<std::uint64_t, BlockState> states;
  // There is something to acquire. Relaxed: set under the lock before the block that could see it can see the flag.
  std::atomic<bool> has_releases{false};
  // Blocks that released at an address, in order.
  std::unordered_map<std::uintptr_t, std::vector<std::uint64_t>> releases;
  bool synchronised(std::uint64_t earlier, std::uint64_t block) const;
};

void device_access(std::uint32_t tag, const MrBlock& block, const void* address, std::uint64_t bytes, const void* site);
// All threads' accesses of the operation with this tag go to its record. Under the checker's lock.
void collect_device_accesses(std::uint32_t tag);

}  // namespace mr::check
