// Rule: memory of graphs after many launches that nobody waited for: what the attributes say, and what a trim leaves.
#include "call_sections.h"
#include <vector>

static cudaStream_t s;
static void tell(const char* when) {
  std::printf("%s:", when);
  for (auto a : {cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemCurrent,
                 cudaGraphMemAttrReservedMemHigh}) {
    unsigned long long v = 0;
    MUST(cudaDeviceGetGraphMemAttribute(0, a, &v));
    std::printf(" %llu", v);
  }
  std::printf("\n");
}
static cudaGraph_t captured(void** x, size_t bytes, bool freed) {
  cudaGraph_t g = nullptr;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  MUST(cudaMallocAsync(x, bytes, s));
  MUST(cudaMemsetAsync(*x, 1, bytes, s));
  if (freed) MUST(cudaFreeAsync(*x, s));
  MUST(cudaStreamEndCapture(s, &g));
  return g;
}
static void init() {
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  MUST(cudaDeviceSynchronize());
  tell("start");
}
static void reset() {
  unsigned long long zero = 0;
  MUST(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  MUST(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &zero));
}
int main() {
  alone("a graph that frees, made and given up 5000 times", [] {
    init();
    for (int i = 0; i < 5000; i++) {
      void* x;
      cudaGraph_t g = captured(&x, 1 << 16, true);
      cudaGraphExec_t e;
      MUST(cudaGraphInstantiate(&e, g, 0));
      MUST(cudaGraphLaunch(e, s));
      MUST(cudaGraphDestroy(g));
      MUST(cudaGraphExecDestroy(e));
    }
    MUST(cudaDeviceSynchronize());
    tell("waited");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
  });
  alone("a graph that doesn't free, made and given up 2000 times, freed in the stream", [] {
    init();
    for (int i = 0; i < 2000; i++) {
      void* x;
      cudaGraph_t g = captured(&x, 1 << 16, false);
      cudaGraphExec_t e;
      MUST(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
      MUST(cudaGraphLaunch(e, s));
      MUST(cudaFreeAsync(x, s));
      MUST(cudaGraphDestroy(g));
      MUST(cudaGraphExecDestroy(e));
    }
    MUST(cudaDeviceSynchronize());
    tell("waited");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
  });
  alone("one graph that frees, launched 5000 times", [] {
    init();
    void* x;
    cudaGraph_t g = captured(&x, 1 << 16, true);
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, g, 0));
    tell("instantiated");
    for (int i = 0; i < 5000; i++) MUST(cudaGraphLaunch(e, s));
    MUST(cudaDeviceSynchronize());
    tell("waited");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    MUST(cudaGraphLaunch(e, s));
    MUST(cudaDeviceSynchronize());
    tell("launched again");
    MUST(cudaGraphExecDestroy(e));
    tell("exec destroyed");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    MUST(cudaGraphDestroy(g));
    MUST(cudaDeviceGraphMemTrim(0));
    tell("graph destroyed, trimmed");
  });
  alone("one graph with auto free, launched 3000 times", [] {
    init();
    void* x;
    cudaGraph_t g = captured(&x, 1 << 20, false);
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int i = 0; i < 3000; i++) MUST(cudaGraphLaunch(e, s));
    MUST(cudaDeviceSynchronize());
    tell("waited");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    MUST(cudaFreeAsync(x, s));
    tell("freed, not waited for");
    MUST(cudaStreamSynchronize(s));
    tell("freed");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    reset();
    tell("highs reset");
  });
  alone("sizes of 64 graphs, all launched in turn, destroyed", [] {
    init();
    std::vector<cudaGraphExec_t> xs;
    for (int i = 0; i < 64; i++) {
      void* x;
      cudaGraph_t g = captured(&x, (size_t)(i + 1) << 20, true);
      cudaGraphExec_t e;
      MUST(cudaGraphInstantiate(&e, g, 0));
      xs.push_back(e);
      MUST(cudaGraphDestroy(g));
    }
    for (int r = 0; r < 20; r++)
      for (auto e : xs) MUST(cudaGraphLaunch(e, s));
    MUST(cudaDeviceSynchronize());
    tell("waited");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    for (auto e : xs) MUST(cudaGraphExecDestroy(e));
    tell("destroyed");
  });
  alone("memory that is still allocated when its graph and executable graph are destroyed", [] {
    init();
    void* x;
    cudaGraph_t g = captured(&x, 1 << 16, false);
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, g, 0));
    MUST(cudaGraphLaunch(e, s));
    MUST(cudaDeviceSynchronize());
    tell("launched");
    MUST(cudaGraphExecDestroy(e));
    MUST(cudaGraphDestroy(g));
    tell("destroyed");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    CALL(cudaMemset(x, 2, 1 << 16));
    MUST(cudaDeviceSynchronize());
    CALL(cudaFreeAsync(x, s));
    MUST(cudaDeviceSynchronize());
    tell("freed");
    MUST(cudaDeviceGraphMemTrim(0));
    tell("trimmed");
    CALL(cudaFreeAsync(x, s));
  });
  for (int variant = 0; variant < 2; variant++) {
    static int v;
    v = variant;
    static const char* const names[] = {"freed with cudaFree, waited for", "freed with cudaFree after waiting"};
    alone(names[v], [] {
      init();
      void* x;
      cudaGraph_t g = captured(&x, 1 << 16, false);
      cudaGraphExec_t e;
      MUST(cudaGraphInstantiate(&e, g, 0));
      for (int i = 0; i < 5; i++) {
        MUST(cudaGraphLaunch(e, s));
        if (v == 1) MUST(cudaDeviceSynchronize());
        MUST(cudaFree(x));
      }
      if (v == 0) MUST(cudaDeviceSynchronize());
      tell("freed");
      MUST(cudaDeviceGraphMemTrim(0));
      tell("trimmed");
      MUST(cudaDeviceSynchronize());
      tell("waited");
      MUST(cudaDeviceGraphMemTrim(0));
      tell("trimmed");
    });
  }
}
