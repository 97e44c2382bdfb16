// Events of two processes (runtime/model/event_ipc.cpp). The second process is forked before the runtime is used and
// does what it is told over pipes.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

int to_child[2], to_parent[2];

template <class T> void put(int file, const T& value) {
  if (write(file, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) std::abort();
}
template <class T> T get(int file) {
  T value;
  if (read(file, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) _exit(1);
  return value;
}

std::atomic<bool> released{false};
void hold(void*) {
  while (!released.load(std::memory_order_acquire)) std::this_thread::yield();
}
void raise_flag(void* flag) { static_cast<std::atomic<int>*>(flag)->store(1, std::memory_order_release); }

void child() {
  cudaEvent_t event = nullptr;
  cudaStream_t stream;
  std::atomic<int> flag{0};
  const auto handle = get<cudaIpcEventHandle_t>(to_child[0]);
  put(to_parent[1], cudaIpcOpenEventHandle(&event, handle));
  cudaIpcEventHandle_t own;
  cudaEvent_t again = nullptr;
  put(to_parent[1], cudaIpcGetEventHandle(&own, event));
  put(to_parent[1], cudaIpcOpenEventHandle(&again, handle));
  put(to_parent[1], cudaEventDestroy(again));
  put(to_parent[1], cudaEventQuery(event));
  cudaStreamCreate(&stream);
  put(to_parent[1], cudaStreamWaitEvent(stream, event, 0));
  cudaLaunchHostFunc(stream, raise_flag, &flag);
  put(to_parent[1], cudaStreamQuery(stream));
  put(to_parent[1], flag.load());
  // The parent lets its stream go on.
  put(to_parent[1], cudaStreamSynchronize(stream));
  put(to_parent[1], flag.load());
  put(to_parent[1], cudaEventQuery(event));
  // A record of this process, which the parent waits for.
  cudaLaunchHostFunc(stream, hold, nullptr);
  put(to_parent[1], cudaEventRecord(event, stream));
  (void)get<int>(to_child[0]);
  released.store(true, std::memory_order_release);
  (void)get<int>(to_child[0]);
  // And one that is never completed.
  released.store(false, std::memory_order_release);
  cudaLaunchHostFunc(stream, hold, nullptr);
  put(to_parent[1], cudaEventRecord(event, stream));
  (void)get<int>(to_child[0]);
  _exit(0);
}

pid_t start_child() {
  if (pipe(to_child) || pipe(to_parent)) std::abort();
  const pid_t pid = fork();
  if (pid == 0) {
    // Ends with the parent, also when that only lists its tests: its end of the pipe is then the last one.
    close(to_child[1]);
    close(to_parent[0]);
    child();
    _exit(0);
  }
  return pid;
}
const pid_t child_pid = start_child();

TEST(EventIpc, TwoProcessesOrderTheirStreams) {
  const auto answer = [] { return get<cudaError_t>(to_parent[0]); };
  cudaStream_t stream;
  cudaEvent_t event;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);  // never recorded
  cudaIpcEventHandle_t handle;
  ASSERT_EQ(cudaIpcGetEventHandle(&handle, event), cudaSuccess);
  cudaEvent_t same = nullptr;
  EXPECT_EQ(cudaIpcOpenEventHandle(&same, handle), cudaErrorDeviceUninitialized);

  ASSERT_EQ(cudaLaunchHostFunc(stream, hold, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  put(to_child[1], handle);
  EXPECT_EQ(answer(), cudaSuccess);                     // opened
  EXPECT_EQ(answer(), cudaErrorInvalidResourceHandle);  // as recorded: what was opened has no handle of its own
  EXPECT_EQ(answer(), cudaSuccess);                     // opened again, and that one destroyed
  EXPECT_EQ(answer(), cudaSuccess);
  EXPECT_EQ(answer(), cudaErrorNotReady);  // queried
  EXPECT_EQ(answer(), cudaSuccess);        // its stream waits
  EXPECT_EQ(answer(), cudaErrorNotReady);
  EXPECT_EQ(get<int>(to_parent[0]), 0);
  released.store(true, std::memory_order_release);
  EXPECT_EQ(answer(), cudaSuccess);
  EXPECT_EQ(get<int>(to_parent[0]), 1);
  EXPECT_EQ(answer(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);  // the event may be in use over there again

  EXPECT_EQ(answer(), cudaSuccess);  // recorded over there
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  put(to_child[1], 0);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  put(to_child[1], 0);

  EXPECT_EQ(answer(), cudaSuccess);  // recorded, and never completed
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  put(to_child[1], 0);
  ASSERT_EQ(waitpid(child_pid, nullptr, 0), child_pid);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);  // who is gone holds up nobody
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST(EventIpc, OrdinaryEventsHaveNoHandle) {
  cudaEvent_t event;
  cudaIpcEventHandle_t handle;
  std::memset(&handle, 7, sizeof handle);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaIpcGetEventHandle(&handle, event), cudaErrorInvalidResourceHandle);
  // As recorded: an event that has none counts before a place that isn't one, and no event at all before both.
  EXPECT_EQ(cudaIpcGetEventHandle(nullptr, event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaIpcGetEventHandle(&handle, nullptr), cudaErrorInvalidValue);
  cudaEvent_t other = nullptr;
  EXPECT_EQ(cudaIpcOpenEventHandle(&other, handle), cudaErrorMapBufferObjectFailed);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

}  // namespace
