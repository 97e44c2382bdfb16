// A trace as a picture: lanes with items, arrows between them, and figures about the whole.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trace.h"

namespace millrace {

enum class ItemKind : std::uint8_t { kernel, copy, fill, host, graph, call, range };

// What lasts from `begin` for `length` nanoseconds since the trace's first moment. Texts by number in Picture::texts.
struct Item {
  double begin = 0;
  float length = 0;
  float waited = 0;                    // from its enqueueing to its beginning
  double bytes = 0;                    // of copies and sets
  std::uint32_t name = 0, detail = 0;  // detail: grid and block
  std::uint32_t call = 0, place = 0;   // the API call that enqueued it, and its source line
  std::uint32_t thread = 0;            // that ran it
  std::uint16_t lane = 0, engine = 0;  // engine: the lane of who ran it; 0xffff: none
  ItemKind kind = ItemKind::kernel;
};
inline constexpr std::uint16_t no_lane = 0xffff;

struct Lane {
  std::string group, name;
};

struct KernelFigures {
  std::string name;
  std::uint64_t count = 0;
  double total_ns = 0, longest_ns = 0;
};

struct Picture {
  std::vector<Lane> lanes;
  std::vector<Item> items;  // by lane, then by their beginning
  std::vector<std::string> texts{""};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrows;  // items: the second waited for the first
  double span_ns = 0;
  // Figures.
  std::uint64_t operations = 0, calls = 0;
  double kernels_ns = 0, copies_ns = 0, both_ns = 0, busy_ns = 0;  // times in which at least one ran
  double idle_ns = 0, longest_gap_ns = 0, longest_gap_at = 0;      // between the first operation and the last
  std::uint64_t gaps = 0;
  double chain_ns = 0;                 // the longest chain of operations that wait for each other
  std::vector<std::uint32_t> chain;    // its items
  std::vector<KernelFigures> hottest;  // by total time
};

// Throws std::runtime_error when nothing ran.
Picture make_picture(const Trace& trace);

// One page that needs nothing else. Throws std::runtime_error when it can't be written.
void write_page(const Picture& picture, const std::string& title, const std::string& path);
// Trace events (JSON) for Perfetto and chrome://tracing.
void write_events(const Picture& picture, const std::string& path);

}  // namespace millrace
