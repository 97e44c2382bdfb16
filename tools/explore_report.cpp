#include "explore_report.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

namespace millrace {
namespace {

std::string plain_name(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : mangled;
  std::free(text);
  if (const auto at = name.find('('); at != std::string::npos && at > 0) name.resize(at);
  if (const auto at = name.rfind(' ', name.find('<')); at != std::string::npos) name.erase(0, at + 1);
  return name;
}

// A file whose lines aren't known has line 0.
std::string place_text(const Frame& f) { return f.line ? fmt::format("{}:{}", f.file, f.line) : f.file; }

class Describer {
 public:
  explicit Describer(const Run& run) : events_(events_of(run)), sites_(sites_of(run)) {}

  std::vector<Described> describe(const std::vector<Decision>& decisions) {
    std::map<Address, std::vector<Frame>> addresses;
    for (const Decision& d : decisions)
      for (const std::uint64_t key : {d.key, d.value})
        if (const Event* e = find(key))
          for (const std::uint32_t site : {e->site, e->via})
            if (site < sites_.size())
              for (const Address& frame : sites_[site].frames) addresses[frame];
    symbolize(addresses);
    std::vector<Described> result;
    for (const Decision& d : decisions) {
      Described text{d, {}, {}, {}, {}, {}};
      text.first = name(find(d.key), addresses, text.first_at);
      if (d.kind == Decision::Kind::after) {
        text.second = name(find(d.value), addresses, text.second_at);
        const Event* before = find(d.value);
        text.text = fmt::format("{}\n     only after {}{}", text.first, text.second,
                                before && before->what == 'h' ? "" : " had run");
      } else if (d.kind == Decision::Kind::tear) {
        text.text = fmt::format("{}\n     was stopped after {} of its instructions, until nothing else could go on",
                                text.first, d.value);
      } else {
        const Event* e = find(d.key);
        const char* what = !e || e->what != 'k' ? "the copies of a batch" : "blocks of ";
        text.text = fmt::format("{}{} ran {}", what, e && e->what == 'k' ? text.first : "",
                                (d.value >> 8 & 0xff) == 3   ? "at the same time"
                                : (d.value >> 8 & 0xff) == 2 ? "in a random order"
                                                             : "from the last to the first");
      }
      result.push_back(text);
    }
    return result;
  }

  std::vector<std::string> waiters(const std::vector<Waiter>& all) {
    std::map<Address, std::vector<Frame>> addresses;
    for (const Waiter& w : all)
      for (const std::uint32_t site : {w.site, w.via})
        if (site < sites_.size())
          for (const Address& frame : sites_[site].frames) addresses[frame];
    symbolize(addresses);
    const auto named = [&](const Waiter& w) {
      Event e;
      e.what = w.what, e.site = w.site, e.via = w.via, e.name = w.name;
      Frame at;
      return name(&e, addresses, at);
    };
    const auto first_of = [&](std::uint64_t stream) -> const Waiter* {
      for (const Waiter& w : all)
        if (w.what != 'h' && w.task == stream) return &w;
      return nullptr;
    };
    const auto for_stream = [&](std::uint64_t stream) {
      const Waiter* other = stream ? first_of(stream) : nullptr;
      return other ? " for " + named(*other) : stream ? std::string(" for work of another stream") : std::string();
    };
    std::vector<std::string> result;
    for (const Waiter& w : all) {
      if (w.what == 'h') {
        const std::string api = w.site < sites_.size() && w.site ? sites_[w.site].api : "a call";
        const Frame at = place(w.site, "", addresses);
        const Waiter* function = w.of ? first_of(w.of) : nullptr;
        std::string who = w.task == 0 ? "the main thread" : fmt::format("host thread {}", w.task);
        if (function) who = named(*function);
        result.push_back(fmt::format("{} waits in {}{}{}", who, api, at.file.empty() ? "" : " at " + place_text(at),
                                     for_stream(w.on)));
      } else if (w.what == 'w') {
        result.push_back(fmt::format("{} waits{}", named(w), for_stream(w.on)));
      } else if (w.what == 'k') {
        result.push_back(named(w) + " looks at memory that nothing changes any more");
      }
    }
    return result;
  }

 private:
  const Event* find(std::uint64_t key) const {
    for (const Event& e : events_)
      if (e.key == key) return &e;
    return nullptr;
  }
  Frame place(std::uint32_t site, const std::string& kernel, const std::map<Address, std::vector<Frame>>& addresses) {
    if (site >= sites_.size()) return {};
    std::optional<Frame> skipped;
    for (const Address& address : sites_[site].frames)
      for (const Frame& f : addresses.at(address)) {
        // Without lines, the program's functions are known at least.
        if (foreign(f)) {
          const bool users = !launches_for(f) && !f.function.starts_with("__mr_") && !f.function.starts_with("std::");
          if (f.file.empty() && !f.function.empty() && users && !skipped &&
              address.first == sites_[site].frames[0].first)
            skipped = f;
          continue;
        }
        // The stub that launches a kernel has the kernel's name and line.
        const std::string function = f.function.substr(0, f.function.find_first_of("(<"));
        if (!kernel.empty() && !skipped && function == kernel.substr(0, kernel.find_first_of("(<"))) {
          skipped = f;
          continue;
        }
        return f;
      }
    return skipped.value_or(Frame{});
  }
  std::string name(const Event* e, const std::map<Address, std::vector<Frame>>& addresses, Frame& at) {
    if (!e) return "an operation";
    const std::string api = e->site < sites_.size() ? sites_[e->site].api : "";
    const std::string kernel = e->name.empty() ? "" : plain_name(e->name);
    at = place(e->site, kernel, addresses);
    const std::string where = !at.file.empty()       ? fmt::format(" at {}", place_text(at))
                              : !at.function.empty() ? fmt::format(" in {}", at.function)
                                                     : "";
    std::string text;
    switch (e->what) {
    case 'h': return e->site ? fmt::format("the host went on behind {}{}", api, where) : "the host thread began";
    case 'k': text = fmt::format("kernel {}{}", kernel, where); break;
    case 't':
      text = kernel.empty() ? fmt::format("the rest of what runs behind {}{}", api, where)
                            : fmt::format("the rest of kernel {}{}", kernel, where);
      break;
    case 'r': text = fmt::format("slice {} of kernel {}{}", e->slice + 1, kernel, where); break;
    case 'x': text = fmt::format("the host function of {}{}", api, where); break;
    case 'g': text = fmt::format("the graph launched{}", where); break;
    case 'c': text = fmt::format("the copy of {}{}", api, where); break;
    case 'f': text = fmt::format("the fill of {}{}", api, where); break;
    default: text = api.empty() ? "an operation of the runtime" : fmt::format("{}{}", api, where); break;
    }
    if (e->via) {
      const Frame launch = place(e->via, "", addresses);
      text += launch.file.empty() ? " (node of a graph)"
                                  : fmt::format(" (node of the graph launched at line {})", launch.line);
    }
    return text;
  }

  std::vector<Event> events_;
  std::vector<Site> sites_;
};

}  // namespace

std::vector<Described> describe(const Run& run, const std::vector<Decision>& decisions) {
  return Describer(run).describe(decisions);
}
std::vector<std::string> describe_waiters(const Run& run) { return Describer(run).waiters(waiters_of(run)); }

namespace {

// Pairs of operations that the failing run turned around, the closest in the reference's order first: often one of them
// tells it all.
std::vector<Decision> inversions(const Run& reference, const Run& failing) {
  std::map<std::uint64_t, std::size_t> place;
  for (const Event& e : events_of(reference)) place.try_emplace(e.key, place.size());
  std::vector<Event> operations;
  for (const Event& e : events_of(failing))
    if (std::string_view("kcfxg").find(e.what) != std::string_view::npos && place.contains(e.key) &&
        operations.size() < 500)
      operations.push_back(e);
  std::vector<std::pair<std::size_t, Decision>> found;
  for (std::size_t j = 1; j < operations.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      const Event &late = operations[j], &early = operations[i];
      const std::size_t before = place[late.key], after = place[early.key];
      if (late.task != early.task && before < after)
        found.push_back(
            {(after - before) << 20 | (found.size() & 0xfffff), {Decision::Kind::after, late.key, early.key}});
    }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Decision> result;
  for (const auto& entry : found) result.push_back(entry.second);
  return result;
}

}  // namespace

std::vector<Decision> decisions_that_matter(const Runner& runner, const std::function<bool(const Run&)>& wrong,
                                            const Run& reference, const Run& failing, unsigned budget) {
  const std::vector<Event> events = events_of(failing);
  std::vector<Decision> all = block_orders_of(failing);
  for (const Decision& d : tears_of(failing)) all.push_back(d);
  for (std::size_t i = 1; i < events.size(); ++i)
    if (events[i].task != events[i - 1].task) all.push_back({Decision::Kind::after, events[i].key, events[i - 1].key});
  const auto fails = [&](const std::vector<Decision>& some) { return wrong(runner.run(0, &some)); };
  std::vector<Decision> one(1);
  unsigned tries = budget / 3;
  for (const Decision& d : inversions(reference, failing)) {
    if (tries-- == 0) break;
    one[0] = d;
    if (fails(one)) return one;
  }
  if (all.empty() || !fails(all)) return {};
  all = shrink(all, budget, fails);
  // Each event no later than necessary.
  for (Decision& d : all) {
    if (d.kind != Decision::Kind::after) continue;
    std::size_t high = 0;
    while (high < events.size() && events[high].key != d.value) ++high;
    std::uint64_t task = 0;
    for (const Event& e : events)
      if (e.key == d.key) task = e.task;
    // Events in whose place the wait may end: those that are no part of the same queue or thread.
    std::vector<std::uint64_t> others;
    for (std::size_t i = 0; i <= high && i < events.size(); ++i)
      if (events[i].task != task && events[i].key != d.key) others.push_back(events[i].key);
    std::size_t low = 0, fits = others.empty() ? 0 : others.size() - 1;
    const std::uint64_t before = d.value;
    while (low < fits) {
      const std::size_t middle = (low + fits) / 2;
      d.value = others[middle];
      if (fails(all))
        fits = middle;
      else
        low = middle + 1;
    }
    d.value = others.empty() ? before : others[fits];
    if (!others.empty() && fits + 1 < others.size() && !fails(all)) d.value = before;
  }
  return all;
}

}  // namespace millrace
