// A place in device code that touches memory: what instrumented code (compiler/passes/check.h) tells the checker. Part
// of the contract between the two, as abi.h is.
#pragma once
#include <cstdint>

#include "abi.h"

// Raised with any change of what instrumented code and checker tell each other. Images say theirs in
// `__mr_check_version`; those of another version are refused when they are loaded to be checked.
inline constexpr std::uint32_t mr_check_version = 7;

// Images made with -mrcc-check are plain ones, with this bit in e_flags (which nothing else uses for this processor),
// and the instrumented image follows at the next multiple of the alignment (driver/checked_image.h,
// model/image_file.h).
inline constexpr std::uint32_t mr_instrumented_follows = 1;
inline constexpr std::uint64_t mr_instrumented_align = 16;

// A constant in the image.
struct MrCheckSite {
  const char* file;
  const char* function;  // mangled
  std::uint32_t line;
  std::uint32_t kind;  // MrCheckKind
};
enum MrCheckKind : std::uint32_t {
  MR_CHECK_READ = 1u << 0,
  MR_CHECK_WRITE = 1u << 1,
  MR_CHECK_ATOMIC = 1u << 2,   // with one of or both the above
  MR_CHECK_ORDERED = 1u << 3,  // an atomic operation that is a fence too
  MR_CHECK_VOLATILE = 1u << 4,
  // Events, without an address.
  MR_CHECK_FENCE = 1u << 8,
  MR_CHECK_GRID_SYNC = 1u << 9,
  MR_CHECK_PDL_WAIT = 1u << 10,
  MR_CHECK_PDL_TRIGGER = 1u << 11,
  MR_CHECK_CLUSTER_SYNC = 1u << 12,
  MR_CHECK_ELEMENT = 1u << 13,  // what is touched next is an element of a texture or surface
};

// Reads that device code notes by itself, as calls of the checker would cost more than the reads: of each word of some
// pages a block that read it, and whether others did. That is all that matters, as of three blocks that read a word two
// are in conflict with whatever fourth writes it. The checker makes a table for each launch that gathers and gives it
// to its threads (MrCheckThread). Pages are only added while the launch runs.
struct MrCheckReads {
  static constexpr unsigned page_bits = 20, place_bits = 12;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_bits, page_words = page_bytes / 4;
  // The number of a block that read the word, and one; 0: none did.
  struct Page {
    union {
      std::uint16_t narrow[page_words];
      std::uint32_t wide[page_words];
    };
    std::uint64_t several[page_words / 64];  // a bit a word: another block did, too. Small: most reads see no more
    const void* sites[page_words / 16];      // of the first read of a line's newest word
    bool has_several(std::uint64_t word) const noexcept {
      return __atomic_load_n(&several[word / 64], __ATOMIC_RELAXED) >> (word % 64) & 1;
    }
  };
  struct Place {
    std::uint64_t number;  // address >> page_bits, 0: free. Release, behind `page`.
    Page* page;
  };
  bool wide;    // the grid has more blocks than fit into the narrow words
  bool shared;  // several threads note here
  Place places[std::uint64_t{1} << place_bits];

  static std::uint64_t word_of(std::uint64_t address) noexcept { return (address & (page_bytes - 1)) / 4; }
  Place& place_of(std::uint64_t number) noexcept { return places[number & ((std::uint64_t{1} << place_bits) - 1)]; }
  Page* page_of(std::uint64_t address) noexcept {
    Place& place = place_of(address >> page_bits);
    return __atomic_load_n(&place.number, __ATOMIC_ACQUIRE) == address >> page_bits ? place.page : nullptr;
  }
  // True when another read of the word changes nothing.
  bool known(std::uint64_t address) noexcept {
    const Page* const page = page_of(address);
    return page && (address & 3) == 0 && page->has_several(word_of(address));
  }
  // Notes that the block reads these bytes; false when the checker has to be told.
  bool read(std::uint64_t address, std::uint64_t bytes, std::uint64_t block, const void* site) noexcept {
    Page* const page = page_of(address);
    const std::uint64_t first = word_of(address), count = bytes / 4;
    if (!page || ((address | bytes) & 3) != 0 || first + count > page_words) return false;
    for (std::uint64_t i = first; i < first + count; ++i) note(*page, i, block, site);
    return true;
  }
  // The same of a word of a page of this table.
  void note(Page& page, std::uint64_t word, std::uint64_t block, const void* site) noexcept {
    if (page.has_several(word)) return;
    if (wide)
      note(page, word, page.wide[word], static_cast<std::uint32_t>(block + 1), site);
    else
      note(page, word, page.narrow[word], static_cast<std::uint16_t>(block + 1), site);
  }

 private:
  // Relaxed: what threads note is looked at when the launch has ended.
  template <class Reader> void note(Page& page, std::uint64_t i, Reader& word, Reader me, const void* site) noexcept {
    if (!shared) {
      if (word == 0) {
        word = me;
        page.sites[i / 16] = site;
      } else if (word != me) {
        page.several[i / 64] |= std::uint64_t{1} << (i % 64);
      }
      return;
    }
    Reader known = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (known == 0 && __atomic_compare_exchange_n(&word, &known, me, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      __atomic_store_n(&page.sites[i / 16], site, __ATOMIC_RELAXED);
    else if (known != me)
      __atomic_fetch_or(&page.several[i / 64], std::uint64_t{1} << (i % 64), __ATOMIC_RELAXED);
  }
};
// What the thread that runs a block has seen of it, as far as device code adds to it by itself: accesses that go on
// where the last one of their statement ended, and uneven reads. The checker hangs it into the lane's page
// (mr_check_thread_of); it counts only while it names the block that is asked about, as in another launch it may be
// another thread's.
struct MrCheckThread {
  std::uint64_t grid_id;  // MrBlock::grid_id, 0: none
  std::uint32_t block_idx[3];
  MrCheckReads* reads;  // null: none
  struct Range {        // of one statement
    const MrCheckSite* site;
    std::uint64_t begin, end;   // begin == end: none
    std::uint64_t order;        // the checker's: in which ranges began,
    std::uint32_t misses, way;  // and how it treats it
  };
  static constexpr unsigned range_bits = 6;
  Range ranges[1u << range_bits];

  bool runs(const MrBlock& block) const noexcept {
    return grid_id != 0 && grid_id == block.grid_id && block_idx[0] == block.block_idx[0] &&
           block_idx[1] == block.block_idx[1] && block_idx[2] == block.block_idx[2];
  }
  void begin(const MrBlock& block) noexcept {
    grid_id = block.grid_id;
    for (int i = 0; i < 3; ++i) block_idx[i] = block.block_idx[i];
  }
  static std::uint64_t place_of(const MrCheckSite* site) noexcept {
    return reinterpret_cast<std::uint64_t>(site) / 8 * 0x9e3779b97f4a7c15u >> (64 - range_bits);
  }
  // True when the statement's range has the bytes now.
  bool goes_on(std::uint64_t from, std::uint64_t to, const MrCheckSite* site) noexcept {
    Range& range = ranges[place_of(site)];
    if (range.site != site) return false;
    if (from == range.end) {
      range.end = to;
      return true;
    }
    return from >= range.begin && to <= range.end;
  }
};
// At a line of the lane's page that nothing else uses (`lane` is MrLane's address).
inline MrCheckThread** mr_check_thread_of(std::uint64_t lane) noexcept {
  constexpr std::uint64_t distance = 512;  // MR_SITE_DISTANCE and the block's lines are elsewhere
  return reinterpret_cast<MrCheckThread**>(lane ^ distance);
}
inline std::uint64_t mr_check_block_number(const MrBlock& block) noexcept {
  return block.block_idx[0] + std::uint64_t{block.grid_dim[0]} *
                                  (block.block_idx[1] + std::uint64_t{block.grid_dim[1]} * block.block_idx[2]);
}
// Exported by the runtime: fresh pages that device code may use, whatever protects host memory. Null if there are
// none.
extern "C" void* millrace_shared_pages(std::uint64_t bytes) noexcept;
