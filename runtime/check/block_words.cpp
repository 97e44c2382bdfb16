#include "block_words.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace mr::check {
namespace {

// What launches have given back: empty tables and pages.
struct Spare {
  std::mutex mutex;
  std::vector<MrCheckReads*> tables;
  std::vector<MrCheckReads::Page*> pages;
};
Spare& spare() {
  static auto* const instance = new Spare;
  return *instance;
}

template <class T> T* make(std::vector<T*>& from) {
  {
    const std::scoped_lock hold(spare().mutex);
    if (!from.empty()) {
      T* taken = from.back();
      from.pop_back();
      return taken;
    }
  }
  static const auto pages = reinterpret_cast<decltype(&millrace_shared_pages)>(
      dlsym(RTLD_DEFAULT, "millrace_shared_pages"));
  if (pages) return static_cast<T*>(pages(sizeof(T)));
  void* const plain = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return plain == MAP_FAILED ? nullptr : static_cast<T*>(plain);
}

constexpr std::uint64_t page_lines = MrCheckReads::page_words / 16;  // of 16 words

}  // namespace

std::unique_ptr<BlockWords> BlockWords::take(std::uint64_t blocks, bool shared, bool of_bytes) {
  if (blocks + 1 >= ~std::uint32_t{0}) return nullptr;
  MrCheckReads* table = make(spare().tables);
  if (!table) return nullptr;
  std::unique_ptr<BlockWords> made(new BlockWords);
  made->table_ = table;
  made->scale_ = of_bytes ? 2 : 0;
  table->wide = !narrow(blocks);
  table->shared = shared;
  return made;
}

BlockWords::~BlockWords() {
  std::vector<MrCheckReads::Page*> pages;
  for (const std::uint64_t number : numbers_) {
    MrCheckReads::Place& place = table_->place_of(number);
    if (dense_) {
      std::memset(place.page->wide, 0, table_->wide ? sizeof place.page->wide : sizeof place.page->narrow);
      std::memset(place.page->several, 0, sizeof place.page->several);
    } else {
      madvise(place.page, sizeof *place.page, MADV_DONTNEED);
    }
    pages.push_back(place.page);
    place = {};
  }
  const std::scoped_lock hold(spare().mutex);
  spare().tables.push_back(table_);
  spare().pages.insert(spare().pages.end(), pages.begin(), pages.end());
}

bool BlockWords::map(std::uintptr_t address) {
  const std::scoped_lock hold(mutex_);
  const std::uint64_t number = address >> MrCheckReads::page_bits;
  MrCheckReads::Place& place = table_->place_of(number);
  if (place.number == number) return true;
  if (place.number) return false;
  place.page = make(spare().pages);
  if (!place.page) return false;
  numbers_.push_back(number);
  __atomic_store_n(&place.number, number, __ATOMIC_RELEASE);
  return true;
}

bool BlockWords::has(std::uintptr_t begin, std::uintptr_t end) {
  begin <<= scale_;
  end <<= scale_;
  if (((begin | end) & 3) != 0 || begin >> MrCheckReads::page_bits != (end - 1) >> MrCheckReads::page_bits)
    return false;
  return table_->page_of(begin) || map(begin);
}

bool BlockWords::note(std::uintptr_t begin, std::uintptr_t end, std::uint64_t block, const MrCheckSite* site) {
  return has(begin, end) && table_->read(begin << scale_, (end - begin) << scale_, block, site);
}

// True when the block is the second one there. Relaxed: what threads note is looked at when the launch has ended.
template <class Number>
bool BlockWords::note_number(MrCheckReads::Page& page, std::uint64_t word, Number& number, Number me,
                             const MrCheckSite* site) {
  Number known = __atomic_load_n(&number, __ATOMIC_RELAXED);
  if (known == 0 && __atomic_compare_exchange_n(&number, &known, me, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    __atomic_store_n(&page.sites[word / 16], site, __ATOMIC_RELAXED);
    return false;
  }
  const std::uint64_t bit = std::uint64_t{1} << (word % 64);
  return known != me && !(__atomic_fetch_or(&page.several[word / 64], bit, __ATOMIC_RELAXED) & bit);
}

bool BlockWords::note_unit(std::uintptr_t at, std::uint64_t block, const MrCheckSite* site) {
  MrCheckReads::Page& page = *table_->page_of(at << scale_);
  const std::uint64_t word = MrCheckReads::word_of(at << scale_);
  if (page.has_several(word)) return false;
  return table_->wide ? note_number(page, word, page.wide[word], static_cast<std::uint32_t>(block + 1), site)
                      : note_number(page, word, page.narrow[word], static_cast<std::uint16_t>(block + 1), site);
}

// The bytes of a line of memory that were touched; its units begin at this word of the page.
std::uint64_t BlockWords::mask_of(const MrCheckReads::Page& page, std::uint64_t word, std::uint64_t& of_site) const {
  const unsigned units = 16u << scale_, bits = 4u >> scale_;
  const auto whole = [&](const auto* numbers) {
    std::uint64_t mask = 0;
    std::remove_cvref_t<decltype(*numbers)> any = 0;
    for (unsigned i = 0; i < units; ++i) any |= numbers[i];
    if (!any) return mask;
    for (unsigned i = 0; i < units; ++i)
      if (numbers[i]) {
        mask |= ((std::uint64_t{1} << bits) - 1) << (bits * i);
        of_site = (word + i) / 16;
      }
    return mask;
  };
  return table_->wide ? whole(page.wide + word) : whole(page.narrow + word);
}

std::vector<Window> BlockWords::pages() const {
  std::vector<Window> all;
  for (const std::uint64_t number : numbers_) {
    const std::uintptr_t begin = (number << MrCheckReads::page_bits) >> scale_;
    all.push_back({begin, begin + (MrCheckReads::page_bytes >> scale_)});
  }
  return all;
}

void BlockWords::cover(const Window& window, std::vector<LineRun>& out) const {
  for (const Window& in : pages()) {
    const std::uintptr_t begin = std::max(in.begin, window.begin), end = std::min(in.end, window.end);
    if (begin >= end) continue;
    const MrCheckReads::Page& page = *table_->page_of(begin << scale_);
    for (std::uint64_t line = begin / 64; line < (end + 63) / 64; ++line) {
      std::uint64_t site = 0;
      if (const std::uint64_t mask = mask_of(page, MrCheckReads::word_of((line * 64) << scale_), site))
        out.push_back({line, mask, 0, static_cast<const MrCheckSite*>(page.sites[site])});
    }
  }
}

void BlockWords::hand_over(BlockRuns& to, Way way) {
  std::sort(numbers_.begin(), numbers_.end());
  lines_ = 0;
  std::uint64_t site = 0;
  for (const std::uint64_t number : numbers_) {
    const MrCheckReads::Page& page = *table_->place_of(number).page;
    const std::uint64_t of_line = std::uint64_t{16} << scale_;
    for (std::uint64_t word = 0; word < MrCheckReads::page_words; word += of_line)
      lines_ += mask_of(page, word, site) != 0;
  }
  constexpr std::uint64_t part = 8;
  dense_ = lines_ * part >= numbers_.size() * page_lines >> scale_;
  if (lines_) to.lines.emplace_back(LineRuns{0, static_cast<std::uint8_t>(way), false, {}, {}, this});
}

BlockWords* ChangedWords::of(Way way, bool bytes, std::uint64_t blocks) {
  std::atomic<BlockWords*>& table = tables_[way][bytes];
  if (BlockWords* known = table.load(std::memory_order_acquire)) return known;
  const std::scoped_lock hold(mutex_);
  auto& kept = kept_[way][bytes];
  if (!kept) kept = BlockWords::take(blocks, true, bytes);
  table.store(kept.get(), std::memory_order_release);
  return kept.get();
}

void ChangedWords::hand_over(BlockRuns& to) {
  for (unsigned way = 0; way < ways; ++way)
    for (const auto& table : kept_[way])
      if (table) table->hand_over(to, static_cast<Way>(way));
}

void ChangedWords::clear() {
  for (unsigned way = 0; way < ways; ++way)
    for (unsigned bytes = 0; bytes < 2; ++bytes) {
      tables_[way][bytes].store(nullptr, std::memory_order_relaxed);
      kept_[way][bytes] = nullptr;
    }
}

}  // namespace mr::check
