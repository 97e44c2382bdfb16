// A node that faults half-way: what follows is skipped, everything that waits is released, and the context stays dead.
#include <atomic>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

struct Args {
  std::atomic<int>* ran;
  std::uint64_t fault;
};
void body(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Args& a = *static_cast<const Args*>(block->args);
  if (a.fault) mr::simt::services()->trap();
  a.ran->fetch_add(1);
}
char key;

void CUDART_CB never(void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(100); }

TEST(GraphFault, NodesBehindAreSkippedAndWaitersReleased) {
  register_kernel<sizeof(Args)>(&key, "_Z4bodyP4Args", body, [](const void*) {});
  std::atomic<int> ran{0};
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaEvent_t before, behind;
  OK(cudaEventCreate(&before));
  OK(cudaEventCreate(&behind));
  const auto kernel = [&](cudaGraphNode_t* after, bool fault) {
    Args args{&ran, fault};
    void* list[] = {&args};
    cudaKernelNodeParams params{&key, {1, 1, 1}, {1, 1, 1}, 0, list, nullptr};
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params), cudaSuccess);
    return node;
  };
  cudaGraphNode_t first = kernel(nullptr, false), record, host, last;
  OK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, before));
  cudaGraphNode_t bad = kernel(&record, true);
  cudaHostNodeParams params{never, &ran};
  OK(cudaGraphAddHostNode(&host, graph, &bad, 1, &params));
  cudaGraphNode_t tail = kernel(&host, false);
  OK(cudaGraphAddEventRecordNode(&last, graph, &tail, 1, behind));
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t stream, other;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamWaitEvent(other, behind, 0));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaErrorLaunchFailure);  // released, not stuck
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(ran.load(), 1);
}

}  // namespace
