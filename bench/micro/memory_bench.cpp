// What memory calls cost (issue's goals: cudaMalloc/cudaFree pair 300 ns, async pair 100 ns, pointer look-up 10 ns,
// copies within 10 % of the best memcpy). Google Benchmark; compare ratios within one run.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <memory/copy.h>
#include <memory/space.h>

namespace {

using namespace mr;

void malloc_free(benchmark::State& state) {
  for (auto _ : state) {
    void* p;
    cudaMalloc(&p, static_cast<std::size_t>(state.range(0)));
    benchmark::DoNotOptimize(p);
    cudaFree(p);
  }
}
BENCHMARK(malloc_free)->Arg(256)->Arg(4096)->Arg(65536)->Arg(1 << 20)->Arg(64 << 20);

void malloc_free_threads(benchmark::State& state) { malloc_free(state); }
BENCHMARK(malloc_free_threads)->Arg(4096)->Threads(2);

void malloc_free_async(benchmark::State& state) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (auto _ : state) {
    void* p;
    cudaMallocAsync(&p, 4096, stream);
    benchmark::DoNotOptimize(p);
    cudaFreeAsync(p, stream);
  }
  cudaStreamDestroy(stream);
}
BENCHMARK(malloc_free_async);

void malloc_host(benchmark::State& state) {
  for (auto _ : state) {
    void* p;
    cudaMallocHost(&p, 4096);
    cudaFreeHost(p);
  }
}
BENCHMARK(malloc_host);

// A million live blocks, then random look-ups of inner addresses.
void find_among_a_million(benchmark::State& state) {
  std::vector<char*> blocks(1000000);
  for (auto& block : blocks) cudaMalloc(reinterpret_cast<void**>(&block), 600);
  std::mt19937 random(1);
  std::vector<const char*> probes(4096);
  for (auto& probe : probes) probe = blocks[random() % blocks.size()] + random() % 600;
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(memory::space().find(probes[i++ % probes.size()]));
  for (char* block : blocks) memory::space().device_heap(0).free(block);
}
BENCHMARK(find_among_a_million);

void find_hot(benchmark::State& state) {
  char* p;
  cudaMalloc(reinterpret_cast<void**>(&p), 1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(memory::space().find(p + 12345));
  cudaFree(p);
}
BENCHMARK(find_hot);

void kind_of(benchmark::State& state) {
  void* pointers[4] = {};
  static char pageable[16];
  cudaMalloc(&pointers[0], 64);
  cudaMallocHost(&pointers[1], 64);
  cudaMallocManaged(&pointers[2], 64, cudaMemAttachGlobal);
  pointers[3] = pageable;
  const void* p = pointers[state.range(0)];
  for (auto _ : state) {
    benchmark::DoNotOptimize(p);
    benchmark::DoNotOptimize(memory::space().kind_of(p));
  }
}
BENCHMARK(kind_of)->DenseRange(0, 3);

void attributes(benchmark::State& state) {
  void* p;
  cudaMalloc(&p, 4096);
  cudaPointerAttributes a;
  for (auto _ : state) cudaPointerGetAttributes(&a, static_cast<char*>(p) + 100);
  cudaFree(p);
}
BENCHMARK(attributes);

void copy_async_4(benchmark::State& state) {
  void *d, *h;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&d, 64);
  cudaMallocHost(&h, 64);
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, stream);
    state.PauseTiming();
    cudaStreamSynchronize(stream);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(copy_async_4);

void large_memcpy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  char *from = static_cast<char*>(std::malloc(bytes)), *to = static_cast<char*>(std::malloc(bytes));
  std::memset(from, 1, bytes);
  std::memset(to, 2, bytes);
  benchmark::DoNotOptimize(from);
  benchmark::DoNotOptimize(to);
  for (auto _ : state) {
    std::memcpy(to, from, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  std::free(from);
  std::free(to);
}
BENCHMARK(large_memcpy)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime();

void large_copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  void *from, *to;
  cudaMallocHost(&from, bytes);
  cudaMalloc(&to, bytes);
  std::memset(from, 1, bytes);
  cudaMemset(to, 2, bytes);
  cudaDeviceSynchronize();
  for (auto _ : state) cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  cudaFreeHost(from);
  cudaFree(to);
}
BENCHMARK(large_copy)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
