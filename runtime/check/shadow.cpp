#include "shadow.h"

namespace mr::check {
namespace {

bool same(const std::vector<Access>& a, const std::vector<Access>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].op != b[i].op || a[i].kind != b[i].kind || a[i].site != b[i].site || a[i].where != b[i].where)
      return false;
  return true;
}

// `later` stands for `earlier`, which is ordered before it.
bool covers(const Access& later, const Access& earlier) {
  if (earlier.kind & frees) return false;  // any use behind it is wrong
  if (later.kind & (writes | allocates) && !(later.kind & atomic)) return true;
  return (earlier.kind & ~later.kind) == 0 && (later.kind & atomic) == (earlier.kind & atomic) &&
         earlier.op->chain == later.op->chain;
}

}  // namespace

Shadow::Map::iterator Shadow::split(std::uintptr_t at) {
  auto it = ranges_.upper_bound(at);
  if (it == ranges_.begin()) return it;
  --it;
  if (it->first == at) return it;
  if (it->second.end <= at) return std::next(it);
  Range rest{it->second.end, it->second.accesses};
  it->second.end = at;
  return ranges_.emplace_hint(std::next(it), at, std::move(rest));
}

void Shadow::add(std::uintptr_t begin, Range& range, const Access& access) {
  auto& list = range.accesses;
  bool known = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Access& old = list[i];
    bool drop = false;
    if (access.kind & allocates && old.op->number < access.op->number) {
      drop = true;  // of the memory's life before
    } else if (old.op == access.op) {
      if (old.kind == access.kind && old.site == access.site) known = true;
    } else {
      const bool before = Order::ordered(*old.op, *access.op);
      // A use behind the end of the memory's life, or one that may be.
      const bool late = before && (old.kind & frees) && !(access.kind & (allocates | frees));
      if (late || (conflict(old.kind, access.kind) && !before && !Order::ordered(*access.op, *old.op)))
        on_conflict_(old, access, begin, range.end);
      drop = before && covers(access, old);
    }
    if (!drop) {
      if (kept != i) list[kept] = std::move(list[i]);
      ++kept;
    }
  }
  list.resize(kept);
  if (!known && list.size() < 256) list.push_back(access);
}

void Shadow::touch(std::uintptr_t begin, std::uintptr_t end, const Access& access) {
  if (begin >= end) return;
  auto it = split(begin);
  split(end);
  it = ranges_.lower_bound(begin);
  while (begin < end) {
    if (it == ranges_.end() || it->first > begin) {
      const std::uintptr_t until = it == ranges_.end() ? end : std::min(end, it->first);
      it = ranges_.emplace_hint(it, begin, Range{until, {access}});
    } else {
      add(begin, it->second, access);
    }
    begin = it->second.end;
    // What has become the same as its neighbour is one range with it.
    if (it != ranges_.begin()) {
      auto previous = std::prev(it);
      if (previous->second.end == it->first && same(previous->second.accesses, it->second.accesses)) {
        previous->second.end = it->second.end;
        ranges_.erase(it);
        it = previous;
      }
    }
    ++it;
  }
}

void Shadow::forget(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  split(begin);
  split(end);
  ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
}

}  // namespace mr::check
