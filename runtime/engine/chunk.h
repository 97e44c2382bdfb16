// Memory of operation records: fixed-size chunks, recycled.
#pragma once
#include <cstddef>
#include <cstdint>

#include <engine/op.h>

namespace mr::engine {

// The first line of a chunk is its header; records follow.
struct alignas(64) Chunk {
  Chunk* next_free;
  std::size_t bytes;  // of the whole chunk, header included
  std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this) + 64; }
  std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + bytes; }
};

inline constexpr std::size_t chunk_bytes = 4096;

// A chunk with room for `record` bytes and a jump behind it: from the pool when a standard chunk is enough.
// Thread-safe; asks the system for memory only when the pool is empty. Never returns null (the process is out of memory
// then and ends with a sentence).
Chunk* take_chunk(std::size_t record) noexcept;
// Gives a chunk back. Standard ones stay in the pool. Thread-safe.
void give_chunk(Chunk* chunk) noexcept;
// Gives the system the memory of some free chunks (256 KiB) if there are more than 4 MiB of them. False when there was
// nothing to do. For workers about to sleep: who enqueues and who executes shouldn't pay for it. Thread-safe.
bool trim_chunks() noexcept;

}  // namespace mr::engine
