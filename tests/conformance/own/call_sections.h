// What the recorded programs about single calls begin with: each call printed with its result (or that it crashes), and
// parts that run in processes of their own.
#pragma once
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char* E(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return cudaGetErrorName(e);
}
static sigjmp_buf on_fault;
static void fault(int) { siglongjmp(on_fault, 1); }
#define CALL(...)                                                                                                      \
  do {                                                                                                                 \
    if (sigsetjmp(on_fault, 1) == 0)                                                                                   \
      std::printf("%s = %s\n", #__VA_ARGS__, E(__VA_ARGS__));                                                          \
    else                                                                                                               \
      std::printf("%s crashes\n", #__VA_ARGS__);                                                                       \
  } while (0)
#define FACT(v) std::printf("%s = %lld\n", #v, (long long)(v))
#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected at line %d: %s\n", __LINE__, E(r_));                                \
  } while (0)

// Each part in a process of its own.
static void alone(const char* name, void (*body)()) {
  std::fflush(stdout);
  if (const pid_t child = fork()) {
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("%s: signal %d\n", name, WTERMSIG(status));
    return;
  }
  alarm(40);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // what was printed before a call that never returns is seen
  std::signal(SIGSEGV, fault);
  std::printf("-- %s\n", name);
  body();
  std::fflush(stdout);
  _exit(0);
}
