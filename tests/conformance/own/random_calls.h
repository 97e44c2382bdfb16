// What the programs of random calls begin with. A seed is a sequence of calls, of which each says what it was given and
// what came of it. Without arguments a program prints a hash of what each 50 seeds said; with FROM TO (and whatever
// else it takes) what the seeds of that range said, for finding out which call differs.
#pragma once
#include <cuda_runtime.h>

#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

// ---- what a seed says ----

static std::string said;

__attribute__((format(printf, 1, 2))) static void say(const char* format, ...) {
  char small[512];
  std::va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  const int bytes = std::vsnprintf(small, sizeof small, format, list);
  if (bytes < static_cast<int>(sizeof small)) {
    said += small;
  } else {
    std::vector<char> large(bytes + 1);
    std::vsnprintf(large.data(), large.size(), format, again);
    said += large.data();
  }
  va_end(again);
  va_end(list);
}
static void NL() { say("\n"); }
static const char* N(cudaError_t e) { return e == cudaSuccess ? "ok" : cudaGetErrorName(e) + 9; }
#define M(...)                                                                                                         \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) {                                                                                           \
      say("unexpected %s after %.40s\n", N(r_), #__VA_ARGS__);                                                         \
      cudaGetLastError();                                                                                              \
    }                                                                                                                  \
  } while (0)

// The seeds to run, and what is made of what they say.
class Seeds {
 public:
  // The default range, less `left_out`: seeds for which a GPU's driver crashes or loses the graph that it was given,
  // that give values which an enumeration doesn't have, or that say what depends on addresses, races or memory that
  // nobody wrote.
  Seeds(int argc, char** argv, unsigned from, unsigned to, std::vector<unsigned> left_out = {}) : shows_(argc > 2) {
    if (shows_) {
      from = std::atoi(argv[1]);
      to = std::atoi(argv[2]);
    }
    for (unsigned seed = from; seed < to; seed++) {
      bool out = false;
      for (unsigned other : left_out) out |= other == seed;
      if (!out || shows_) seeds_.push_back(seed);
    }
  }
  ~Seeds() {
    end();
    part();
  }
  const std::vector<unsigned>& all() const { return seeds_; }
  // A seed begins, and the one before it has ended.
  void begin(unsigned seed) {
    end();
    if (seed / 50 != part_) part();
    part_ = seed / 50;
    if (shows_) std::printf("# seed %u\n", seed);
    running_ = true;
  }

 private:
  void end() {
    if (!running_) return;
    running_ = false;
    if (shows_) std::fputs(said.c_str(), stdout);
    for (unsigned char c : said) hash_ = (hash_ ^ c) * 0x100000001b3ull;
    said.clear();
    count_++;
  }
  void part() {
    if (count_ && !shows_) std::printf("%u seeds from %u: %016llx\n", count_, part_ * 50, hash_);
    std::fflush(stdout);
    count_ = 0;
    hash_ = 0xcbf29ce484222325ull;
  }
  bool shows_, running_ = false;
  std::vector<unsigned> seeds_;
  unsigned part_ = 0, count_ = 0;
  unsigned long long hash_ = 0xcbf29ce484222325ull;
};

// ---- random numbers, the same everywhere ----

static unsigned long long rs;
static unsigned rnd() {
  rs = rs * 6364136223846793005ull + 1442695040888963407ull;
  unsigned x = rs >> 33;
  return x ^ (x >> 15);
}
static int R(int n) { return (int)(rnd() % (unsigned)n); }
static bool chance(int percent) { return R(100) < percent; }
static void reseed(unsigned long long s) {
  rs = s * 7919 + 17;
  for (int i = 0; i < 5; i++) rnd();
}
template <class T, size_t K> static T pick(const T (&&a)[K]) { return a[R(K)]; }

// ---- calls that crash ----

static sigjmp_buf on_fault;
static void fault(int) { siglongjmp(on_fault, 1); }
static void guard() {
  std::signal(SIGSEGV, fault);
  std::signal(SIGBUS, fault);
}
