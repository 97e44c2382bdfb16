// Events that launches record (cudaLaunchAttributeProgrammaticEvent, cudaLaunchAttributeLaunchCompletionEvent): they
// are complete before the kernel has ended, so that work of other streams overlaps it, and a kernel behind such an
// event can still wait for the whole of the kernel in front of it. Nothing here depends on time: what must not wait for
// something would wait for ever.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#include "check.h"

struct Flags {
  volatile int go, begun, second_begun, late;
};

__device__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
  __threadfence_system();
}
// Waits for `go`, triggers, and ends only when the second kernel has begun.
__global__ void meets(Flags* f) {
  f->begun = 1;
  wait_for(&f->go);
  cudaTriggerProgrammaticLaunchCompletion();
  if (threadIdx.x == 0) {
    wait_for(&f->second_begun);
    f->late = 77;
  }
}
__global__ void second(Flags* f, int* seen) {
  if (threadIdx.x == 0) f->second_begun = 1;
  cudaGridDependencySynchronize();
  *seen = f->late;
}
__global__ void held(Flags* f) { wait_for(&f->go); }
__global__ void mark(volatile int* flag) { *flag = 1; }
__global__ void trigger_and_end() { cudaTriggerProgrammaticLaunchCompletion(); }

static cudaLaunchAttribute event_attribute(cudaLaunchAttributeID id, cudaEvent_t event, bool at_start = false) {
  cudaLaunchAttribute a;
  std::memset(&a, 0, sizeof a);
  a.id = id;
  if (id == cudaLaunchAttributeProgrammaticEvent) {
    a.val.programmaticEvent.event = event;
    a.val.programmaticEvent.triggerAtBlockStart = at_start;
  } else {
    a.val.launchCompletionEvent.event = event;
  }
  return a;
}
template <class... P, class... A>
static cudaError_t launch(cudaStream_t stream, unsigned blocks, cudaLaunchAttribute* attributes, unsigned count,
                          void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

static Flags* flags;
static int* seen;
static cudaStream_t a, b;
static cudaEvent_t event;
static void clear() { std::memset((void*)flags, 0, sizeof *flags), *seen = 0; }

// The second kernel begins when the first has triggered; what it sees behind its wait is what the first wrote last.
static void overlap_by_trigger() {
  for (int round = 0; round < 20; ++round) {
    clear();
    cudaLaunchAttribute at = event_attribute(cudaLaunchAttributeProgrammaticEvent, event);
    OK(launch(a, 1, &at, 1, meets, flags));
    OK(cudaStreamWaitEvent(b, event, 0));
    second<<<1, 32, 0, b>>>(flags, seen);
    CHECK(cudaEventQuery(event) == cudaErrorNotReady);  // it has not triggered
    while (flags->begun == 0) {}
    CHECK(cudaStreamQuery(b) == cudaErrorNotReady);
    flags->go = 1;
    OK(cudaEventSynchronize(event));
    OK(cudaStreamSynchronize(b));
    CHECK(*seen == 77);
    OK(cudaStreamSynchronize(a));
  }
}
// Work that is not a kernel, or waits for nothing, may run as soon as the event is complete.
static void overlap_by_beginning() {
  for (int kind = 0; kind < 2; ++kind) {
    clear();
    cudaLaunchAttribute at = kind ? event_attribute(cudaLaunchAttributeLaunchCompletionEvent, event)
                                  : event_attribute(cudaLaunchAttributeProgrammaticEvent, event, true);
    OK(launch(a, 4, &at, 1, held, flags));
    OK(cudaStreamWaitEvent(b, event, 0));
    mark<<<1, 1, 0, b>>>(&flags->second_begun);
    OK(cudaEventSynchronize(event));
    OK(cudaStreamSynchronize(b));
    CHECK(flags->second_begun == 1);
    CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
    OK(cudaEventQuery(event));
    flags->go = 1;
    OK(cudaStreamSynchronize(a));
  }
}
// Both events of one launch, and a programmatic secondary behind it in the same stream.
static void both_and_a_secondary() {
  cudaEvent_t begun;
  OK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
  for (int round = 0; round < 20; ++round) {
    clear();
    cudaLaunchAttribute at[2] = {event_attribute(cudaLaunchAttributeProgrammaticEvent, event),
                                 event_attribute(cudaLaunchAttributeLaunchCompletionEvent, begun)};
    OK(launch(a, 1, at, 2, meets, flags));
    cudaLaunchAttribute serial;
    std::memset(&serial, 0, sizeof serial);
    serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serial.val.programmaticStreamSerializationAllowed = 1;
    OK(launch(a, 1, &serial, 1, second, flags, seen));
    OK(cudaEventSynchronize(begun));
    CHECK(cudaEventQuery(event) == cudaErrorNotReady);
    flags->go = 1;
    OK(cudaEventSynchronize(event));
    OK(cudaStreamSynchronize(a));
    CHECK(*seen == 77);
  }
  OK(cudaEventDestroy(begun));
}
// The newest record counts, as for every event.
static void records_follow_each_other() {
  cudaLaunchAttribute at = event_attribute(cudaLaunchAttributeProgrammaticEvent, event);
  for (int i = 0; i < 300; ++i) {
    OK(launch(i & 1 ? a : b, 2, &at, 1, trigger_and_end));
    if (i % 7 == 0) OK(cudaStreamWaitEvent(a, event, 0));
    if (i % 50 == 0) OK(cudaEventSynchronize(event));
  }
  OK(cudaEventRecord(event, a));
  OK(cudaStreamSynchronize(a));
  OK(cudaEventQuery(event));
  OK(cudaStreamSynchronize(b));
}
// In a capture they become edges with the kernel's ports.
static void captured() {
  for (int kind = 0; kind < 3; ++kind) {
    cudaLaunchAttribute at = kind == 2 ? event_attribute(cudaLaunchAttributeLaunchCompletionEvent, event)
                                       : event_attribute(cudaLaunchAttributeProgrammaticEvent, event, kind == 1);
    cudaEvent_t back;
    OK(cudaEventCreateWithFlags(&back, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    OK(launch(a, 1, &at, 1, trigger_and_end));
    OK(cudaStreamWaitEvent(b, event, 0));
    trigger_and_end<<<1, 32, 0, b>>>();
    OK(cudaEventRecord(back, b));
    OK(cudaStreamWaitEvent(a, back, 0));
    cudaGraph_t graph = nullptr;
    OK(cudaStreamEndCapture(a, &graph));
    cudaGraphNode_t from = nullptr, to = nullptr;
    cudaGraphEdgeData data{};
    size_t count = 1;
    OK(cudaGraphGetEdges(graph, &from, &to, &data, &count));
    CHECK(count == 1);
    CHECK(data.from_port == (kind ? cudaGraphKernelNodePortLaunchCompletion : cudaGraphKernelNodePortProgrammatic));
    CHECK(data.type == (kind == 2 ? cudaGraphDependencyTypeDefault : cudaGraphDependencyTypeProgrammatic));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(back));
  }
}

int main() {
  OK(cudaHostAlloc((void**)&flags, sizeof(Flags), cudaHostAllocMapped));
  OK(cudaMallocHost((void**)&seen, sizeof(int)));
  OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  overlap_by_trigger();
  overlap_by_beginning();
  both_and_a_secondary();
  records_follow_each_other();
  captured();
  cudaEvent_t timed;
  OK(cudaEventCreate(&timed));
  cudaLaunchAttribute at = event_attribute(cudaLaunchAttributeLaunchCompletionEvent, timed);
  CHECK(launch(a, 1, &at, 1, trigger_and_end) == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
  OK(cudaDeviceSynchronize());
  return wrong != 0;
}
