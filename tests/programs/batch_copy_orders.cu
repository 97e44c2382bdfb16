// When a batch of copies reads its sources (cudaMemcpyBatchAsync, cudaMemcpySrcAccessOrder): in stream order, during
// the call, or at any time between. A gate in front of the batch makes the difference visible: the source changes after
// the call has returned and before the gate opens.
#include <atomic>
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

#include "check.h"

static std::atomic<bool> open;
static void CUDART_CB gate(void*) {
  while (!open.load(std::memory_order_acquire)) std::this_thread::yield();
}

int main() {
  int *device, *pinned;
  OK(cudaMalloc(&device, 64 * sizeof(int)));
  OK(cudaMallocHost(&pinned, 64 * sizeof(int)));
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  constexpr cudaMemcpySrcAccessOrder orders[] = {cudaMemcpySrcAccessOrderStream, cudaMemcpySrcAccessOrderDuringApiCall,
                                                 cudaMemcpySrcAccessOrderAny};
  // One batch with all three orders, a run of copies each; the second run's sources are locals of this function.
  for (int round = 0; round < 50; ++round) {
    int local[2] = {100 + round, 200 + round};
    for (int i = 0; i < 6; ++i) pinned[i] = 10 * i + round;
    void* to[6];
    const void* from[6];
    size_t sizes[6], first_of[3] = {0, 2, 4};
    cudaMemcpyAttributes attributes[3] = {};
    for (int i = 0; i < 6; ++i) {
      to[i] = device + i;
      from[i] = i / 2 == 1 ? static_cast<const void*>(local + i % 2) : pinned + i;
      sizes[i] = sizeof(int);
      attributes[i / 2].srcAccessOrder = orders[i / 2];
    }
    open.store(false, std::memory_order_release);
    OK(cudaLaunchHostFunc(stream, gate, nullptr));
    OK(cudaMemcpyBatchAsync(to, from, sizes, 6, attributes, first_of, 3, stream));
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    local[0] = local[1] = -1;              // the call has read it
    pinned[0] = pinned[1] = 7000 + round;  // not read before the gate opens
    open.store(true, std::memory_order_release);
    OK(cudaStreamSynchronize(stream));
    int result[6];
    OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result[0] == 7000 + round && result[1] == 7000 + round);
    CHECK(result[2] == 100 + round && result[3] == 200 + round);
    CHECK(result[4] == 40 + round && result[5] == 50 + round);  // unchanged: one value whenever it is read
  }
  // What is wrong with the form refuses the batch as a whole.
  void* to[2] = {device, device + 1};
  const void* from[2] = {pinned, pinned + 1};
  size_t sizes[2] = {4, 4}, first_of[2] = {0, 1};
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  pinned[0] = pinned[1] = 1;
  OK(cudaMemset(device, 0, 8));
  const auto batch = [&](cudaStream_t in) {
    const cudaError_t error = cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, first_of, 2, in);
    (void)cudaGetLastError();
    return error;
  };
  CHECK(batch(nullptr) == cudaErrorInvalidValue);  // not in the legacy default stream
  attributes[1].srcAccessOrder = static_cast<cudaMemcpySrcAccessOrder>(0);
  CHECK(batch(stream) == cudaErrorInvalidValue);
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
  first_of[0] = 1;
  CHECK(batch(stream) == cudaErrorInvalidValue);
  first_of[0] = 0;
  first_of[1] = 0;
  CHECK(batch(stream) == cudaErrorInvalidValue);
  first_of[1] = 1;
  OK(cudaStreamSynchronize(stream));
  int result[2];
  OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result[0] == 0 && result[1] == 0);
  CHECK(batch(cudaStreamPerThread) == cudaSuccess);
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result[0] == 1 && result[1] == 1);
  return wrong != 0;
}
