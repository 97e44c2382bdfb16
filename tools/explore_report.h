// What `millrace explore` says about a failing run: the few decisions that matter, as operations with source lines.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explore_run.h"
#include "symbolize.h"

namespace millrace {

// A decision that matters, for people.
struct Described {
  Decision decision;
  std::string text, first, second;  // first, second: the two events
  Frame first_at, second_at;
};

// Decisions of `run` for people.
std::vector<Described> describe(const Run& run, const std::vector<Decision>& decisions);

// Of a run in which nothing could go on: who waited for what, a sentence each.
std::vector<std::string> describe_waiters(const Run& run);

// What a failing run did differently from the reference, as few decisions as possible. Empty when the decisions alone
// don't bring the failure about. Runs the program about `budget` times.
std::vector<Decision> decisions_that_matter(const Runner& runner, const std::function<bool(const Run&)>& wrong,
                                            const Run& reference, const Run& failing, unsigned budget);

}  // namespace millrace
