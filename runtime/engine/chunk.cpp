#include <engine/chunk.h>

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include <engine/spinlock.h>
#include <simt/protect.h>

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

[[noreturn]] void out_of_memory() noexcept {
  std::fputs("millrace: out of memory for queued operations; synchronise streams before enqueueing more\n", stderr);
  std::abort();
}

// With protection keys a record lies where device code may read it: kernels take their arguments from there. That costs
// a system call, so it is done for many chunks at once, and they stay in the pool for good.
constexpr std::size_t chunks_at_once = 64;

Chunk* map_chunks(std::size_t bytes) noexcept {
  const bool standard = bytes == chunk_bytes;
  const std::size_t all = standard ? chunk_bytes * chunks_at_once : (bytes + 4095) & ~std::size_t{4095};
  auto* memory = static_cast<std::byte*>(simt::protect::map_launch_memory(all));
  if (!memory) out_of_memory();
  if (standard) {
    Pool& p = pool();
    std::scoped_lock hold(p.lock);
    for (std::size_t i = 1; i < chunks_at_once; ++i) {
      p.head = new (memory + i * chunk_bytes) Chunk{p.head, chunk_bytes};
      ++p.count;
    }
  }
  return new (memory) Chunk{nullptr, standard ? bytes : all};
}

Chunk* allocate(std::size_t bytes) noexcept {
  if (simt::protect::active()) return map_chunks(bytes);
  void* memory = std::aligned_alloc(64, bytes);
  if (!memory) out_of_memory();
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
  const bool mapped = simt::protect::active();
  if (chunk->bytes == chunk_bytes) {
    Pool& p = pool();
    std::scoped_lock hold(p.lock);
    if (p.count < pool_limit || mapped) {
      chunk->next_free = p.head;
      p.head = chunk;
      ++p.count;
      return;
    }
  }
  if (mapped)
    munmap(chunk, chunk->bytes);
  else
    std::free(chunk);
}

}  // namespace mr::engine
