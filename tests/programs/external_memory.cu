// External memory and semaphores by file descriptor, between this process and its child: memory files, eventfds as
// binary semaphores, timelines in memory files. And the error log.
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "check.h"

__global__ void add(int* p, int v) { p[threadIdx.x] += v; }

static int file_of(std::size_t bytes) {
  const int file = memfd_create("shared", 0);
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) std::perror("ftruncate");
  return file;
}

static cudaExternalMemoryHandleDesc memory_handle(int file, std::size_t bytes) {
  cudaExternalMemoryHandleDesc handle = {};
  handle.type = cudaExternalMemoryHandleTypeOpaqueFd;
  handle.handle.fd = file;
  handle.size = bytes;
  return handle;
}
static cudaExternalSemaphoreHandleDesc semaphore_handle(int file, cudaExternalSemaphoreHandleType type) {
  cudaExternalSemaphoreHandleDesc handle = {};
  handle.type = type;
  handle.handle.fd = file;
  return handle;
}

static void memory() {
  constexpr std::size_t bytes = 65536, offset = 4096 + 256;
  const int file = file_of(bytes);
  auto* host = static_cast<int*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  host[offset / 4] = 40;
  cudaExternalMemory_t memory;
  cudaExternalMemoryHandleDesc handle = memory_handle(-1, bytes);
  EXPECT(cudaImportExternalMemory(&memory, &handle), cudaErrorUnknown);  // as recorded
  handle = memory_handle(file, bytes + 1);
  EXPECT(cudaImportExternalMemory(&memory, &handle), cudaErrorInvalidValue);
  handle = memory_handle(file, bytes);
  handle.type = cudaExternalMemoryHandleTypeD3D12Heap;
  EXPECT(cudaImportExternalMemory(&memory, &handle), cudaErrorNotSupported);
  EXPECT(cudaImportExternalMemory(nullptr, &handle), cudaErrorInvalidValue);
  handle.type = cudaExternalMemoryHandleTypeOpaqueFd;
  OK(cudaImportExternalMemory(&memory, &handle));
  cudaExternalMemoryBufferDesc buffer = {};
  void* pointer = nullptr;
  buffer.offset = bytes;
  buffer.size = 4;
  EXPECT(cudaExternalMemoryGetMappedBuffer(&pointer, memory, &buffer), cudaErrorInvalidValue);
  buffer.offset = offset;
  buffer.size = 1024;
  OK(cudaExternalMemoryGetMappedBuffer(&pointer, memory, &buffer));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, static_cast<char*>(pointer) + 1000));
  CHECK(attributes.type == cudaMemoryTypeDevice);
  add<<<1, 256>>>(static_cast<int*>(pointer), 2);
  OK(cudaDeviceSynchronize());
  CHECK(host[offset / 4] == 42 && host[offset / 4 + 255] == 2 && host[offset / 4 + 256] == 0);
  EXPECT(cudaMemset(pointer, 0, 1025), cudaErrorInvalidValue);
  EXPECT(cudaFree(static_cast<char*>(pointer) + 4), cudaErrorInvalidValue);
  OK(cudaDestroyExternalMemory(memory));
  EXPECT(cudaDestroyExternalMemory(memory), cudaErrorInvalidResourceHandle);
  OK(cudaMemset(pointer, 0, 1024));  // a mapping outlives its import
  OK(cudaFree(pointer));
  EXPECT(cudaFree(pointer), cudaErrorInvalidValue);
}

// Nodes, made by hand and captured: the graph waits for the host's value, adds, signals; another takes the signal.
static void graphs_of_semaphores(cudaExternalSemaphore_t timeline, cudaExternalSemaphore_t binary,
                                 std::atomic<unsigned long long>* value, int* count, cudaStream_t a, cudaStream_t b) {
  cudaExternalSemaphoreWaitParams wait = {};
  cudaExternalSemaphoreSignalParams signal = {};
  wait.params.fence.value = 20;
  cudaGraph_t made = nullptr, captured = nullptr;
  OK(cudaGraphCreate(&made, 0));
  cudaExternalSemaphoreWaitNodeParams wait_node = {&timeline, &wait, 1};
  cudaExternalSemaphoreSignalNodeParams signal_node = {&binary, &signal, 1};
  cudaGraphNode_t first = nullptr, adds = nullptr, last = nullptr;
  OK(cudaGraphAddExternalSemaphoresWaitNode(&first, made, nullptr, 0, &wait_node));
  int one = 1;
  void* arguments[] = {&count, &one};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&adds, made, &first, 1, &kernel));
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeExtSemaphoreSignal;
  any.extSemSignal = {&binary, &signal, 1};
  OK(cudaGraphAddNode(&last, made, &adds, nullptr, 1, &any));
  cudaExternalSemaphoreSignalNodeParams got = {};
  OK(cudaGraphExternalSemaphoresSignalNodeGetParams(last, &got));
  CHECK(got.numExtSems == 1 && got.extSemArray[0] == binary && got.extSemArray != &binary);
  REFUSED(cudaGraphExternalSemaphoresSignalNodeGetParams(first, &got));
  REFUSED(cudaGraphAddExternalSemaphoresWaitNode(&first, made, nullptr, 0, nullptr));
  cudaExternalSemaphoreWaitNodeParams missing = {&timeline, nullptr, 1};
  REFUSED(cudaGraphAddExternalSemaphoresWaitNode(&first, made, nullptr, 0, &missing));

  OK(cudaStreamBeginCapture(b, cudaStreamCaptureModeRelaxed));
  OK(cudaWaitExternalSemaphoresAsync(&binary, &wait, 1, b));
  add<<<1, 1, 0, b>>>(count, 10);
  OK(cudaStreamEndCapture(b, &captured));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(captured, nullptr, &nodes));
  CHECK(nodes == 2);

  cudaGraphExec_t producer = nullptr, consumer = nullptr;
  OK(cudaGraphInstantiate(&producer, made, 0));
  OK(cudaGraphInstantiate(&consumer, captured, 0));
  int before = 0, after = 0;
  OK(cudaMemcpy(&before, count, 4, cudaMemcpyDeviceToHost));
  for (unsigned long long round = 0; round < 3; ++round) {
    wait.params.fence.value = 20 + round;
    OK(cudaGraphExecExternalSemaphoresWaitNodeSetParams(producer, first, &wait_node));
    OK(cudaGraphLaunch(consumer, b));
    OK(cudaGraphLaunch(producer, a));
    EXPECT(cudaStreamQuery(b), cudaErrorNotReady);
    value->store(20 + round);
    OK(cudaStreamSynchronize(b));
    OK(cudaStreamSynchronize(a));
  }
  OK(cudaMemcpy(&after, count, 4, cudaMemcpyDeviceToHost));
  CHECK(after - before == 33);
  REFUSED(cudaGraphExecExternalSemaphoresSignalNodeSetParams(producer, first, &signal_node));
  signal_node.numExtSems = 0;
  REFUSED(cudaGraphExecExternalSemaphoresSignalNodeSetParams(producer, last, &signal_node));
  OK(cudaGraphExecDestroy(producer));
  OK(cudaGraphExecDestroy(consumer));
  OK(cudaGraphDestroy(made));
  OK(cudaGraphDestroy(captured));
}

static void semaphores() {
  const int file = file_of(4096), binary_file = eventfd(0, EFD_SEMAPHORE);
  auto* value = static_cast<std::atomic<unsigned long long>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  cudaExternalSemaphore_t timeline, binary;
  cudaExternalSemaphoreHandleDesc handle = semaphore_handle(file, cudaExternalSemaphoreHandleTypeOpaqueFd);
  EXPECT(cudaImportExternalSemaphore(&binary, &handle), cudaErrorInvalidResourceHandle);
  handle = semaphore_handle(file, cudaExternalSemaphoreHandleTypeKeyedMutex);
  EXPECT(cudaImportExternalSemaphore(&binary, &handle), cudaErrorNotSupported);
  handle = semaphore_handle(file, cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd);
  OK(cudaImportExternalSemaphore(&timeline, &handle));
  handle = semaphore_handle(binary_file, cudaExternalSemaphoreHandleTypeOpaqueFd);
  OK(cudaImportExternalSemaphore(&binary, &handle));
  cudaStream_t a, b;
  OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  int *count = nullptr, host = 0;
  OK(cudaMalloc(&count, 4));
  OK(cudaMemset(count, 0, 4));
  cudaExternalSemaphoreWaitParams wait = {};
  cudaExternalSemaphoreSignalParams signal = {};
  wait.params.fence.value = 5;
  signal.params.fence.value = 7;
  // a: waits for the host's 5, adds, signals 7. b: waits for 7, adds, signals the binary one. a again: waits for that.
  OK(cudaWaitExternalSemaphoresAsync(&timeline, &wait, 1, a));
  add<<<1, 1, 0, a>>>(count, 1);
  OK(cudaSignalExternalSemaphoresAsync(&timeline, &signal, 1, a));
  wait.params.fence.value = 7;
  OK(cudaWaitExternalSemaphoresAsync(&timeline, &wait, 1, b));
  add<<<1, 1, 0, b>>>(count, 10);
  OK(cudaSignalExternalSemaphoresAsync(&binary, &signal, 1, b));
  OK(cudaWaitExternalSemaphoresAsync(&binary, &wait, 1, a));
  EXPECT(cudaStreamQuery(a), cudaErrorNotReady);
  EXPECT(cudaStreamQuery(b), cudaErrorNotReady);
  value->store(5);
  OK(cudaStreamSynchronize(a));
  OK(cudaMemcpy(&host, count, 4, cudaMemcpyDeviceToHost));
  CHECK(host == 11 && value->load() == 7);
  OK(cudaStreamSynchronize(b));
  graphs_of_semaphores(timeline, binary, value, count, a, b);
  OK(cudaDestroyExternalSemaphore(binary));
  OK(cudaDestroyExternalSemaphore(timeline));
  EXPECT(cudaSignalExternalSemaphoresAsync(&binary, &signal, 1, a), cudaErrorInvalidResourceHandle);
}

static int messages = 0;
static void on_message(void* data, cudaLogLevel level, char* text, size_t length) {
  CHECK(level == cudaLogLevelError && std::strlen(text) == length && *static_cast<int*>(data) == 17);
  ++messages;
}

static void log() {
  int mark = 17;
  cudaLogsCallbackHandle handle;
  cudaLogIterator from;
  char text[4096];
  size_t size = sizeof text;
  EXPECT(cudaLogsRegisterCallback(nullptr, &mark, &handle), cudaErrorInvalidValue);
  OK(cudaLogsRegisterCallback(on_message, &mark, &handle));
  OK(cudaLogsCurrent(&from, 0));
  EXPECT(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(text)), cudaErrorInvalidResourceHandle);
  CHECK(messages == 2);
  OK(cudaLogsUnregisterCallback(handle));
  const cudaLogIterator begin = from;
  OK(cudaLogsDumpToMemory(&from, text, &size, 0));
  CHECK(size == std::strlen(text) && std::strstr(text, "cudaErrorInvalidDevice") != nullptr &&
        std::strstr(text, "cudaErrorInvalidResourceHandle") != nullptr && std::strstr(text, "][CUDA][E] ") != nullptr);
  size = sizeof text;
  OK(cudaLogsDumpToMemory(&from, text, &size, 0));  // nothing new
  CHECK(size == 0 && *text == 0);
  from = begin;
  size = 8;
  EXPECT(cudaLogsDumpToMemory(&from, text, &size, 0), cudaErrorInvalidValue);  // no line fits
  CHECK(size == 0);
  EXPECT(cudaLogsUnregisterCallback(handle), cudaErrorInvalidValue);
  CHECK(messages == 2);
  void* function = text;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
  OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &status));
  CHECK(function == nullptr && status == cudaDriverEntryPointSymbolNotFound);
  EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 99000, cudaEnableDefault, &status),
         cudaErrorInvalidValue);
}

int main() {
  memory();
  semaphores();
  log();
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
