// How graphs scale from a thousand nodes to a million: building, instantiating, launching and destroying, in ns a node,
// and the memory of the executable form. Build and run: build/bin/mrcc -O2 bench/graph_scaling.cu -o graph_scaling &&
// ./graph_scaling (table in docs/performance.md).
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                             \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

__global__ void nop(int, int*) {}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
static double resident_bytes() {
  long size = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

int main() {
  int* memory;
  CHECK(cudaMalloc(&memory, sizeof(int)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  nop<<<1, 1, 0, stream>>>(0, memory);
  CHECK(cudaStreamSynchronize(stream));
  int value = 0;
  void* args[] = {&value, &memory};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(nop);
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = args;
  std::printf("%-8s %9s %8s %12s %12s %8s %8s %12s\n", "shape", "nodes", "build", "instantiate", "first launch",
              "launch", "destroy", "bytes/node");
  const char* shapes[] = {"line", "fan", "random", "lanes", "levels"};
  for (int shape = 0; shape < 5; ++shape)
    for (int n : {1000, 10000, 100000, 1000000}) {
      unsigned random = 1;
      const auto pick = [&](int from, int to) {
        random = random * 1664525u + 1013904223u;
        return from + static_cast<int>((random >> 8) % static_cast<unsigned>(to - from));
      };
      std::vector<cudaGraphNode_t> nodes(n);
      const double begin = now();
      cudaGraph_t graph;
      CHECK(cudaGraphCreate(&graph, 0));
      for (int i = 0; i < n; ++i) {
        cudaGraphNode_t dependencies[2];
        size_t count = 0;
        if (shape == 0 && i) dependencies[count++] = nodes[i - 1];
        if (shape == 1 && i) dependencies[count++] = nodes[0];
        if (shape == 2 && i) {  // two nodes out of the last thousand
          const int from = i > 1000 ? i - 1000 : 0, a = pick(from, i), b = pick(from, i);
          dependencies[count++] = nodes[a];
          if (a != b) dependencies[count++] = nodes[b];
        }
        if (shape == 3 && i >= 8) dependencies[count++] = nodes[i - 8];  // eight chains
        if (shape == 4 && i >= 32) {  // levels of 32, each node behind two of the level before
          const int first = (i / 32 - 1) * 32;
          dependencies[count++] = nodes[first + i % 32];
          dependencies[count++] = nodes[first + (i + 1) % 32];
        }
        CHECK(cudaGraphAddKernelNode(&nodes[i], graph, dependencies, count, &params));
      }
      const double built = now(), before = resident_bytes();
      cudaGraphExec_t exec;
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      const double instantiated = now(), after = resident_bytes();
      CHECK(cudaGraphLaunch(exec, stream));
      CHECK(cudaStreamSynchronize(stream));
      const double first = now();
      for (int k = 0; k < 3; ++k) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
      }
      const double launched = now();
      CHECK(cudaGraphExecDestroy(exec));
      CHECK(cudaGraphDestroy(graph));
      const double destroyed = now();
      const auto ns = [&](double seconds) { return seconds / n * 1e9; };
      std::printf("%-8s %9d %8.1f %12.1f %12.1f %8.1f %8.1f %12.1f\n", shapes[shape], n, ns(built - begin),
                  ns(instantiated - built), ns(first - instantiated), ns(launched - first) / 3,
                  ns(destroyed - launched), (after - before) / n);
    }
  return 0;
}
