// The file behind a trace: blocks for threads, and texts that are kept once.
//
// A thread fills mapped blocks of its own. A full one is written to its place in the file (pwrite(2), a third of what
// fresh mapped pages cost) and filled again, as the block of another number.
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

  // A block of the calling thread's for records of one kind; null when there is no more room. `full`: the one that it
  // has filled, or null. `number`: the new one's.
  trace_format::Block* new_block(trace_format::BlockKind kind, trace_format::Block* full,
                                 std::uint32_t& number) noexcept;
  std::uint32_t text(std::string_view text) noexcept;
  std::uint32_t site(const void* pc) noexcept;
  void name_queue(const void* queue, std::uint64_t since, std::string_view name) noexcept;
  void lose() noexcept { lost_.fetch_add(1, std::memory_order_relaxed); }
  // The program ends by itself.
  void complete() noexcept;

  static constexpr std::uint32_t most_blocks = trace_format::most_blocks;

 private:
  Recorder() = default;
  trace_format::Block* take_block(trace_format::BlockKind kind, trace_format::Block* full,
                                  std::uint32_t& number) noexcept;  // locked; `full` has been written
  trace_format::Block* map_block() noexcept;                        // locked
  int write(const trace_format::Block& full) noexcept;              // 0, or errno's value
  void stop(int error) noexcept;                                    // locked
  std::uint32_t put(std::string_view text, std::uint64_t queue, std::uint64_t since) noexcept;  // locked

  std::string path_;
  int file_ = -1;
  std::mutex mutex_;
  std::uint32_t count_ = 0;  // numbers that were given away: blocks, and places of those that are mapped
  std::atomic<bool> full_{false};
  char* mapped_ = nullptr;  // blocks that nobody has yet
  std::uint32_t mapped_left_ = 0;
  trace_format::Header* header_ = nullptr;
  trace_format::Block* texts_ = nullptr;
  std::uint32_t last_text_ = 0;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace mr::observe
