// Handlers that a program installs after the runtime has begun, as test frameworks do for every test: a kernel's fault
// is no signal to the program, its own faults and signals are, and it is told of its own handlers when it asks.
#include <setjmp.h>
#include <signal.h>

#include <cstdio>

#include "check.h"

static sigjmp_buf back;
static volatile sig_atomic_t handled = 0;

static void leave(int) {
  handled = handled + 1;
  siglongjmp(back, 1);
}
static void count(int, siginfo_t*, void*) { handled = handled + 1; }

__global__ void store(int* to) { *to = 1; }

int main() {
  int* word;
  OK(cudaMallocManaged(&word, sizeof *word));
  store<<<1, 1>>>(word);
  OK(cudaDeviceSynchronize());

  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    CHECK(signal(number, leave) == SIG_DFL);
    CHECK(signal(number, leave) == leave);
  }
  if (!sigsetjmp(back, 1)) *static_cast<volatile int*>(nullptr) = 1;
  CHECK(handled == 1);
  if (!sigsetjmp(back, 1)) raise(SIGFPE);
  CHECK(handled == 2);

  struct sigaction once{}, before{};
  once.sa_sigaction = count;
  once.sa_flags = SA_SIGINFO | SA_RESETHAND;
  CHECK(sigaction(SIGTRAP, &once, &before) == 0 && before.sa_handler == leave);
  raise(SIGTRAP);
  CHECK(handled == 3);
  CHECK(sigaction(SIGTRAP, nullptr, &before) == 0 && before.sa_handler == SIG_DFL);

  store<<<64, 32>>>(reinterpret_cast<int*>(16));
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK(handled == 3);
  return report();
}
