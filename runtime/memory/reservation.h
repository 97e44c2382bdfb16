// Address ranges: reserved once, made usable from the bottom up in big steps (so that the kernel keeps few areas),
// given back page by page.
#pragma once
#include <atomic>
#include <cstddef>

namespace mr::memory {

inline constexpr std::size_t page_bytes = 4096;

// One range of virtual memory. Not thread-safe but for committed(); the owner's lock covers commit and discard.
class Reservation {
 public:
  // How the committed part may be used. `key` is a protection key (pkey_alloc) or -1.
  struct Options {
    std::size_t step = std::size_t{64} << 20;  // bytes made usable at a time
    int key = -1;
    bool huge_pages = false;        // worth asking for, beyond the first two megabytes
    bool shared = false;            // backed by a memory file that another process can map
    const char* file = "millrace";  // the memory file's name: what it is, for who gets it
  };

  Reservation() = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { release(); }

  // Reserves `bytes` (a multiple of the page size), inaccessible, aligned to 2 MiB. False when the kernel refuses.
  bool reserve(std::size_t bytes, const Options& options) noexcept;
  // Maps the memory file `fd` of another process, all of it usable. Takes over fd. False when the kernel refuses.
  bool map_shared(int fd, std::size_t bytes, const Options& options) noexcept;
  // Uses a part of somebody else's reservation, which must outlive this.
  void adopt(char* base, std::size_t bytes, const Options& options) noexcept;
  void release() noexcept;

  // Makes [0, end) readable and writable. False when the kernel refuses or end > size().
  bool commit(std::size_t end) noexcept {
    return end <= committed_.load(std::memory_order_relaxed) || commit_slowly(end);
  }
  // Gives the pages that lie wholly inside [offset, offset + bytes) back; they read as zero afterwards.
  void discard(std::size_t offset, std::size_t bytes) noexcept;

  char* base() const noexcept { return base_; }
  std::size_t size() const noexcept { return size_; }
  // Release store in commit, acquire load here: who sees an end may touch everything below it.
  std::size_t committed() const noexcept { return committed_.load(std::memory_order_acquire); }
  // The memory file of a shared reservation, or -1.
  int file() const noexcept { return fd_; }
  int key() const noexcept { return options_.key; }

 private:
  bool commit_slowly(std::size_t end) noexcept;

  char* base_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<std::size_t> committed_{0};
  Options options_;
  int fd_ = -1;
  bool owned_ = false;
};

// Sets the access of a page range to read and write with the given protection key (-1: the default one). False when
// refused.
bool set_access(void* address, std::size_t bytes, int key) noexcept;

}  // namespace mr::memory
