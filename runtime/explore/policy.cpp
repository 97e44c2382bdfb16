#include "policy.h"

#include <algorithm>
#include <fstream>

namespace mr::explore {

Policy::Policy(std::uint64_t seed, std::uint64_t steps, const std::string& decisions)
    : seed_(seed), reference_(seed == 0) {
  if (!decisions.empty()) {
    reference_ = true;
    std::ifstream in(decisions);
    char kind;
    Key key;
    std::uint64_t value;
    while (in >> kind >> std::hex >> key >> value) {
      if (kind == 'A')
        after_[key].push_back(value);
      else if (kind == 'T')
        tears_at_[key] = value;
      else
        orders_[key] = value;
    }
    return;
  }
  if (reference_) return;
  std::uint64_t draws = 0;
  const auto draw = [&](std::uint64_t below) { return mix(mix(seed, 0x5eed), draws++) % below; };
  switch (seed) {
  case 1: streams_ = Streams::newest; return;
  case 2: blocks_ = 1, streams_ = Streams::by_operation; return;
  case 3: late_ = 'c'; return;
  case 4: late_ = 'k', blocks_ = 1; return;
  case 5: late_ = 'x', streams_ = Streams::newest; return;
  case 6: host_ = Host::last, streams_ = Streams::newest, blocks_ = 1; return;
  case 7: slices_ = true, blocks_ = 2, streams_ = Streams::by_stream; return;
  case 8: tears_ = true, streams_ = Streams::by_stream; return;
  default: break;
  }
  constexpr Host hosts[] = {Host::first, Host::first, Host::any, Host::any, Host::last};
  host_ = hosts[draw(5)];
  streams_ = draw(2) ? Streams::by_stream : Streams::by_operation;
  constexpr char kinds[] = {0, 0, 0, 'c', 'k', 'x', 'f', 'g'};
  late_ = kinds[draw(8)];
  slices_ = draw(3) == 0;
  blocks_ = static_cast<unsigned>(draw(3));
  tears_ = draw(3) == 0;
  for (std::uint64_t i = draw(4); i > 0; --i) changes_.push_back(draw(steps + 1));
}

// The reference's order: what has begun, then the oldest, then host threads; those that only look come last.
std::size_t Policy::by_reference(const std::vector<Candidate>& candidates) const {
  const auto rank = [&](const Candidate& c) -> std::pair<unsigned, std::uint64_t> {
    if (c.key && lowered_.contains(c.key)) return {5, c.age};  // the rest of what was stopped
    if (c.polling) return {c.host ? 4u : 3u, c.age};
    if (c.underway) return {0, c.age};
    if (!c.host) return {1, c.age};
    return {2, c.task == last_task_ ? 0 : c.task};
  };
  const auto held = [&](const Candidate& c) {
    const auto it = after_.find(c.key);
    return c.key && it != after_.end() &&
           std::any_of(it->second.begin(), it->second.end(), [&](Key k) { return !done_.contains(k); });
  };
  std::size_t best = candidates.size();
  for (const bool whatever : {false, true}) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!whatever && held(candidates[i])) continue;
      if (best == candidates.size() || rank(candidates[i]) < rank(candidates[best])) best = i;
    }
    if (best != candidates.size()) break;
  }
  return best;
}

double Policy::score(const Candidate& c) const {
  if (const auto it = lowered_.find(c.key); c.key && it != lowered_.end()) return it->second;
  const std::uint64_t name = streams_ == Streams::by_operation && c.key ? c.key : c.task;
  if (const auto it = lowered_.find(name); it != lowered_.end()) return it->second;
  const auto random = [&](std::uint64_t of) { return static_cast<double>(mix(seed_, of) >> 11) / 9007199254740992.0; };
  if (c.host) {
    if (host_ == Host::any) return random(c.task);
    return (host_ == Host::first ? 10 : -10) + random(c.task);
  }
  double value = 0;
  switch (streams_) {
  case Streams::oldest: value = -static_cast<double>(c.age) / 0x1p52; break;
  case Streams::newest: value = static_cast<double>(c.age) / 0x1p52; break;
  case Streams::by_stream: value = random(c.task); break;
  case Streams::by_operation: value = random(name); break;
  }
  if (late_ && c.what == late_ && !c.underway) value -= 2;
  return value;
}

std::size_t Policy::choose(const std::vector<Candidate>& candidates) {
  std::size_t best;
  if (reference_) {
    best = by_reference(candidates);
  } else {
    const auto pick = [&] {
      std::size_t found = 0;
      for (std::size_t i = 1; i < candidates.size(); ++i)
        if (score(candidates[i]) > score(candidates[found])) found = i;
      return found;
    };
    best = pick();
    const auto lower = [&](double to) {
      const Candidate& c = candidates[best];
      lowered_[streams_ == Streams::by_operation && c.key ? c.key : c.task] = to;
    };
    // Looks don't count: how many there are where time has to pass is chance.
    if (!candidates[best].polling && std::find(changes_.begin(), changes_.end(), ++step_) != changes_.end()) {
      lower(-100 - static_cast<double>(step_));
      best = pick();
    }
    // Nobody keeps the others away for ever.
    if (in_a_row_ > 5000 && candidates.size() > 1 && candidates[best].task == last_task_) {
      lower(-100 - static_cast<double>(step_));
      best = pick();
    }
  }
  const std::uint64_t task = candidates[best].task;
  in_a_row_ = task == last_task_ ? in_a_row_ + 1 : 0;
  if (!reference_ || candidates[best].host) last_task_ = task;
  return best;
}

void Policy::read_lengths(const std::string& path) {
  std::ifstream in(path);
  Key key;
  std::uint64_t length;
  while (in >> std::hex >> key >> length) lengths_[key] = length;
}

std::uint64_t Policy::tear(Key key, char what, Key whole, unsigned parts) const {
  if (reference_) {
    const auto it = tears_at_.find(key);
    return it == tears_at_.end() ? 0 : it->second;
  }
  if (!tears_) return 0;
  const std::uint64_t random = mix(seed_, key ^ 0x7ea4);
  if (what == 'h' ? random % 8 != 0 : random % 4 == 0) return 0;
  const auto it = lengths_.find(whole);
  const std::uint64_t length = (it == lengths_.end() ? 4096 : it->second + parts - 1) / parts;
  if (length == 0) return 0;  // it has none, or takes too long to be stepped through
  // Anywhere, soon after the beginning, or shortly before the end.
  const std::uint64_t any = 1 + (random >> 16) % length;
  const unsigned bits = static_cast<unsigned>(64 - __builtin_clzll(length));
  const std::uint64_t near = 1 + (random >> 16) % (std::uint64_t{1} << (random >> 8 & 0xff) % (bits + 1));
  switch (random >> 4 & 3) {
  case 0: return near;
  case 1: return near < length ? length - near : 1;
  default: return any;
  }
}

std::uint64_t Policy::block_order(Key key) const {
  if (reference_) {
    const auto it = orders_.find(key);
    return it == orders_.end() ? 0 : it->second;
  }
  const std::uint64_t random = mix(seed_, key ^ 0xb10c);
  constexpr std::uint64_t few = 2, at_once = 3;
  if (tears_ && (random >> 12 & 3)) return at_once << 8 | (few + (random >> 14 & 3));
  if (!slices_ && blocks_ == 0) return 0;
  const std::uint64_t count = slices_ ? 2 + random % 15 : 64;
  const std::uint64_t order = blocks_ == 2 ? random >> 8 & 3 : blocks_;
  return (random & ~std::uint64_t{0xffff}) | (order > 2 ? 2 : order) << 8 | count;
}

}  // namespace mr::explore
