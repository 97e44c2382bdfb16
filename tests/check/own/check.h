// What the programs of this folder end with when a call fails that shouldn't.
#pragma once
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call) check((call), __LINE__)
[[maybe_unused]] static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
