// What kernels touch: instrumented device code tells each access; per thread the accesses of one block are gathered by
// 64-byte line, and handed over to the operation's record when the thread goes on to another block.
//
// In the end the record finds out which blocks of the grid are in conflict, and which bytes the grid touched as a
// whole.
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
// Bytes that one block touched in one way, by one statement.
struct BlockRun {
  std::uintptr_t begin, end;
  std::uint64_t block;
  const MrCheckSite* site;
  std::uint32_t phase;  // grid barriers that the block had passed
  std::uint8_t way;
  bool early;  // before the wait of a programmatic launch
};
// The same of the grid as a whole.
struct GridRun {
  std::uintptr_t begin, end;
  const MrCheckSite* site;
  unsigned way;
  bool early;
};

struct BlockConflict {
  const MrCheckSite *a, *b;
  std::uint32_t kind_a, kind_b;
  std::uintptr_t begin, end;
  std::uint64_t block_a, block_b;
};

// Of one launch. Under the checker's lock.
struct KernelRecord {
  std::vector<BlockRun> runs;
  std::vector<GridRun> grid_runs;  // made of the runs when the grid has ended
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
  // The grid has ended: finds the conflicts between its blocks, and makes grid_runs.
  void finish();
};

void device_access(std::uint32_t tag, const MrBlock& block, const void* address, std::uint64_t bytes, const void* site);
// All threads' accesses of the operation with this tag go to its record. Under the checker's lock.
void collect_device_accesses(std::uint32_t tag);

}  // namespace mr::check
