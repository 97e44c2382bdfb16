#include <memory/reservation.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace mr::memory {
namespace {

constexpr std::size_t huge = std::size_t{2} << 20;

std::size_t round_up(std::size_t value, std::size_t to) noexcept { return (value + to - 1) / to * to; }

// A file longer than the process may make (ulimit -f) is not an error but a signal that ends it.
bool fits_a_file(std::size_t bytes) noexcept {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

}  // namespace

bool set_access(void* address, std::size_t bytes, int key) noexcept {
  if (key >= 0) return pkey_mprotect(address, bytes, PROT_READ | PROT_WRITE, key) == 0;
  return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool Reservation::reserve(std::size_t bytes, const Options& options) noexcept {
  const std::size_t padded = bytes + huge;
  void* at = mmap(nullptr, padded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  char* const start = static_cast<char*>(at);
  char* const base = reinterpret_cast<char*>(round_up(reinterpret_cast<std::uintptr_t>(start), huge));
  if (base != start) munmap(start, static_cast<std::size_t>(base - start));
  munmap(base + bytes, static_cast<std::size_t>(start + padded - (base + bytes)));
  if (options.shared) {
    fd_ = fits_a_file(bytes) ? memfd_create(options.file, MFD_CLOEXEC) : -1;
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0 ||
        mmap(base, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd_, 0) == MAP_FAILED) {
      if (fd_ >= 0) close(fd_);
      fd_ = -1;
      munmap(base, bytes);
      return false;
    }
  }
  base_ = base;
  size_ = bytes;
  committed_.store(0, std::memory_order_relaxed);
  options_ = options;
  owned_ = true;
  return true;
}

bool Reservation::map_shared(int fd, std::size_t bytes, const Options& options) noexcept {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return false;
  if (options.key >= 0 && !set_access(at, bytes, options.key)) {
    munmap(at, bytes);
    return false;
  }
  base_ = static_cast<char*>(at);
  size_ = bytes;
  committed_.store(bytes, std::memory_order_release);
  options_ = options;
  options_.shared = true;
  fd_ = fd;
  owned_ = true;
  return true;
}

void Reservation::adopt(char* base, std::size_t bytes, const Options& options) noexcept {
  base_ = base;
  size_ = bytes;
  committed_.store(0, std::memory_order_relaxed);
  options_ = options;
  owned_ = false;
}

void Reservation::release() noexcept {
  if (owned_ && base_) munmap(base_, size_);
  if (fd_ >= 0) close(fd_);
  base_ = nullptr;
  size_ = 0;
  fd_ = -1;
  owned_ = false;
  committed_.store(0, std::memory_order_relaxed);
}

bool Reservation::commit_slowly(std::size_t end) noexcept {
  if (end > size_) return false;
  const std::size_t from = committed_.load(std::memory_order_relaxed);
  const std::size_t to = std::min(round_up(end, options_.step), size_);
  if (!set_access(base_ + from, to - from, options_.key)) return false;
  // A program that needs little shall not pay for zeroing huge pages.
  if (options_.huge_pages && to > huge) {
    const std::size_t first = std::max(from, huge);
    madvise(base_ + first, to - first, MADV_HUGEPAGE);
  }
  committed_.store(to, std::memory_order_release);
  return true;
}

void Reservation::discard(std::size_t offset, std::size_t bytes) noexcept {
  const std::size_t from = round_up(offset, page_bytes);
  const std::size_t to = std::min(offset + bytes, committed_.load(std::memory_order_relaxed)) / page_bytes * page_bytes;
  if (to <= from) return;
  madvise(base_ + from, to - from, options_.shared ? MADV_REMOVE : MADV_DONTNEED);
}

}  // namespace mr::memory
