#include "collected_rows.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "block_words.h"

namespace mr::check {

CollectedRows::~CollectedRows() {
  for (Page* page : pages_) delete page;
  for (Page* page : spare_) delete page;
}

void CollectedRows::begin(std::uint64_t block, std::uint32_t phase, bool early) {
  block_ = block;
  phase_ = phase;
  early_ = early;
  log_.assign(1, block);
}

void CollectedRows::next_block(std::uint64_t block) {
  close_all();
  // What the block didn't touch isn't expected any more.
  if (matched_ != live_.size()) {
    std::erase_if(live_, [&](const Live& live) {
      if (live.last == now()) return false;
      retire(live);
      return true;
    });
  }
  cursor_ = matched_ = 0;
  wrote_ = false;
  block_ = block;
  log_.push_back(block);
}

void CollectedRows::replace(std::size_t index, std::uintptr_t from, std::uintptr_t to, Way way,
                            const MrCheckSite& site) {
  Range& range = here_->ranges[index];
  if (used_ >> index & 1) close(range);
  if (range.site != &site) range.misses = 0;
  range.site = &site;
  range.begin = from;
  range.end = to;
  range.way = way;
  range.order = order_++;
  used_ |= std::uint64_t{1} << index;
}

void CollectedRows::close(Range& range) {
  const std::uint64_t length = range.end - range.begin;
  const auto way = static_cast<Way>(range.way);
  if (way == way_read && wrote_ && own_write(range.begin, range.end)) return;
  wrote_ |= way == way_write;
  if (length >= small) {
    row({range.begin, length, 0, 1}, way, range.site);
  } else if (range.misses < max_misses) {
    range.misses = row({range.begin, length, 0, 1}, way, range.site) ? 0 : range.misses + 1;
  } else {
    scatter(range.begin, range.end, way, range.site);
  }
}

void CollectedRows::close_all() {
  // In the order in which they began, as the block before did.
  Range* open[1u << MrCheckThread::range_bits];
  std::size_t count = 0;
  for (std::uint64_t rest = used_; rest; rest &= rest - 1) open[count++] = &here_->ranges[std::countr_zero(rest)];
  std::sort(open, open + count, [](const Range* a, const Range* b) { return a->order < b->order; });
  for (std::size_t i = 0; i < count; ++i) {
    close(*open[i]);
    open[i]->begin = open[i]->end = 0;
  }
  used_ = 0;
}

void CollectedRows::retire(const Live& live) {
  if (!blocks_ || blocks_since_ != live.since || blocks_last_ != live.last) {
    auto set = std::make_shared<BlockSet>();
    for (std::uint32_t i = live.since; i <= live.last; ++i)
      if (!set->empty() && set->back().first + set->back().count == log_[i])
        ++set->back().count;
      else
        set->push_back({log_[i], 1});
    blocks_ = std::move(set);
    blocks_since_ = live.since;
    blocks_last_ = live.last;
  }
  done_.push_back({{live.begin, live.stride, live.length, live.pitch, live.rows, live.block, 1, live.site, phase_,
                    static_cast<std::uint8_t>(live.way), early_},
                   blocks_});
}

bool CollectedRows::row(const Shape& shape, Way way, const MrCheckSite* site) {
  const auto [begin, length, pitch, rows] = shape;
  const std::uint32_t turn = now();
  const Live fresh{begin, 0, length, pitch, rows, block_, site, turn, turn, way, false};
  for (std::size_t i = cursor_, end = std::min(live_.size(), cursor_ + window); i < end; ++i) {
    Live& live = live_[i];
    if (live.site != site || live.way != way || live.last == turn) continue;
    cursor_ = i + 1;
    ++matched_;
    // A thread's blocks come in ascending slices.
    if (live.length == length && live.rows == rows && live.pitch == pitch && live.block < block_ &&
        live.last + 1 == turn) {
      if (!live.known) {
        const auto blocks = static_cast<std::int64_t>(block_ - live.block);
        const auto bytes = static_cast<std::int64_t>(begin - live.begin);
        live.known = bytes % blocks == 0;
        live.stride = live.known ? bytes / blocks : 0;
      }
      if (live.known && begin == live.at(block_)) {
        live.last = turn;
        return true;
      }
    }
    retire(live);
    live = fresh;
    return false;
  }
  // Touched before by this block.
  for (std::size_t i = cursor_; i-- > 0 && i + window >= cursor_;) {
    const Live& live = live_[i];
    if (live.site == site && live.way == way && live.last == turn && live.rows == rows && live.pitch == pitch &&
        (rows == 1 ? begin >= live.at(block_) : begin == live.at(block_)) &&
        begin + length <= live.at(block_) + live.length)
      return true;
  }
  live_.push_back(fresh);
  ++matched_;
  // What the block before touched from here on is passed over.
  cursor_ = live_.size();
  return false;
}

// Of what the block has written itself it reads its own.
bool CollectedRows::own_write(std::uintptr_t begin, std::uintptr_t end) const {
  constexpr std::size_t near = 8;
  for (std::size_t i = cursor_; i-- > 0 && i + near >= cursor_;) {
    const Live& live = live_[i];
    if (live.way == way_write && live.last == now() && live.rows == 1 && begin >= live.at(block_) &&
        end <= live.at(block_) + live.length)
      return true;
  }
  return false;
}

void CollectedRows::scatter(std::uintptr_t begin, std::uintptr_t end, Way way, const MrCheckSite* site) {
  if (way == way_read && ((begin | end) & 3) == 0) {
    if (words_ && words_->note(begin, end, block_, site)) return;
    ++gathered_;
  } else if (changed_) {
    const bool bytes = ((begin | end) & 3) != 0;
    BlockWords* const words = changed_->of(way, bytes, grid_blocks_);
    if (words && words->note(begin, end, block_, site, [&](auto from, auto until) { second(from, until, way, site); }))
      return;
  } else {
    ++uneven_;
  }
  for (std::uint64_t line = begin / 64, last = (end - 1) / 64; line <= last; ++line) {
    const unsigned from = line == begin / 64 ? begin % 64 : 0;
    const unsigned to = line == last ? static_cast<unsigned>((end - 1) % 64 + 1) : 64;
    const std::uint64_t mask = (to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1) & ~std::uint64_t{0}
                                                                                                   << from;
    if (way == way_read && wrote_)
      if (const Line* written = find_line(line, way_write, false);
          written && written->block == block_ && (mask & ~written->mask) == 0)
        continue;
    Line& l = *find_line(line, way, true);
    std::uint64_t rest = mask & ~l.twice;
    if (!rest) continue;
    if (l.mask && l.block == block_) {
      rest &= ~l.mask;
      if (!rest) continue;
      l.mask |= rest;
    } else {
      if (l.mask) {
        lines_[way].push_back({line, l.mask, l.block, l.site});
        ++scattered_;
      }
      l.block = block_;
      l.mask = rest;
    }
    l.twice |= rest & l.once;
    l.once |= rest;
    l.site = site;
  }
}

// Two blocks touch these bytes, and the table knows the first: this one, too, for the first of such bytes.
void CollectedRows::second(std::uintptr_t begin, std::uintptr_t end, Way way, const MrCheckSite* site) {
  constexpr std::size_t most = std::size_t{1} << 10;
  if (seconds_[way].size() >= most) return;
  const std::uint64_t mask = ((std::uint64_t{1} << (end - begin)) - 1) << begin % 64;
  seconds_[way].push_back({begin / 64, mask, block_, site});
}

CollectedRows::Line* CollectedRows::find_line(std::uint64_t line, Way way, bool make) {
  const std::uint64_t key = (line / 64) * ways + way + 1;
  if (last_[way] && last_[way]->key == key) return &last_[way]->lines[line % 64];
  if (table_.size() < 2 * (pages_.size() + 1)) {
    if (!make && pages_.empty()) return nullptr;
    grow();
  }
  const std::size_t most = table_.size() - 1;
  std::size_t i = key * 0x9e3779b97f4a7c15u >> 32 & most;
  while (table_[i] && table_[i]->key != key) i = (i + 1) & most;
  if (!table_[i]) {
    if (!make) return nullptr;
    Page* page;
    if (spare_.empty()) {
      page = new Page;
    } else {
      page = spare_.back();
      spare_.pop_back();
      *page = {};
    }
    page->key = key;
    pages_.push_back(page);
    table_[i] = page;
  }
  last_[way] = table_[i];
  return &table_[i]->lines[line % 64];
}

void CollectedRows::grow() {
  table_.assign(std::max<std::size_t>(64, table_.size() * 2), nullptr);
  const std::size_t most = table_.size() - 1;
  for (Page* page : pages_) {
    std::size_t i = page->key * 0x9e3779b97f4a7c15u >> 32 & most;
    while (table_[i]) i = (i + 1) & most;
    table_[i] = page;
  }
}

LineRuns& CollectedRows::lines_of(BlockRuns& to, unsigned way) const {
  for (LineRuns& known : to.lines)
    if (known.phase == phase_ && known.way == way && known.early == early_) return known;
  return to.lines.emplace_back(LineRuns{phase_, static_cast<std::uint8_t>(way), early_, {}, {}, nullptr});
}

void CollectedRows::unload(BlockRuns& to) {
  to.families.insert(to.families.end(), std::make_move_iterator(done_.begin()), std::make_move_iterator(done_.end()));
  done_.clear();
  for (unsigned way = 0; way < ways; ++way) {
    if (lines_[way].empty()) continue;
    lines_of(to, way).parts.push_back(std::move(lines_[way]));
    lines_[way] = {};
  }
  scattered_ = 0;
}

void CollectedRows::hand_over(BlockRuns& to) {
  close_all();
  for (const Live& live : live_) retire(live);
  live_.clear();
  for (const Page* page : pages_) {
    const std::uint64_t first = (page->key - 1) / ways * 64;
    const unsigned way = static_cast<unsigned>((page->key - 1) % ways);
    auto& covers = lines_of(to, way).covers;
    for (unsigned i = 0; i < 64; ++i)
      if (const Line& l = page->lines[i]; l.once) {
        lines_[way].push_back({first + i, l.mask, l.block, l.site});
        covers.push_back({first + i, l.once, 0, l.site});
      }
  }
  for (unsigned way = 0; way < ways; ++way) {
    if (seconds_[way].empty()) continue;
    auto& covers = lines_of(to, way).covers;
    covers.insert(covers.end(), seconds_[way].begin(), seconds_[way].end());
    lines_[way].insert(lines_[way].end(), seconds_[way].begin(), seconds_[way].end());
  }
  unload(to);
}

void CollectedRows::clear() {
  for (Range& range : here_->ranges) range = {};
  used_ = 0;
  live_.clear();
  log_.assign(1, block_);
  blocks_ = nullptr;
  done_.clear();
  cursor_ = matched_ = 0;
  wrote_ = false;
  constexpr std::size_t max_spare = 4096;
  for (Page* page : pages_)
    if (spare_.size() < max_spare)
      spare_.push_back(page);
    else
      delete page;
  pages_.clear();
  std::fill(table_.begin(), table_.end(), nullptr);
  std::fill(std::begin(last_), std::end(last_), nullptr);
  for (auto& lines : lines_) lines.clear();
  for (auto& lines : seconds_) lines.clear();
  scattered_ = 0;
  gathered_ = 0;
}

}  // namespace mr::check
