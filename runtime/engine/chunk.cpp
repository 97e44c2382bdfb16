#include <engine/chunk.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <vector>

#include <engine/delay.h>
#include <engine/spinlock.h>
#include <simt/protect.h>

namespace mr::engine {
namespace {

constexpr std::size_t kept = (4u << 20) / chunk_bytes;  // free ones that keep their memory
// Mapped, and emptied, at once: with protection keys mapping costs a system call of its own (a record lies where device
// code may read it: kernels take their arguments from there).
constexpr std::size_t at_once = 64;

// A chunk changes hands once per ~30 operations, so one lock for all is not on the launch path proper; queues also keep
// a spare.
struct Pool {
  SpinLock lock;
  Chunk* head = nullptr;
  std::size_t count = 0;
  // Free ones that have no memory: never used, or taken from them by trim_chunks().
  std::vector<std::byte*> empty;
};
Pool& pool() {
  static Pool* const instance = new Pool;  // never destroyed: workers may outlive static destruction
  return *instance;
}

std::byte* map(std::size_t bytes) noexcept {
  if (void* memory = simt::protect::map_launch_memory(bytes)) return static_cast<std::byte*>(memory);
  std::fputs("millrace: out of memory for queued operations; synchronise streams before enqueueing more\n", stderr);
  std::abort();
}

Chunk* make(std::byte* memory, std::size_t bytes) noexcept { return new (memory) Chunk{nullptr, bytes}; }

}  // namespace

Chunk* take_chunk(std::size_t record) noexcept {
  const std::size_t need = 64 + record + 64;
  if (need > chunk_bytes) {
    const std::size_t bytes = (need + 4095) & ~std::size_t{4095};
    return make(map(bytes), bytes);
  }
  Pool& p = pool();
  {
    std::scoped_lock hold(p.lock);
    if (Chunk* c = p.head) {
      p.head = c->next_free;
      --p.count;
      return c;
    }
    if (!p.empty.empty()) {
      std::byte* const memory = p.empty.back();
      p.empty.pop_back();
      return make(memory, chunk_bytes);
    }
  }
  std::byte* const memory = map(at_once * chunk_bytes);
  std::scoped_lock hold(p.lock);
  for (std::size_t i = at_once; --i > 0;) p.empty.push_back(memory + i * chunk_bytes);  // the lowest is next
  return make(memory, chunk_bytes);
}

void give_chunk(Chunk* chunk) noexcept {
  if (chunk->bytes != chunk_bytes) {
    munmap(chunk, chunk->bytes);
    return;
  }
  Pool& p = pool();
  std::scoped_lock hold(p.lock);
  chunk->next_free = p.head;
  p.head = chunk;
  ++p.count;
}

bool trim_chunks() noexcept {
  std::byte* taken[at_once];
  std::size_t count = 0;
  Pool& p = pool();
  {
    std::scoped_lock hold(p.lock);
    while (count < at_once && p.count > kept) {
      taken[count++] = reinterpret_cast<std::byte*>(p.head);
      p.head = p.head->next_free;
      --p.count;
    }
  }
  if (count == 0) return false;
  MR_DELAY();
  std::sort(taken, taken + count, std::greater<>());
  for (std::size_t i = 0; i < count;) {
    std::size_t n = 1;
    while (i + n < count && taken[i + n] + chunk_bytes == taken[i + n - 1]) ++n;
    madvise(taken[i + n - 1], n * chunk_bytes, MADV_DONTNEED);
    i += n;
  }
  std::scoped_lock hold(p.lock);
  p.empty.insert(p.empty.end(), taken, taken + count);
  return true;
}

}  // namespace mr::engine
