#include "device.h"

#include <dlfcn.h>
#include <simt/abi.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "collected_rows.h"
#include "state.h"
#include <simt/check_site.h>

namespace mr::check {
namespace {

MrCheckThread* make_here() {
  static const auto pages = reinterpret_cast<decltype(&millrace_shared_pages)>(
      dlsym(RTLD_DEFAULT, "millrace_shared_pages"));
  void* const at = pages ? pages(sizeof(MrCheckThread)) : nullptr;
  return at ? static_cast<MrCheckThread*>(at) : new MrCheckThread{};  // device code looks for none without pages
}

// What one thread has seen of one block. The owner changes it without a lock; whoever collects an operation's accesses
// reads it when no block of that operation runs any more (what the runtime guarantees before `ended`).
struct Collector {
  std::atomic<std::uint32_t> tag{0};
  std::uint64_t block = 0;
  bool late = false, fenced = false;
  std::uint32_t phase = 0;
  KernelRecord* record = nullptr;
  std::uint64_t grid = 0;                                  // MrBlock::grid_id
  bool child() const noexcept { return grid >> 62 == 1; }  // launched by device code
  const MrCheckSite* element = nullptr;  // the statement that reads or writes through a texture or surface
  MrCheckThread* const here = make_here();
  CollectedRows rows{here};
  // Of the launch that `tag` names, while its blocks have no phases and none is early.
  BlockWords* words = nullptr;
  bool idle = false;  // its thread has ended. Under the checker's lock
  void drop_words() {
    words = nullptr;
    here->reads = nullptr;
    rows.set_words(nullptr);
    rows.set_changed(nullptr, 0);
  }
};

std::vector<Collector*>& collectors() {  // under the checker's lock
  static auto* all = new std::vector<Collector*>;
  return *all;
}
thread_local Collector* collector __attribute__((tls_model("initial-exec"))) = nullptr;

Collector* take_collector() {
  const std::scoped_lock hold(checker->lock);
  for (Collector* c : collectors())
    if (c->idle && c->tag.load(std::memory_order_relaxed) == 0) {
      c->idle = false;
      return c;
    }
  return collectors().emplace_back(new Collector);
}

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

// Under the lock.
void hand_over(Collector& c) {
  c.drop_words();
  if (c.record) c.rows.hand_over(c.record->blocks);
  c.rows.clear();
}

// From here on the launch's uneven reads and changes go to its tables.
void begin_words(Collector& c, const MrBlock& block) {
  if (block.grid_id == 0 || c.child() || c.record->programmatic || c.record->has_states.load(std::memory_order_relaxed))
    return;
  const std::uint64_t blocks = std::uint64_t{block.grid_dim[0]} * block.grid_dim[1] * block.grid_dim[2];
  if (c.rows.wants_changed()) c.rows.set_changed(&c.record->changed, blocks);
  if (!c.rows.wants_words()) return;
  std::scoped_lock hold(checker->lock);
  const unsigned place = BlockWords::narrow(blocks) ? std::min(c.record->readers++, KernelRecord::own_words)
                                                    : KernelRecord::own_words;
  auto& words = c.record->words[place];
  if (!words) words = BlockWords::take(blocks, place == KernelRecord::own_words);
  c.words = words.get();
  c.here->reads = c.words ? &c.words->table() : nullptr;
  c.rows.set_words(c.words);
}
void change_block(Collector& c, std::uint32_t tag, std::uint64_t block, const MrBlock& here) {
  const bool same = c.tag.load(std::memory_order_relaxed) == tag;
  const bool same_kind = c.child() == (here.grid_id >> 62 == 1);
  c.grid = here.grid_id;
  if (same && same_kind && c.record && c.child()) {
    c.block = block;
    c.here->begin(here);
    return;
  }
  if (same && same_kind && c.record && !c.record->programmatic &&
      !c.record->has_states.load(std::memory_order_relaxed)) {
    c.rows.next_block(block);
    c.block = block;
    c.here->begin(here);
    c.fenced = false;
    return;
  }
  std::scoped_lock hold(checker->lock);
  hand_over(c);
  if (!same) {
    const Op* op = kernel_op(tag);
    c.record = op ? op->kernel.get() : nullptr;
    if (c.record) c.record->seen = true;
    c.tag.store(tag, std::memory_order_release);
  }
  c.block = block;
  c.here->begin(here);
  c.late = c.fenced = false;
  c.phase = 0;
  if (!c.record) {
    c.here->grid_id = 0;
    return;
  }
  if (c.child()) {
    // Its blocks are not compared, neither with each other nor with those of the grid that launched it.
    c.rows.begin(0, make_phase(0xffff, 0), false);
    return;
  }
  if (const auto state = c.record->states.find(block); state != c.record->states.end()) {
    c.late = state->second.late;
    c.fenced = state->second.fenced;
    c.phase = state->second.phase;
  }
  c.rows.begin(block, c.phase, c.record->programmatic && !c.late);
}

// `lane`: who comes by.
void event(Collector& c, const MrBlock& block, std::uintptr_t lane, std::uint32_t kind) {
  if (!c.record || c.child()) return;
  auto& state = c.record->states[c.block];
  c.record->has_states.store(true, std::memory_order_relaxed);
  c.drop_words();  // blocks are ordered from here on: which one reads what matters
  if (kind & MR_CHECK_FENCE) {
    state.fenced = c.fenced = true;
  } else if (kind & (MR_CHECK_GRID_SYNC | MR_CHECK_CLUSTER_SYNC)) {
    // Each lane comes by behind the barrier; the first one that leaves it begins the phase.
    const bool of_cluster = kind & MR_CHECK_CLUSTER_SYNC;
    const std::uint32_t count = ++state.passed[of_cluster][lane];
    if (count <= (of_cluster ? state.phase & 0xffff : grid_phase(state.phase))) return;
    hand_over(c);
    state.phase = of_cluster ? make_phase(grid_phase(state.phase), count) : make_phase(count, state.phase);
    c.phase = state.phase;
    c.rows.begin(c.block, c.phase, c.record->programmatic && !c.late);
    if (of_cluster)
      for (int i = 0; i < 3; ++i) {
        c.record->grid_dim[i] = block.grid_dim[i];
        c.record->cluster_dim[i] = block.cluster_dim[i];
      }
  } else if (kind & MR_CHECK_PDL_WAIT) {
    hand_over(c);
    state.late = c.late = true;
    c.rows.begin(c.block, c.phase, false);
  } else if (kind & MR_CHECK_PDL_TRIGGER) {
    c.record->triggered = true;
  }
}

// Atomic and volatile accesses order blocks, and the grid with the host: what releases is a store with release order,
// or one behind a fence.
void synchronise(Collector& c, std::uintptr_t address, const MrCheckSite& site) {
  KernelRecord& record = *c.record;
  const bool acquires = site.kind & MR_CHECK_READ;
  const bool releases = site.kind & MR_CHECK_WRITE && (c.fenced || site.kind & MR_CHECK_ORDERED);
  const auto known = record.releases.find(address);
  if (acquires && known != record.releases.end()) {
    record.states[c.block].seen[address] = known->second.size();
    record.has_states.store(true, std::memory_order_relaxed);
    c.drop_words();
  }
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
    if (releases) {
      variable.clock[world].join(op.clock[world]);
      variable.clock[world].raise(op.chain, op.time);
    }
  }
}

}  // namespace

void KernelRecord::finish(const std::function<std::uintptr_t(std::uintptr_t)>& memory_of,
                          const std::function<void(const GridRun&)>& touched) {
  for (const auto& table : words)
    if (table) table->hand_over(blocks, way_read);
  changed.hand_over(blocks);
  blocks.sort();
  const std::vector<Progression> rows = blocks.progressions();
  blocks.families = {};
  const std::vector<Bundle> bundles = bundle(rows);
  make_extents(bundles, memory_of);
  for (const Window& window : blocks.windows(bundles)) {
    find_conflicts(blocks.suspects(bundles, window));
    for (const GridRun& run : blocks.grid(bundles, window)) touched(run);
  }
  blocks = {};
  for (auto& table : words) table = nullptr;
  changed.clear();
}

void KernelRecord::make_extents(const std::vector<Bundle>& bundles,
                                const std::function<std::uintptr_t(std::uintptr_t)>& memory_of) {
  const auto add = [&](std::uintptr_t low, std::uintptr_t high, unsigned way) {
    const std::uintptr_t memory = memory_of(low);
    auto known = std::find_if(extents.rbegin(), extents.rend(), [&](const Extent& e) { return e.memory == memory; });
    if (known == extents.rend()) {
      extents.push_back({memory, low, high, false});
      known = extents.rbegin();
    }
    known->low = std::min(known->low, low);
    known->high = std::max(known->high, high);
    known->read |= way != way_write;
  };
  for (const Bundle& b : bundles)
    for (const Progression* p : b.rows) add(p->low(), p->high(), p->way);
  const auto add_lines = [&](const std::vector<LineRun>& lines, unsigned way) {
    std::uintptr_t low = 0, high = 0;
    constexpr std::uintptr_t near = 4096;
    for (const LineRun& r : lines) {
      const std::uintptr_t from = r.line * 64 + static_cast<unsigned>(std::countr_zero(r.mask));
      const std::uintptr_t until = r.line * 64 + 64 - static_cast<unsigned>(std::countl_zero(r.mask));
      // Lines that are close to each other: memory_of is asked rarely.
      if (low / near == from / near) {
        high = until;
        continue;
      }
      if (low) add(low, high, way);
      low = from;
      high = until;
    }
    if (low) add(low, high, way);
  };
  for (const LineRuns& l : blocks.lines) {
    add_lines(l.covers, l.way);
    if (!l.words) continue;
    std::vector<LineRun> lines;
    for (const Window& page : l.words->pages()) {
      lines.clear();
      l.words->cover(page, lines);
      add_lines(lines, l.way);
    }
  }
}

void KernelRecord::find_conflicts(const std::vector<BlockRun>& runs) {
  // Blocks among themselves: by address, each run against those of other ways that have not ended.
  static constexpr unsigned against[ways][5] = {{way_write, way_atomic, ways},
                                                {way_write, way_read, way_atomic, way_poll, ways},
                                                {way_write, way_read, ways},
                                                {way_write, ways}};
  std::vector<const BlockRun*> open[ways];
  for (const BlockRun& run : runs) {
    for (const unsigned* way = against[run.way]; *way != ways; ++way) {
      auto& list = open[*way];
      for (std::size_t i = 0; i < list.size();) {
        const BlockRun& other = *list[i];
        if (other.end <= run.begin) {
          list[i] = list.back();
          list.pop_back();
          continue;
        }
        ++i;
        if (other.block == run.block || grid_phase(other.phase) != grid_phase(run.phase) || conflicts.size() >= 64)
          continue;
        if (other.phase != run.phase && same_cluster(other.block, run.block)) continue;
        bool known = false;
        for (const BlockConflict& c : conflicts)
          known |= (c.a == other.site && c.b == run.site) || (c.a == run.site && c.b == other.site);
        // Of blocks that synchronise among themselves it matters which.
        if ((other.block == unknown_block || run.block == unknown_block) && !states.empty()) continue;
        if (known || synchronised(other.block, run.block) || synchronised(run.block, other.block)) continue;
        conflicts.push_back({other.site, run.site, kind_of(other.way), kind_of(run.way), run.begin,
                             std::min(other.end, run.end), other.block, run.block});
      }
    }
    open[run.way].push_back(&run);
  }
}

bool KernelRecord::same_cluster(std::uint64_t a, std::uint64_t b) const noexcept {
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t extent = grid_dim[i], cluster = cluster_dim[i];
    if (a % extent / cluster != b % extent / cluster) return false;
    a /= extent;
    b /= extent;
  }
  return true;
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
                   const void* opaque, std::uint64_t pitch, std::uint64_t rows) {
  if (!checker) return;
  Collector* c = collector;
  if (!c) [[unlikely]]
    c = collector = take_collector();
  const std::uint64_t number = mr_check_block_number(block);
  if (c->tag.load(std::memory_order_relaxed) != tag || c->block != number || c->grid != block.grid_id) [[unlikely]]
    change_block(*c, tag, number, block);
  const auto* told = static_cast<const MrCheckSite*>(opaque);
  if (told->kind & MR_CHECK_ELEMENT) [[unlikely]] {
    c->element = told;
    return;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  // An element of a texture: by the statement that was named before.
  const bool element = !told->line && at && c->element;
  const MrCheckSite& site = element ? *c->element : *told;
  if (!at) [[unlikely]] {
    if (site.kind < MR_CHECK_FENCE) return;
    if (site.kind & MR_CHECK_FENCE && c->fenced) return;
    std::scoped_lock hold(checker->lock);
    event(*c, block, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >> MR_STACK_BITS, site.kind);
    return;
  }
  // The block's own memory.
  const auto shared = reinterpret_cast<std::uintptr_t>(block.shared);
  if (at - shared < std::uint64_t{block.dynamic_offset} + block.dynamic_shared) return;
  if (((at ^ reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) >> MR_STACK_BITS) == 0) return;
  if (!c->record) return;
  const bool ordering = site.kind & (MR_CHECK_ATOMIC | MR_CHECK_VOLATILE);
  if (ordering && !c->child() &&
      (c->fenced || c->record->has_releases.load(std::memory_order_relaxed) ||
       site.kind & (MR_CHECK_ORDERED | MR_CHECK_VOLATILE) || checker->interesting(at))) [[unlikely]] {
    std::scoped_lock hold(checker->lock);
    synchronise(*c, at, site);
  }
  const unsigned way = ordering                      ? (site.kind & MR_CHECK_WRITE ? way_atomic : way_poll)
                       : told->kind & MR_CHECK_WRITE ? way_write
                                                     : way_read;
  if (!bytes) return;
  *mr_check_thread_of(reinterpret_cast<std::uint64_t>(
      mr_lane_of(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))))) = c->here;
  if (rows == 1)
    c->rows.touch(at, at + bytes, static_cast<Way>(way), site);
  else
    c->rows.touch_rows(at, bytes, pitch, rows, static_cast<Way>(way), site);
  if (c->rows.wants_words() || c->rows.wants_changed()) [[unlikely]]
    begin_words(*c, block);
  if (c->rows.full()) [[unlikely]] {
    std::scoped_lock hold(checker->lock);
    c->rows.unload(c->record->blocks);
  }
}

void leave_device_accesses() {
  if (collector) collector->idle = true;
  collector = nullptr;
}

void collect_device_accesses(std::uint32_t tag) {
  for (Collector* c : collectors())
    if (c->tag.load(std::memory_order_acquire) == tag) {
      hand_over(*c);
      c->here->grid_id = 0;
      c->record = nullptr;
      c->tag.store(0, std::memory_order_relaxed);
    }
}

}  // namespace mr::check
