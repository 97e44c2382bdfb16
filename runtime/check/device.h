// What kernels touch: instrumented device code tells each access, or what a loop accesses as one range.
//
// Per thread, neighbouring accesses of one statement are gathered in a range, and the ranges of one block are compared
// with those of the block before: where they advance evenly they are one progression (block_runs.h). What is small and
// uneven goes to bitmaps. In the end the operation's record finds out which blocks of the grid are in conflict, and
// which bytes the grid touched as a whole.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "block_runs.h"
#include "block_words.h"

struct MrBlock;
struct MrCheckSite;

namespace mr::check {

struct Op;

struct BlockConflict {
  const MrCheckSite *a, *b;
  std::uint32_t kind_a, kind_b;
  std::uintptr_t begin, end;
  std::uint64_t block_a, block_b;
};

// Of one launch. Under the checker's lock.
struct KernelRecord {
  BlockRuns blocks;
  // Made when a thread's reads are many and uneven: one each for the first threads while they are small, and one for
  // all others.
  static constexpr unsigned own_words = 3;
  std::unique_ptr<BlockWords> words[own_words + 1];
  unsigned readers = 0;  // threads that have one
  ChangedWords changed;  // uneven changes, while blocks have no states
  // What the grid touched of each piece of memory, made when it has ended: [low, high), and whether it was looked at.
  struct Extent {
    std::uintptr_t memory, low, high;
    bool read;
  };
  std::vector<Extent> extents;
  std::vector<BlockConflict> conflicts;
  bool programmatic = false;  // launched so that it may begin early
  bool triggered = false;
  bool seen = false;          // instrumented code has run
  std::string name;           // mangled
  std::shared_ptr<Op> early;  // stands for what is done before the wait
  std::weak_ptr<Op> primary;
  struct BlockState {
    std::uint32_t phase = 0;
    // How many barriers of the grid and of the cluster each lane has come through, by its stack.
    std::unordered_map<std::uintptr_t, std::uint32_t> passed[2];
    bool late = false, fenced = false;
    // Of each address that the block synchronised by: how many releases it has seen.
    std::unordered_map<std::uintptr_t, std::size_t> seen;
  };
  std::unordered_map<std::uint64_t, BlockState> states;
  // Some block has a state. Relaxed: a block's own state is set by the thread that goes on with it, or before another
  // one takes it over.
  std::atomic<bool> has_states{false};
  // There is something to acquire. Relaxed: set under the lock before the block that could see it can see the flag.
  std::atomic<bool> has_releases{false};
  // Blocks that released at an address, in order.
  std::unordered_map<std::uintptr_t, std::vector<std::uint64_t>> releases;
  bool synchronised(std::uint64_t earlier, std::uint64_t block) const;
  std::uint32_t grid_dim[3] = {1, 1, 1}, cluster_dim[3] = {1, 1, 1};  // set at the first barrier of a cluster
  bool same_cluster(std::uint64_t a, std::uint64_t b) const noexcept;
  // The grid has ended: finds the conflicts between its blocks, and calls touched(GridRun) for what it touched as a
  // whole. `memory_of(address)`: where the piece of memory begins that it lies in.
  void finish(const std::function<std::uintptr_t(std::uintptr_t)>& memory_of,
              const std::function<void(const GridRun&)>& touched);

 private:
  void find_conflicts(const std::vector<BlockRun>& runs);
  void make_extents(const std::vector<Bundle>& bundles, const std::function<std::uintptr_t(std::uintptr_t)>& memory_of);
};

void device_access(std::uint32_t tag, const MrBlock& block, const void* address, std::uint64_t bytes, const void* site,
                   std::uint64_t pitch, std::uint64_t rows);
// All threads' accesses of the operation with this tag go to its record. Under the checker's lock.
void collect_device_accesses(std::uint32_t tag);

// The calling thread ends: another one goes on with what it has for kernels. Under the checker's lock.
void leave_device_accesses();

}  // namespace mr::check
