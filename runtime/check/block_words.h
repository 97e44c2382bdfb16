// Which blocks of a grid touched which words of memory, for accesses that don't advance evenly: a table of one way of
// touching, with a number for each word. Gathers are mostly noted by device code itself (MrCheckReads); threads that
// read have tables of their own as long as block numbers are small, and share one for the rest. What blocks change is
// noted in tables that all threads share (ChangedWords).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "block_runs.h"
#include <simt/check_site.h>

namespace mr::check {

class BlockWords {
 public:
  // Blocks whose numbers are small: 2 bytes a word, otherwise 4.
  static bool narrow(std::uint64_t blocks) noexcept { return blocks < std::uint16_t(~0); }
  // One for a launch of so many blocks, for one thread or `shared` by several; of single bytes where words are too
  // coarse. Null when there is no memory for it.
  static std::unique_ptr<BlockWords> take(std::uint64_t blocks, bool shared, bool of_bytes = false);
  // Gives the memory to the next one.
  ~BlockWords();

  MrCheckReads& table() noexcept { return *table_; }
  // The block touches [begin, end). False when the table can't say that: it isn't whole words. Any thread, if shared.
  bool note(std::uintptr_t begin, std::uintptr_t end, std::uint64_t block, const MrCheckSite* site);
  // The same in a shared table; calls second(begin, end) for each unit that it is the second block to touch.
  template <class F>
  bool note(std::uintptr_t begin, std::uintptr_t end, std::uint64_t block, const MrCheckSite* site, F&& second) {
    if (!has(begin, end)) return false;
    for (std::uintptr_t at = begin; at < end; at += unit())
      if (note_unit(at, block, site)) second(at, at + unit());
    return true;
  }

  // What was touched becomes part of the grid's record, which refers to this object then. No block runs any more.
  void hand_over(BlockRuns& to, Way way);
  // All below is for then. Who touched what of [begin, end), by units: f(begin, end, block, site), and once more with
  // unknown_block where another block did, too.
  template <class F> void each_block(std::uintptr_t begin, std::uintptr_t end, F&& f) const {
    each_unit(begin, end, [&](std::uintptr_t at, const MrCheckReads::Page& page, std::uint64_t word) {
      const std::uint64_t number = table_->wide ? page.wide[word] : page.narrow[word];
      if (!number) return;
      const auto* site = static_cast<const MrCheckSite*>(page.sites[word / 16]);
      f(at, at + unit(), number - 1, site);
      if (page.has_several(word)) f(at, at + unit(), unknown_block, site);
    });
  }
  // What several blocks touched of [begin, end): f(begin, end).
  template <class F> void each_several(std::uintptr_t begin, std::uintptr_t end, F&& f) const {
    each_unit(begin, end, [&](std::uintptr_t at, const MrCheckReads::Page& page, std::uint64_t word) {
      if (page.has_several(word)) f(at, at + unit());
    });
  }
  // The lines of the window that were touched, sorted.
  void cover(const Window& window, std::vector<LineRun>& out) const;
  // How many lines were touched, and where they are, sorted.
  std::uint64_t lines() const noexcept { return lines_; }
  std::vector<Window> pages() const;

 private:
  BlockWords() = default;
  std::uintptr_t unit() const noexcept { return std::uintptr_t{4} >> scale_; }
  bool has(std::uintptr_t begin, std::uintptr_t end);
  bool note_unit(std::uintptr_t at, std::uint64_t block, const MrCheckSite* site);
  template <class Number>
  bool note_number(MrCheckReads::Page& page, std::uint64_t word, Number& number, Number me, const MrCheckSite* site);
  std::uint64_t mask_of(const MrCheckReads::Page& page, std::uint64_t word, std::uint64_t& of_site) const;
  bool map(std::uintptr_t address);
  template <class F> void each_unit(std::uintptr_t begin, std::uintptr_t end, F&& f) const {
    for (std::uintptr_t at = (begin << scale_) & ~std::uintptr_t{3}, until = end << scale_; at < until; at += 4) {
      const MrCheckReads::Page* page = table_->page_of(at);
      if (page)
        f(at >> scale_, *page, MrCheckReads::word_of(at));
      else
        at |= MrCheckReads::page_bytes - 4;  // the page's last word
    }
  }

  // Of bytes: addresses are four times what they are, so that each byte has a word.
  unsigned scale_ = 0;
  MrCheckReads* table_ = nullptr;
  std::mutex mutex_;                    // of mapping pages
  std::vector<std::uint64_t> numbers_;  // of the pages that are mapped
  std::uint64_t lines_ = 0;
  bool dense_ = true;  // much of them was used
};

// Tables for all that the blocks of a launch change unevenly, and for single bytes that they read. Any thread.
class ChangedWords {
 public:
  // Null when there is no memory for it.
  BlockWords* of(Way way, bool bytes, std::uint64_t blocks);
  void hand_over(BlockRuns& to);
  void clear();

 private:
  std::mutex mutex_;
  std::atomic<BlockWords*> tables_[ways][2] = {};  // release; what they point to is kept by:
  std::unique_ptr<BlockWords> kept_[ways][2];
};

}  // namespace mr::check
