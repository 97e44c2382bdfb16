// The seeds of a random test: MILLRACE_SEED=N repeats one that failed (or says where to begin), MILLRACE_SEEDS=M makes
// M of them.
#pragma once
#include <cstdlib>

namespace test_seeds {

inline unsigned number(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 0)) : otherwise;
}

struct Range {
  unsigned first, end;
};
// `count` from `first` on when nothing is said; one when only the first is.
inline Range range(unsigned first, unsigned count) {
  const bool one = std::getenv("MILLRACE_SEED");
  const unsigned begin = number("MILLRACE_SEED", first);
  return {begin, begin + number("MILLRACE_SEEDS", one ? 1 : count)};
}

}  // namespace test_seeds
