#include "timeline_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_map>

namespace millrace {
namespace {

using Intervals = std::vector<std::pair<double, double>>;

// Total length of a union of intervals; `gap` is told those between them.
template <class Gap> double covered(Intervals spans, Gap&& gap) {
  std::sort(spans.begin(), spans.end());
  double total = 0, end = spans.empty() ? 0 : spans[0].first;
  for (const auto& [a, b] : spans) {
    if (a > end) gap(end, a);
    if (b <= end) continue;
    total += b - std::max(a, end);
    end = b;
  }
  return total;
}
double covered(Intervals spans) {
  return covered(std::move(spans), [](double, double) {});
}

bool is_work(const Operation& op) {
  return op.began && op.ended >= op.began && op.kind >= trace_format::kernel && op.kind <= trace_format::graph &&
         op.kind != trace_format::wait && op.kind != trace_format::stamp;
}

class Maker {
 public:
  explicit Maker(const Trace& trace) : trace_(trace) {}

  Picture make() {
    find_origin();
    streams();
    nodes();
    engines();
    host_threads();
    sort();
    arrows_and_chain();
    figures();
    return std::move(picture_);
  }

 private:
  struct Point {
    std::uint64_t queue, sequence;
    bool operator==(const Point&) const = default;
  };
  struct HashPoint {
    std::size_t operator()(const Point& p) const {
      return (p.queue * 0x9e3779b97f4a7c15u) ^ (p.sequence * 0xc2b2ae3d27d4eb4fu);
    }
  };

  void find_origin() {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const Operation& op : trace_.operations) {
      if (!is_work(op)) continue;
      first = std::min(first, op.began);
      last = std::max(last, op.ended);
    }
    if (last == 0) throw std::runtime_error("no operation ran, so there is nothing to draw");
    for (const Span& s : trace_.spans) {
      first = std::min(first, s.begin);
      last = std::max(last, s.end);
    }
    origin_ = first;
    picture_.span_ns = static_cast<double>(last - first);
  }
  double at(std::uint64_t ns) const { return ns < origin_ ? 0 : static_cast<double>(ns - origin_); }

  std::uint32_t text(const std::string& t) {
    const auto [it, fresh] = texts_.try_emplace(t, static_cast<std::uint32_t>(picture_.texts.size()));
    if (fresh && !t.empty()) picture_.texts.push_back(t);
    return t.empty() ? 0 : it->second;
  }
  std::uint16_t lane(const std::string& group, const std::string& name) {
    const auto [it, fresh] = lanes_.try_emplace({group, name}, static_cast<std::uint16_t>(picture_.lanes.size()));
    if (fresh) {
      if (picture_.lanes.size() >= no_lane) throw std::runtime_error("the trace has more lanes than can be drawn");
      picture_.lanes.push_back({group, name});
    }
    return it->second;
  }

  // The call of the API that an operation was enqueued in.
  const Span* call_of(const Operation& op) const {
    auto it = std::upper_bound(trace_.spans.begin(), trace_.spans.end(), std::pair{op.by, op.enqueued},
                               [](const auto& key, const Span& s) {
                                 return key.first != s.thread ? key.first < s.thread : key.second < s.begin;
                               });
    while (it != trace_.spans.begin()) {
      --it;
      if (it->thread != op.by) return nullptr;
      if (it->kind != trace_format::call) continue;
      return it->end >= op.enqueued ? &*it : nullptr;
    }
    return nullptr;
  }

  Item item_of(const Operation& op) {
    Item i;
    i.begin = at(op.began);
    i.length = static_cast<float>(op.ended - op.began);
    if (op.enqueued && op.began > op.enqueued) i.waited = static_cast<float>(op.began - op.enqueued);
    i.bytes = static_cast<double>(op.bytes);
    i.thread = op.thread;
    switch (op.kind) {
    case trace_format::kernel:
      i.kind = ItemKind::kernel;
      i.name = text(trace_.texts[op.name]);
      i.detail = text(fmt::format("({},{},{}) blocks of ({},{},{}) threads", op.grid[0], op.grid[1], op.grid[2],
                                  op.block[0], op.block[1], op.block[2]));
      break;
    case trace_format::copy:
      i.kind = ItemKind::copy;
      i.name = text("copy");
      break;
    case trace_format::fill:
      i.kind = ItemKind::fill;
      i.name = text("set");
      break;
    case trace_format::host:
      i.kind = ItemKind::host;
      i.name = text("host function");
      break;
    default:
      i.kind = ItemKind::graph;
      i.name = text("graph launch");
      break;
    }
    if (const Span* call = call_of(op)) {
      i.call = text(trace_.texts[call->name]);
      i.place = place(call->site);
    }
    return i;
  }
  std::uint32_t place(std::uint32_t site) {
    const auto it = trace_.places.find(site);
    return it == trace_.places.end() ? 0 : text(it->second);
  }

  void streams() {
    // Devices are named where there are several.
    bool several = false;
    constexpr std::string_view first_device = ", device 0";
    for (const auto& [queue, all] : trace_.names)
      for (const Trace::Name& n : all) several |= !n.name.ends_with(first_device);
    const auto shown = [&](std::string name) {
      if (!several) name.resize(name.size() - first_device.size());
      return name;
    };
    // Lanes in the order of the streams' names, though their operations come mixed.
    std::vector<std::pair<std::string, const Operation*>> named;
    for (const Operation& op : trace_.operations)
      if (is_work(op) && op.queue)
        if (const std::string& name = trace_.name_of(op.queue, op.enqueued); !name.empty())
          named.emplace_back(shown(name), &op);
    std::vector<std::string> order;
    for (const auto& entry : named)
      if (order.empty() || order.back() != entry.first) order.push_back(entry.first);
    std::sort(order.begin(), order.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    order.erase(std::unique(order.begin(), order.end()), order.end());
    for (const std::string& name : order) lane("streams", name);
    picture_.items.reserve(trace_.operations.size() + trace_.spans.size());
    for (const auto& [name, op] : named) {
      Item item = item_of(*op);
      item.lane = lane("streams", name);
      add(item, op);
    }
  }

  // Nodes of graphs have no stream of their own: as many lanes as run at once.
  void nodes() {
    std::vector<const Operation*> all;
    for (const Operation& op : trace_.operations)
      if (is_work(op) && op.kind != trace_format::graph && trace_.name_of(op.queue, op.enqueued).empty())
        all.push_back(&op);
    std::sort(all.begin(), all.end(), [](const Operation* a, const Operation* b) { return a->began < b->began; });
    std::vector<std::uint64_t> ends;
    for (const Operation* op : all) {
      std::size_t row = 0;
      while (row < ends.size() && ends[row] > op->began) ++row;
      if (row == ends.size()) ends.push_back(0);
      ends[row] = op->ended;
      Item item = item_of(*op);
      item.lane = lane("graph nodes", fmt::format("nodes {}", row + 1));
      add(item, op);
    }
  }

  void add(const Item& item, const Operation* op) {
    picture_.items.push_back(item);
    operations_.push_back(op);
    ++picture_.operations;
  }

  void engines() {
    std::map<std::uint32_t, std::uint16_t> of;
    std::map<std::uint32_t, bool> calls;
    for (const Span& s : trace_.spans) calls[s.thread] = true;
    for (Item& item : picture_.items) {
      item.engine = no_lane;
      if (item.kind == ItemKind::graph) continue;  // its nodes are
      const auto [it, fresh] = of.try_emplace(item.thread, 0);
      if (fresh)
        it->second = lane("run by", calls.contains(item.thread) ? fmt::format("host thread {}, waiting", item.thread)
                                                                : fmt::format("worker {}", item.thread));
      item.engine = it->second;
    }
  }

  void host_threads() {
    std::vector<std::uint64_t> ends;  // of ranges that belong to no thread
    for (const Span& s : trace_.spans) {
      Item item;
      item.begin = at(s.begin);
      item.length = static_cast<float>(s.end - s.begin);
      item.name = text(trace_.texts[s.name]);
      item.thread = s.thread;
      item.engine = no_lane;
      item.place = place(s.site);
      if (s.kind == trace_format::call) {
        item.kind = ItemKind::call;
        item.lane = lane("host threads", fmt::format("calls of thread {}", s.thread));
        ++picture_.calls;
      } else if (s.kind == trace_format::range) {
        item.kind = ItemKind::range;
        item.lane = lane("ranges", fmt::format("thread {}, level {}", s.thread, s.depth + 1));
      } else {
        item.kind = ItemKind::range;
        std::size_t row = 0;
        while (row < ends.size() && ends[row] > s.begin) ++row;
        if (row == ends.size()) ends.push_back(0);
        ends[row] = s.end;
        item.lane = lane("ranges", fmt::format("from start to end {}", row + 1));
      }
      picture_.items.push_back(item);
      operations_.push_back(nullptr);
    }
  }

  void sort() {
    std::vector<std::uint32_t> order(picture_.items.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Item &x = picture_.items[a], &y = picture_.items[b];
      return x.lane != y.lane ? x.lane < y.lane : x.begin < y.begin;
    });
    std::vector<Item> items(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      items[i] = picture_.items[order[i]];
      if (const Operation* op = operations_[order[i]]) number_[op] = i;
    }
    picture_.items = std::move(items);
  }

  // In the order of enqueueing: what an operation waits for has been looked at before it.
  void arrows_and_chain() {
    struct Reached {
      double ns = 0;
      std::uint32_t item = none;
    };
    std::unordered_map<std::uint64_t, Reached> newest;                // by queue: the longest chain that ends there
    std::unordered_map<std::uint64_t, std::vector<Reached>> pending;  // by queue: what its next operation waits for
    std::unordered_map<Point, Reached, HashPoint> at_point;
    std::vector<std::uint32_t> before(picture_.items.size(), none);
    Reached longest;
    for (const Operation& op : trace_.operations) {
      if (op.kind == trace_format::wait) {
        if (const auto it = at_point.find({op.on, op.until}); it != at_point.end() && op.on != op.queue)
          pending[op.queue].push_back(it->second);
        continue;
      }
      const auto numbered = number_.find(&op);
      if (numbered == number_.end() || !op.queue) {
        if (op.queue) at_point[{op.queue, op.sequence}] = newest[op.queue];
        continue;
      }
      const std::uint32_t item = numbered->second;
      Reached best = newest[op.queue];
      for (const Reached& from : pending[op.queue]) {
        if (from.item == none) continue;
        picture_.arrows.emplace_back(from.item, item);
        if (from.ns > best.ns) best = from;
      }
      pending[op.queue].clear();
      before[item] = best.item;
      const Reached now = {best.ns + picture_.items[item].length, item};
      newest[op.queue] = at_point[{op.queue, op.sequence}] = now;
      if (now.ns > longest.ns) longest = now;
    }
    picture_.chain_ns = longest.ns;
    for (std::uint32_t i = longest.item; i != none; i = before[i]) picture_.chain.push_back(i);
    std::reverse(picture_.chain.begin(), picture_.chain.end());
  }

  void figures() {
    Intervals kernels, copies, both, all;
    std::map<std::uint32_t, KernelFigures> by_name;
    for (const Item& item : picture_.items) {
      if (item.kind >= ItemKind::call) continue;
      const std::pair<double, double> span{item.begin, item.begin + item.length};
      all.push_back(span);
      if (item.kind == ItemKind::kernel) {
        kernels.push_back(span);
        KernelFigures& k = by_name[item.name];
        ++k.count;
        k.total_ns += item.length;
        k.longest_ns = std::max<double>(k.longest_ns, item.length);
      }
      if (item.kind == ItemKind::copy) copies.push_back(span);
    }
    both = kernels;
    both.insert(both.end(), copies.begin(), copies.end());
    picture_.kernels_ns = covered(std::move(kernels));
    picture_.copies_ns = covered(std::move(copies));
    picture_.both_ns = picture_.kernels_ns + picture_.copies_ns - covered(std::move(both));
    picture_.busy_ns = covered(std::move(all), [&](double from, double to) {
      ++picture_.gaps;
      picture_.idle_ns += to - from;
      if (to - from > picture_.longest_gap_ns) {
        picture_.longest_gap_ns = to - from;
        picture_.longest_gap_at = from;
      }
    });
    for (auto& [name, figures] : by_name) {
      figures.name = picture_.texts[name];
      picture_.hottest.push_back(figures);
    }
    std::sort(picture_.hottest.begin(), picture_.hottest.end(),
              [](const KernelFigures& a, const KernelFigures& b) { return a.total_ns > b.total_ns; });
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const Trace& trace_;
  Picture picture_;
  std::uint64_t origin_ = 0;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::map<std::pair<std::string, std::string>, std::uint16_t> lanes_;
  std::vector<const Operation*> operations_;  // of items; null for spans
  std::unordered_map<const Operation*, std::uint32_t> number_;
};

}  // namespace

Picture make_picture(const Trace& trace) { return Maker(trace).make(); }

}  // namespace millrace
