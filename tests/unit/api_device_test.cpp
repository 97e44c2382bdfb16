// Devices: ordinals, properties against attributes, limits, flags, peers (runtime/api/device.cpp, peer.cpp).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <thread>

namespace {

// Before the runtime reads it.
const bool three_devices = setenv("MILLRACE_DEVICES", "3", 1) == 0;

class Device : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(three_devices);
    (void)cudaGetLastError();
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
};

int attribute(cudaDeviceAttr which, int device = 0) {
  int value = -7;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, which, device), cudaSuccess);
  return value;
}

TEST_F(Device, CurrentDeviceIsPerThread) {
  int count = 0, here = -1, there = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
  std::thread([&] { cudaGetDevice(&there); }).join();
  EXPECT_EQ(cudaGetDevice(&here), cudaSuccess);
  EXPECT_EQ(here, 2);
  EXPECT_EQ(there, 0);
  EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDevice(&here), cudaSuccess);
  EXPECT_EQ(here, 2);
}

TEST_F(Device, DevicesAreToldApart) {
  cudaDeviceProp a, b;
  ASSERT_EQ(cudaGetDeviceProperties(&a, 0), cudaSuccess);
  ASSERT_EQ(cudaGetDeviceProperties(&b, 1), cudaSuccess);
  EXPECT_NE(std::memcmp(&a.uuid, &b.uuid, sizeof a.uuid), 0);
  EXPECT_NE(a.pciBusID, b.pciBusID);
  char text[20];
  for (int device = 0; device < 3; ++device) {
    int found = -1;
    ASSERT_EQ(cudaDeviceGetPCIBusId(text, sizeof text, device), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetByPCIBusId(&found, text), cudaSuccess);
    EXPECT_EQ(found, device);
  }
  EXPECT_EQ(cudaDeviceGetPCIBusId(text, 12, 0), cudaErrorInvalidValue);
}

TEST_F(Device, EveryAttributeHasAValue) {
  for (int i = 1; i < cudaDevAttrMax; ++i) {
    int value = 0;  // as recorded: also those between that only the driver's API names
    EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(i), 0), cudaSuccess) << i;
  }
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount) * attribute(cudaDevAttrMaxThreadsPerMultiProcessor) % 32, 0);
  EXPECT_GT(attribute(cudaDevAttrClockRate), 100'000);
}

TEST_F(Device, LimitsBelongToTheDevice) {
  std::size_t value = 0;
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
  std::thread([&] { cudaDeviceGetLimit(&value, cudaLimitStackSize); }).join();
  EXPECT_EQ(value, 4096u);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 1024u);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4), cudaErrorUnsupportedLimit);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 30), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(value, 1024u);
}

TEST_F(Device, FlagsAreForgottenByAReset) {
  unsigned flags = 0;
  EXPECT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleYield), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaDeviceMapHost));
}

TEST_F(Device, ResetInvalidatesStreamsAndEvents) {
  cudaStream_t stream;
  cudaEvent_t event;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
}

TEST_F(Device, PeerAccessIsDirected) {
  int can = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  int value = -1;
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 2), cudaSuccess);
  EXPECT_EQ(value, 1);
}

TEST_F(Device, StreamsBelongToTheirDevice) {
  cudaStream_t stream;
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  int device = -1;
  EXPECT_EQ(cudaStreamGetDevice(stream, &device), cudaSuccess);
  EXPECT_EQ(device, 2);
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);  // an event of another device
  EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
