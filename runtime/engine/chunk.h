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
// Thread-safe; allocates only when the pool is empty. Never returns null (the process is out of memory then and ends
// with a sentence).
Chunk* take_chunk(std::size_t record) noexcept;
// Gives a chunk back. The pool keeps up to 16 MiB; more is returned to the system (with protection keys: the pool keeps
// all).
void give_chunk(Chunk* chunk) noexcept;

}  // namespace mr::engine
