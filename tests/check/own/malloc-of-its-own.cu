// DEFECT: a copy doesn't wait for the kernel, in a program whose malloc and operator new are its own, and count.
// EXPECT: stream-stream
#include "streams.h"
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <thread>
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void __libc_free(void*);
static std::atomic<long> calls{0};
static std::mutex* log_mutex;
extern "C" void* malloc(size_t bytes) {
  calls++;
  return __libc_malloc(bytes);
}
extern "C" void* calloc(size_t n, size_t m) {
  calls++;
  return __libc_calloc(n, m);
}
extern "C" void* realloc(void* p, size_t bytes) {
  calls++;
  return __libc_realloc(p, bytes);
}
extern "C" void free(void* p) { __libc_free(p); }
// In front of each block: what the program's own delete looks for.
void* operator new(size_t bytes) {
  if (log_mutex) std::lock_guard<std::mutex> hold(*log_mutex);
  auto* p = static_cast<size_t*>(malloc(bytes + 16));
  p[0] = 0x5a5a5a5a;
  return p + 2;
}
void operator delete(void* p) noexcept {
  if (!p) return;
  auto* block = static_cast<size_t*>(p) - 2;
  if (block[0] != 0x5a5a5a5a) std::abort();
  free(block);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }
int main() {
  static std::mutex m;
  log_mutex = &m;
  int* d = device();
  int* p = pinned();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  std::thread([&] {
    std::string name(100, 'x');
    fill<<<GRID, 0, s>>>(d, 4);  // RACE-A
    CHECK(cudaEventRecord(e, s));
  }).join();
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(calls > 0);
}
