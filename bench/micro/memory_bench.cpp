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

// Random frees and allocations of 1 to 64 KiB while a million blocks live: the worst case is O(log n), not O(n).
void churn_among_a_million(benchmark::State& state) {
  std::mt19937 random(2);
  std::vector<void*> blocks(1000000);
  for (void*& block : blocks) cudaMalloc(&block, 1024 + random() % 4096);
  for (auto _ : state) {
    void*& block = blocks[random() % blocks.size()];
    cudaFree(block);
    cudaMalloc(&block, 1024 + random() % 65536);
  }
  for (void* block : blocks) cudaFree(block);
}
BENCHMARK(churn_among_a_million);

// Stream-ordered pairs that go round over streams: each finds what it freed itself.
void churn_over_streams(benchmark::State& state) {
  std::vector<cudaStream_t> streams(static_cast<std::size_t>(state.range(0)));
  for (auto& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  std::size_t i = 0;
  for (auto _ : state) {
    void* p;
    cudaMallocAsync(&p, 1024 + i % 7 * 4096, streams[i % streams.size()]);
    cudaFreeAsync(p, streams[i % streams.size()]);
    ++i;
  }
  for (auto& stream : streams) cudaStreamDestroy(stream);
}
BENCHMARK(churn_over_streams)->Arg(2)->Arg(64);

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

// Copies of every direction beside plain memcpy of the same memory. Warm: the same two blocks again and again. `offset`
// is how far the host's pointer is from a cache line, as malloc's are (16).
enum class Where { device, pinned, pageable };

struct Block {
  Where where;
  std::size_t bytes;
  char* base = nullptr;
  Block(Where w, std::size_t n) : where(w), bytes(n) {
    void* p = nullptr;
    if (where == Where::device) cudaMalloc(&p, n);
    if (where == Where::pinned) cudaMallocHost(&p, n);
    if (where == Where::pageable) p = std::aligned_alloc(4096, n);
    base = static_cast<char*>(p);
    cudaMemset(base, 1, where == Where::pageable ? 0 : n);
    cudaDeviceSynchronize();
    if (where == Where::pageable) std::memset(base, 1, n);
  }
  ~Block() {
    if (where == Where::device) cudaFree(base);
    if (where == Where::pinned) cudaFreeHost(base);
    if (where == Where::pageable) std::free(base);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

void large(benchmark::State& state, Where to, Where from, bool plain) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  Block target(to, bytes + 64), source(from, bytes + 64);
  const auto offset = static_cast<std::size_t>(state.range(1));
  char* dst = target.base + (to == Where::pageable ? offset : 0);
  const char* src = source.base + (from == Where::pageable ? offset : 0);
  for (auto _ : state) {
    if (plain)
      std::memcpy(dst, src, bytes);
    else
      cudaMemcpy(dst, src, bytes, cudaMemcpyDefault);
    if (!plain && to == Where::device && from == Where::device) cudaDeviceSynchronize();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}
#define LARGE(name, to, from)                                                                                          \
  BENCHMARK_CAPTURE(large, memcpy_##name, Where::to, Where::from, true)                                                \
      ->ArgsProduct({{1 << 20, 8 << 20, 64 << 20, 512 << 20}, {0, 16}})                                                \
      ->UseRealTime();                                                                                                 \
  BENCHMARK_CAPTURE(large, cuda_##name, Where::to, Where::from, false)                                                 \
      ->ArgsProduct({{1 << 20, 8 << 20, 64 << 20, 512 << 20}, {0, 16}})                                                \
      ->UseRealTime()
LARGE(pinned_to_device, device, pinned);
LARGE(pageable_to_device, device, pageable);
LARGE(device_to_pageable, pageable, device);
LARGE(device_to_device, device, device);

}  // namespace

BENCHMARK_MAIN();
