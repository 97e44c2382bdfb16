// On a machine with more processors than this one may have: who takes part in one grid.
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

constexpr unsigned workers = 8;
[[gnu::constructor(101)]] void many_workers() { setenv("MILLRACE_WORKERS", "8", 1); }

struct Entry {
  int unused;
};

std::mutex mutex;
std::set<std::thread::id> inside;
std::atomic<unsigned> together{0};
std::atomic<std::uint64_t> spent{0};

// Block 0 takes long enough for the others to be worth spreading. Each of them waits until all workers are inside,
// which no kernel may count on: here it is what is tested.
void meet(MrBlock*, std::uint64_t first, std::uint64_t count) {
  using clock = std::chrono::steady_clock;
  for (std::uint64_t b = first; b < first + count; ++b) {
    if (b == 0) {
      const auto until = clock::now() + std::chrono::microseconds(200);
      while (clock::now() < until) spent.fetch_add(1);
      continue;
    }
    {
      const std::scoped_lock hold(mutex);
      inside.insert(std::this_thread::get_id());
      together.store(static_cast<unsigned>(inside.size()));
    }
    const auto give_up = clock::now() + std::chrono::seconds(5);
    while (together.load() < workers && clock::now() < give_up) std::this_thread::yield();
  }
}
char key;

TEST(Spread, AGridGetsAllWorkers) {
  register_kernel<sizeof(Entry)>(&key, "_Z4meet5Entry", meet, [](const void*) {});
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  Entry entry{};
  void* arguments[] = {&entry};
  OK(cudaLaunchKernel(&key, dim3(2 * workers), dim3(1), arguments, 0, stream));
  // Queries don't help: all is left to the workers.
  while (cudaStreamQuery(stream) == cudaErrorNotReady) std::this_thread::yield();
  EXPECT_EQ(together.load(), workers);
  OK(cudaStreamDestroy(stream));
}

}  // namespace
