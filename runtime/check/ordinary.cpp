#include "ordinary.h"

#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <mutex>

#include "next.h"
#include "state.h"

namespace mr::check {
namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::size_t most_bytes = std::size_t{128} << 20;  // of shadow

void mark(std::uintptr_t begin, std::uintptr_t end) {
  for (std::uintptr_t at = begin / page; at <= (end - 1) / page; ++at)
    checker->pages[at >> 6 & 1023].fetch_or(std::uint64_t{1} << (at & 63), std::memory_order_relaxed);
}

// Copies what can be read; false when it can't: what a function is given needn't be an address.
bool peek(std::uintptr_t at, void* to, std::size_t bytes) {
  const iovec mine{to, bytes}, there{reinterpret_cast<void*>(at), bytes};
  return process_vm_readv(getpid(), &mine, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

// The program's own variables.
int mark_variables(dl_phdr_info* info, std::size_t, void*) {
  constexpr std::size_t most = std::size_t{16} << 20;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W) || segment.p_memsz == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    mark(begin, begin + std::min<std::size_t>(segment.p_memsz, most));
  }
  return 1;  // the program comes first
}

// The beginning of what is at the address, and of what it points to.
void expose_object(std::uintptr_t at, unsigned depth) {
  std::uintptr_t words[8];
  if (at < page || !peek(at, words, sizeof words)) return;
  mark(at, depth == 0 ? at + page : at + sizeof words);
  if (depth == 0) return;
  for (const std::uintptr_t word : words)
    if (!checker->interesting(word)) expose_object(word, depth - 1);
}

bool function_side(const Access& a) {
  return a.op->role == Role::host_function || a.op->role == Role::node_host_function;
}

Shadow& ordinary() {
  static auto* shadow = new Shadow(
      [](const Access& before, const Access& now, std::uintptr_t begin, std::uintptr_t end) {
        if (function_side(before) || function_side(now)) checker->report.conflict(before, now, begin, end);
      });
  return *shadow;
}

}  // namespace

void expose(const void* data) {
  if (!checker || checker->api_only) return;
  static std::once_flag once;
  std::call_once(once, [] { dl_iterate_phdr(mark_variables, nullptr); });
  expose_object(reinterpret_cast<std::uintptr_t>(data), 2);
}

void touch_ordinary(std::uintptr_t begin, std::uintptr_t end, const Access& access) {
  if (checker->api_only || checker->allocation_of(begin)) return;
  if (function_side(access))
    mark(begin, end);
  else if (ordinary().bytes() > most_bytes)
    return;
  ordinary().touch(begin, end, access);
}

StackRange own_stack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
  }
  const auto low = reinterpret_cast<std::uintptr_t>(begin);
  return {low, low + bytes};
}

}  // namespace mr::check

using namespace mr::check;

// Memory that is given back is somebody else's from now on.
extern "C" void __libc_free(void* p);
extern "C" [[gnu::visibility("default")]] void free(void* p) noexcept {
  using Free = void (*)(void*);
  static std::atomic<Free> found{nullptr};
  static thread_local bool looking __attribute__((tls_model("initial-exec"))) = false;
  Free next = found.load(std::memory_order_relaxed);
  if (!next) [[unlikely]] {
    if (looking) return __libc_free(p);  // dlsym's own
    looking = true;
    next = reinterpret_cast<Free>(dlsym(RTLD_NEXT, "free"));
    looking = false;
    if (!next) next = __libc_free;
    found.store(next, std::memory_order_relaxed);
  }
  if (p && checker && thread_state && thread_state->inside == 0 &&
      checker->interesting(reinterpret_cast<std::uintptr_t>(p))) [[unlikely]] {
    ThreadState& t = *thread_state;
    const Inside inside(t);
    const auto begin = reinterpret_cast<std::uintptr_t>(p);
    const std::scoped_lock hold(checker->lock);
    flush_touches(t);
    ordinary().forget(begin, begin + malloc_usable_size(p));
  }
  next(p);
}
