// Two devices: what copies, sets, streams, events, pools and variables do across them. Recorded on two H200; each case
// in a process of its own.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

static void show(const char* what, cudaError_t error) {
  std::printf("%s = %s, last %s\n", what, cudaGetErrorName(error), cudaGetErrorName(cudaGetLastError()));
}

__global__ void add(int* p, int v) { *p += v; }
__device__ int variable = 1;
__global__ void bump() { variable += 1; }

static int value(const int* p) {
  int v = -1;
  cudaMemcpy(&v, p, 4, cudaMemcpyDefault);
  return v;
}

static int* on(int device, int first) {
  int before;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  int* p = nullptr;
  cudaMalloc(&p, 4096);
  cudaMemcpy(p, &first, 4, cudaMemcpyHostToDevice);
  cudaSetDevice(before);
  return p;
}

static void alone(const char* name, void (*body)()) {
  std::fflush(stdout);
  if (const pid_t child = fork()) {
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("%s: signal\n", name);
    return;
  }
  std::printf("-- %s\n", name);
  body();
  std::fflush(stdout);
  _exit(0);
}

static void no_access() {
  int *a = on(0, 10), *b = on(1, 20);
  cudaSetDevice(0);
  int can;
  cudaDeviceCanAccessPeer(&can, 0, 1);
  std::printf("can %d\n", can);
  show("copy", cudaMemcpy(a, b, 4, cudaMemcpyDeviceToDevice));
  std::printf("%d\n", value(a));
  show("copy_default", cudaMemcpy(b, a, 4, cudaMemcpyDefault));
  show("copy_async", cudaMemcpyAsync(a, b, 4, cudaMemcpyDeviceToDevice, 0));
  show("copy_peer", cudaMemcpyPeer(b, 1, a, 0, 4));
  show("copy_peer_swapped", cudaMemcpyPeer(b, 0, a, 1, 4));
  show("set_other", cudaMemset(b, 0, 4));
  show("set_async_other", cudaMemsetAsync(b, 0, 4, 0));
  show("sync", cudaDeviceSynchronize());
  show("free_other", cudaFree(b));
}

static void with_access() {
  int* b = on(1, 20);
  cudaSetDevice(0);
  show("enable_self", cudaDeviceEnablePeerAccess(0, 0));
  show("disable_first", cudaDeviceDisablePeerAccess(1));
  show("enable_flags", cudaDeviceEnablePeerAccess(1, 1));
  show("enable", cudaDeviceEnablePeerAccess(1, 0));
  show("enable_twice", cudaDeviceEnablePeerAccess(1, 0));
  show("enable_none", cudaDeviceEnablePeerAccess(7, 0));
  add<<<1, 1>>>(b, 1);
  show("sync", cudaDeviceSynchronize());
  std::printf("%d\n", value(b));
  cudaPointerAttributes attributes;
  show("attributes", cudaPointerGetAttributes(&attributes, b));
  std::printf("device %d\n", attributes.device);
  show("disable", cudaDeviceDisablePeerAccess(1));
  show("disable_twice", cudaDeviceDisablePeerAccess(1));
}

static void host_kinds() {
  int *pinned, *managed;
  cudaSetDevice(0);
  cudaMallocHost(&pinned, 4);
  cudaMallocManaged(&managed, 4);
  *pinned = *managed = 1;
  cudaSetDevice(1);
  add<<<1, 1>>>(pinned, 1);
  add<<<1, 1>>>(managed, 1);
  show("sync", cudaDeviceSynchronize());
  std::printf("%d %d\n", *pinned, *managed);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, pinned);
  std::printf("pinned device %d\n", attributes.device);
  cudaPointerGetAttributes(&attributes, managed);
  std::printf("managed device %d\n", attributes.device);
  show("free_host", cudaFreeHost(pinned));
  show("free", cudaFree(managed));
}

static void streams() {
  int *a = on(0, 1), *b = on(1, 2);
  cudaSetDevice(0);
  cudaStream_t s;
  cudaEvent_t e, e1;
  show("stream", cudaStreamCreate(&s));
  show("event", cudaEventCreate(&e));
  cudaSetDevice(1);
  show("event1", cudaEventCreate(&e1));
  add<<<1, 1, 0, s>>>(b, 1);
  show("launch_into_other", cudaGetLastError());
  show("set_into_other", cudaMemsetAsync(b, 0, 4, s));
  show("set_own_memory_of_stream", cudaMemsetAsync(a, 0, 4, s));
  show("copy_into_other", cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, s));
  show("record_into_other", cudaEventRecord(e1, s));
  show("record_its_own", cudaEventRecord(e, s));
  show("record_its_own_here", cudaEventRecord(e, 0));
  show("wait", cudaStreamWaitEvent(0, e, 0));
}

static void variables() {
  cudaSetDevice(0);
  bump<<<1, 1>>>();
  bump<<<1, 1>>>();
  int v;
  show("sync", cudaMemcpyFromSymbol(&v, variable, 4));
  std::printf("%d\n", v);
  cudaSetDevice(1);
  bump<<<1, 1>>>();
  show("sync", cudaMemcpyFromSymbol(&v, variable, 4));
  std::printf("%d\n", v);
  show("reset", cudaDeviceReset());
  cudaMemcpyFromSymbol(&v, variable, 4);
  std::printf("%d\n", v);
  cudaSetDevice(0);
  cudaMemcpyFromSymbol(&v, variable, 4);
  std::printf("%d\n", v);
}

static void pools() {
  cudaSetDevice(0);
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = 1;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  cudaMemAccessFlags flags;
  show("get", cudaMemPoolGetAccess(&flags, pool, &access.location));
  std::printf("%d\n", (int)flags);
  int* p;
  cudaMallocAsync(&p, 4, 0);
  cudaMemsetAsync(p, 0, 4, 0);
  cudaDeviceSynchronize();
  show("set", cudaMemPoolSetAccess(pool, &access, 1));
  show("get", cudaMemPoolGetAccess(&flags, pool, &access.location));
  std::printf("%d\n", (int)flags);
  cudaSetDevice(1);
  add<<<1, 1>>>(p, 1);
  show("sync", cudaDeviceSynchronize());
  access.flags = cudaMemAccessFlagsProtRead;
  show("read_only", cudaMemPoolSetAccess(pool, &access, 1));
  access.flags = cudaMemAccessFlagsProtNone;
  show("none", cudaMemPoolSetAccess(pool, &access, 1));
  access.location.id = 0;
  show("own_none", cudaMemPoolSetAccess(pool, &access, 1));
}

static void between_devices() {
  int v;
  show("supported", cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 1));
  std::printf("%d\n", v);
  show("atomics", cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrNativeAtomicSupported, 0, 1));
  std::printf("%d\n", v);
  show("arrays", cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrCudaArrayAccessSupported, 0, 1));
  std::printf("%d\n", v);
  show("self", cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 0));
  show("bad", cudaDeviceGetP2PAttribute(&v, (cudaDeviceP2PAttr)77, 0, 1));
  show("bad_device", cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 9));
}

int main(int, char** arguments) {
  if (!std::getenv("MILLRACE_DEVICES")) {  // is read when a program starts
    setenv("MILLRACE_DEVICES", "2", 1);
    execv("/proc/self/exe", arguments);
  }
  alone("no access", no_access);
  alone("access", with_access);
  alone("host kinds", host_kinds);
  alone("streams", streams);
  alone("variables", variables);
  alone("pools", pools);
  alone("p2p", between_devices);
  return 0;
}
