// Streams and events through the API: attributes, getters, argument errors, and what host functions may call.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace {

// Keeps a stream busy until it is opened.
struct Gate {
  std::atomic<bool> open{false};
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->open.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  void hold(cudaStream_t stream) { ASSERT_EQ(cudaLaunchHostFunc(stream, wait, this), cudaSuccess); }
};

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    (void)cudaGetLastError();
  }
  void TearDown() override { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); }
  cudaStream_t stream = nullptr;
};

cudaError_t set_policy(cudaStream_t stream, int policy) {
  cudaLaunchAttributeValue value{};
  std::memcpy(&value.syncPolicy, &policy, sizeof policy);
  return cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);
}
int policy(cudaStream_t stream) {
  cudaLaunchAttributeValue value{};
  EXPECT_EQ(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value), cudaSuccess);
  int number;
  std::memcpy(&number, &value.syncPolicy, sizeof number);
  return number;
}
int priority(cudaStream_t stream) {
  int value = 99;
  EXPECT_EQ(cudaStreamGetPriority(stream, &value), cudaSuccess);
  return value;
}

TEST_F(Streams, PolicyIsUnsetUntilSetAndRefusesOtherValues) {
  EXPECT_EQ(policy(stream), -1);
  for (int p : {cudaSyncPolicySpin, cudaSyncPolicyYield, cudaSyncPolicyBlockingSync, cudaSyncPolicyAuto}) {
    EXPECT_EQ(set_policy(stream, p), cudaSuccess);
    EXPECT_EQ(policy(stream), p);
    for (int bad : {0, 5, -1}) EXPECT_EQ(set_policy(stream, bad), cudaErrorInvalidValue);
    EXPECT_EQ(policy(stream), p);
    // Every way of waiting ends.
    Gate gate;
    gate.hold(stream);
    std::thread opener([&] { gate.open.store(true, std::memory_order_release); });
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    opener.join();
  }
}

TEST_F(Streams, AttributesAreCopiedWithThePriorityButNotTheFlags) {
  cudaStream_t high;
  ASSERT_EQ(cudaStreamCreateWithPriority(&high, cudaStreamDefault, -1000), cudaSuccess);
  int least = 9, greatest = 9;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_EQ(priority(high), greatest);
  EXPECT_EQ(set_policy(high, cudaSyncPolicyYield), cudaSuccess);
  cudaLaunchAttributeValue map{};
  map.memSyncDomainMap = {2, 3};
  EXPECT_EQ(cudaStreamSetAttribute(high, cudaLaunchAttributeMemSyncDomainMap, &map), cudaSuccess);
  map.memSyncDomainMap = {200, 0};
  EXPECT_EQ(cudaStreamSetAttribute(high, cudaLaunchAttributeMemSyncDomainMap, &map), cudaErrorInvalidValue);

  EXPECT_EQ(cudaStreamCopyAttributes(stream, high), cudaSuccess);
  EXPECT_EQ(priority(stream), greatest);
  EXPECT_EQ(policy(stream), cudaSyncPolicyYield);
  EXPECT_EQ(cudaStreamGetAttribute(stream, cudaLaunchAttributeMemSyncDomainMap, &map), cudaSuccess);
  EXPECT_EQ(map.memSyncDomainMap.default_ * 10 + map.memSyncDomainMap.remote, 23);
  unsigned flags = 9;
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  EXPECT_EQ(cudaStreamGetAttribute(stream, cudaLaunchAttributeCooperative, &map), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(high), cudaSuccess);
}

TEST_F(Streams, ASlotReusedHasTheAttributesOfANewStream) {
  EXPECT_EQ(set_policy(stream, cudaSyncPolicySpin), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(policy(stream), -1);
  EXPECT_EQ(priority(stream), 0);
}

TEST_F(Streams, IdsAreUniqueAndDefaultStreamsHaveTheirs) {
  unsigned long long a = 0, b = 0, c = 0, null = 0;
  cudaStream_t other;
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(stream, &a), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(other, &b), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(cudaStreamPerThread, &c), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(nullptr, &null), cudaSuccess);
  EXPECT_NE(a, b);
  EXPECT_NE(c, null);
  unsigned long long again = 0;
  ASSERT_EQ(cudaStreamDestroy(other), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(other, &again), cudaSuccess);
  EXPECT_GT(again, b);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamGetId(other, &again), cudaErrorInvalidResourceHandle);
}

TEST_F(Streams, NotReadyIsAnAnswerNotAnError) {
  Gate gate;
  gate.hold(stream);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  gate.open.store(true, std::memory_order_release);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(Streams, ExternalEventsNeedACapture) {
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal), cudaErrorIllegalState);
  // Flags that don't exist count before a handle that doesn't, and that before the state; in records (recorded) the
  // event comes first.
  EXPECT_EQ(cudaStreamWaitEvent(stream, nullptr, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamWaitEvent(stream, nullptr, cudaEventWaitExternal), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecordWithFlags(nullptr, stream, 2), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecordWithFlags(event, stream, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

struct Asked {
  cudaStream_t stream;
  cudaEvent_t complete, pending;
  cudaError_t get_device, bad_device, query, event_query, event_wait, pending_wait, create, create_null, peek;
};
void ask(void* data) {
  auto& a = *static_cast<Asked*>(data);
  int device;
  cudaStream_t made;
  a.get_device = cudaGetDevice(&device);
  a.bad_device = cudaSetDevice(-1);
  a.query = cudaStreamQuery(a.stream);
  a.event_query = cudaEventQuery(a.complete);
  a.event_wait = cudaEventSynchronize(a.complete);
  a.pending_wait = cudaEventSynchronize(a.pending);
  a.create_null = cudaStreamCreate(nullptr);
  a.create = cudaStreamCreate(&made);
  a.peek = cudaGetLastError();
}

TEST_F(Streams, HostFunctionsAreRefusedAllButQuestionsOfEvents) {
  Asked a{};
  a.stream = stream;
  ASSERT_EQ(cudaEventCreateWithFlags(&a.complete, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&a.pending, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(a.complete, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(cudaLaunchHostFunc(stream, ask, &a), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(a.pending, stream), cudaSuccess);
  gate.open.store(true, std::memory_order_release);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(a.get_device, cudaErrorNotPermitted);
  EXPECT_EQ(a.bad_device, cudaErrorInvalidDevice);
  EXPECT_EQ(a.query, cudaErrorNotPermitted);
  EXPECT_EQ(a.event_query, cudaSuccess);
  EXPECT_EQ(a.event_wait, cudaSuccess);
  EXPECT_EQ(a.pending_wait, cudaErrorNotPermitted);  // it would wait for itself
  EXPECT_EQ(a.create_null, cudaErrorInvalidValue);
  EXPECT_EQ(a.create, cudaErrorNotPermitted);
  EXPECT_EQ(a.peek, cudaErrorNotPermitted);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the function's thread has a slot of its own
  EXPECT_EQ(cudaEventDestroy(a.complete), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(a.pending), cudaSuccess);
}

}  // namespace
