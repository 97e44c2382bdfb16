#include "shadow.h"

#include <algorithm>
#include <cstring>

namespace mr::check {
namespace {

// `later` stands for `earlier`, which is ordered before it.
bool covers(const Access& later, const Access& earlier) {
  if (earlier.kind & frees) return false;  // any use behind it is wrong
  if (later.kind & (writes | allocates) && !(later.kind & atomic)) return true;
  return (earlier.kind & ~later.kind) == 0 && (later.kind & atomic) == (earlier.kind & atomic) &&
         earlier.op->chain == later.op->chain;
}

}  // namespace

// ---- what an access makes of a history ----

void Shadow::begin(const Access& access) {
  constexpr std::size_t most_steps = 1024;
  if (access_ == access && steps_.size() < most_steps) return;
  for (const auto& [from, s] : steps_) {
    histories_.drop(from);
    histories_.drop(s.to);
  }
  steps_.clear();
  access_ = access;
}

const Shadow::Step& Shadow::step(Id from) {
  if (const auto known = steps_.find(from); known != steps_.end()) return known->second;
  constexpr std::size_t most_accesses = 256;
  Step made{0, {}};
  std::vector<Access> list;
  bool known = false;
  for (const Access& old : histories_.of(from)) {
    bool drop = false;
    if (access_.kind & allocates && old.op->number < access_.op->number) {
      drop = true;  // of the memory's life before
    } else if (old.op == access_.op) {
      if (old.kind == access_.kind && old.site == access_.site) known = true;
    } else {
      const bool before = Order::ordered(*old.op, *access_.op);
      // A use behind the end of the memory's life, or one that may be.
      const bool late = before && (old.kind & frees) && !(access_.kind & (allocates | frees));
      if (late || (conflict(old.kind, access_.kind) && !before && !Order::ordered(*access_.op, *old.op)))
        made.conflicts.push_back(old);
      drop = before && covers(access_, old);
    }
    if (!drop) list.push_back(old);
  }
  if (!known && list.size() < most_accesses) list.push_back(access_);
  made.to = histories_.intern(std::move(list));
  histories_.keep(from);
  return steps_.emplace(from, std::move(made)).first->second;
}

Shadow::Id Shadow::next(Id from, std::uintptr_t begin, std::uintptr_t end) {
  const Step& s = step(from);
  for (const Access& before : s.conflicts) {
    const auto it = std::find_if(found_.rbegin(), found_.rend(),
                                 [&](const Found& f) { return f.end == begin && f.before == before; });
    if (it != found_.rend())
      it->end = end;
    else
      found_.push_back({before, begin, end});
  }
  return s.to;
}

// ---- segments ----

// The segment with the byte, or the first one behind it.
Shadow::Map::iterator Shadow::find(std::uintptr_t at) {
  if (cursor_ != segments_.end() && cursor_->first <= at) {
    constexpr int steps = 3;
    auto it = cursor_;
    for (int i = 0; i < steps && it != segments_.end(); ++i, ++it)
      if (at < it->second.end) return it;
  }
  auto it = segments_.upper_bound(at);
  if (it != segments_.begin() && std::prev(it)->second.end > at) --it;
  return it;
}

// The part of the segment from `at` on becomes one of its own.
Shadow::Map::iterator Shadow::split(Map::iterator it, std::uintptr_t at) {
  if (at <= it->first || at >= it->second.end) return it;
  histories_.keep(it->second.history);
  const std::uintptr_t end = std::exchange(it->second.end, at);
  return segments_.emplace_hint(std::next(it), at, Segment{end, it->second.history, nullptr});
}

// The segment of this granule alone, with details.
Shadow::Map::iterator Shadow::detailed(std::uintptr_t base) {
  auto it = find(base);
  if (it != segments_.end() && it->first <= base && it->second.detail) return it;
  if (it == segments_.end() || it->first > base) {
    it = segments_.emplace_hint(it, base, Segment{base + granule, 0, nullptr});
  } else {
    it = split(it, base);
    split(it, base + granule);
  }
  auto detail = std::make_unique<Detail>();
  detail->palette.push_back({it->second.history, granule});  // with the segment's reference
  it->second.detail = std::move(detail);
  it->second.history = 0;
  ++details_;
  return it;
}

// Takes back details of which nothing is left, and makes one segment of two that have become the same.
Shadow::Map::iterator Shadow::settle(Map::iterator it) {
  Segment& segment = it->second;
  if (segment.detail)
    for (const Detail::Entry& entry : segment.detail->palette)
      if (entry.count == granule) {
        segment.history = entry.history;
        segment.detail = nullptr;
        --details_;
        break;
      }
  if (segment.detail) return it;
  if (segment.history == 0) {
    cursor_ = segments_.end();
    return segments_.erase(it);
  }
  if (it == segments_.begin()) return it;
  const auto previous = std::prev(it);
  if (previous->second.detail || previous->second.end != it->first || previous->second.history != segment.history)
    return it;
  previous->second.end = segment.end;
  histories_.drop(segment.history);
  if (cursor_ == it) cursor_ = previous;
  segments_.erase(it);
  return previous;
}

// Each run of one history in these bytes of the granule gets next(history, from, until).
template <class Next> void Shadow::change(Detail& detail, std::uintptr_t from, std::uintptr_t until, Next&& next) {
  auto& palette = detail.palette;
  for (std::uintptr_t at = from, stop; at < until; at = stop) {
    const std::uint8_t old = detail.index[at];
    for (stop = at + 1; stop < until && detail.index[stop] == old;) ++stop;
    const auto length = static_cast<std::uint32_t>(stop - at);
    const Id fresh = next(palette[old].history, at, stop);
    if (fresh == palette[old].history) continue;
    std::size_t to = 0;
    while (to < palette.size() && !(palette[to].count && palette[to].history == fresh)) ++to;
    if (to == palette.size()) {
      histories_.keep(fresh);
      if (palette[old].count == length) {
        histories_.drop(palette[old].history);
        palette[old].history = fresh;
        continue;
      }
      to = 0;
      while (to < palette.size() && palette[to].count) ++to;
      // There is room: with as many entries as bytes, each has one byte, which is what changes.
      if (to == palette.size()) palette.push_back({});
      palette[to] = {fresh, 0};
    }
    palette[to].count += length;
    palette[old].count -= length;
    if (palette[old].count == 0) histories_.drop(palette[old].history);
    std::memset(detail.index + at, static_cast<int>(to), length);
  }
}

// Of the segment, or in front of it, as far as it goes from `begin` on: whole granules. Returns what comes behind.
Shadow::Map::iterator Shadow::change_whole(Map::iterator it, std::uintptr_t begin, std::uintptr_t end) {
  if (it == segments_.end() || it->first > begin) {
    const std::uintptr_t until = it == segments_.end() ? end : std::min(end, it->first);
    const Id fresh = next(0, begin, until);
    histories_.keep(fresh);
    it = segments_.emplace_hint(it, begin, Segment{until, fresh, nullptr});
  } else if (it->second.detail) {
    const std::uintptr_t base = it->first;
    change(*it->second.detail, 0, granule,
           [&](Id from, std::uintptr_t a, std::uintptr_t b) { return next(from, base + a, base + b); });
  } else {
    it = split(it, begin);
    split(it, end);
    const Id fresh = next(it->second.history, it->first, it->second.end);
    histories_.keep(fresh);
    histories_.drop(std::exchange(it->second.history, fresh));
  }
  return settle(it);
}

void Shadow::touch(std::uintptr_t begin, std::uintptr_t end, const Access& access) {
  if (begin >= end) return;
  this->begin(access);
  found_.clear();
  while (begin < end) {
    const std::uintptr_t base = granule_of(begin), until = std::min(end, base + granule);
    if (until - begin < granule) {
      auto it = detailed(base);
      change(*it->second.detail, begin - base, until - base,
             [&](Id from, std::uintptr_t a, std::uintptr_t b) { return next(from, base + a, base + b); });
      cursor_ = settle(it);
      begin = until;
      continue;
    }
    const std::uintptr_t whole = granule_of(end);
    for (auto it = find(begin); begin < whole; ++it) {
      it = change_whole(it, begin, whole);
      begin = it->second.end;
      cursor_ = it;
    }
  }
  // By now nothing is half done: what is told may look at anything.
  for (const Found& f : std::exchange(found_, {})) on_conflict_(f.before, access, f.begin, f.end);
}

void Shadow::drop(const Segment& segment) {
  if (!segment.detail) return histories_.drop(segment.history);
  --details_;
  for (const Detail::Entry& entry : segment.detail->palette)
    if (entry.count) histories_.drop(entry.history);
}

void Shadow::forget(std::uintptr_t begin, std::uintptr_t end) {
  while (begin < end) {
    const std::uintptr_t base = granule_of(begin), until = std::min(end, base + granule);
    auto it = find(begin);
    if (it == segments_.end() || it->first >= end) return;
    if (it->first > begin) {
      begin = it->first;
    } else if (until - begin < granule) {
      it = detailed(base);
      change(*it->second.detail, begin - base, until - base, [](Id, std::uintptr_t, std::uintptr_t) { return Id{0}; });
      settle(it);
      begin = until;
    } else {
      it = split(it, begin);
      split(it, granule_of(end));
      begin = it->second.end;
      drop(it->second);
      cursor_ = segments_.end();
      segments_.erase(it);
    }
  }
}

std::size_t Shadow::ranges() const {
  std::size_t count = 0;
  std::uintptr_t end = 0;
  Id last = 0;
  const auto add = [&](std::uintptr_t from, std::uintptr_t until, Id history) {
    count += history != 0 && (from != end || history != last);
    end = until;
    last = history;
  };
  for (const auto& [begin, segment] : segments_) {
    if (!segment.detail) {
      add(begin, segment.end, segment.history);
      continue;
    }
    for (std::uintptr_t i = 0; i < granule; ++i)
      add(begin + i, begin + i + 1, segment.detail->palette[segment.detail->index[i]].history);
  }
  return count;
}

}  // namespace mr::check
