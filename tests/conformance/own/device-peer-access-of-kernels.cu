// Rule: a kernel may touch another device's memory with peer access only, or where the pool's access says so; otherwise
// it faults, which ends both devices' work. Recorded on two H200.
#include "call_sections.h"

__global__ void add(int* p, int v) { *p += v; }
__global__ void fetch(const int* p, int* to) { *to = *p; }

static int value(const int* p) {
  int v = -1;
  if (const cudaError_t e = cudaMemcpy(&v, p, 4, cudaMemcpyDefault); e != cudaSuccess) std::printf("(%s) ", E(e));
  return v;
}
static int* on(int device, int first, size_t bytes = 4096) {
  int before;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  int* p = nullptr;
  cudaMalloc(&p, bytes);
  cudaMemcpy(p, &first, 4, cudaMemcpyHostToDevice);
  cudaSetDevice(before);
  return p;
}
static cudaError_t launch(int* p, cudaStream_t s = 0) {
  add<<<1, 1, 0, s>>>(p, 1);
  return cudaGetLastError();
}

static void without_access_write() {
  int *a = on(0, 1), *b = on(1, 2);
  cudaSetDevice(0);
  CALL(launch(b));
  CALL(cudaDeviceSynchronize());
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemset(a, 0, 4));
  CALL(cudaPeekAtLastError());
  cudaSetDevice(1);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  CALL(launch(b));
  CALL(cudaDeviceSynchronize());
  FACT(value(b));
  int* c;
  CALL(cudaMalloc(&c, 4));
  cudaSetDevice(0);
  CALL(cudaMalloc(&c, 4));
  CALL(cudaDeviceReset());
  CALL(cudaMalloc(&c, 4));
  CALL(launch(c));
  CALL(cudaDeviceSynchronize());
}
static void without_access_read() {
  int *a = on(0, 1), *b = on(1, 2);
  cudaSetDevice(0);
  fetch<<<1, 1>>>(b, a);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  cudaSetDevice(1);
  FACT(value(b));
}
static void one_way() {
  int *a = on(0, 1), *b = on(1, 2);
  cudaSetDevice(0);
  CALL(cudaDeviceEnablePeerAccess(1, 0));
  CALL(launch(b));
  CALL(cudaDeviceSynchronize());
  FACT(value(b));
  int* c = on(1, 30);
  CALL(launch(c));
  CALL(cudaDeviceSynchronize());
  FACT(value(c));
  cudaSetDevice(1);
  CALL(cudaDeviceDisablePeerAccess(0));
  CALL(launch(a));
  CALL(cudaDeviceSynchronize());
}
static void disabled_again() {
  int* b = on(1, 2);
  cudaSetDevice(0);
  CALL(cudaDeviceEnablePeerAccess(1, 0));
  CALL(launch(b));
  CALL(cudaDeviceDisablePeerAccess(1));
  CALL(cudaDeviceSynchronize());
  FACT(value(b));
  CALL(launch(b));
  CALL(cudaDeviceSynchronize());
}
static void pool_access() {
  int* p;
  cudaSetDevice(1);
  MUST(cudaMallocAsync(&p, 4, 0));
  MUST(cudaMemset(p, 0, 4));
  cudaSetDevice(0);
  CALL(cudaMemset(p, 1, 4));
  CALL(launch(p));
  CALL(cudaDeviceSynchronize());
}
static void pool_access_peer() {
  int* p;
  cudaSetDevice(1);
  MUST(cudaMallocAsync(&p, 4, 0));
  MUST(cudaMemset(p, 0, 4));
  cudaSetDevice(0);
  CALL(cudaDeviceEnablePeerAccess(1, 0));
  CALL(launch(p));
  CALL(cudaDeviceSynchronize());
}
static void pool_read_only() {
  cudaMemPool_t pool;
  int *p, *q = on(1, 0);
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaSetDevice(0);
  MUST(cudaMallocAsync(&p, 4, 0));
  MUST(cudaMemset(p, 0, 4));
  cudaMemAccessDesc d = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  CALL(cudaMemPoolSetAccess(pool, &d, 1));
  cudaSetDevice(1);
  fetch<<<1, 1>>>(p, q);
  CALL(cudaDeviceSynchronize());
  d.flags = cudaMemAccessFlagsProtNone;
  CALL(cudaMemPoolSetAccess(pool, &d, 1));
  CALL(cudaMemset(p, 0, 4));
  fetch<<<1, 1>>>(p, q);
  CALL(cudaDeviceSynchronize());
}
int main(int, char** arguments) {
  if (!std::getenv("MILLRACE_DEVICES")) {  // is read when a program starts
    setenv("MILLRACE_DEVICES", "2", 1);
    execv("/proc/self/exe", arguments);
  }
  alone("a kernel writes without access", without_access_write);
  alone("a kernel reads without access", without_access_read);
  alone("access in one direction", one_way);
  alone("access disabled again", disabled_again);
  alone("memory of a pool", pool_access);
  alone("memory of a pool, peer access", pool_access_peer);
  alone("access of a pool set and taken", pool_read_only);
  return 0;
}
