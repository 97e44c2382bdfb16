// Two and eight devices (MILLRACE_DEVICES): what each has of its own, what crosses between them, and first use of all
// at once by many threads. Runs itself again for each number of devices.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

__device__ int variable = 11;
__managed__ int managed = 3;
__global__ void set(int* p, int v) { *p = v; }
__global__ void bump() { atomicAdd(&variable, 1); }
__global__ void bump_managed() { atomicAdd(&managed, 1); }
__global__ void add(int* p) { atomicAdd(p, 1); }
__global__ void trap() { __trap(); }
__global__ void spin_on(volatile int* flag) {
  while (!*flag) {}
}

// Thirty-two threads make the first calls of the process, each of another kind and on another device.
static void first_use(int devices) {
  constexpr int threads = 32;
  std::atomic<int> ready{0}, failed{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const auto check = [&](bool good) { failed += !good; };
      ++ready;
      while (ready < threads) {}
      check(cudaSetDevice(t % devices) == cudaSuccess);
      if (t / devices % 4 == 0) {
        cudaStream_t stream;
        check(cudaStreamCreate(&stream) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
      } else if (t / devices % 4 == 1) {
        int value = 0;
        check(cudaMemcpyFromSymbol(&value, variable, 4) == cudaSuccess && value == 11);
      } else if (t / devices % 4 == 2) {
        cudaFuncAttributes attributes;
        check(cudaFuncGetAttributes(&attributes, add) == cudaSuccess);
      } else {
        cudaEvent_t event;
        check(cudaEventCreate(&event) == cudaSuccess && cudaEventDestroy(event) == cudaSuccess);
      }
      int *p = nullptr, value = 0;
      check(cudaMalloc(&p, 4) == cudaSuccess && cudaMemset(p, 0, 4) == cudaSuccess);
      add<<<1, 32>>>(p);
      check(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && value == 32);
      check(cudaFree(p) == cudaSuccess);
    });
  for (std::thread& thread : all) thread.join();
  CHECK(failed == 0);
}

static void own_variables(int devices) {
  cudaPointerAttributes attributes;
  std::vector<void*> seen;
  for (int d = 0; d < devices; ++d) {
    OK(cudaSetDevice(d));
    for (int i = 0; i <= d; ++i) bump<<<1, 1>>>();
    bump_managed<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
  }
  CHECK(managed == 3 + devices);
  for (int d = 0; d < devices; ++d) {
    int value = 0;
    void* address = nullptr;
    OK(cudaSetDevice(d));
    OK(cudaMemcpyFromSymbol(&value, variable, 4));
    CHECK(value == 12 + d);
    OK(cudaGetSymbolAddress(&address, variable));
    for (void* other : seen) CHECK(other != address);
    seen.push_back(address);
    OK(cudaPointerGetAttributes(&attributes, address));
    CHECK(attributes.device == d && attributes.type == cudaMemoryTypeDevice);
  }
  int in_new_thread = -1;
  std::thread([&] { cudaGetDevice(&in_new_thread); }).join();
  CHECK(in_new_thread == 0);
}

struct Pair {
  cudaStream_t stream[2];
  cudaEvent_t event[2];
  int* memory[2];
};

static void streams_and_events(const Pair& p) {
  int device = -1, value = 5;
  float ms;
  cudaSetDevice(0);
  // A kernel runs on its stream's device, whichever is current.
  set<<<1, 1, 0, p.stream[1]>>>(p.memory[1], 1);
  OK(cudaGetLastError());
  OK(cudaStreamSynchronize(p.stream[1]));
  OK(cudaMemcpy(&value, p.memory[1], 4, cudaMemcpyDefault));
  CHECK(value == 1);
  value = 5;
  OK(cudaStreamGetDevice(p.stream[1], &device));
  CHECK(device == 1);
  // A set needs access to the other device's memory, copies don't.
  EXPECT(cudaMemset(p.memory[1], 0, 4), cudaErrorInvalidValue);
  EXPECT(cudaMemsetAsync(p.memory[1], 0, 4, p.stream[0]), cudaErrorInvalidValue);
  // Copies and sets may go into another device's stream.
  OK(cudaMemcpyAsync(p.memory[1], &value, 4, cudaMemcpyHostToDevice, p.stream[1]));
  OK(cudaMemsetAsync(p.memory[1], 0x11, 4, p.stream[1]));
  OK(cudaStreamSynchronize(p.stream[1]));
  OK(cudaMemcpy(&value, p.memory[1], 4, cudaMemcpyDefault));
  CHECK(value == 0x11111111);
  EXPECT(cudaEventRecord(p.event[0], p.stream[1]), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(p.event[1], p.stream[1]));
  OK(cudaStreamWaitEvent(p.stream[0], p.event[1], 0));
  OK(cudaEventRecord(p.event[0], p.stream[0]));
  OK(cudaEventSynchronize(p.event[0]));
  OK(cudaEventQuery(p.event[1]));
  EXPECT(cudaEventElapsedTime(&ms, p.event[0], p.event[1]), cudaErrorInvalidResourceHandle);
  // The devices' default streams don't wait for each other.
  int* flag = nullptr;
  OK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
  *flag = 0;
  spin_on<<<1, 1>>>(flag);
  cudaSetDevice(1);
  set<<<1, 1>>>(p.memory[1], 9);
  OK(cudaDeviceSynchronize());
  cudaSetDevice(0);
  EXPECT(cudaStreamQuery(nullptr), cudaErrorNotReady);
  *const_cast<volatile int*>(flag) = 1;
  OK(cudaDeviceSynchronize());
  OK(cudaFreeHost(flag));
}

static void peers(const Pair& p, int devices) {
  int can = -1, value = 0;
  cudaSetDevice(0);
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  CHECK(can == 0);
  EXPECT(cudaDeviceCanAccessPeer(&can, 0, devices), cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT(cudaDeviceEnablePeerAccess(devices, 0), cudaErrorInvalidDevice);
  EXPECT(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  set<<<1, 1>>>(p.memory[1], 77);
  OK(cudaMemcpy(&value, p.memory[1], 4, cudaMemcpyDeviceToHost));
  CHECK(value == 77);
  OK(cudaDeviceDisablePeerAccess(1));
  EXPECT(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);

  set<<<1, 1>>>(p.memory[0], 123);
  OK(cudaMemcpyPeer(p.memory[1], 1, p.memory[0], 0, 4));
  OK(cudaMemcpy(&value, p.memory[1], 4, cudaMemcpyDefault));
  CHECK(value == 123);
  OK(cudaMemcpyPeerAsync(p.memory[0], 0, p.memory[1], 1, 4, p.stream[1]));
  OK(cudaStreamSynchronize(p.stream[1]));
  EXPECT(cudaMemcpyPeer(p.memory[1], devices, p.memory[0], 0, 4), cudaErrorInvalidDevice);
  for (int i = 0; i < 4; ++i) OK(cudaMemset(reinterpret_cast<char*>(p.memory[0]) + 64 * i, i + 1, 64));
  OK(cudaMemsetAsync(p.memory[1], 0, 512, p.stream[1]));
  OK(cudaStreamSynchronize(p.stream[1]));
  cudaMemcpy3DPeerParms box = {};
  box.srcPtr = make_cudaPitchedPtr(p.memory[0], 64, 64, 4);
  box.dstPtr = make_cudaPitchedPtr(p.memory[1], 128, 64, 4);
  box.dstDevice = 1;
  box.extent = make_cudaExtent(33, 4, 1);
  OK(cudaMemcpy3DPeer(&box));
  unsigned char rows[512];
  OK(cudaMemcpy(rows, p.memory[1], sizeof rows, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) CHECK(rows[128 * i] == i + 1 && rows[128 * i + 32] == i + 1 && rows[128 * i + 33] == 0);
}

static void graphs(const Pair& p) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second, copy;
  int *memory0 = p.memory[0], *memory1 = p.memory[1], value0 = 31, value1 = 32, got[4];
  void *arguments0[] = {&memory0, &value0}, *arguments1[] = {&memory1, &value1};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(set);
  kernel.gridDim = kernel.blockDim = 1;
  cudaSetDevice(0);
  OK(cudaGraphCreate(&graph, 0));
  kernel.kernelParams = arguments0;
  OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  cudaSetDevice(1);
  kernel.kernelParams = arguments1;
  OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  cudaSetDevice(0);
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, memory0 + 2, memory1, 4, cudaMemcpyDefault));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (cudaStream_t stream : p.stream) {
    OK(cudaMemset(memory0, 0, 16));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(got, memory0, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 31 && got[2] == 32);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));

  // A capture that goes from one device's stream to the other's: each kernel runs where it was captured.
  OK(cudaStreamBeginCapture(p.stream[0], cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(p.event[0], p.stream[0]));
  OK(cudaStreamWaitEvent(p.stream[1], p.event[0], 0));
  cudaSetDevice(1);
  bump<<<1, 1, 0, p.stream[1]>>>();
  OK(cudaEventRecord(p.event[1], p.stream[1]));
  cudaSetDevice(0);
  OK(cudaStreamWaitEvent(p.stream[0], p.event[1], 0));
  OK(cudaStreamEndCapture(p.stream[0], &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  int before[2], after[2];
  const auto read = [](int* out) {
    for (int d = 0; d < 2; ++d) {
      cudaSetDevice(d);
      OK(cudaMemcpyFromSymbol(&out[d], variable, 4));
    }
    cudaSetDevice(0);
  };
  read(before);
  OK(cudaGraphLaunch(exec, p.stream[0]));
  OK(cudaStreamSynchronize(p.stream[0]));
  read(after);
  CHECK(after[0] == before[0] && after[1] == before[1] + 1);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

static void pools_and_limits(const Pair& p) {
  cudaMemPool_t pool[2];
  cudaPointerAttributes attributes;
  cudaMemAccessFlags access;
  for (int d = 0; d < 2; ++d) OK(cudaDeviceGetDefaultMemPool(&pool[d], d));
  CHECK(pool[0] != pool[1]);
  cudaSetDevice(0);
  int* block = nullptr;
  OK(cudaMallocAsync(&block, 64, p.stream[1]));  // the stream's device has it
  OK(cudaPointerGetAttributes(&attributes, block));
  CHECK(attributes.device == 1);
  OK(cudaFreeAsync(block, p.stream[1]));
  cudaMemAccessDesc all = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  OK(cudaMemPoolGetAccess(&access, pool[0], &all.location));
  CHECK(access == cudaMemAccessFlagsProtNone);
  OK(cudaMemPoolSetAccess(pool[0], &all, 1));
  OK(cudaMemPoolGetAccess(&access, pool[0], &all.location));
  CHECK(access == cudaMemAccessFlagsProtReadWrite);
  std::size_t limit[2];
  cudaSetDevice(1);
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    OK(cudaDeviceGetLimit(&limit[d], cudaLimitStackSize));
  }
  CHECK(limit[0] == 1024 && limit[1] == 4096);
}

static void errors_and_reset(const Pair& p) {
  void* pointer;
  int value = 0;
  cudaSetDevice(1);
  trap<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT(cudaMalloc(&pointer, 4), cudaErrorLaunchFailure);
  cudaSetDevice(0);
  OK(cudaDeviceSynchronize());
  set<<<1, 1>>>(p.memory[0], 3);
  OK(cudaMemcpy(&value, p.memory[0], 4, cudaMemcpyDeviceToHost));
  CHECK(value == 3);
  cudaSetDevice(1);
  OK(cudaDeviceReset());
  cudaSetDevice(0);
  OK(cudaMemcpy(&value, p.memory[0], 4, cudaMemcpyDeviceToHost));
  CHECK(value == 3);
  OK(cudaStreamDestroy(p.stream[0]));
  OK(cudaEventDestroy(p.event[0]));
  OK(cudaFree(p.memory[0]));
}

static int test(int devices) {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  CHECK(count == devices);
  first_use(devices);
  own_variables(devices);
  Pair p;
  for (int d = 0; d < 2; ++d) {
    OK(cudaSetDevice(d));
    OK(cudaStreamCreate(&p.stream[d]));
    OK(cudaEventCreate(&p.event[d]));
    OK(cudaMalloc(&p.memory[d], 4096));
  }
  streams_and_events(p);
  peers(p, devices);
  graphs(p);
  pools_and_limits(p);
  errors_and_reset(p);
  std::printf("%d devices: %d wrong\n", devices, wrong);
  return wrong != 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return test(std::atoi(argv[1]));
  int failed = 0;
  for (const char* devices : {"2", "8"}) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      setenv("MILLRACE_DEVICES", devices, 1);
      execl("/proc/self/exe", argv[0], devices, static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  return failed;
}
