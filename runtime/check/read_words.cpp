#include "read_words.h"

#include <dlfcn.h>
#include <sys/mman.h>

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

}  // namespace

std::unique_ptr<ReadWords> ReadWords::take(std::uint64_t blocks, bool shared) {
  if (blocks + 1 >= ~std::uint32_t{0}) return nullptr;
  MrCheckReads* table = make(spare().tables);
  if (!table) return nullptr;
  std::unique_ptr<ReadWords> made(new ReadWords);
  made->table_ = table;
  table->wide = blocks >= std::uint16_t(~0);
  table->shared = shared;
  return made;
}

ReadWords::~ReadWords() {
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

bool ReadWords::map(std::uintptr_t address) {
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

bool ReadWords::read(std::uintptr_t begin, std::uintptr_t end, std::uint64_t block, const MrCheckSite* site) {
  if (((begin | end) & 3) != 0 || begin >> MrCheckReads::page_bits != (end - 1) >> MrCheckReads::page_bits)
    return false;
  return (table_->page_of(begin) || map(begin)) && table_->read(begin, end - begin, block, site);
}

template <class Reader>
void ReadWords::cover(std::uint64_t number, const Reader* words, std::vector<LineRun>& out) const {
  constexpr unsigned of_line = 16, bits = 4;  // words of a line; a word's bits in its mask
  const MrCheckReads::Page& page = *table_->place_of(number).page;
  for (std::uint64_t line = 0; line < MrCheckReads::page_words / of_line; ++line, words += of_line) {
    std::uint64_t mask = 0;
    Reader any = 0;
    for (unsigned i = 0; i < of_line; ++i) any |= words[i];
    if (!any) continue;
    for (unsigned i = 0; i < of_line; ++i) mask |= std::uint64_t{words[i] ? 0xfu : 0u} << (bits * i);
    out.push_back({number * (MrCheckReads::page_words / of_line) + line, mask, 0,
                   static_cast<const MrCheckSite*>(page.sites[line])});
  }
}

void ReadWords::hand_over(BlockRuns& to) {
  std::vector<LineRun>& out = to.lines.emplace_back(LineRuns{0, way_read, false, {}, {}, this}).covers;
  for (const std::uint64_t number : numbers_) {
    const MrCheckReads::Page& page = *table_->place_of(number).page;
    table_->wide ? cover(number, page.wide, out) : cover(number, page.narrow, out);
  }
  constexpr std::size_t lines = MrCheckReads::page_bytes / 64, part = 8;
  dense_ = out.size() * part >= numbers_.size() * lines;
}

}  // namespace mr::check
