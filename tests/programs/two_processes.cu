// Two processes share a device block (cudaIpcGetMemHandle), an event, and a pool (cudaMemPoolExportToShareableHandle).
// The parent's stream goes on when the child's has recorded the event.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "check.h"

__global__ void add(int* p, int v) { p[threadIdx.x] += v; }

struct Message {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
  cudaMemPoolPtrExportData block;
};

static int child(int pool_file, int in, int out) {
  Message message;
  if (read(in, &message, sizeof message) != sizeof message) return 99;
  int *memory = nullptr, *block = nullptr;
  cudaEvent_t event;
  cudaMemPool_t pool;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&memory), message.memory, cudaIpcMemLazyEnablePeerAccess));
  OK(cudaIpcOpenEventHandle(&event, message.event));
  OK(cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<long>(pool_file)),
                                          cudaMemHandleTypePosixFileDescriptor, 0));
  OK(cudaMemPoolImportPointer(reinterpret_cast<void**>(&block), pool, &message.block));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, memory + 5));
  CHECK(attributes.type == cudaMemoryTypeDevice);
  OK(cudaPointerGetAttributes(&attributes, block + 5));
  CHECK(attributes.type == cudaMemoryTypeDevice);
  void* more = nullptr;
  CHECK(cudaMallocFromPoolAsync(&more, 64, pool, stream) != cudaSuccess);  // an imported pool gives none
  cudaGetLastError();
  add<<<1, 64, 0, stream>>>(memory, 2);
  add<<<1, 64, 0, stream>>>(block, 20);
  OK(cudaEventRecord(event, stream));
  const char done = static_cast<char>(wrong);
  if (write(out, &done, 1) != 1) return 98;  // the parent's wait is enqueued behind this
  OK(cudaStreamSynchronize(stream));
  OK(cudaFreeAsync(block, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(cudaFree(memory), cudaErrorInvalidValue);
  OK(cudaIpcCloseMemHandle(memory));
  EXPECT(cudaIpcCloseMemHandle(memory), cudaErrorInvalidValue);
  OK(cudaEventDestroy(event));
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 3) return child(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
  int *memory = nullptr, *block = nullptr, values[64], there[2], back[2], file = -1;
  cudaEvent_t event;
  cudaMemPool_t pool;
  cudaStream_t stream;
  Message message;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc(&memory, sizeof values));
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMallocFromPoolAsync(&block, sizeof values, pool, stream));
  OK(cudaMemsetAsync(memory, 0, sizeof values, stream));
  OK(cudaMemsetAsync(block, 0, sizeof values, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaIpcGetMemHandle(&message.memory, memory));
  OK(cudaIpcGetEventHandle(&message.event, event));
  OK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  OK(cudaMemPoolExportPointer(&message.block, block));
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  std::fflush(stdout);
  fcntl(file, F_SETFD, 0);
  const std::string arguments[] = {std::to_string(file), std::to_string(there[0]), std::to_string(back[1])};
  const pid_t process = fork();
  if (process == 0) {
    execl("/proc/self/exe", argv[0], arguments[0].c_str(), arguments[1].c_str(), arguments[2].c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  char done = 1;
  if (write(there[1], &message, sizeof message) != sizeof message) return 1;
  close(back[1]);
  CHECK(read(back[0], &done, 1) == 1 && done == 0);
  OK(cudaStreamWaitEvent(stream, event, 0));
  add<<<1, 64, 0, stream>>>(memory, 100);
  OK(cudaMemcpyAsync(values, memory, sizeof values, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(values[0] == 102 && values[63] == 102);
  OK(cudaMemcpy(values, block, sizeof values, cudaMemcpyDeviceToHost));
  CHECK(values[0] == 20 && values[63] == 20);
  int status = 0;
  waitpid(process, &status, 0);
  CHECK(status == 0);
  OK(cudaFreeAsync(block, stream));
  OK(cudaMemPoolDestroy(pool));
  OK(cudaFree(memory));
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
