// The file behind a trace: blocks for threads, and texts that are kept once.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <observe/trace_format.h>

namespace mr::observe {

class Recorder {
 public:
  // Null, after a sentence on standard error, when the file can't be made.
  static Recorder* open(const char* path);

  // A block of the calling thread's for records of one kind; null when there is no more room. `number`: its place.
  trace_format::Block* new_block(trace_format::BlockKind kind, std::uint32_t& number) noexcept;
  // Acquire: a tag comes to whoever asks through a queue, which orders it behind its block; this makes it plain.
  trace_format::Block* block(std::uint32_t number) const noexcept {
    return blocks_[number].load(std::memory_order_acquire);
  }
  std::uint32_t text(std::string_view text) noexcept;
  std::uint32_t site(const void* pc) noexcept;
  void name_queue(const void* queue, std::uint64_t since, std::string_view name) noexcept;
  void lose() noexcept { lost_.fetch_add(1, std::memory_order_relaxed); }
  // The program ends by itself.
  void complete() noexcept;

  static constexpr std::uint32_t most_blocks = 1u << 17;  // 8 GiB

 private:
  Recorder() = default;
  trace_format::Block* take_block(trace_format::BlockKind kind, std::uint32_t& number) noexcept;  // locked
  std::uint32_t put(std::string_view text, std::uint64_t queue, std::uint64_t since) noexcept;    // locked

  std::string path_;
  int file_ = -1;
  std::mutex mutex_;
  std::uint32_t count_ = 0, mapped_ = 0;  // blocks
  bool full_ = false;
  std::atomic<trace_format::Block*> blocks_[most_blocks] = {};
  trace_format::Block* texts_ = nullptr;
  std::uint32_t last_text_ = 0;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace mr::observe
