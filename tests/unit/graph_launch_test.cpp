// Launches of one executable graph by several threads, and an executable graph that is given up under its launches.
#include <atomic>
#include <thread>
#include <vector>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

struct Counting {
  std::uint64_t* counter;  // not atomic: launches of one executable graph never overlap
  std::uint64_t steps;
};
void counting_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Counting& c = *static_cast<const Counting*>(block->args);
  for (std::uint64_t i = 0; i < c.steps; ++i) *static_cast<volatile std::uint64_t*>(c.counter) = *c.counter + 1;
}
char key_counting;

void make_graph(cudaGraph_t& graph, Counting& c, int length) {
  static const bool registered = [] {
    register_kernel<sizeof(Counting)>(&key_counting, "_Z8countingP8Counting", counting_blocks, [](const void*) {});
    return true;
  }();
  ASSERT_TRUE(registered);
  OK(cudaGraphCreate(&graph, 0));
  void* args[1] = {&c};
  const cudaKernelNodeParams params{&key_counting, {1, 1, 1}, {1, 1, 1}, 0, args, nullptr};
  cudaGraphNode_t node = nullptr;
  for (int i = 0; i < length; ++i) {
    const cudaGraphNode_t before = node;
    OK(cudaGraphAddKernelNode(&node, graph, i ? &before : nullptr, i ? 1 : 0, &params));
  }
}

TEST(GraphLaunch, ThreadsLaunchOneExecutableGraphIntoTheirOwnStreamsAndASharedOne) {
  std::uint64_t counter = 0;
  Counting c{&counter, 5};
  cudaGraph_t graph;
  make_graph(graph, c, 3);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t shared;
  OK(cudaStreamCreateWithFlags(&shared, cudaStreamNonBlocking));
  constexpr int threads = 4, launches = 300;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      cudaStream_t own;
      OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
      for (int i = 0; i < launches; ++i) {
        // Runs of launches into one stream, so that the graph is at home there now and then.
        OK(cudaGraphLaunch(exec, (i >> 4 & 1) != (t & 1) ? own : shared));
        if (i % 64 == 63) OK(cudaStreamSynchronize(own));
      }
      OK(cudaStreamSynchronize(own));
      OK(cudaStreamDestroy(own));
    });
  for (std::thread& t : all) t.join();
  OK(cudaStreamSynchronize(shared));
  EXPECT_EQ(counter, std::uint64_t{threads} * launches * 3 * c.steps);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(shared));
}

// Whoever waits for the last launch of a graph that was given up meanwhile finds its user objects released.
TEST(GraphLaunch, AGraphGivenUpUnderItsLaunchesLivesUntilTheLast) {
  for (int round = 0; round < 200; ++round) {
    std::uint64_t counter = 0;
    Counting c{&counter, static_cast<std::uint64_t>(round % 10) * 500};
    cudaGraph_t graph;
    make_graph(graph, c, 2);
    std::atomic<int> released{0};
    cudaUserObject_t object;
    OK(cudaUserObjectCreate(
        &object, &released, [](void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); }, 1,
        cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const int launches = round % 7;
    for (int i = 0; i < launches; ++i) OK(cudaGraphLaunch(exec, streams[i / 2 % 2]));
    if (round % 3 == 0) OK(cudaStreamSynchronize(streams[0]));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaDeviceSynchronize());
    while (released.load() == 0) std::this_thread::yield();  // a launch's end may be a moment before its graph's
    EXPECT_EQ(released.load(), 1);
    EXPECT_EQ(counter, static_cast<std::uint64_t>(launches) * 2 * c.steps);
    for (cudaStream_t stream : streams) OK(cudaStreamDestroy(stream));
  }
}

}  // namespace
