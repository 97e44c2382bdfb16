// What one thread has seen of the blocks of one grid, on its way to the grid's record (device.h). One thread's.
#pragma once
#include <cstdint>
#include <vector>

#include "block_words.h"
#include <simt/check_site.h>

namespace mr::check {

class CollectedRows {
 public:
  // `here`: all zero, the thread's own.
  explicit CollectedRows(MrCheckThread* here) : here_(here) {}
  ~CollectedRows();
  CollectedRows(const CollectedRows&) = delete;
  CollectedRows& operator=(const CollectedRows&) = delete;

  // The next accesses are of this block, in its phase; `early`: before the wait of a programmatic launch.
  void begin(std::uint64_t block, std::uint32_t phase, bool early);
  // The same, of another block in the same phase.
  void next_block(std::uint64_t block);

  // The block touches [from, to), which is not empty.
  void touch(std::uintptr_t from, std::uintptr_t to, Way way, const MrCheckSite& site) {
    if (!here_->goes_on(from, to, &site)) replace(MrCheckThread::place_of(&site), from, to, way, site);
  }
  // The same of several rows, `pitch` apart.
  void touch_rows(std::uintptr_t begin, std::uint64_t length, std::uint64_t pitch, std::uint64_t rows, Way way,
                  const MrCheckSite& site) {
    wrote_ |= way == way_write;
    row({begin, length, pitch, rows}, way, &site);
  }
  // Enough has come together to be unloaded.
  bool full() const noexcept { return done_.size() + scattered_ > std::size_t{1} << 15; }
  void unload(BlockRuns& to);
  // All of it.
  void hand_over(BlockRuns& to);
  void clear();
  // Where uneven reads of whole words are noted; null: here.
  void set_words(BlockWords* words) noexcept {
    words_ = words;
    gathered_ = 0;
  }
  // There were so many of them that a table is worth its making.
  bool wants_words() const noexcept { return !words_ && gathered_ > 1024; }
  // The same of uneven changes of all sizes, and of uneven reads of parts of words; `blocks`: of the grid.
  void set_changed(ChangedWords* changed, std::uint64_t blocks) noexcept {
    changed_ = changed;
    grid_blocks_ = blocks;
    uneven_ = 0;
  }
  bool wants_changed() const noexcept { return !changed_ && uneven_ > 1024; }

 private:
  static constexpr unsigned window = 4;
  static constexpr unsigned small = 256;      // bytes
  static constexpr unsigned max_misses = 64;  // small ranges that don't go on from the block before, of a statement
  using Range = MrCheckThread::Range;         // still growing
  struct Line {
    std::uint64_t once = 0, twice = 0;  // bytes that one block, or at least two, are known to have touched
    std::uint64_t mask = 0, block = 0;  // by the newest block
    const MrCheckSite* site = nullptr;
  };
  struct Page {
    std::uint64_t key = 0;
    Line lines[64];
  };

  void replace(std::size_t index, std::uintptr_t from, std::uintptr_t to, Way way, const MrCheckSite& site);
  void close(Range& range);
  void close_all();
  // Returns false when it doesn't go on from the block before.
  struct Shape {
    std::uintptr_t begin;
    std::uint64_t length, pitch, rows;
  };
  bool row(const Shape& shape, Way way, const MrCheckSite* site);
  bool own_write(std::uintptr_t begin, std::uintptr_t end) const;
  void scatter(std::uintptr_t begin, std::uintptr_t end, Way way, const MrCheckSite* site);
  void second(std::uintptr_t begin, std::uintptr_t end, Way way, const MrCheckSite* site);
  Line* find_line(std::uint64_t line, Way way, bool make);
  void grow();
  LineRuns& lines_of(BlockRuns& to, unsigned way) const;

  std::uint64_t block_ = 0, order_ = 0;
  std::uint32_t phase_ = 0;
  bool early_ = false, wrote_ = false;
  std::uint64_t used_ = 0;  // ranges, a bit each
  MrCheckThread* const here_;
  // Of this block and the one before, in the order of their ranges; those from cursor_ on are still the latter's,
  // mostly.
  struct Live {
    std::uintptr_t begin = 0;  // of the first block
    std::int64_t stride = 0;   // for one block more
    std::uint64_t length = 0, pitch = 0, rows = 1, block = 0;
    const MrCheckSite* site = nullptr;
    std::uint32_t since = 0, last = 0;  // of the log: first and newest block
    Way way = way_read;
    bool known = false;  // the stride
    std::uintptr_t at(std::uint64_t b) const noexcept {
      return begin + static_cast<std::uintptr_t>(stride) * (b - block);
    }
  };
  void retire(const Live& live);
  std::vector<std::uint64_t> log_;  // the blocks that the thread has run; the newest is block_
  std::uint32_t now() const noexcept { return static_cast<std::uint32_t>(log_.size() - 1); }
  std::shared_ptr<const BlockSet> blocks_;  // the newest ones that were made of the log
  std::uint32_t blocks_since_ = 0, blocks_last_ = 0;
  std::vector<Live> live_;
  std::size_t cursor_ = 0, matched_ = 0;
  std::vector<Family> done_;
  std::vector<Page*> pages_, table_, spare_;
  Page* last_[ways] = {};
  std::vector<LineRun> lines_[ways], seconds_[ways];
  std::size_t scattered_ = 0;
  BlockWords* words_ = nullptr;
  ChangedWords* changed_ = nullptr;
  std::uint64_t gathered_ = 0, uneven_ = 0, grid_blocks_ = 0;
};

}  // namespace mr::check
