// The trace of `MILLRACE_TRACE=FILE`, as it lies in the file (docs/trace-format.md): blocks of 64 KiB, each written by
// one thread. Those that are being filled are mapped, so that a crash keeps what was recorded; full ones are written to
// their place in the file, and what was mapped is filled again. Plain C++ without dependencies: the runtime writes it,
// `millrace timeline` reads it.
#pragma once
#include <cstdint>

namespace mr::trace_format {

inline constexpr std::uint64_t magic = 0x34'45'43'41'52'54'52'4d;  // "MRTRACE4"
inline constexpr std::uint32_t block_bytes = 1u << 16, header_bytes = 64;
inline constexpr std::uint32_t most_blocks = 1u << 17;  // 8 GiB

enum BlockKind : std::uint32_t {
  block_header = 1,      // the first one: Header follows
  block_operations = 2,  // Operation, `used` of them
  block_spans = 3,       // Span, `used` of them
  block_texts = 4,       // Text, `used` bytes of them
  block_runs = 5,        // Run, `used` of them
};

struct Block {
  std::uint64_t magic;
  std::uint32_t kind;
  std::uint32_t thread;  // who writes it: gettid(2)
  std::uint32_t used;    // stored (release) after what it counts
  // Its number, if that isn't its place in the file: a mapped block that is filled again. Where the file has that block
  // at its own place too, the one with more in it counts, or else this one: the other may have been cut short.
  std::uint32_t number;
  std::uint32_t unused[10];
};
static_assert(sizeof(Block) == header_bytes);

struct Header {
  std::uint32_t version;  // 4
  std::uint32_t pid;
  std::uint64_t lost;      // operations and spans that there was no room for
  std::uint32_t complete;  // 1: the program has ended by itself
  std::uint32_t unused;
  // Two moments, by the clock of all times here and in nanoseconds of CLOCK_MONOTONIC.
  struct Moment {
    std::uint64_t ticks, ns;
  } first, last;
};

enum OperationKind : std::uint32_t {
  unknown_operation,
  kernel,
  copy,
  fill,
  host,
  wait,
  stamp,
  graph,     // a launch, from its first node to its last
  internal,  // bookkeeping of the runtime's
};

// What was enqueued, and what ran, are records of different threads, each in blocks of its own: one that both wrote to
// would cost each of them a cache line's journey. Times are ticks of the processor's time stamp counter, 0 for what did
// not happen.

// An operation, enqueued by the block's thread. Its tag: the block's number times operations_per_block, plus
// its own place in the block, plus one.
struct Operation {
  std::uint64_t queue, sequence;
  std::uint64_t enqueued;
};
static_assert(sizeof(Operation) == 24);
inline constexpr std::uint32_t operations_per_block = (block_bytes - header_bytes) / sizeof(Operation);

// What the block's thread ran. Of one tag there may be several, each with a part of it: one that had to be tried again
// (the last counts), or that one thread began and another ended.
struct Run {
  std::uint64_t began, ended;
  std::uint64_t bytes;      // copies and sets
  std::uint64_t on, until;  // waits: the queue and number waited for
  std::uint32_t tag;        // of the operation; 0: a node of a graph's launch, which `on` and `until` name
  std::uint32_t name;       // Text of a kernel's mangled name; 0: none
  std::uint32_t grid_x;
  std::uint16_t grid_yz[2], block[3];
  std::uint16_t kind;  // OperationKind
};
static_assert(sizeof(Run) == 64);

enum SpanKind : std::uint32_t {
  call,       // of the runtime's API
  range,      // NVTX, nested in its thread
  free_range  // NVTX, from start to end, wherever these were
};
struct Span {
  std::uint64_t begin, end;
  std::uint32_t name, site;   // Texts; 0: none. Site: module, a tabulator, offset of the return address in hexadecimal
  std::uint32_t kind, depth;  // depth: of ranges, 0 outermost
};
static_assert(sizeof(Span) == 32);

// Followed by its characters, and padding to a multiple of 8 bytes. Numbered from 1, in the order of their blocks'
// numbers.
struct Text {
  std::uint32_t length, unused;
  std::uint64_t queue, since;  // the name of a queue from then on; 0: none's
};
static_assert(sizeof(Text) == 24);

}  // namespace mr::trace_format
