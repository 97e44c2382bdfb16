// Who read which words of memory, for reads that don't advance evenly (gathers): a launch's table, in which device code
// notes most reads by itself (MrCheckReads). A table of its own for each thread would spare them lines that several
// write to, and was no faster: what a word costs is its first reads, of which there are more then.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "block_runs.h"
#include <simt/check_site.h>

namespace mr::check {

class ReadWords {
 public:
  // One for a launch of so many blocks, for one thread or `shared` by several; null when there is no memory for it.
  static std::unique_ptr<ReadWords> take(std::uint64_t blocks, bool shared);
  // Gives the memory to the next one.
  ~ReadWords();

  MrCheckReads& table() noexcept { return *table_; }
  // The block reads [begin, end). False when the table can't say that: it isn't whole words. Any thread.
  bool read(std::uintptr_t begin, std::uintptr_t end, std::uint64_t block, const MrCheckSite* site);

  // What was read becomes part of the grid's record, which refers to this object then. No block runs any more.
  void hand_over(BlockRuns& to);
  // What was read of [begin, end), by words: f(begin, end, block, site), and once more with unknown_block where
  // another block did, too.
  template <class F> void each_reader(std::uintptr_t begin, std::uintptr_t end, F&& f) const {
    for (std::uintptr_t at = begin & ~std::uintptr_t{3}; at < end; at += 4) {
      const MrCheckReads::Page* page = table_->page_of(at);
      if (!page) {
        at |= MrCheckReads::page_bytes - 4;  // the page's last word
        continue;
      }
      const std::uint64_t word = MrCheckReads::word_of(at);
      const std::uint64_t reader = table_->wide ? page->wide[word] : page->narrow[word];
      if (!reader) continue;
      const auto* site = static_cast<const MrCheckSite*>(page->sites[word / 16]);
      f(at, at + 4, reader - 1, site);
      if (page->has_several(word)) f(at, at + 4, unknown_block, site);
    }
  }

 private:
  ReadWords() = default;
  template <class Reader> void cover(std::uint64_t number, const Reader* words, std::vector<LineRun>& out) const;
  bool map(std::uintptr_t address);

  MrCheckReads* table_ = nullptr;
  std::mutex mutex_;                    // of mapping pages
  std::vector<std::uint64_t> numbers_;  // of the pages that are mapped
  bool dense_ = true;                   // much of them was used
};

}  // namespace mr::check
