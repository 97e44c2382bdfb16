// What this machine's primitives cost, in ns: the measure that the goals of bench/goals.json are scaled with. Prints
// `name ns` lines.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

namespace {

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int batches = 11;

// Time of one of `operations` operations that `body` does, in the best of several batches: what else runs on the
// machine can only add to it.
double best_ns(int operations, const std::function<void()>& body) {
  double best = 1e18;
  for (int i = 0; i < batches; ++i) {
    const double begin = now_ns();
    body();
    best = std::min(best, (now_ns() - begin) / operations);
  }
  return best;
}

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// The first two processors that this process may use; equal when there is only one.
std::pair<int, int> two_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  int found[2] = {-1, -1};
  for (int cpu = 0, n = 0; cpu < CPU_SETSIZE && n < 2; ++cpu)
    if (CPU_ISSET(cpu, &set)) found[n++] = cpu;
  return {found[0], found[1] < 0 ? found[0] : found[1]};
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Two threads, one a processor, hand `turn` to each other: even is the first one's, odd the second one's.
// acquire/release because that is what a hand-over between threads costs.
template <typename Await, typename Hand> double ping_pong_ns(int rounds, Await await, Hand hand) {
  alignas(64) std::atomic<std::uint32_t> turn{0};
  const auto [first, second] = two_processors();
  std::thread other([&, cpu = second] {
    pin(cpu);
    for (int i = 0; i < rounds * batches; ++i) {
      await(turn, static_cast<std::uint32_t>(2 * i + 1));
      hand(turn, static_cast<std::uint32_t>(2 * i + 2));
    }
  });
  double result = 0;
  std::thread one([&, cpu = first] {
    pin(cpu);
    int round = 0;
    result = best_ns(rounds, [&] {
      for (int i = 0; i < rounds; ++i, ++round) {
        hand(turn, static_cast<std::uint32_t>(2 * round + 1));
        await(turn, static_cast<std::uint32_t>(2 * round + 2));
      }
    });
  });
  one.join();
  other.join();
  return result;
}

double line_round_trip_ns() {
  const bool single = two_processors().first == two_processors().second;
  return ping_pong_ns(
      single ? 100 : 2000,
      [single](std::atomic<std::uint32_t>& turn, std::uint32_t value) {
        while (turn.load(std::memory_order_acquire) != value) {
          if (single) sched_yield();
        }
      },
      [](std::atomic<std::uint32_t>& turn, std::uint32_t value) { turn.store(value, std::memory_order_release); });
}

double futex_round_trip_ns() {
  return ping_pong_ns(
      200,
      [](std::atomic<std::uint32_t>& turn, std::uint32_t value) {
        for (std::uint32_t seen = 0; (seen = turn.load(std::memory_order_acquire)) != value;)
          futex(turn, FUTEX_WAIT_PRIVATE, seen);
      },
      [](std::atomic<std::uint32_t>& turn, std::uint32_t value) {
        turn.store(value, std::memory_order_release);
        futex(turn, FUTEX_WAKE_PRIVATE, 1);
      });
}

double lock_add_ns() {
  alignas(64) std::atomic<std::uint64_t> word{0};
  constexpr int n = 100000;
  return best_ns(n, [&] {
    for (int i = 0; i < n; ++i) word.fetch_add(1, std::memory_order_relaxed);
  });
}

double rdtsc_ns() {
  constexpr int n = 100000;
  std::uint64_t sum = 0;
  const double result = best_ns(n, [&] {
    for (int i = 0; i < n; ++i) sum += __rdtsc();
  });
  volatile std::uint64_t keep = sum;
  static_cast<void>(keep);
  return result;
}

void fiber_body(boost::context::detail::transfer_t from) { boost::context::detail::jump_fcontext(from.fctx, nullptr); }

// A stack that is there already: what is measured is the switch into a new fiber and back at its end.
double fiber_ns() {
  namespace context = boost::context::detail;
  std::vector<char> stack(std::size_t{64} << 10);
  constexpr int n = 10000;
  return best_ns(n, [&] {
    for (int i = 0; i < n; ++i)
      context::jump_fcontext(context::make_fcontext(stack.data() + stack.size(), stack.size(), fiber_body), nullptr);
  });
}

}  // namespace

int main() {
  std::printf("line_round_trip %.1f\n", line_round_trip_ns());
  std::printf("futex_round_trip %.1f\n", futex_round_trip_ns());
  std::printf("lock_add %.2f\n", lock_add_ns());
  std::printf("rdtsc %.2f\n", rdtsc_ns());
  std::printf("fiber %.2f\n", fiber_ns());
  return 0;
}
