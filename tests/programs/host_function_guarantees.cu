// The four guarantees for unified memory around host functions (specification 2.5.4), one test each. What would break
// them is work that runs too early, or a wait for something that only the function itself can bring about: the first
// shows in values, the second never ends.
#include <atomic>
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

__global__ void add(int* p, int n, int value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += value;
}
__global__ void wait_then_add(volatile int* flag, int* p, int n, int value) {
  while (*flag == 0) {}
  __threadfence_system();
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += value;
}
constexpr int n = 1000;

struct Function {
  int *first, *second;
  int expected_first, expected_second;  // of each element when the function begins
  int wrong = 0;
  std::atomic<int> done{0};
  static void CUDART_CB run(void* data) {
    Function& f = *static_cast<Function*>(data);
    for (int i = 0; i < n; ++i) {
      f.wrong += f.first[i] != f.expected_first;
      f.first[i] *= 2;
      if (!f.second) continue;
      f.wrong += f.second[i] != f.expected_second;
      f.second[i] *= 3;
    }
    f.done.store(1, std::memory_order_release);
  }
};
static int all(const int* p, int value) {
  int right = 0;
  for (int i = 0; i < n; ++i) right += p[i] == value;
  return right == n;
}

static int* managed() {
  int* p = nullptr;
  OK(cudaMallocManaged(&p, n * sizeof(int)));
  for (int i = 0; i < n; ++i) p[i] = 0;
  return p;
}

// 1. The stream counts as idle while the function runs: it may use memory that is attached to the stream.
static void idle_during_the_function(cudaStream_t s) {
  int* p = managed();
  OK(cudaStreamAttachMemAsync(s, p, 0, cudaMemAttachSingle));
  add<<<1, 64, 0, s>>>(p, n, 5);
  Function f{p, nullptr, 5, 0};
  OK(cudaLaunchHostFunc(s, Function::run, &f));
  add<<<1, 64, 0, s>>>(p, n, 1);
  OK(cudaStreamSynchronize(s));
  CHECK(f.wrong == 0 && all(p, 11));
  OK(cudaFree(p));
}

// 2. Its beginning is like waiting for an event recorded right before it: streams joined by events are done, too.
static void joins_what_events_joined(cudaStream_t s, cudaStream_t t, cudaStream_t u, volatile int* flag) {
  int *p = managed(), *q = managed();
  cudaEvent_t from_t, from_u;
  OK(cudaEventCreateWithFlags(&from_t, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&from_u, cudaEventDisableTiming));
  *flag = 0;
  wait_then_add<<<1, 64, 0, u>>>(flag, q, n, 7);
  OK(cudaEventRecord(from_u, u));
  OK(cudaStreamWaitEvent(t, from_u, 0));  // s is joined with u through t
  add<<<1, 64, 0, t>>>(p, n, 4);
  OK(cudaEventRecord(from_t, t));
  OK(cudaStreamWaitEvent(s, from_t, 0));
  Function f{p, q, 4, 7};
  OK(cudaLaunchHostFunc(s, Function::run, &f));
  CHECK(f.done.load() == 0);
  *flag = 1;
  OK(cudaStreamSynchronize(s));
  CHECK(f.wrong == 0 && all(p, 8) && all(q, 21));
  OK(cudaEventDestroy(from_t));
  OK(cudaEventDestroy(from_u));
  OK(cudaFree(p));
  OK(cudaFree(q));
}

// 3. Work that other streams are given behind the function by an event doesn't run, and doesn't count as active, before
// the function has ended: it may use memory that is attached to all of them.
static void later_work_waits_for_the_function(cudaStream_t s, cudaStream_t t, volatile int* flag) {
  int* p = managed();
  cudaEvent_t behind;
  OK(cudaEventCreateWithFlags(&behind, cudaEventDisableTiming));
  *flag = 0;
  wait_then_add<<<1, 64, 0, s>>>(flag, p, n, 3);
  Function f{p, nullptr, 3, 0}, g{p, nullptr, 6, 0};
  OK(cudaLaunchHostFunc(s, Function::run, &f));
  OK(cudaLaunchHostFunc(s, Function::run, &g));
  OK(cudaEventRecord(behind, s));
  OK(cudaStreamWaitEvent(t, behind, 0));
  add<<<1, 64, 0, t>>>(p, n, 1);  // enqueued while neither function has begun
  *flag = 1;
  OK(cudaStreamSynchronize(t));
  CHECK(f.wrong == 0 && g.wrong == 0 && all(p, 13));
  OK(cudaEventDestroy(behind));
  OK(cudaFree(p));
}

// 4. A function's end makes nothing active: with no device work behind it, a signal from the last function of a stream
// is as good as a synchronisation.
static void a_signal_is_a_synchronisation(cudaStream_t s) {
  int* p = managed();
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < n; ++i) p[i] = round;
    add<<<2, 32, 0, s>>>(p, 0, 0);
    add<<<1, 64, 0, s>>>(p, n, 10);
    Function first{p, nullptr, round + 10, 0}, last{p, nullptr, 2 * round + 20, 0};
    OK(cudaLaunchHostFunc(s, Function::run, &first));
    OK(cudaLaunchHostFunc(s, Function::run, &last));
    while (last.done.load(std::memory_order_acquire) == 0) {}
    CHECK(first.wrong == 0 && last.wrong == 0 && all(p, 4 * round + 40));
  }
  OK(cudaStreamSynchronize(s));
  OK(cudaFree(p));
}

int main() {
  int* flag;
  OK(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof *flag, cudaHostAllocMapped));
  cudaStream_t s[3];
  for (unsigned kind : {cudaStreamDefault, cudaStreamNonBlocking}) {
    for (cudaStream_t& stream : s) OK(cudaStreamCreateWithFlags(&stream, kind));
    idle_during_the_function(s[0]);
    joins_what_events_joined(s[0], s[1], s[2], flag);
    later_work_waits_for_the_function(s[0], s[1], flag);
    a_signal_is_a_synchronisation(s[0]);
    for (cudaStream_t stream : s) OK(cudaStreamDestroy(stream));
  }
  OK(cudaDeviceSynchronize());
  return wrong != 0;
}
