#include <observe/recorder.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include <observe/trace.h>

namespace mr::observe {
namespace {

using namespace trace_format;

constexpr std::uint32_t at_once = 8;  // blocks that are mapped together

void count(Block& block, std::uint32_t used) noexcept {
  std::atomic_ref<std::uint32_t>(block.used).store(used, std::memory_order_release);
}

Header::Moment moment() noexcept {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return {trace_now(), static_cast<std::uint64_t>(ts.tv_sec) * 1000000000u + static_cast<std::uint64_t>(ts.tv_nsec)};
}

}  // namespace

Recorder* Recorder::open(const char* path) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    std::fprintf(stderr, "millrace: the trace could not be written to %s: %s\n", path, std::strerror(errno));
    return nullptr;
  }
  auto* made = new Recorder;
  made->path_ = path;
  made->file_ = file;
  std::uint32_t number;
  Block* first = made->new_block(block_header, nullptr, number);
  if (!first) return nullptr;
  auto& header = *(made->header_ = reinterpret_cast<Header*>(first + 1));
  header = {4, static_cast<std::uint32_t>(getpid()), 0, 0, 0, moment(), {}};
  // Far enough apart to tell how long a tick is, should the program end soon.
  constexpr std::uint64_t apart_ns = 200'000;
  while ((header.last = moment()).ns < header.first.ns + apart_ns) {}
  return made;
}

void Recorder::stop(int error) noexcept {
  if (!full_)
    std::fprintf(stderr, "millrace: the trace %s ends here, the program goes on: %s\n", path_.c_str(),
                 std::strerror(error));
  full_ = true;
}

// A mapped block that nobody has had.
Block* Recorder::map_block() noexcept {
  if (mapped_left_ == 0) {
    const off_t begin = static_cast<off_t>(count_) * block_bytes;
    constexpr std::size_t bytes = std::size_t{at_once} * block_bytes;
    // Room is made first: a mapped page that the disk has no room for would be a fault of the program's.
    const int error = count_ + at_once > most_blocks ? EFBIG : posix_fallocate(file_, begin, bytes);
    void* at = error ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, begin);
    if (at == MAP_FAILED) return stop(error ? error : errno), nullptr;
    mapped_ = static_cast<char*>(at);
    mapped_left_ = at_once;
    count_ += at_once;
  }
  auto* block = reinterpret_cast<Block*>(mapped_);
  mapped_ += block_bytes;
  --mapped_left_;
  return block;
}

int Recorder::write(const Block& full) noexcept {
  Block head = full;
  head.number = 0;  // in its own place
  const iovec parts[] = {{&head, sizeof head}, {const_cast<Block*>(&full + 1), block_bytes - sizeof head}};
  const ssize_t written = pwritev(file_, parts, 2, static_cast<off_t>(full.number) * block_bytes);
  return written == static_cast<ssize_t>(block_bytes) ? 0 : written < 0 ? errno : ENOSPC;
}

Block* Recorder::take_block(BlockKind kind, Block* full, std::uint32_t& number) noexcept {
  if (full_) return nullptr;
  Block* block = full ? full : map_block();
  if (!block) return nullptr;
  if (count_ == most_blocks) return stop(EFBIG), nullptr;
  number = kind == block_header ? 0 : count_++;
  // In this order: see Block::number.
  count(*block, 0);
  std::atomic_ref<std::uint32_t>(block->number).store(number, std::memory_order_release);
  if (!full) {
    block->kind = kind;
    block->thread = static_cast<std::uint32_t>(gettid());
    block->magic = magic;
  }
  if (header_) header_->last = moment();
  return block;
}

Block* Recorder::new_block(BlockKind kind, Block* full, std::uint32_t& number) noexcept {
  if (full_.load(std::memory_order_relaxed)) return nullptr;
  if (full) {
    const int error = write(*full);  // by this thread, beside others
    if (error) {
      const std::scoped_lock hold(mutex_);
      return stop(error), nullptr;
    }
  }
  const std::scoped_lock hold(mutex_);
  return take_block(kind, full, number);
}

std::uint32_t Recorder::put(std::string_view text, std::uint64_t queue, std::uint64_t since) noexcept {
  text = text.substr(0, block_bytes / 2);
  const std::uint32_t bytes = (static_cast<std::uint32_t>(sizeof(Text) + text.size()) + 7) & ~7u;
  std::uint32_t number;
  if (!texts_ || header_bytes + texts_->used + bytes > block_bytes) {
    if (full_) return 0;
    if (const int error = texts_ ? write(*texts_) : 0) return stop(error), 0;
    texts_ = take_block(block_texts, texts_, number);
    if (!texts_) return 0;
  }
  char* at = reinterpret_cast<char*>(texts_ + 1) + texts_->used;
  const Text head = {static_cast<std::uint32_t>(text.size()), 0, queue, since};
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, text.data(), text.size());
  count(*texts_, texts_->used + bytes);
  return ++last_text_;
}

std::uint32_t Recorder::text(std::string_view text) noexcept {
  const std::scoped_lock hold(mutex_);
  const auto [at, fresh] = known_.try_emplace(std::string(text), 0);
  if (fresh) at->second = put(text, 0, 0);
  return at->second;
}

std::uint32_t Recorder::site(const void* pc) noexcept {
  Dl_info info{};
  if (!dladdr(pc, &info) || !info.dli_fname) return 0;
  char offset[32];
  std::snprintf(offset, sizeof offset, "\t%lx",
                static_cast<unsigned long>(static_cast<const char*>(pc) - static_cast<const char*>(info.dli_fbase)));
  char path[4096];
  const bool relative = !std::strchr(info.dli_fname, '/');  // as the program was called: by PATH, or not at all
  const ssize_t length = relative ? readlink("/proc/self/exe", path, sizeof path) : 0;
  return text((length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string(info.dli_fname)) +
              offset);
}

void Recorder::name_queue(const void* queue, std::uint64_t since, std::string_view name) noexcept {
  const std::scoped_lock hold(mutex_);
  put(name, reinterpret_cast<std::uintptr_t>(queue), since);
}

void Recorder::complete() noexcept {
  Header& header = *header_;
  header.lost = lost_.load(std::memory_order_relaxed);
  header.last = moment();
  header.complete = 1;
}

}  // namespace mr::observe
