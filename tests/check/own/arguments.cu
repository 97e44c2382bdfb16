// A program gets its arguments as they are and in their order, options that the tool has too among them.
// EXPECT: none
// arguments: --runs 3 name --json x --
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  const char* expected[] = {"--runs", "3", "name", "--json", "x", "--"};
  bool right = argc == 7;
  for (int i = 1; right && i < argc; ++i) right = std::strcmp(argv[i], expected[i - 1]) == 0;
  right = right && cudaFree(nullptr) == cudaSuccess;
  std::printf("data %s\n", right ? "right" : "wrong");
  std::puts("done");
  return 0;
}
