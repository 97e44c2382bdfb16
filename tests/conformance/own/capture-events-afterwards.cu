// Rule: events whose last record was in a capture that has ended since, however it ended: asked, waited for, measured,
// recorded again, in captures and graphs.
#include "call_sections.h"

__global__ void add(int* p, int v) { atomicAdd(p, v); }
static int* d;
static cudaStream_t s, t;

enum End { ended, failed, destroyed_graph, launched, stream_gone, no_end };
static const char* const names[] = {"ended", "failed", "graph destroyed", "launched", "stream destroyed", "going on"};

// An event that was recorded in a capture (again, if `before`: it was recorded outside of it first).
static cudaEvent_t captured(End end, bool before, bool timing, bool behind_work) {
  cudaEvent_t e;
  MUST(cudaEventCreateWithFlags(&e, timing ? cudaEventDefault : cudaEventDisableTiming));
  if (before) {
    MUST(cudaEventRecord(e, t));
    MUST(cudaEventSynchronize(e));
  }
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  if (behind_work) add<<<1, 1, 0, s>>>(d, 1);
  MUST(cudaEventRecord(e, s));
  if (end == failed) {
    cudaStreamQuery(s);
    cudaGetLastError();
  }
  cudaGraph_t g = nullptr;
  if (end == stream_gone) {
    MUST(cudaStreamDestroy(s));
  } else if (end != no_end) {
    cudaStreamEndCapture(s, &g);
    cudaGetLastError();
  }
  if (end == destroyed_graph) MUST(cudaGraphDestroy(g));
  if (end == launched) {
    cudaGraphExec_t x;
    MUST(cudaGraphInstantiate(&x, g, 0));
    MUST(cudaGraphLaunch(x, t));
    MUST(cudaStreamSynchronize(t));
  }
  return e;
}
static void status() {
  cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
  CALL(cudaStreamIsCapturing(s, &c));
  FACT(c);
}
int main() {
  MUST(cudaMalloc(&d, 64));
  MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t plain, never;
  MUST(cudaEventCreate(&plain));
  MUST(cudaEventCreate(&never));
  MUST(cudaEventRecord(plain, t));
  MUST(cudaEventSynchronize(plain));
  for (int end = ended; end <= no_end; end++)
    for (int before = 0; before < 2; before++)
      for (int timing = 0; timing < 2; timing++)
        for (int behind = 0; behind < 2; behind++) {
          std::printf("-- %s, recorded before %d, timing %d, behind work %d\n", names[end], before, timing, behind);
          cudaEvent_t e;
          float ms = -1;
          e = captured((End)end, before, timing, behind);
          CALL(cudaEventQuery(e));
          if (end == no_end) status();
          CALL(cudaEventQuery(e));
          if (end == no_end) {
            cudaGraph_t g;
            cudaStreamEndCapture(s, &g);
            cudaGetLastError();
            e = captured((End)end, before, timing, behind);
          }
          CALL(cudaEventSynchronize(e));
          if (end == no_end) {
            status();
            cudaGraph_t g;
            cudaStreamEndCapture(s, &g);
            cudaGetLastError();
            e = captured((End)end, before, timing, behind);
          }
          CALL(cudaEventElapsedTime(&ms, plain, e));
          CALL(cudaEventElapsedTime(&ms, e, plain));
          CALL(cudaEventElapsedTime(&ms, e, e));
          CALL(cudaEventElapsedTime(&ms, e, never));
          CALL(cudaEventElapsedTime(&ms, never, e));
          FACT(ms == -1);
          if (end == no_end) status();
          CALL(cudaStreamWaitEvent(t, e, 0));
          CALL(cudaStreamWaitEvent(t, e, cudaEventWaitExternal));
          CALL(cudaStreamWaitEvent(nullptr, e, 0));
          if (end == no_end) {
            cudaGraph_t g = nullptr;
            CALL(cudaStreamEndCapture(s, &g));
            cudaStreamCaptureStatus c;
            cudaStreamIsCapturing(t, &c);
            FACT(c);
          }
          CALL(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
          CALL(cudaStreamWaitEvent(t, e, 0));
          cudaGraph_t g = nullptr;
          CALL(cudaStreamEndCapture(t, &g));
          MUST(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
          CALL(cudaStreamWaitEvent(t, e, cudaEventWaitExternal));
          CALL(cudaStreamEndCapture(t, &g));
          MUST(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
          CALL(cudaEventQuery(e));
          CALL(cudaEventRecordWithFlags(e, t, cudaEventRecordExternal));
          CALL(cudaStreamEndCapture(t, &g));
          cudaGraph_t by_hand;
          cudaGraphNode_t n;
          MUST(cudaGraphCreate(&by_hand, 0));
          CALL(cudaGraphAddEventWaitNode(&n, by_hand, nullptr, 0, e));
          CALL(cudaGraphAddEventRecordNode(&n, by_hand, nullptr, 0, e));
          // Recorded by a graph, then outside.
          cudaGraph_t only;
          cudaGraphExec_t x;
          MUST(cudaGraphCreate(&only, 0));
          MUST(cudaGraphAddEventRecordNode(&n, only, nullptr, 0, e));
          CALL(cudaGraphInstantiate(&x, only, 0));
          CALL(cudaGraphLaunch(x, t));
          CALL(cudaStreamSynchronize(t));
          CALL(cudaEventQuery(e));
          CALL(cudaEventElapsedTime(&ms, plain, e));
          CALL(cudaEventRecord(e, t));
          CALL(cudaEventSynchronize(e));
          CALL(cudaEventQuery(e));
          CALL(cudaEventElapsedTime(&ms, plain, e));
          CALL(cudaEventDestroy(e));
          CALL(cudaDeviceSynchronize());
        }
}
