// What the test programs of this folder check with: each thing that is not as it should be is a line of output, and
// report() is the program's exit status.
#pragma once
#include <cstdio>

#include <cuda_runtime.h>

static int wrong = 0;

// The call returns `want`. The thread's last error is cleared.
#define EXPECT(call, want)                                                                                             \
  do {                                                                                                                 \
    const cudaError_t gave_ = (call);                                                                                  \
    if (gave_ != (want)) {                                                                                             \
      std::printf("line %d: %s gave %s, not %s\n", __LINE__, #call, cudaGetErrorName(gave_), #want);                   \
      ++wrong;                                                                                                         \
    }                                                                                                                  \
    if (gave_ != cudaSuccess) (void)cudaGetLastError();                                                                \
  } while (0)
#define OK(call) EXPECT(call, cudaSuccess)
#define REFUSED(call) EXPECT(call, cudaErrorInvalidValue)
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::printf("line %d: not so: %s\n", __LINE__, #condition);                                                      \
      ++wrong;                                                                                                         \
    }                                                                                                                  \
  } while (0)

[[maybe_unused]] static int report() {
  if (wrong) std::printf("%d wrong\n", wrong);
  return wrong ? 1 : 0;
}
