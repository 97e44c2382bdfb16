// Runs of a program under the explorer's library (docs/explore.md), and what they did.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace {

struct Decision {
  enum class Kind : std::uint8_t {
    after,   // the event `key` only when event `value` is over
    blocks,  // the kernel's blocks (or the batch's copies) in order `value`
    tear,    // the event stopped after `value` of its instructions; its rest is an event of its own
  } kind = Kind::after;
  std::uint64_t key = 0, value = 0;
};

struct Event {
  std::uint64_t key = 0;
  char what = 'h';                  // policy.h
  std::uint32_t site = 0, via = 0;  // of calls
  std::uint64_t task = 0, slice = 0;
  std::string name;  // of kernels
};

struct Site {
  std::string api;
  std::vector<std::pair<std::string, std::uint64_t>> frames;
};

// Who waits for what where nothing could go on (W of the trace).
struct Waiter {
  char what = 'h';
  std::uint64_t task = 0;  // thread of the host, or stream
  std::uint32_t site = 0, via = 0;
  std::uint64_t on = 0, of = 0;  // stream waited for; of host functions: their stream
  std::string name;              // of kernels
};

struct Run {
  std::uint64_t seed = 0;
  bool started = false;      // the library was there
  bool timed_out = false;    // it did not end by itself
  bool nothing_ran = false;  // at some time nothing could go on
  unsigned stalls = 0;
  int status = 0;  // as wait(2) has it
  std::string output;
  std::string trace;  // text (runtime/explore/trace.h)
};

// Parts of a trace.
std::vector<Event> events_of(const Run& run);
std::vector<Decision> block_orders_of(const Run& run);
std::vector<Decision> tears_of(const Run& run);
std::string lengths_of(const Run& run);      // of a run with Runner::measure: for Runner::lengths
std::vector<Site> sites_of(const Run& run);  // by number
std::vector<Waiter> waiters_of(const Run& run);

class Runner {
 public:
  std::vector<std::string> command;
  std::string library;
  double timeout_s = 60;
  std::uint64_t steps = 100;  // choices of the reference
  bool measure = false;       // count events' instructions
  std::string lengths;        // file of what was counted
  bool show_errors = false;   // pass the program's stderr on

  // One run; thread-safe. Throws std::runtime_error with a sentence when the program can't be started.
  Run run(std::uint64_t seed, const std::vector<Decision>* decisions = nullptr) const;
};

// A file in the temporary folder, gone with this.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  std::string text() const;

 private:
  std::string path_;
};

// Removes decisions while `fails` says of what is left that it does, for at most `budget` questions.
template <class Fails> std::vector<Decision> shrink(std::vector<Decision> all, unsigned budget, Fails fails) {
  std::size_t parts = 2;
  while (all.size() > 1 && budget > 0) {
    const std::size_t size = (all.size() + parts - 1) / parts;
    bool smaller = false;
    // A part alone (only as long as there are two), then all without a part.
    for (int complement = parts == 2 ? 0 : 1; complement < 2 && !smaller; ++complement) {
      for (std::size_t begin = 0; begin < all.size() && budget > 0; begin += size) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + size, all.size()));
        std::vector<Decision> some;
        if (complement) {
          some.assign(all.begin(), first);
          some.insert(some.end(), last, all.end());
        } else {
          some.assign(first, last);
        }
        --budget;
        if (some.size() == all.size() || !fails(some)) continue;
        all = some;
        parts = complement && parts > 2 ? parts - 1 : 2;
        smaller = true;
        break;
      }
    }
    if (smaller) continue;
    if (parts >= all.size()) break;
    parts = std::min(parts * 2, all.size());
  }
  return all;
}

}  // namespace millrace
