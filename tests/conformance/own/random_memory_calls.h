// What the programs of seeded random calls begin with: a generator that every compiler draws alike from, what is said
// of each call, and a line for every 50 seeds with a hash of it. `PROGRAM FROM TO` prints what was said itself.
//
// Where several numbers are drawn in one expression, they stand in braces: only there is the order of evaluation fixed.
#pragma once
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

static unsigned long long state_of_random;
static unsigned draw() {
  state_of_random = state_of_random * 6364136223846793005ull + 1442695040888963407ull;
  const unsigned x = static_cast<unsigned>(state_of_random >> 33);
  return x ^ (x >> 15);
}
static int below(int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); }
static bool chance(int percent) { return below(100) < percent; }
template <class T, size_t N> static T pick(const T (&&of)[N]) { return of[below(N)]; }

static std::string said;
static bool aloud;
[[gnu::format(printf, 1, 2)]] static void say(const char* format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  said += text;
  if (aloud) {  // what was said before a crash is seen
    fputs(text, stdout);
    if (strchr(text, '\n')) fflush(stdout);
  }
}
static const char* name_of(cudaError_t error) { return error == cudaSuccess ? "ok" : cudaGetErrorName(error) + 9; }
// A call's result, and the thread's last error where that is another.
static void result(cudaError_t error) {
  const cudaError_t last = cudaGetLastError();
  say(" = %s", name_of(error));
  if (last != error) say(" last %s", name_of(last));
}
#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    const cudaError_t must_ = (__VA_ARGS__);                                                                           \
    if (must_ != cudaSuccess) {                                                                                        \
      say("unexpected at line %d: %s\n", __LINE__, name_of(must_));                                                    \
      cudaGetLastError();                                                                                              \
    }                                                                                                                  \
  } while (0)

static unsigned long long hash_of(const void* bytes, size_t n, unsigned long long hash = 1469598103934665603ull) {
  for (size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211ull;
  return hash;
}

// A seed that crashes or hangs ends there, and a new process begins with the next.
static unsigned seed_at, seed_end;
static char* program;
static void crashed(int signal_number) {
  fflush(stdout);
  const char* const text = signal_number == SIGALRM ? " HANG\n" : " CRASH\n";
  if (write(1, text, strlen(text)) < 0) _exit(2);
  char from[16], to[16];
  snprintf(from, sizeof from, "%u", seed_at + 1);
  snprintf(to, sizeof to, "%u", seed_end);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(0);
  execl(program, program, from, to, nullptr);
  _exit(1);
}

// Runs body(seed) for as many seeds as were recorded, but for those left out.
template <class Body>
static int run_seeds(int count, char** arguments, unsigned recorded, std::initializer_list<unsigned> left_out,
                     Body&& body) {
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) signal(number, crashed);
  program = arguments[0];
  aloud = count > 2;
  const unsigned from = aloud ? static_cast<unsigned>(atoi(arguments[1])) : 0;
  const unsigned to = aloud ? static_cast<unsigned>(atoi(arguments[2])) : recorded;
  unsigned long long hash = 0;
  for (unsigned seed = from; seed < to; ++seed) {
    if (seed == from || seed % 50 == 0) hash = hash_of(nullptr, 0);
    if (aloud || std::find(left_out.begin(), left_out.end(), seed) == left_out.end()) {
      state_of_random = seed * 7919ull + 17;
      for (int i = 0; i < 5; ++i) draw();
      said.clear();
      seed_at = seed;
      seed_end = to;
      alarm(20);
      if (aloud) printf("# seed %u\n", seed);
      body();
      hash = hash_of(said.data(), said.size(), hash);
    }
    if (!aloud && (seed % 50 == 49 || seed + 1 == to)) {
      printf("seeds to %u: %016llx\n", seed, hash);
      fflush(stdout);
    }
  }
  return 0;
}
