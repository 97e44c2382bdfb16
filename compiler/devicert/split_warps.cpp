// What warps do together in split mode, where that isn't part of the kernel's own code, and which lanes go on. The same
// results as runtime/simt/warp.cpp has for fibers.
#include <cstdint>

#include <simt/abi.h>
#include <simt/split_warps.h>

extern "C" void __mr_trap();

namespace {
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 combine(u32 op, u32 a, u32 b) {
  const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
  switch (op) {
  case MR_RED_ADD: return a + b;
  case MR_RED_MIN_U: return b < a ? b : a;
  case MR_RED_MAX_U: return b > a ? b : a;
  case MR_RED_MIN_S: return y < x ? b : a;
  case MR_RED_MAX_S: return y > x ? b : a;
  case MR_RED_AND: return a & b;
  case MR_RED_OR: return a | b;
  default: return a ^ b;
  }
}

u32 lowest(u32 lanes) { return static_cast<u32>(__builtin_ctz(lanes)); }

// One warp of a block whose arrays lie in scratch memory.
class Warp {
 public:
  Warp(const MrSplit& split, char* scratch, u64 threads, u64 first)
      : split_(split), scratch_(scratch), threads_(threads), first_(first) {
    const u64 count = threads - first;
    exist_ = count < MR_WARP ? (1u << count) - 1 : ~0u;
  }
  u32 exist() const { return exist_; }
  u16* at() const { return array<u16>(split_.at); }
  u32 lanes_at(u32 number) const {
    u32 out = 0;
    for (u32 rest = exist_; rest; rest &= rest - 1)
      out |= static_cast<u32>(at()[lowest(rest)] == number) << lowest(rest);
    return out;
  }
  u32 mask(const MrSync& sync, u32 lane) const {
    const u32 mask = sync.mask_known ? sync.mask : array<u32>(split_.masks)[lane];
    return mask >> lane & 1 ? mask : 1u << lane;  // nobody waits for a lane that doesn't name itself
  }
  void met(u32 lane, u32 group) const { array<u32>(split_.masks)[lane] = group; }
  u64 brought(const MrSync& sync, u32 lane) const {
    return sync.brought_bytes == 8 ? array<u64>(sync.brought)[lane] : array<u32>(sync.brought)[lane];
  }
  void bring(const MrSync& sync, u32 lane, u64 value) const {
    if (sync.brought_bytes == 8)
      array<u64>(sync.brought)[lane] = value;
    else
      array<u32>(sync.brought)[lane] = static_cast<u32>(value);
  }
  // The lanes of `group` have all come to the operation: what each is given.
  void complete(const MrSync& sync, u32 group) const {
    u32* given = array<u32>(sync.given);
    switch (sync.kind) {
    case MR_SYNC_BALLOT: {
      u32 votes = 0;
      for (u32 rest = group; rest; rest &= rest - 1)
        votes |= static_cast<u32>(brought(sync, lowest(rest)) != 0) << lowest(rest);
      return give(given, group, votes);
    }
    case MR_SYNC_REDUCE: {
      u32 total = static_cast<u32>(brought(sync, lowest(group)));
      for (u32 rest = group & (group - 1); rest; rest &= rest - 1)
        total = combine(sync.op, total, static_cast<u32>(brought(sync, lowest(rest))));
      return give(given, group, total);
    }
    case MR_SYNC_MATCH:
      for (u32 left = group; left;) {
        const u64 value = brought(sync, lowest(left));
        u32 equal = 0;
        for (u32 rest = left; rest; rest &= rest - 1)
          equal |= static_cast<u32>(brought(sync, lowest(rest)) == value) << lowest(rest);
        if (sync.op == MR_MATCH_ALL) return give(given, group, equal == group ? group : 0);
        give(given, equal, equal);
        left &= ~equal;
      }
      return;
    case MR_SYNC_ACTIVEMASK: return give(given, group, group);
    default: return;
    }
  }

 private:
  // The array's elements for this warp.
  template <class T> T* array(u64 offset) const { return reinterpret_cast<T*>(scratch_ + offset * threads_) + first_; }
  static void give(u32* given, u32 lanes, u32 value) {
    for (u32 rest = lanes; rest; rest &= rest - 1) given[lowest(rest)] = value;
  }

  const MrSplit& split_;
  char* scratch_;
  u64 threads_, first_;
  u32 exist_;
};

bool of_warp(const MrSync& sync) { return sync.kind >= MR_SYNC_WARP; }

// Lanes that wait at warp operations which all lanes of their masks have reached become ready. True if any has.
bool make_ready(const Warp& w, const MrSplit& split) {
  u16* at = w.at();
  u32 live = 0;
  for (u32 rest = w.exist(); rest; rest &= rest - 1)
    live |= static_cast<u32>(at[lowest(rest)] != MR_SPLIT_RETURNED) << lowest(rest);
  u32 ready = 0;
  for (u32 left = live; left;) {
    const u32 lane = lowest(left);
    const MrSync& sync = split.syncs[at[lane]];
    if (!of_warp(sync) || sync.kind == MR_SYNC_ACTIVEMASK) {
      left &= left - 1;
      continue;
    }
    // Those that have brought the same mask to the same operation, wherever it stands in the source.
    const u32 mask = w.mask(sync, lane);
    u32 group = 0;
    bool one_place = true;
    for (u32 rest = mask & left; rest; rest &= rest - 1) {
      const u32 other = lowest(rest);
      const MrSync& theirs = split.syncs[at[other]];
      if (theirs.kind != sync.kind || theirs.op != sync.op || w.mask(theirs, other) != mask) continue;
      group |= 1u << other;
      one_place &= at[other] == at[lane];
    }
    left &= ~group;
    if (group != (mask & live)) continue;
    if (!one_place && sync.brought_bytes)
      for (u32 rest = group; rest; rest &= rest - 1) {
        const u64 value = w.brought(split.syncs[at[lowest(rest)]], lowest(rest));
        for (u32 all = group; all; all &= all - 1) w.bring(split.syncs[at[lowest(all)]], lowest(rest), value);
      }
    for (u32 rest = group; rest; rest &= rest - 1) {
      if (one_place && rest != group) break;
      w.complete(split.syncs[at[lowest(rest)]], group);
    }
    for (u32 rest = group; rest; rest &= rest - 1) w.met(lowest(rest), group);
    ready |= group;
  }
  for (u32 rest = ready; rest; rest &= rest - 1) at[lowest(rest)] |= MR_SPLIT_READY;
  return ready != 0;
}

u64 go_on(u32 number, u32 lanes, bool everything) {
  return static_cast<u64>(lanes) << 32 | static_cast<u64>(everything) << 16 | number;
}

}  // namespace

// What the warp runs next: the region's number in bits 0-15, the lanes in bits 32-63; bit 16: these are all that have
// not returned, and they have met. MR_SPLIT_RETURNED when every lane waits at a barrier or has returned.
extern "C" u64 __mr_next_of_warp(const MrSplit* split, char* scratch, u64 threads, u64 first) {
  const Warp w(*split, scratch, threads, first);
  u16* at = w.at();
  for (;;) {
    bool same = true;
    const u16 begin = at[0];
    if (w.exist() == ~0u)
      for (u32 i = 1; i < MR_WARP; ++i) same &= at[i] == begin;
    else
      same = w.lanes_at(begin) == w.exist();
    if (same && !(begin & MR_SPLIT_READY)) {
      if (begin == MR_SPLIT_RETURNED || split->syncs[begin].kind == MR_SYNC_BARRIER)
        return go_on(MR_SPLIT_RETURNED, 0, false);
      const MrSync& sync = split->syncs[begin];
      if (sync.kind == MR_SYNC_ACTIVEMASK || (sync.mask_known && sync.mask == ~0u)) {
        w.complete(sync, w.exist());
        return go_on(begin, w.exist(), true);
      }
    }
    // Lanes that are ready for the same region, the lowest first.
    for (u32 rest = w.exist(); rest; rest &= rest - 1) {
      const u16 number = at[lowest(rest)];
      if (!(number & MR_SPLIT_READY)) continue;
      const u32 lanes = w.lanes_at(number);
      for (u32 all = lanes; all; all &= all - 1) at[lowest(all)] = number & ~MR_SPLIT_READY;
      return go_on(number & ~MR_SPLIT_READY, lanes, false);
    }
    if (make_ready(w, *split)) continue;
    bool blocked = false;
    for (u32 rest = w.exist(); rest; rest &= rest - 1) {
      const u16 number = at[lowest(rest)];
      if (number == MR_SPLIT_RETURNED) continue;
      const MrSync& sync = split->syncs[number];
      if (sync.kind == MR_SYNC_ACTIVEMASK) {
        const u32 lanes = w.lanes_at(number);
        w.complete(sync, lanes);
        return go_on(number, lanes, false);
      }
      blocked |= of_warp(sync);
    }
    if (blocked) __mr_trap();  // they wait for lanes that wait elsewhere
    return go_on(MR_SPLIT_RETURNED, 0, false);
  }
}

// All warps have got to barriers: the one at which all threads wait that have not returned, MR_SPLIT_RETURNED if there
// are none, MR_SPLIT_MIXED if they wait at several; then all are ready to go on.
extern "C" u32 __mr_next_of_block(const MrSplit* split, char* scratch, u64 threads) {
  u16* at = Warp(*split, scratch, threads, 0).at();
  u32 common = MR_SPLIT_RETURNED;
  for (u64 i = 0; i < threads; ++i) {
    if (at[i] == MR_SPLIT_RETURNED || at[i] == common) continue;
    common = common == MR_SPLIT_RETURNED ? at[i] : MR_SPLIT_MIXED;
  }
  if (common == MR_SPLIT_MIXED)
    for (u64 i = 0; i < threads; ++i)
      if (at[i] != MR_SPLIT_RETURNED) at[i] |= MR_SPLIT_READY;
  return common;
}

// All threads of the block that have not returned have come to the warp operation `number`.
extern "C" void __mr_complete_block(const MrSplit* split, char* scratch, u64 threads, u32 number) {
  const MrSync& sync = split->syncs[number];
  const u8* here = reinterpret_cast<const u8*>(scratch + split->here * threads);
  for (u64 first = 0; first < threads; first += MR_WARP) {
    const Warp w(*split, scratch, threads, first);
    u32 live = w.exist();
    if (split->has_here)
      for (u32 rest = live; rest; rest &= rest - 1)
        live &= ~(static_cast<u32>(!here[first + lowest(rest)]) << lowest(rest));
    if (sync.kind == MR_SYNC_ACTIVEMASK && live) w.complete(sync, live);
    if (sync.kind == MR_SYNC_ACTIVEMASK) continue;
    for (u32 left = live; left;) {
      const u32 mask = w.mask(sync, lowest(left));
      u32 group = 0;
      for (u32 rest = mask & left; rest; rest &= rest - 1)
        group |= static_cast<u32>(w.mask(sync, lowest(rest)) == mask) << lowest(rest);
      w.complete(sync, group);
      left &= ~group;
    }
  }
}

// Threads that have returned bring nothing to a shuffle.
extern "C" void __mr_clear_returned(const MrSplit* split, char* scratch, u64 threads, u32 number) {
  const MrSync& sync = split->syncs[number];
  const u8* here = reinterpret_cast<const u8*>(scratch + split->here * threads);
  const Warp w(*split, scratch, threads, 0);
  for (u64 i = 0; i < threads; ++i)
    if (!here[i]) w.bring(sync, static_cast<u32>(i), 0);
}

// The same for operations of whole warps in kernels whose threads never part: one result for each warp.
extern "C" void __mr_reduce_warps(const u32* brought, u32* given, u64 threads, u32 op) {
  constexpr u32 ballot = ~0u;
  for (u64 begin = 0; begin < threads; begin += MR_WARP) {
    const u64 count = threads - begin < MR_WARP ? threads - begin : MR_WARP;
    u32 all = op == ballot ? 0 : brought[begin];
    if (op == ballot)
      for (u64 i = 0; i < count; ++i) all |= brought[begin + i] << i;
    else
      for (u64 i = 1; i < count; ++i) all = combine(op, all, brought[begin + i]);
    given[begin / MR_WARP] = all;
  }
}
