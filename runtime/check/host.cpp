// Host code built with mrcc -mrcc-check: clang's instrumentation (-fsanitize=thread) calls these functions. Accesses to
// memory that operations can touch are gathered by statement until the thread's next synchronisation; atomics order
// threads by their memory order. Without a checker each function does only what the instrumented code asks for.
#include <cstring>
#include <mutex>

#include "state.h"

namespace mr::check {
namespace {

// One object for a statement that is reached in one way, so that what it touches has one history.
Call statement(const HostTouch& touch) {
  constexpr std::size_t most = std::size_t{1} << 16;
  auto& known = checker->host_statements;
  std::vector<std::uintptr_t> frames{touch.pc};
  frames.insert(frames.end(), touch.frames.begin(), touch.frames.end());
  if (known.size() >= most) known.clear();
  Call& call = known[frames];
  if (!call) {
    auto made = std::make_shared<CallSite>();
    made->frames = std::move(frames);
    call = std::move(made);
  }
  return call;
}

}  // namespace

void flush_touches(ThreadState& t) {
  if (t.touch_count == 0) return;
  const OpRef segment = checker->order.segment_of(*t.actor);
  for (unsigned i = 0; i < t.touch_count; ++i) {
    HostTouch& touch = t.touches[i];
    const Access access{segment, touch.kind, nullptr, statement(touch)};
    checker->touch(touch.begin, touch.end, access);
    touch_ordinary(touch.begin, touch.end, access);
  }
  t.touch_count = 0;
}

namespace {

#define MR_PC reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

void note(std::uintptr_t address, std::size_t bytes, std::uint32_t kind, std::uintptr_t pc) {
  ThreadState& t = self();
  if (t.inside || (address >= t.function_stack.begin && address < t.function_stack.end)) return;
  for (unsigned i = 0; i < t.touch_count; ++i) {
    HostTouch& known = t.touches[i];
    if (known.pc != pc || known.kind != kind || address > known.end || address + bytes < known.begin) continue;
    known.begin = std::min(known.begin, address);
    known.end = std::max(known.end, address + bytes);
    return;
  }
  if (t.touch_count == std::size(t.touches)) {
    Inside inside(t);
    std::scoped_lock hold(checker->lock);
    flush_touches(t);
  }
  HostTouch& touch = t.touches[t.touch_count++];
  touch.begin = address;
  touch.end = address + bytes;
  touch.pc = pc;
  touch.kind = kind;
  touch.frames.clear();
  for (std::size_t i = t.frames.size(); i > 0 && touch.frames.size() < 6; --i) touch.frames.push_back(t.frames[i - 1]);
}

// The calling thread runs a host function: whatever it touches may be of interest.
inline bool in_function() noexcept { return thread_state && thread_state->function_stack.end; }

inline void access(const void* p, std::size_t bytes, std::uint32_t kind, std::uintptr_t pc) {
  if (!checker || !bytes) return;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (checker->interesting(address) || in_function()) [[unlikely]]
    note(address, bytes, kind, pc);
}

// Long accesses may begin on a page of no interest.
void range_access(const void* p, std::size_t bytes, std::uint32_t kind, std::uintptr_t pc) {
  if (!checker || !bytes) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  for (std::uintptr_t page = begin >> 12; page <= (begin + bytes - 1) >> 12; ++page)
    if (checker->interesting(page << 12) || in_function()) return note(begin, bytes, kind, pc);
}

}  // namespace
void host_access(const void* p, std::size_t bytes, std::uint32_t kind, std::uintptr_t pc) {
  range_access(p, bytes, kind, pc);
}
namespace {

enum class Atomic : std::uint8_t { load, store, update };

// Around an atomic access: `before` releases, `after` acquires.
void order_before(const volatile void* p, Atomic what, int order) {
  if (!watching() || what == Atomic::load) return;
  if (order == __ATOMIC_RELAXED || order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME) return;
  ThreadState& t = self();
  Inside inside(t);
  std::scoped_lock hold(checker->lock);
  flush_touches(t);
  checker->order.release(*t.actor, checker->sync[reinterpret_cast<std::uintptr_t>(p)].clock);
}
void order_after(const volatile void* p, Atomic what, int order) {
  if (!watching() || what == Atomic::store) return;
  if (order == __ATOMIC_RELAXED || order == __ATOMIC_RELEASE) return;
  ThreadState& t = self();
  Inside inside(t);
  std::scoped_lock hold(checker->lock);
  const auto it = checker->sync.find(reinterpret_cast<std::uintptr_t>(p));
  if (it == checker->sync.end()) return;
  flush_touches(t);
  checker->order.acquire(*t.actor, it->second.clock);
}
void atomic_access(const volatile void* p, std::size_t bytes, Atomic what, std::uintptr_t pc) {
  access(const_cast<const void*>(p), bytes,
         atomic | (what != Atomic::store ? reads : 0u) | (what != Atomic::load ? writes : 0u), pc);
}

void volatile_read(const void* p, std::size_t bytes, std::uintptr_t pc) {
  if (!checker || !(checker->interesting(reinterpret_cast<std::uintptr_t>(p)) || in_function())) return;
  order_after(p, Atomic::load, __ATOMIC_ACQUIRE);
  access(p, bytes, reads | atomic, pc);
}
void volatile_write(const void* p, std::size_t bytes, std::uintptr_t pc) {
  if (!checker || !(checker->interesting(reinterpret_cast<std::uintptr_t>(p)) || in_function())) return;
  access(p, bytes, writes | atomic, pc);
  order_before(p, Atomic::store, __ATOMIC_RELEASE);
}

}  // namespace
}  // namespace mr::check

using namespace mr::check;

#define MR_HOOK extern "C" [[gnu::visibility("default")]]

MR_HOOK void __tsan_init() {}
MR_HOOK void __tsan_func_entry(void* pc) {
  if (!checker) return;
  self().frames.push_back(reinterpret_cast<std::uintptr_t>(pc));
}
MR_HOOK void __tsan_func_exit() {
  if (!checker) return;
  auto& frames = self().frames;
  if (!frames.empty()) frames.pop_back();
}
MR_HOOK void __tsan_ignore_thread_begin() {}
MR_HOOK void __tsan_ignore_thread_end() {}
MR_HOOK void __tsan_vptr_update(void** p, void*) { access(p, 8, writes, MR_PC); }
MR_HOOK void __tsan_vptr_read(void** p) { access(p, 8, reads, MR_PC); }
MR_HOOK void __tsan_read_range(void* p, std::size_t n) { range_access(p, n, reads, MR_PC); }
MR_HOOK void __tsan_write_range(void* p, std::size_t n) { range_access(p, n, writes, MR_PC); }
MR_HOOK void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  range_access(from, n, reads, MR_PC);
  range_access(to, n, writes, MR_PC);
  return std::memcpy(to, from, n);
}
MR_HOOK void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  range_access(from, n, reads, MR_PC);
  range_access(to, n, writes, MR_PC);
  return std::memmove(to, from, n);
}
MR_HOOK void* __tsan_memset(void* to, int value, std::size_t n) {
  range_access(to, n, writes, MR_PC);
  return std::memset(to, value, n);
}

#define MR_SIZES(n)                                                                                                    \
  MR_HOOK void __tsan_read##n(void* p) { access(p, n, reads, MR_PC); }                                                 \
  MR_HOOK void __tsan_write##n(void* p) { access(p, n, writes, MR_PC); }                                               \
  MR_HOOK void __tsan_unaligned_read##n(void* p) { access(p, n, reads, MR_PC); }                                       \
  MR_HOOK void __tsan_unaligned_write##n(void* p) { access(p, n, writes, MR_PC); }                                     \
  MR_HOOK void __tsan_read_write##n(void* p) { access(p, n, reads | writes, MR_PC); }                                  \
  MR_HOOK void __tsan_unaligned_read_write##n(void* p) { access(p, n, reads | writes, MR_PC); }                        \
  MR_HOOK void __tsan_volatile_read##n(void* p) { volatile_read(p, n, MR_PC); }                                        \
  MR_HOOK void __tsan_volatile_write##n(void* p) { volatile_write(p, n, MR_PC); }                                      \
  MR_HOOK void __tsan_unaligned_volatile_read##n(void* p) { volatile_read(p, n, MR_PC); }                              \
  MR_HOOK void __tsan_unaligned_volatile_write##n(void* p) { volatile_write(p, n, MR_PC); }
MR_SIZES(1)
MR_SIZES(2)
MR_SIZES(4)
MR_SIZES(8)
MR_SIZES(16)

#define MR_UPDATE(bits, type, name, expression)                                                                        \
  MR_HOOK type __tsan_atomic##bits##_##name(volatile type* p, type v, int order) {                                     \
    atomic_access(p, sizeof(type), Atomic::update, MR_PC);                                                             \
    order_before(p, Atomic::update, order);                                                                            \
    const type old = expression;                                                                                       \
    order_after(p, Atomic::update, order);                                                                             \
    return old;                                                                                                        \
  }
#define MR_ATOMICS(bits, type)                                                                                         \
  MR_HOOK type __tsan_atomic##bits##_load(const volatile type* p, int order) {                                         \
    const type v = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                               \
    order_after(p, Atomic::load, order);                                                                               \
    atomic_access(p, sizeof(type), Atomic::load, MR_PC);                                                               \
    return v;                                                                                                          \
  }                                                                                                                    \
  MR_HOOK void __tsan_atomic##bits##_store(volatile type* p, type v, int order) {                                      \
    atomic_access(p, sizeof(type), Atomic::store, MR_PC);                                                              \
    order_before(p, Atomic::store, order);                                                                             \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                          \
  }                                                                                                                    \
  MR_UPDATE(bits, type, exchange, __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST))                                         \
  MR_UPDATE(bits, type, fetch_add, __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST))                                         \
  MR_UPDATE(bits, type, fetch_sub, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST))                                         \
  MR_UPDATE(bits, type, fetch_and, __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST))                                         \
  MR_UPDATE(bits, type, fetch_or, __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST))                                           \
  MR_UPDATE(bits, type, fetch_xor, __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST))                                         \
  MR_UPDATE(bits, type, fetch_nand, __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST))                                       \
  MR_HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected, type v, int order,       \
                                                            int) {                                                     \
    atomic_access(p, sizeof(type), Atomic::update, MR_PC);                                                             \
    order_before(p, Atomic::update, order);                                                                            \
    const bool done = __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
    order_after(p, Atomic::update, order);                                                                             \
    return done;                                                                                                       \
  }                                                                                                                    \
  MR_HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected, type v, int order,         \
                                                          int failure) {                                               \
    return __tsan_atomic##bits##_compare_exchange_strong(p, expected, v, order, failure);                              \
  }                                                                                                                    \
  MR_HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type v, int order,          \
                                                          int failure) {                                               \
    __tsan_atomic##bits##_compare_exchange_strong(p, &expected, v, order, failure);                                    \
    return expected;                                                                                                   \
  }
MR_ATOMICS(8, std::uint8_t)
MR_ATOMICS(16, std::uint16_t)
MR_ATOMICS(32, std::uint32_t)
MR_ATOMICS(64, std::uint64_t)
// A fence orders what atomics around it carry; the atomics' own orders are looked at alone, so it is taken for granted
// by treating neither as an order. Rare in host code beside CUDA.
MR_HOOK void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
MR_HOOK void __tsan_atomic_signal_fence(int) {}
