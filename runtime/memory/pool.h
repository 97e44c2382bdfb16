// Stream-ordered memory (cudaMallocAsync and kin; CUDA Runtime API, "Stream Ordered Memory Allocator").
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <memory/budget.h>
#include <memory/heap.h>
#include <memory/lock.h>
#include <memory/reservation.h>
#include <memory/run_map.h>
#include <memory/unit_map.h>

namespace mr::memory {

// A point in the order of one stream: everything enqueued there up to `sequence`. A null queue stands for "long done".
// Queues are never freed and sequence numbers never go back, so a point keeps its meaning for ever.
struct StreamPoint {
  void* queue = nullptr;
  std::uint64_t sequence = 0;
};

// What pools ask of who runs the streams. Called with the pool's lock held: must not block or call back.
struct OrderTest {
  // Everything up to the point has completed.
  bool (*done)(StreamPoint point) = nullptr;
  // What will be enqueued into `queue` from now on runs after the point, by events that were waited for.
  bool (*before)(StreamPoint point, void* queue) = nullptr;
};
// Set once, before the first pool is used.
void set_order_test(const OrderTest& test) noexcept;

// Flags of a pool's address range in Space::ranges().
inline constexpr std::uint32_t pool_window = ~std::uint32_t{0};

// The name of the memory files of exportable pools in host memory.
inline constexpr const char* host_pool_file = "millrace-host";

struct PoolOptions {
  int device = 0;     // owner; for host memory -1
  bool host = false;  // memory of the host, reached by devices after set_access
  bool managed = false;
  int location = 0;           // of managed memory: the kind of its home (cudaMemLocationType), 0 for none
  bool exportable = false;    // cudaMemHandleTypePosixFileDescriptor
  unsigned handle_types = 0;  // as given, for the getters
  std::size_t max_size = 0;   // 0: as much as there is
  bool is_default = false;
};

// How another process names a block of an exported pool (cudaMemPoolPtrExportData: 64 bytes).
struct BlockName {
  std::uint64_t magic;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t unused[5];
};
static_assert(sizeof(BlockName) == 64);

// Memory in one window of addresses. Thread-safe: one lock per pool, held for a few dozen instructions.
//
// Memory freed in a stream is at once that stream's again, joined with what the stream freed next to it. Another stream
// gets it when the point of the free has completed (reuse_opportunistic), or is ordered before by events
// (reuse_follow), or - only when there is no other memory left - by waiting for it (reuse_internal). Memory is taken
// from and given back to the device in steps of 32 MiB. What of the window they back is kept by units of 64 KiB: where
// free memory lies in holes too small for a request, the holes lose their units to it before the pool grows much.
class Pool {
 public:
  static constexpr std::size_t step = std::size_t{32} << 20;

  // Null when address space or memory for the tables is refused.
  static Pool* create(const PoolOptions& options) noexcept;
  // A pool whose memory another process owns. Takes over the file descriptor. Null when it isn't such a pool's.
  static Pool* import(int fd, int device) noexcept;
  // No more allocations. The pool goes away once its last block is freed and all its frees have completed.
  void destroy() noexcept;

  struct Result {
    void* pointer = nullptr;  // null: out of memory
    StreamPoint wait{};       // not null: the allocating stream must wait for this point before it uses the memory
  };
  // Memory for work that will be enqueued into `queue` from now on.
  Result allocate(std::size_t bytes, void* queue, std::uint64_t site = 0) noexcept;
  // Frees the live block that starts at `pointer` as of `point`: work enqueued there later may reuse it. False if there
  // is none.
  bool free(void* pointer, StreamPoint point) noexcept;

  Block find(const void* pointer) const noexcept;

  // A host thread waited for everything in `queue` up to now (null: in all queues): what was freed there is nobody's,
  // and reserved memory above the release threshold goes back to the device.
  void synchronized(void* queue) noexcept;
  void trim(std::size_t keep) noexcept;

  struct Usage {
    std::uint64_t used, used_high, reserved, reserved_high;
  };
  Usage usage() const noexcept;
  void reset_used_high() noexcept;
  void reset_reserved_high() noexcept;

  // Plain attributes; read without the lock.
  Relaxed<std::uint64_t> release_threshold{0};
  Relaxed<int> reuse_follow{1}, reuse_opportunistic{1}, reuse_internal{1};
  // Which devices may use the memory, one bit each: read in the low half, read and write in the high half.
  Relaxed<std::uint64_t> access{0};

  const PoolOptions& options() const noexcept { return options_; }
  bool imported() const noexcept { return imported_; }
  // A new file descriptor for another process, or -1.
  int export_file() noexcept;
  bool name_block(const void* pointer, BlockName* name) const noexcept;
  void* import_block(const BlockName& name) const noexcept;
  // The number of its blocks that are live.
  std::uint64_t live_blocks() const noexcept;
  template <class Visit> void each_live(Visit&& visit) {
    lock_.lock();
    for (std::uint32_t index = runs_.first(); index != RunMap::none; index = runs_.after(index)) {
      const Block block = describe(index);
      if (block.live) visit(block);
    }
    lock_.unlock();
  }

 private:
  friend class PoolRegistry;
  static constexpr std::size_t unit = std::size_t{64} << 10, units_of_step = step / unit;
  static constexpr unsigned bins = 28;
  // What one stream has freed here and nobody has taken since: lists by size, newest first.
  struct Stream {
    void* queue = nullptr;
    std::uint32_t number = 0;  // in streams_; what the blocks' `owner` says
    std::uint64_t newest = 0;  // largest sequence number of its blocks
    std::uint32_t count = 0;
    std::uint32_t bits = 0;  // which lists have blocks
    std::uint32_t heads[bins] = {};
  };

  Pool() = default;
  Stream* stream_of(void* queue, bool make) noexcept;
  void hold(Stream& stream, std::uint32_t index) noexcept;
  void unhold(Stream& stream, std::uint32_t index) noexcept;
  std::uint32_t fit(const Stream& stream, std::uint32_t granules) const noexcept;
  std::uint32_t take_held(Stream& stream, std::uint32_t granules) noexcept;
  std::uint32_t take_following(void* queue, std::uint32_t granules) noexcept;
  std::uint32_t take_waiting(std::uint32_t granules, StreamPoint* wait) noexcept;
  std::uint32_t take_free(std::uint32_t granules) noexcept;
  struct Units {
    std::size_t from, to;
  };
  Units units_inside(const Span& span) const noexcept;
  std::size_t growth(std::size_t units) const noexcept;
  bool reserve(std::size_t units) noexcept;
  bool take_back(std::size_t units) noexcept;
  void cut(Stream& stream, std::uint32_t index, std::uint32_t granules) noexcept;
  void retire(Stream& stream) noexcept;
  void retire_done(Stream& stream) noexcept;
  void retire_done() noexcept;
  void trim_locked(std::size_t keep) noexcept;
  void watch() noexcept;
  bool finished() const noexcept { return destroyed_ && live_ == 0 && held_ == 0; }
  Block describe(std::uint32_t index) const noexcept;

  PoolOptions options_;
  bool imported_ = false;
  std::atomic<bool> exported_{false};  // other processes may have it
  Reservation range_;
  Budget* budget_ = nullptr;
  RunMap runs_;
  mutable Lock lock_;
  // ---- under lock_ ----
  UnitMap backed_;                                    // which units of the window have memory
  std::size_t spare_ = 0;                             // units reserved that aren't in backed_
  std::vector<std::unique_ptr<Stream>> streams_;      // number 0 is unused
  std::unordered_map<void*, std::uint32_t> numbers_;  // queue -> stream
  std::array<Stream*, 64> recent_{};                  // by a hash of the queue: those used last
  std::uint64_t used_ = 0, used_high_ = 0, reserved_ = 0, reserved_high_ = 0, live_ = 0;
  std::uint64_t held_ = 0;  // blocks in the streams' lists
  Relaxed<bool> destroyed_{false};
  // Set when there is something for synchronized() to do; see pools_watching.
  Relaxed<bool> watching_{false};
};

// Number of pools that a synchronisation might have to look at. Zero almost always; read relaxed by every wait of the
// host.
extern std::atomic<int> pools_watching;
// A host thread waited for all work in `queue` so far (null: of `device`).
void synchronized_slowly(int device, void* queue) noexcept;
inline void synchronized(int device, void* queue) noexcept {
  if (pools_watching.load(std::memory_order_relaxed) != 0) [[unlikely]]
    synchronized_slowly(device, queue);
}

// Is this a pool (and not destroyed)? Handles come from users.
bool valid_pool(const Pool* pool) noexcept;
// Gives back to a device what its pools and its heap hold without using it, when memory runs out. True if anything was
// given back.
bool reclaim(int device) noexcept;
// Calls visit for each pool that is not destroyed, under the registry's lock.
void each_pool(void (*visit)(Pool& pool, void* data), void* data);
// Forgets the pools of a device and their memory (device reset). No work may be using it.
void drop_pools(int device) noexcept;

}  // namespace mr::memory
