#include "order.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mr::check {
namespace {

constexpr std::size_t kept_records = 16, kept_waits = 128, kept_points = 64;
constexpr std::size_t looked_at = 32;  // of what was given back, at each end

bool known_by(const Clock (&known)[worlds], Chain chain, Time time) {
  return std::all_of(known, known + worlds, [&](const Clock& c) { return c.of(chain) >= time; });
}

// Takes out the first that fits: of the newest, as somebody has just waited for them, or the oldest.
template <class T, class Fits> bool take_from(std::vector<T>& given_back, Fits fits) {
  const auto look = [&](std::size_t i) {
    if (!fits(given_back[i])) return false;
    given_back.erase(given_back.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  };
  const std::size_t size = given_back.size(), newest = size - std::min(size, looked_at);
  for (std::size_t i = size; i-- > newest;)
    if (look(i)) return true;
  for (std::size_t i = 0; i < std::min(newest, looked_at); ++i)
    if (look(i)) return true;
  return false;
}

}  // namespace

void add(Frontier& to, const OpRef& op) {
  for (OpRef& known : to)
    if (known->chain == op->chain) {
      if (known->time < op->time) known = op;
      return;
    }
  to.push_back(op);
}

std::pair<Chain, Time> Order::take_chain(const Clock (&known)[worlds]) {
  std::pair<Chain, Time> taken{0, 0};
  if (!take_from(spare_, [&](const auto& spare) {
        if (!known_by(known, spare.first, spare.second)) return false;
        taken = spare;
        return true;
      }))
    taken.first = new_chain();
  return taken;
}

bool Order::take_over(Stream& stream, const Actor& by) {
  return take_from(retired_, [&](const std::shared_ptr<Stream>& retired) {
    Stream& old = *retired;
    if (old.device != stream.device || old.blocking != stream.blocking || old.default_stream != stream.default_stream ||
        !known_by(by.clock, old.chain, old.time) ||
        !std::all_of(old.frontier, old.frontier + worlds, [&](const Frontier& frontier) {
          return std::all_of(frontier.begin(), frontier.end(),
                             [&](const OpRef& op) { return known_by(by.clock, op->chain, op->time); });
        }))
      return false;
    stream.chain = old.chain;
    stream.time = old.time;
    stream.part_chains = std::move(old.part_chains);
    std::copy(std::begin(old.early_chains), std::end(old.early_chains), stream.early_chains);
    for (int world = 0; world < worlds; ++world) {
      stream.frontier[world] = std::exchange(old.frontier[world], {});
      old.previous[world].clear();
    }
    old.waits.clear();  // operations name their stream, and these name operations: a history without an end
    return true;
  });
}

std::shared_ptr<Stream> Order::make_stream(int device, bool blocking, bool legacy, bool default_stream,
                                           std::string name, const Actor* by) {
  auto stream = std::make_shared<Stream>();
  stream->name = std::move(name);
  stream->device = device;
  stream->blocking = blocking;
  stream->legacy = legacy;
  stream->default_stream = default_stream;
  if (!by || !take_over(*stream, *by)) stream->chain = new_chain();
  std::erase_if(streams_, [](const auto& s) { return s.expired(); });
  streams_.push_back(stream);
  return stream;
}

Frontier& Order::wished_default(int device) {
  if (wished_default_.size() <= static_cast<std::size_t>(device))
    wished_default_.resize(static_cast<std::size_t>(device) + 1);
  return wished_default_[static_cast<std::size_t>(device)];
}

Frontier Order::newest(Stream& stream, int world) {
  const bool all = world == real ? stream.legacy : stream.default_stream;
  Frontier result = stream.frontier[world];
  if (world == wished) add(result, wished_default(stream.device));
  if (world == real && !all && !stream.blocking) return result;
  for (const auto& weak : streams_) {
    const auto other = weak.lock();
    if (!other || other.get() == &stream || other->device != stream.device) continue;
    if (all ? world == wished || other->blocking : world == real && other->legacy) add(result, other->frontier[world]);
  }
  return result;
}

void Order::behind(Op& op, Stream& stream) {
  for (int world = 0; world < worlds; ++world) op.before[world] = newest(stream, world);
}

void Order::append(Stream& stream, const OpRef& op, bool after_all) {
  for (int world = 0; world < worlds; ++world) {
    if (after_all) stream.frontier[world].clear();
    add(stream.frontier[world], op);
  }
  if (stream.default_stream) {
    Frontier& d = wished_default(stream.device);
    if (after_all) d.clear();
    add(d, op);
  }
}

void Order::note_point(Chain chain, Time time, const Call& call) {
  if (points_.size() <= chain) points_.resize(chain + 1);
  auto& points = points_[chain];
  points.push_back({time, number_, call});
  if (points.size() > kept_points) points.pop_front();
}

OpRef Order::make_op(const std::shared_ptr<Stream>& stream, Actor& by, Role role, Call call, Chain chain, Time time) {
  auto op = std::make_shared<Op>();
  op->role = role;
  op->chain = chain;
  op->time = time;
  op->device = stream ? stream->device : 0;
  op->number = next_number();
  op->call = std::move(call);
  op->stream = stream;
  for (int world = 0; world < worlds; ++world) {
    op->clock[world] = by.clock[world];
    op->clock[world].raise(by.chain, by.time);
  }
  note_point(chain, time, op->call);
  return op;
}

OpRef Order::enqueue(const std::shared_ptr<Stream>& stream, Actor& by, Role role, Call call) {
  OpRef op = make_op(stream, by, role, std::move(call), stream->chain, ++stream->time);
  behind(*op, *stream);
  for (int world = 0; world < worlds; ++world) stream->previous[world] = stream->frontier[world];
  append(*stream, op, true);
  // What the thread does from now on is not ordered before the operation.
  ++by.time;
  by.segment = nullptr;
  return op;
}

void Order::stand_in(const OpRef& op, Stream& stream) {
  for (int world = 0; world < worlds; ++world) {
    for (const OpRef& before : newest(stream, world))
      if (before.get() != op.get()) add(op->before[world], before);
    stream.previous[world] = stream.frontier[world];
  }
  append(stream, op, true);
}

std::vector<OpRef> Order::enqueue_batch(const std::shared_ptr<Stream>& stream, Actor& by, const Call& call,
                                        std::size_t count, const OpRef& early) {
  std::vector<OpRef> ops;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > stream->part_chains.size()) stream->part_chains.push_back(take_chain(by.clock));
    OpRef op = i == 0 ? make_op(stream, by, Role::stream, call, stream->chain, ++stream->time)
                      : make_op(stream, by, Role::stream, call, stream->part_chains[i - 1].first,
                                ++stream->part_chains[i - 1].second);
    behind(*op, *stream);
    ops.push_back(std::move(op));
  }
  for (std::size_t i = 0; i < count; ++i) append(*stream, ops[i], i == 0);
  if (early) append(*stream, early, false);
  ++by.time;
  by.segment = nullptr;
  return ops;
}

OpRef Order::make_early(const std::shared_ptr<Stream>& stream, Actor& by, const Call& call) {
  auto& [chain, time] = stream->early_chains[stream->early_turn++ & 1];
  if (!chain) std::tie(chain, time) = take_chain(by.clock);
  return make_op(stream, by, Role::stream, call, chain, ++time);
}

void Order::record(Event& event, const std::shared_ptr<Stream>& stream) {
  // Records and waits in the legacy stream are barriers for blocking streams too.
  if (stream->legacy) stream->frontier[real] = newest(*stream, real);
  RecordOf record;
  for (int world = 0; world < worlds; ++world) record.frontier[world] = newest(*stream, world);
  record.stream = stream;
  record.number = next_number();
  stream->records.push_back(record.number);
  if (stream->records.size() > kept_waits) stream->records.pop_front();
  event.captured = false;
  event.records.push_back(std::move(record));
  if (event.records.size() > kept_records) event.records.pop_front();
}

WaitOf Order::wait_of(const std::shared_ptr<Event>& event) {
  WaitOf wait;
  wait.event = event;
  wait.number = next_number();
  wait.recorded = !event->records.empty();
  if (wait.recorded) wait.record = event->records.back();
  return wait;
}

void Order::wait(Stream& stream, const std::shared_ptr<Event>& event) {
  if (stream.legacy) stream.frontier[real] = newest(stream, real);
  WaitOf wait = wait_of(event);
  if (wait.recorded) {
    for (int world = 0; world < worlds; ++world) add(stream.frontier[world], wait.record.frontier[world]);
    if (stream.default_stream) add(wished_default(stream.device), wait.record.frontier[wished]);
  }
  stream.waits.push_back(std::move(wait));
  if (stream.waits.size() > kept_waits) stream.waits.pop_front();
}

void Order::resolve(const OpRef& op) {
  if (op->resolved) return;
  std::vector<OpRef> stack{op};
  while (!stack.empty()) {
    const OpRef top = stack.back();
    if (top->resolved) {
      stack.pop_back();
      continue;
    }
    const std::size_t size = stack.size();
    for (const auto& before : top->before)
      for (const OpRef& b : before)
        if (!b->resolved) stack.push_back(b);
    if (stack.size() != size) continue;
    stack.pop_back();
    for (int world = 0; world < worlds; ++world) {
      for (const OpRef& b : top->before[world]) {
        top->clock[world].join(b->clock[world]);
        top->clock[world].raise(b->chain, b->time);
      }
      top->clock[world].raise(top->chain, top->time);
      top->before[world].clear();
    }
    top->resolved = true;
  }
}

void Order::join(Actor& actor, const Frontier& frontier) {
  for (const OpRef& op : frontier) {
    resolve(op);
    for (int world = 0; world < worlds; ++world) actor.clock[world].join(op->clock[world]);
  }
  actor.segment = nullptr;
}

void Order::join_real_and_wished(Actor& actor, Stream& stream) {
  const Frontier real_frontier = newest(stream, real), wished_frontier = newest(stream, wished);
  join(actor, real_frontier);
  wish(actor, wished_frontier);
}

// Other streams' operations may not have run yet, so that what they will have learnt isn't known: what they are behind
// is.
void Order::wish(Actor& actor, const Frontier& frontier) const {
  constexpr std::size_t most = 256;
  std::vector<const Op*> open;
  for (const OpRef& op : frontier) open.push_back(op.get());
  for (std::size_t i = 0; i < open.size() && i < most; ++i) {
    const Op& op = *open[i];
    actor.clock[wished].join(op.clock[wished]);
    actor.clock[wished].raise(op.chain, op.time);
    for (const OpRef& before : op.before[wished])
      if (actor.clock[wished].of(before->chain) < before->time) open.push_back(before.get());
  }
}

void Order::join_event(Actor& actor, const std::shared_ptr<Event>& event) {
  WaitOf wait = wait_of(event);
  if (wait.recorded) {
    join(actor, wait.record.frontier[real]);
    wish(actor, wait.record.frontier[wished]);
  }
  actor.segment = nullptr;
  actor.waits->push_back(std::move(wait));
  if (actor.waits->size() > kept_waits) actor.waits->pop_front();
}

void Order::join_device(Actor& actor, int device) {
  for (const auto& weak : streams_)
    if (const auto stream = weak.lock(); stream && (device < 0 || stream->device == device))
      for (const auto& frontier : stream->frontier) join(actor, frontier);
}

void Order::release(Actor& actor, Clock (&into)[worlds]) {
  for (int world = 0; world < worlds; ++world) {
    into[world].join(actor.clock[world]);
    into[world].raise(actor.chain, actor.time);
  }
  ++actor.time;
  actor.segment = nullptr;
}

void Order::acquire(Actor& actor, const Clock (&from)[worlds]) {
  bool more = false;
  for (int world = 0; world < worlds; ++world) more |= actor.clock[world].join(from[world]);
  if (more) actor.segment = nullptr;
}

const OpRef& Order::segment_of(Actor& actor) {
  if (!actor.segment) {
    auto op = std::make_shared<Op>();
    op->role = actor.role;
    op->chain = actor.chain;
    op->time = actor.time;
    op->resolved = true;
    op->number = next_number();
    for (int world = 0; world < worlds; ++world) {
      op->clock[world] = actor.clock[world];
      op->clock[world].raise(actor.chain, actor.time);
    }
    op->waits = actor.waits;
    if (actor.of) {
      op->stream = actor.of->stream;
      op->device = actor.of->device;
      op->launch = actor.of->launch;
      op->via = actor.of->via ? actor.of->via : actor.of->call;
      op->number = actor.of->number;
    }
    actor.segment = std::move(op);
  }
  return actor.segment;
}

Call Order::common(const Op& a, const Op& b) const {
  Call best;
  std::uint64_t number = 0;
  for (const auto& [chain, time] : a.clock[real].times()) {
    const Time both = std::min(time, b.clock[real].of(chain));
    if (both == 0 || chain >= points_.size()) continue;
    for (auto point = points_[chain].rbegin(); point != points_[chain].rend(); ++point) {
      if (point->time > both) continue;
      if (point->number > number && point->call && point->call != a.call && point->call != b.call) {
        number = point->number;
        best = point->call;
      }
      break;
    }
  }
  return best;
}

}  // namespace mr::check
