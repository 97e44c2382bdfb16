// Pools between processes: an exported pool lies in a memory file, which another process maps as a pool that it can't
// allocate from; blocks are told by their place in the file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <string_view>

#include <memory/pool.h>
#include <memory/pool_registry.h>
#include <memory/space.h>

namespace mr::memory {
namespace {

constexpr std::uint64_t block_magic = 0x6b636f6c62726d01ull;

// The file of a pool in host memory has a name of its own.
bool is_host_file(int fd) noexcept {
  char link[32], target[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, target, sizeof target - 1);
  return length > 0 &&
         std::string_view(target, static_cast<std::size_t>(length)).find(host_pool_file) != std::string_view::npos;
}

}  // namespace

Pool* Pool::import(int fd, int device) noexcept {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return nullptr;
  auto* pool = new (std::nothrow) Pool;
  if (!pool) {
    close(own);
    return nullptr;
  }
  pool->options_.host = is_host_file(own);
  pool->options_.device = pool->options_.host ? -1 : device;
  pool->imported_ = true;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (!pool->range_.map_shared(
          own, bytes,
          {.step = step, .key = pool->options_.host ? space().shared_key() : space().device_key(), .shared = true})) {
    close(own);
    delete pool;
    return nullptr;
  }
  pool->streams_.emplace_back();
  if (!pool->options_.host) pool->access = std::uint64_t{0x100000001} << device;
  const auto begin = reinterpret_cast<std::uintptr_t>(pool->range_.base());
  space().ranges().insert({begin, begin + bytes, pool, pool_window,
                           static_cast<std::uint8_t>(pool->options_.host ? Kind::pinned : Kind::device),
                           static_cast<std::int16_t>(pool->options_.device)});
  PoolRegistry::get().add(pool);
  return pool;
}

int Pool::export_file() noexcept {
  if (range_.file() < 0) return -1;
  exported_.store(true, std::memory_order_relaxed);
  return fcntl(range_.file(), F_DUPFD_CLOEXEC, 0);
}

bool Pool::name_block(const void* pointer, BlockName* name) const noexcept {
  // Blocks of a pool that nobody can have imported are named to nobody.
  if (imported_ || !exported_.load(std::memory_order_relaxed)) return false;
  const Block block = find(pointer);
  if (!block.live || block.base != pointer) return false;
  *name = {block_magic, static_cast<std::uint64_t>(block.base - range_.base()), block.size, {}};
  return true;
}

void* Pool::import_block(const BlockName& name) const noexcept {
  if (!imported_ || name.magic != block_magic || name.offset >= range_.size() ||
      name.bytes > range_.size() - name.offset)
    return nullptr;
  return range_.base() + name.offset;
}

}  // namespace mr::memory
