// Rules of launches, events and the thread's last error as they were recorded on an H200: what attributes may hold,
// which of several errors wins, and the one call whose success clears the last error.
#include <cstring>

#include "check.h"

__global__ void kernel(int* p, int value) {
  if (p) *p = value;
}
__global__ void dynamic(int* p) {
  extern __shared__ int s[];
  s[0] = 1;
  if (p) *p = s[0];
}

static int* memory;

// A launch of one block of 32, changed by the caller.
struct Launch {
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute attributes[2]{};
  explicit Launch(cudaStream_t stream) {
    config.gridDim = 1;
    config.blockDim = 32;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 1;
  }
  cudaLaunchAttributeValue& set(cudaLaunchAttributeID id) {
    attributes[0].id = id;
    std::memset(&attributes[0].val, 0, sizeof attributes[0].val);
    return attributes[0].val;
  }
  void clusters(unsigned x) { set(cudaLaunchAttributeClusterDimension).clusterDim = {x, 1, 1}; }
  cudaError_t go() {
    int value = 3;
    void* arguments[] = {&memory, &value};
    return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
  }
};

static void values(cudaStream_t stream) {
  Launch l(stream);
  OK((l.set(cudaLaunchAttributeIgnore), l.go()));
  EXPECT((l.set(static_cast<cudaLaunchAttributeID>(200)), l.go()), cudaErrorInvalidValue);
  for (int priority : {-100, -5, 0, 5}) OK((l.set(cudaLaunchAttributePriority).priority = priority, l.go()));
  OK((l.set(cudaLaunchAttributeMemSyncDomainMap).memSyncDomainMap = {0, 3}, l.go()));
  EXPECT((l.set(cudaLaunchAttributeMemSyncDomainMap).memSyncDomainMap = {0, 4}, l.go()), cudaErrorInvalidValue);
  // An attribute of streams.
  for (auto policy : {cudaSyncPolicySpin, static_cast<cudaSynchronizationPolicy>(99)})
    EXPECT((l.set(cudaLaunchAttributeSynchronizationPolicy).syncPolicy = policy, l.go()), cudaErrorInvalidValue);
  auto& spread = l.set(cudaLaunchAttributeClusterSchedulingPolicyPreference).clusterSchedulingPolicyPreference;
  OK((spread = cudaClusterSchedulingPolicySpread, l.go()));
  EXPECT((spread = static_cast<cudaClusterSchedulingPolicy>(77), l.go()), cudaErrorInvalidValue);
  for (unsigned carveout : {101u, ~0u})
    EXPECT((l.set(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout = carveout, l.go()),
           cudaErrorInvalidValue);
  OK((l.set(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout = 50, l.go()));
  // An attribute of nodes, whatever it says.
  for (int updatable : {0, 1})
    EXPECT((l.set(cudaLaunchAttributeDeviceUpdatableKernelNode).deviceUpdatableKernelNode.deviceUpdatable = updatable,
            l.go()),
           cudaErrorNotSupported);
  EXPECT((l.set(cudaLaunchAttributePreferredClusterDimension).preferredClusterDim = {2, 1, 1}, l.go()),
         cudaErrorInvalidClusterSize);
  // Not recorded: a count without attributes.
  l.config.attrs = nullptr;
  EXPECT(l.go(), cudaErrorInvalidValue);
  int count;
  EXPECT(cudaOccupancyMaxActiveClusters(&count, kernel, &l.config), cudaErrorInvalidValue);
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&count, kernel, &l.config), cudaErrorInvalidValue);
}

static void events(cudaStream_t stream) {
  cudaEvent_t plain, timed;
  OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  OK(cudaEventCreate(&timed));
  Launch l(stream);
  auto& programmatic = l.set(cudaLaunchAttributeProgrammaticEvent).programmaticEvent;
  EXPECT(l.go(), cudaErrorInvalidResourceHandle);
  OK((programmatic = {plain, 0, 1}, l.go()));
  EXPECT((programmatic.flags = 9, l.go()), cudaErrorInvalidValue);
  auto& completion = l.set(cudaLaunchAttributeLaunchCompletionEvent).launchCompletionEvent;
  EXPECT(l.go(), cudaErrorInvalidResourceHandle);
  OK((completion = {plain, 0}, l.go()));
  EXPECT((completion = {plain, 9}, l.go()), cudaErrorInvalidValue);
  EXPECT((completion = {timed, 0}, l.go()), cudaErrorNotSupported);

  EXPECT(cudaEventRecordWithFlags(nullptr, stream, 9), cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventRecordWithFlags(plain, stream, 9), cudaErrorInvalidValue);
  cudaIpcEventHandle_t handle;
  EXPECT(cudaIpcGetEventHandle(&handle, nullptr), cudaErrorInvalidValue);
  EXPECT(cudaIpcGetEventHandle(&handle, plain), cudaErrorInvalidResourceHandle);
  EXPECT(cudaIpcGetEventHandle(nullptr, plain), cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(plain));
  OK(cudaEventDestroy(timed));
}

// Grid and block, then clusters, then shared memory.
static void which_wins(cudaStream_t stream) {
  Launch l(stream);
  l.config.gridDim = 0;
  EXPECT((l.clusters(2), l.go()), cudaErrorInvalidValue);
  l.config.gridDim = 4;
  EXPECT((l.clusters(3), l.go()), cudaErrorInvalidClusterSize);
  l.config.blockDim = 2000;
  EXPECT(l.go(), cudaErrorInvalidValue);
  l.config.blockDim = 32;
  l.config.dynamicSmemBytes = 1 << 20;
  EXPECT(l.go(), cudaErrorInvalidClusterSize);
  EXPECT((l.clusters(2), l.go()), cudaErrorInvalidValue);
  l.config.dynamicSmemBytes = 0;
  OK(l.go());
  l.attributes[1].id = cudaLaunchAttributeCooperative;
  l.attributes[1].val.cooperative = 1;
  l.config.numAttrs = 2;
  OK(l.go());
}

#define SLOT_AFTER(call, want)                                                                                         \
  do {                                                                                                                 \
    (void)cudaSetDevice(-1);                                                                                           \
    CHECK((call) == cudaSuccess);                                                                                      \
    CHECK(cudaGetLastError() == (want));                                                                               \
  } while (0)

static void last_error() {
  const auto limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
  cudaFuncAttributes attributes;
  int blocks;
  SLOT_AFTER(cudaFuncSetAttribute(dynamic, limit, 100000), cudaSuccess);
  SLOT_AFTER(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50), cudaSuccess);
  SLOT_AFTER(cudaFuncGetAttributes(&attributes, kernel), cudaErrorInvalidDevice);
  SLOT_AFTER(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1), cudaErrorInvalidDevice);
  SLOT_AFTER((dynamic<<<1, 1, 100000>>>(nullptr), cudaSuccess), cudaErrorInvalidDevice);
  SLOT_AFTER(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0), cudaErrorInvalidDevice);
  (void)cudaSetDevice(-1);
  CHECK(cudaFuncSetAttribute(dynamic, limit, 1 << 20) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc(&memory, 64));
  values(stream);
  events(stream);
  which_wins(stream);
  last_error();
  OK(cudaDeviceSynchronize());
  OK(cudaStreamDestroy(stream));
  return report();
}
