// A measurement as ../../../shared/bench/async_costs.cu makes it, so that the peers' columns can stand beside it: the
// median of 15 batches after two for warming up, ns per operation, printed as `name ns`.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace bench {

constexpr int batches = 15, warming = 2;

// `body` does `operations` operations; `settle` runs untimed after each batch.
template <class Body, class Settle> void figure(const char* name, int operations, Body body, Settle settle) {
  std::vector<double> times;
  for (int i = 0; i < batches + warming; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const auto end = std::chrono::steady_clock::now();
    settle();
    if (i >= warming) times.push_back(std::chrono::duration<double, std::nano>(end - begin).count() / operations);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-34s %12.1f\n", name, times[times.size() / 2]);
  std::fflush(stdout);
}

}  // namespace bench
