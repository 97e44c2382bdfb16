// What runs next, as a function of the seed.
//
// Seed 0 is the reference: operations run as soon as they may, in the order in which they were enqueued, and the host
// goes on when there is nothing else to do. The first seeds are the extremes (everything as late as permitted, streams
// backwards, ...), all others draw a strategy: priorities by stream (PCT: the highest goes on until it can't, and at a
// few random steps the one that runs becomes the lowest) or by operation, with or without a kind of operation that is
// always late.
//
// A schedule can also be given as decisions on top of the reference: this event only after that one, this kernel's
// blocks in that order, that event stopped after so many instructions. What a failing seed did is written in this form
// (docs/explore.md), so that it can be shrunk.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mr::explore {

// An event: an operation (or a slice of its blocks) is run, or a host thread goes on from one call to the next. Its key
// is the same in every run in which the program does the same up to there; 0 for those that are just looks at whether
// something has changed.
using Key = std::uint64_t;

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

struct Candidate {
  Key key = 0;
  char what = 'h';         // h host, k kernel, c copy, f fill, x host function, g graph launch, o other
  bool host = false;       // a host thread
  bool polling = false;    // it looked at something that hadn't changed
  bool underway = false;   // an operation that has begun
  std::uint64_t task = 0;  // which thread or queue
  std::uint64_t age = 0;   // by when it was enqueued
};

class Policy {
 public:
  // `steps`: about how many choices a run has. `decisions`: file of decisions, empty for none; then the seed is 0.
  Policy(std::uint64_t seed, std::uint64_t steps, const std::string& decisions);

  // Index of the one to run. Not empty.
  std::size_t choose(const std::vector<Candidate>& candidates);
  // Explorer::block_order for the kernel with this key.
  std::uint64_t block_order(Key key) const;
  // After how many of its own instructions the event is stopped in the midst; 0 for never. It is one of `parts` of
  // `whole`, whose length may be known.
  std::uint64_t tear(Key key, char what, Key whole, unsigned parts) const;
  // It was; its rest, which is the event `rest`, comes late.
  void torn(Key rest) { lowered_[rest] = -300; }
  // Lengths of events, as the trace of an earlier run has them.
  void read_lengths(const std::string& path);
  // The order of a batch's copies: true to turn it around.
  bool backwards(Key key) const { return reference_ ? orders_.contains(key) : (mix(seed_, key ^ 0xb) & 1) != 0; }
  void done(Key key) {
    if (reference_) done_.insert(key);
  }

 private:
  std::size_t by_reference(const std::vector<Candidate>& candidates) const;
  double score(const Candidate& candidate) const;

  std::uint64_t seed_;
  bool reference_;
  // Strategy.
  enum class Host : std::uint8_t { first, last, any } host_ = Host::first;
  enum class Streams : std::uint8_t { oldest, newest, by_stream, by_operation } streams_ = Streams::oldest;
  char late_ = 0;  // kind of operation that is late
  bool slices_ = false;
  bool tears_ = false;
  unsigned blocks_ = 0;  // 0 in order, 1 backwards, 2 any
  std::vector<std::uint64_t> changes_;
  std::unordered_map<std::uint64_t, double> lowered_;
  std::uint64_t step_ = 0, last_task_ = 0, in_a_row_ = 0;
  // Decisions.
  std::unordered_map<Key, std::vector<Key>> after_;
  std::unordered_map<Key, std::uint64_t> orders_, tears_at_;
  std::unordered_set<Key> done_;
  std::unordered_map<Key, std::uint64_t> lengths_;
};

}  // namespace mr::explore
