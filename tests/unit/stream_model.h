// A serial model of the order that streams keep (specification 2.5.2-2.5.7): what each operation has to come after,
// told by nothing but the calls that were made.
//
// Operations are numbers. For each one the model knows what it directly depends on, twice: `must` is what the rules
// promise, `may` is all that an implementation may wait for besides (a wait in the legacy stream may be a barrier, a
// destroyed stream's work may count). "Held" means: behind a gate that is not open.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace stream_test {

enum class StreamKind : std::uint8_t { legacy, blocking, non_blocking };

class OrderModel {
 public:
  using Set = std::vector<std::uint32_t>;
  struct Point {
    Set must, may;
  };
  struct Stream {
    StreamKind kind = StreamKind::blocking;
    bool live = true;
    Point last;  // what stands at its end
  };

  // Streams are numbers too; 0 is the legacy stream.
  OrderModel() { add_stream(StreamKind::legacy); }
  std::size_t add_stream(StreamKind kind) {
    streams_.push_back({kind, true, {}});
    return streams_.size() - 1;
  }
  void destroy_stream(std::size_t s) { streams_[s].live = false; }
  StreamKind kind(std::size_t s) const { return streams_[s].kind; }

  // An operation in a stream.
  std::uint32_t enqueue(std::size_t s) {
    const std::uint32_t op = make(before(s));
    streams_[s].last = {{op}, {op}};
    return op;
  }
  // An event record: what it stands for. In the legacy stream it is a barrier like any other work.
  Point record(std::size_t s) {
    if (streams_[s].kind == StreamKind::legacy) {
      enqueue(s);
      return streams_[s].last;
    }
    // It may stand in the stream, and what is behind it come after all that it waits for.
    Point point = before(s);
    unite(streams_[s].last.may, point.may);
    return point;
  }
  void wait(std::size_t s, const Point& event) {
    Stream& stream = streams_[s];
    if (event.may.empty()) return;  // never recorded
    // Nothing at all if the event is complete, otherwise work of the stream, with all that such work waits for.
    unite(stream.last.must, event.must);
    unite(stream.last.may, event.may);
    unite(stream.last.may, before(s).may);
  }
  // What a synchronisation with the stream, or a query of it, asks for.
  Point end(std::size_t s) const {
    if (streams_[s].kind == StreamKind::legacy) return before(s);
    return streams_[s].last;
  }
  Point everything() const {
    Point all;
    for (const Stream& stream : streams_) {
      unite(all.may, stream.last.may);
      if (stream.live) unite(all.must, stream.last.must);
    }
    return all;
  }

  void close_gate(std::uint32_t op) { ops_[op].closed = true; }
  void open_gate(std::uint32_t op) { ops_[op].closed = false; }
  bool must_be_held(const Point& point) { return reaches_closed(point.must, &Op::must); }
  bool may_be_held(const Point& point) { return reaches_closed(point.may, &Op::may); }
  // Everything that has to be complete once `point` is.
  template <class Visit> void for_each_before(const Point& point, Visit&& visit) {
    walk(point.must, &Op::must, [&](std::uint32_t op) {
      visit(op);
      return false;
    });
  }
  const Set& must(std::uint32_t op) const { return ops_[op].must; }

 private:
  struct Op {
    Set must, may;
    bool closed = false;
    std::uint32_t mark = 0;
  };
  std::uint32_t make(const Point& deps) {
    ops_.push_back({deps.must, deps.may, false, 0});
    return static_cast<std::uint32_t>(ops_.size() - 1);
  }
  static void unite(Set& to, const Set& from) {
    for (std::uint32_t op : from)
      if (std::find(to.begin(), to.end(), op) == to.end()) to.push_back(op);
  }
  // What the next operation of a stream comes after: its own end, and the default stream's rules.
  Point before(std::size_t s) const {
    Point point = streams_[s].last;
    if (streams_[s].kind == StreamKind::legacy) {
      for (const Stream& other : streams_) {
        if (other.kind != StreamKind::blocking) continue;
        if (other.live) unite(point.must, other.last.must);
        unite(point.may, other.last.may);
      }
    } else if (streams_[s].kind == StreamKind::blocking) {
      unite(point.must, streams_[0].last.must);
      unite(point.may, streams_[0].last.may);
    }
    return point;
  }
  // Visits all ancestors; true when a visit says so.
  template <class Visit> bool walk(const Set& from, Set Op::* edges, Visit&& visit) {
    ++mark_;
    stack_ = from;
    while (!stack_.empty()) {
      const std::uint32_t op = stack_.back();
      stack_.pop_back();
      if (ops_[op].mark == mark_) continue;
      ops_[op].mark = mark_;
      if (visit(op)) return true;
      const Set& next = ops_[op].*edges;
      stack_.insert(stack_.end(), next.begin(), next.end());
    }
    return false;
  }
  bool reaches_closed(const Set& from, Set Op::* edges) {
    return walk(from, edges, [&](std::uint32_t op) { return ops_[op].closed; });
  }

  std::vector<Stream> streams_;
  std::vector<Op> ops_;
  Set stack_;
  std::uint32_t mark_ = 0;
};

}  // namespace stream_test
