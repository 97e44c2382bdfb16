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
  default: break;
  }
  constexpr Host hosts[] = {Host::first, Host::first, Host::any, Host::any, Host::last};
  host_ = hosts[draw(5)];
  streams_ = draw(2) ? Streams::by_stream : Streams::by_operation;
  constexpr char kinds[] = {0, 0, 0, 'c', 'k', 'x', 'f', 'g'};
  late_ = kinds[draw(8)];
  slices_ = draw(3) == 0;
  blocks_ = static_cast<unsigned>(draw(3));
  for (std::uint64_t i = draw(4); i > 0; --i) changes_.push_back(draw(steps + 1));
}

// The reference's order: what has begun, then the oldest, then host threads; those that only look come last.
std::size_t Policy::by_reference(const std::vector<Candidate>& candidates) const {
  const auto rank = [&](const Candidate& c) -> std::pair<unsigned, std::uint64_t> {
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
  ++step_;
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
    if (std::find(changes_.begin(), changes_.end(), step_) != changes_.end()) {
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

std::uint64_t Policy::block_order(Key key) const {
  if (reference_) {
    const auto it = orders_.find(key);
    return it == orders_.end() ? 0 : it->second;
  }
  if (!slices_ && blocks_ == 0) return 0;
  const std::uint64_t random = mix(seed_, key ^ 0xb10c);
  const std::uint64_t count = slices_ ? 2 + random % 15 : 64;
  const std::uint64_t order = blocks_ == 2 ? random >> 8 & 3 : blocks_;
  return (random & ~std::uint64_t{0xffff}) | (order > 2 ? 2 : order) << 8 | count;
}

}  // namespace mr::explore
