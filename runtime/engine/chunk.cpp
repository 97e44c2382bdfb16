#include <engine/chunk.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include <engine/spinlock.h>

namespace mr::engine {
namespace {

constexpr std::size_t pool_limit = (16u << 20) / chunk_bytes;

// A chunk changes hands once per ~30 operations, so one lock for all is not on the launch path proper; queues also keep
// a spare.
struct Pool {
  SpinLock lock;
  Chunk* head = nullptr;
  std::size_t count = 0;
};
Pool& pool() {
  static Pool* const instance = new Pool;  // never destroyed: workers may outlive static destruction
  return *instance;
}

Chunk* allocate(std::size_t bytes) noexcept {
  void* memory = std::aligned_alloc(64, bytes);
  if (!memory) {
    std::fputs("millrace: out of memory for queued operations; synchronise streams before enqueueing more\n", stderr);
    std::abort();
  }
  return new (memory) Chunk{nullptr, bytes};
}

}  // namespace

Chunk* take_chunk(std::size_t record) noexcept {
  const std::size_t need = 64 + record + 64;
  if (need > chunk_bytes) return allocate((need + 63) & ~std::size_t{63});
  Pool& p = pool();
  {
    std::scoped_lock hold(p.lock);
    if (Chunk* c = p.head) {
      p.head = c->next_free;
      --p.count;
      return c;
    }
  }
  return allocate(chunk_bytes);
}

void give_chunk(Chunk* chunk) noexcept {
  if (chunk->bytes == chunk_bytes) {
    Pool& p = pool();
    std::scoped_lock hold(p.lock);
    if (p.count < pool_limit) {
      chunk->next_free = p.head;
      p.head = chunk;
      ++p.count;
      return;
    }
  }
  std::free(chunk);
}

}  // namespace mr::engine
