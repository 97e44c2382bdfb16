#include "device.h"

#include <simt/abi.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_set>

#include "../../../compiler/passes/check.h"
#include "state.h"

namespace mr::check {
namespace {

constexpr std::size_t table_lines = 512;

// What one thread has seen of one block. The owner changes it without a lock; whoever collects an operation's accesses
// reads it when no block of that operation runs any more (what the runtime guarantees before `ended`).
struct Collector {
  std::atomic<std::uint32_t> tag{0};
  std::uint64_t block = 0;
  bool late = false, fenced = false;
  std::uint32_t phase = 0;
  KernelRecord* record = nullptr;
  struct Slot {
    std::uint64_t line = 0;  // address / 64; 0: empty
    LineTouch touch;
  } table[table_lines];
  std::vector<std::uint16_t> used;
  std::vector<Slot> spilled;
};

std::vector<Collector*>& collectors() {  // under the checker's lock
  static auto* all = new std::vector<Collector*>;
  return *all;
}
thread_local Collector* collector __attribute__((tls_model("initial-exec"))) = nullptr;

const Op* kernel_op(std::uint32_t tag) {
  if (const auto group = checker->groups.find(tag); group != checker->groups.end()) {
    for (const OpRef& op : group->second->ops)
      if (op->kernel) return op.get();
    return nullptr;
  }
  if (const auto step = checker->steps.find(tag); step != checker->steps.end()) {
    ExecMirror* exec = step->second.exec;
    if (!exec || exec->launches.empty()) return nullptr;
    return exec->launches.front()->ops[step->second.node].get();
  }
  return nullptr;
}

void merge(LineTouch& into, const LineTouch& from) {
  for (unsigned way = 0; way < ways; ++way) {
    if (from.bytes[way] && !into.bytes[way]) into.site[way] = from.site[way];
    into.bytes[way] |= from.bytes[way];
  }
}

void conflict(KernelRecord& record, std::uint64_t line, std::uint64_t bytes, const MrCheckSite* a, unsigned way_a,
              std::uint64_t block_a, const MrCheckSite* b, unsigned way_b, std::uint64_t block_b) {
  for (const BlockConflict& known : record.conflicts)
    if ((known.a == a && known.b == b) || (known.a == b && known.b == a)) return;
  if (record.conflicts.size() >= 64) return;
  const unsigned first = static_cast<unsigned>(std::countr_zero(bytes));
  const unsigned last = 64 - static_cast<unsigned>(std::countl_zero(bytes));
  record.conflicts.push_back(
      {a, b, kind_of(way_a), kind_of(way_b), line * 64 + first, line * 64 + last, block_a, block_b});
}

void add_block(KernelRecord& record, std::uint64_t line, KernelLine& known, std::uint64_t block, std::uint32_t phase,
               const LineTouch& t) {
  merge(known.all, t);
  if (phase > known.phase) {
    known.phase = phase;
    known.blocks.clear();
    known.shared_reads = 0;
  }
  if (phase < known.phase) return;
  for (const unsigned way : {way_write, way_atomic})
    if (const std::uint64_t both = t.bytes[way] & known.shared_reads)
      conflict(record, line, both, known.shared_reader, way_read, block, t.site[way], way, block);
  BlockTouch* own = nullptr;
  LineTouch mine = t;
  for (BlockTouch& other : known.blocks) {
    if (other.block == block) {
      own = &other;
      continue;
    }
    LineTouch& o = other.touch;
    if (const WayConflict c = conflict_of(o, t);
        c.bytes && !record.synchronised(other.block, block) && !record.synchronised(block, other.block))
      conflict(record, line, c.bytes, o.site[c.a], c.a, other.block, t.site[c.b], c.b, block);
    if (const std::uint64_t both = o.bytes[way_read] & t.bytes[way_read]) {
      known.shared_reads |= both;
      known.shared_reader = t.site[way_read];
      o.bytes[way_read] &= ~both;
    }
  }
  mine.bytes[way_read] &= ~known.shared_reads;
  if (!own) {
    std::uint64_t any = 0;
    for (const std::uint64_t bytes : mine.bytes) any |= bytes;
    if (!any) return;
    known.blocks.push_back({block, phase, {}});
    own = &known.blocks.back();
  }
  merge(own->touch, mine);
}

void hand_over(Collector& c) {
  KernelRecord* record = c.record;
  const auto give = [&](std::uint64_t line, const LineTouch& t) {
    auto& lines = record->programmatic && !c.late ? record->early_lines : record->lines;
    add_block(*record, line, lines[line], c.block, c.phase, t);
  };
  if (record) {
    for (const std::uint16_t i : c.used) give(c.table[i].line, c.table[i].touch);
    for (const Collector::Slot& s : c.spilled) give(s.line, s.touch);
  }
  for (const std::uint16_t i : c.used) c.table[i] = {};
  c.used.clear();
  c.spilled.clear();
}

void change_block(Collector& c, std::uint32_t tag, std::uint64_t block) {
  hand_over(c);
  if (c.tag.load(std::memory_order_relaxed) != tag) {
    const Op* op = kernel_op(tag);
    c.record = op ? op->kernel.get() : nullptr;
    if (c.record) c.record->seen = true;
    c.tag.store(tag, std::memory_order_release);
  }
  c.block = block;
  c.late = c.fenced = false;
  c.phase = 0;
  if (!c.record) return;
  if (const auto state = c.record->states.find(block); state != c.record->states.end()) {
    c.late = state->second.late;
    c.fenced = state->second.fenced;
    c.phase = state->second.phase;
  }
}

void event(Collector& c, std::uint32_t kind) {
  if (!c.record) return;
  auto& state = c.record->states[c.block];
  if (kind & MR_CHECK_FENCE) {
    state.fenced = c.fenced = true;
  } else if (kind & MR_CHECK_GRID_SYNC) {
    // Each thread of the block comes by: the first one begins the phase, the others find nothing to hand over that
    // would be wrong in it. What a slower thread still does before its barrier counts for the next phase.
    hand_over(c);
    ++state.phase;
  } else if (kind & MR_CHECK_PDL_WAIT) {
    hand_over(c);
    state.late = c.late = true;
  } else if (kind & MR_CHECK_PDL_TRIGGER) {
    c.record->triggered = true;
  }
}

// Atomic and volatile accesses order blocks, and the grid with the host.
void synchronise(Collector& c, std::uintptr_t address, const MrCheckSite& site) {
  KernelRecord& record = *c.record;
  const bool acquires = site.kind & MR_CHECK_READ;
  const bool releases = site.kind & MR_CHECK_WRITE && (c.fenced || site.kind & (MR_CHECK_ORDERED | MR_CHECK_VOLATILE));
  const auto known = record.releases.find(address);
  if (acquires && known != record.releases.end()) record.states[c.block].seen[address] = known->second.size();
  if (releases) {
    auto& log = record.releases[address];
    if (log.empty() || log.back() != c.block) log.push_back(c.block);
    record.has_releases.store(true, std::memory_order_relaxed);
  }
  if (!checker->interesting(address)) return;
  const Op* found = kernel_op(c.tag.load(std::memory_order_relaxed));
  if (!found) return;
  auto& op = const_cast<Op&>(*found);
  auto& variable = checker->sync[address];
  for (int world = 0; world < worlds; ++world) {
    if (acquires) op.clock[world].join(variable.clock[world]);
    if (site.kind & MR_CHECK_WRITE) {
      variable.clock[world].join(op.clock[world]);
      variable.clock[world].raise(op.chain, op.time);
    }
  }
}

}  // namespace

std::uint32_t kind_of(unsigned way) noexcept {
  static constexpr std::uint32_t kinds[ways] = {reads, writes, reads | writes | atomic, reads | atomic};
  return kinds[way];
}

WayConflict conflict_of(const LineTouch& a, const LineTouch& b) noexcept {
  static constexpr unsigned pairs[][2] = {{way_write, way_write},  {way_read, way_write},   {way_write, way_read},
                                          {way_atomic, way_write}, {way_write, way_atomic}, {way_atomic, way_read},
                                          {way_read, way_atomic},  {way_write, way_poll},   {way_poll, way_write}};
  for (const auto& [x, y] : pairs)
    if (const std::uint64_t both = a.bytes[x] & b.bytes[y]) return {both, x, y};
  return {};
}

bool KernelRecord::synchronised(std::uint64_t earlier, std::uint64_t block) const {
  // Through other blocks too.
  std::unordered_set<std::uint64_t> known{block};
  std::vector<std::uint64_t> open{block};
  while (!open.empty() && known.size() < 4096) {
    const auto state = states.find(open.back());
    open.pop_back();
    if (state == states.end()) continue;
    for (const auto& [address, count] : state->second.seen) {
      const auto log = releases.find(address);
      if (log == releases.end()) continue;
      for (std::size_t i = 0; i < count && i < log->second.size(); ++i) {
        const std::uint64_t other = log->second[i];
        if (other == earlier) return true;
        if (known.insert(other).second) open.push_back(other);
      }
    }
  }
  return false;
}

void device_access(std::uint32_t tag, const MrBlock& block, const void* address, std::uint64_t bytes,
                   const void* opaque) {
  if (!checker) return;
  const auto& site = *static_cast<const MrCheckSite*>(opaque);
  Collector* c = collector;
  if (!c) [[unlikely]] {
    c = collector = new Collector;
    std::scoped_lock hold(checker->lock);
    collectors().push_back(c);
  }
  const std::uint64_t number = block.block_idx[0] +
                               std::uint64_t{block.grid_dim[0]} *
                                   (block.block_idx[1] + std::uint64_t{block.grid_dim[1]} * block.block_idx[2]);
  if (c->tag.load(std::memory_order_relaxed) != tag || c->block != number) [[unlikely]] {
    std::scoped_lock hold(checker->lock);
    change_block(*c, tag, number);
  }
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!at) [[unlikely]] {
    if (site.kind < MR_CHECK_FENCE) return;
    if (site.kind & MR_CHECK_FENCE && c->fenced) return;
    std::scoped_lock hold(checker->lock);
    event(*c, site.kind);
    return;
  }
  // The block's own memory.
  const auto shared = reinterpret_cast<std::uintptr_t>(block.shared);
  if (at - shared < std::uint64_t{block.dynamic_offset} + block.dynamic_shared) return;
  if (((at ^ reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) >> MR_STACK_BITS) == 0) return;
  if (!c->record) return;
  const bool ordering = site.kind & (MR_CHECK_ATOMIC | MR_CHECK_VOLATILE);
  if (ordering && (c->fenced || c->record->has_releases.load(std::memory_order_relaxed) ||
                   site.kind & (MR_CHECK_ORDERED | MR_CHECK_VOLATILE) || checker->interesting(at))) [[unlikely]] {
    std::scoped_lock hold(checker->lock);
    synchronise(*c, at, site);
  }
  for (std::uint64_t line = at / 64, last = (at + bytes - 1) / 64; line <= last && bytes; ++line) {
    const unsigned first = line == at / 64 ? at % 64 : 0;
    const unsigned end = line == last ? static_cast<unsigned>((at + bytes - 1) % 64 + 1) : 64;
    const std::uint64_t mask = (end == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1) & ~std::uint64_t{0}
                                                                                                     << first;
    const std::size_t index = (line ^ line >> 9) % table_lines;
    Collector::Slot& slot = c->table[index];
    if (slot.line != line) [[unlikely]] {
      if (slot.line) {
        c->spilled.push_back(slot);
        slot.touch = {};
        if (c->spilled.size() > 1u << 16) {
          std::scoped_lock hold(checker->lock);
          hand_over(*c);
        }
      }
      if (!slot.line) c->used.push_back(static_cast<std::uint16_t>(index));
      slot.line = line;
    }
    const unsigned way = ordering                     ? (site.kind & MR_CHECK_WRITE ? way_atomic : way_poll)
                         : site.kind & MR_CHECK_WRITE ? way_write
                                                      : way_read;
    // Of what the block has written itself it reads its own.
    if (way == way_read && (mask & ~slot.touch.bytes[way_write]) == 0) continue;
    slot.touch.bytes[way] |= mask;
    slot.touch.site[way] = &site;
  }
}

void collect_device_accesses(std::uint32_t tag) {
  for (Collector* c : collectors())
    if (c->tag.load(std::memory_order_acquire) == tag) {
      hand_over(*c);
      c->record = nullptr;
      c->tag.store(0, std::memory_order_relaxed);
    }
}

}  // namespace mr::check
