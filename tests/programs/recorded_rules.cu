// Rules of memory, devices, functions and textures as they were recorded on an H200, of the kind that a program meets
// when it asks for too much, in the wrong place, or again.
#include <climits>
#include <cstdio>
#include <cstring>

#include "check.h"

__device__ int variable = 5;
__managed__ int managed = 6;
__global__ void count() {
  ++variable;
  ++managed;
}
__global__ void plain(int* p) { *p = 1; }
__global__ void uses_4000_bytes(int* p) {
  __shared__ int s[1000];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[999 - threadIdx.x];
}
__global__ void uses_48k(int* p) {
  __shared__ char s[48 * 1024];
  s[threadIdx.x] = static_cast<char>(p[0]);
  __syncthreads();
  *p = s[0];
}

static std::size_t limit_after(cudaLimit limit, std::size_t asked) {
  OK(cudaDeviceSetLimit(limit, asked));
  std::size_t value = 0;
  OK(cudaDeviceGetLimit(&value, limit));
  return value;
}

static void limits() {
  CHECK(limit_after(cudaLimitStackSize, 100) == 112);
  CHECK(limit_after(cudaLimitStackSize, 1024) == 1024);
  CHECK(limit_after(cudaLimitPrintfFifoSize, 1) == 512 << 10);
  CHECK(limit_after(cudaLimitMallocHeapSize, 1) == 4 << 20);
  CHECK(limit_after(cudaLimitMallocHeapSize, 16 << 20) == 16 << 20);
  CHECK(limit_after(cudaLimitDevRuntimePendingLaunchCount, 0) == 32);
  CHECK(limit_after(cudaLimitPersistingL2CacheSize, 1) == 3932160);
  EXPECT(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::size_t{1} << 40), cudaErrorInvalidValue);
  EXPECT(cudaDeviceSetLimit(static_cast<cudaLimit>(7), 1), cudaErrorNotPermitted);
  char text[32];
  OK(cudaDeviceGetPCIBusId(text, 32, 0));
  EXPECT(cudaDeviceGetPCIBusId(text, 5, 0), cudaErrorInvalidValue);
  CHECK(std::strlen(text) == 4);
  std::size_t width = 0;
  const cudaChannelFormatDesc one = cudaCreateChannelDesc<char>(), four = cudaCreateChannelDesc<float4>();
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &one, 0));
  CHECK(width == 1 << 30);
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &four, 0));
  CHECK(width == 1 << 28);
}

static void functions() {
  cudaFuncAttributes a;
  EXPECT(cudaFuncGetAttributes(&a, static_cast<const void*>(nullptr)), cudaErrorInvalidDeviceFunction);
  EXPECT(cudaFuncGetAttributes(&a, &a), cudaErrorInvalidResourceHandle);
  EXPECT(cudaFuncSetAttribute(&a, cudaFuncAttributeMaxDynamicSharedMemorySize, 1), cudaErrorInvalidResourceHandle);
  int blocks = -1;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 49153));
  CHECK(blocks == 0);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_48k, 32, 1000));
  CHECK(blocks == 0);
  std::size_t bytes = 0;
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 1, 32));
  CHECK(bytes == 49152);
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 8, 32));
  CHECK(bytes == 29184);
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, uses_4000_bytes, 8, 32));
  CHECK(bytes == 25184);
  EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 8, 1024), cudaErrorInvalidValue);
  EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, uses_48k, 8, 32), cudaErrorInvalidValue);
  int grid = -1, block = -1;
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, uses_48k, 20000, 300));
  CHECK(grid == 0 && block == 0);
  OK(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 100000));
  CHECK(blocks == 2);
}

static void memory() {
  unsigned flags = 0;
  void *pointer = &flags, *device;
  OK(cudaHostAlloc(&pointer, 64, cudaHostAllocPortable));
  OK(cudaHostGetFlags(&flags, pointer));
  CHECK(flags == (cudaHostAllocPortable | cudaHostAllocMapped));
  OK(cudaFreeHost(pointer));
  OK(cudaMallocManaged(&pointer, 0));
  CHECK(pointer == nullptr);
  OK(cudaMalloc(&device, 64));
  char host[64] = {};
  EXPECT(cudaMemcpyPeer(device, 0, host, 0, 64), cudaErrorInvalidValue);
  cudaMemcpy3DParms p{};
  p.extent = make_cudaExtent(1, 1, 1);
  p.kind = static_cast<cudaMemcpyKind>(5);
  EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidMemcpyDirection);
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  EXPECT(cudaMalloc3DArray(&array, &f, make_cudaExtent(8, 8, 6), cudaArrayLayered | cudaArrayTextureGather),
         cudaErrorInvalidValue);
  EXPECT(cudaMalloc3DArray(&array, &f, make_cudaExtent(8, 8, 6), cudaArrayCubemap | cudaArrayTextureGather),
         cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&array, &f, 8, 0, cudaArraySparse), cudaErrorInvalidValue);
  OK(cudaMalloc3DArray(&array, &f, make_cudaExtent(4, 4, 4)));
  p.srcArray = p.dstArray = array;
  p.dstPos = make_cudaPos(2, 2, 2);
  p.kind = cudaMemcpyHostToHost;
  EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.kind = cudaMemcpyDefault;
  OK(cudaMemcpy3D(&p));
  OK(cudaFreeArray(array));
  OK(cudaFree(device));
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypeManaged;
  cudaMemPool_t pool;
  OK(cudaMemPoolCreate(&pool, &props));  // at home nowhere in particular
  OK(cudaMemPoolDestroy(pool));
  props.location = {cudaMemLocationTypeDevice, 0};
  props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT(cudaMemPoolCreate(&pool, &props), cudaErrorInvalidValue);
  props.handleTypes = cudaMemHandleTypeNone;
  props.maxSize = 1 << 20;
  EXPECT(cudaMemPoolCreate(&pool, &props), cudaErrorInvalidValue);
}

static void reset() {
  int value = 0;
  count<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  CHECK(managed == 7);
  OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  OK(cudaDeviceReset());
  unsigned flags = 0;
  OK(cudaGetDeviceFlags(&flags));
  CHECK(flags == cudaDeviceMapHost);
  OK(cudaMemcpyFromSymbol(&value, variable, 4));
  CHECK(value == 5 && managed == 7);  // device variables begin again, managed ones go on
  count<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  CHECK(managed == 8);
}

template <class T> __global__ void fetch(cudaTextureObject_t t, float x, float y, T* out) { *out = tex2D<T>(t, x, y); }
__global__ void layer(cudaTextureObject_t t, float x, int l, float* out) { *out = tex1DLayered<float>(t, x, l); }
__global__ void load(cudaSurfaceObject_t s, int l, float* out) {
  surf2DLayeredread(out, s, 0, 0, l, cudaBoundaryModeClamp);
}

// What lies outside is the border: as exact as the elements are, and for integers the bits that were given.
template <class T, class R> static R border(cudaTextureReadMode mode, float color) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  OK(cudaMallocArray(&r.res.array.array, &format, 4, 4));
  cudaTextureDesc t{};
  t.readMode = mode;
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeBorder;
  t.borderColor[0] = color;
  cudaTextureObject_t object = 0;
  OK(cudaCreateTextureObject(&object, &r, &t, nullptr));
  R *out, value{};
  OK(cudaMalloc(&out, sizeof(R)));
  fetch<R><<<1, 1>>>(object, -3, 2, out);
  OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  OK(cudaDestroyTextureObject(object));
  OK(cudaFreeArray(r.res.array.array));
  OK(cudaFree(out));
  return value;
}

static void textures() {
  CHECK((border<unsigned char, float>(cudaReadModeNormalizedFloat, 0.5f)) == 127 / 255.0f);
  CHECK((border<unsigned char, float>(cudaReadModeNormalizedFloat, 0.25f)) == 64 / 255.0f);
  CHECK((border<unsigned char, float>(cudaReadModeNormalizedFloat, 2)) == 1);
  CHECK((border<signed char, float>(cudaReadModeNormalizedFloat, 0.5f)) == 63 / 127.0f);
  CHECK((border<unsigned short, float>(cudaReadModeNormalizedFloat, 0.3f)) == 19660 / 65535.0f);
  CHECK((border<int, int>(cudaReadModeElementType, 0.5f)) == 0x3f000000);
  CHECK((border<unsigned char, unsigned char>(cudaReadModeElementType, 2)) == 0);
  // Layers: a border is one at the sides only, and a negative number is behind the last.
  float host[4 * 4 * 6], value = -1, *out;
  for (int i = 0; i < 96; ++i) host[i] = i * i;
  OK(cudaMalloc(&out, 4));
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  OK(cudaMalloc3DArray(&r.res.array.array, &f, make_cudaExtent(4, 0, 6), cudaArrayLayered));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(host, 16, 4, 1);
  p.dstArray = r.res.array.array;
  p.extent = make_cudaExtent(4, 1, 6);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  cudaTextureDesc t{};
  t.filterMode = cudaFilterModeLinear;
  for (auto& mode : t.addressMode) mode = cudaAddressModeBorder;
  cudaTextureObject_t object = 0;
  OK(cudaCreateTextureObject(&object, &r, &t, nullptr));
  layer<<<1, 1>>>(object, 0.5f, 2, out);
  OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
  CHECK(value == 64);
  OK(cudaDestroyTextureObject(object));
  OK(cudaFreeArray(r.res.array.array));
  const unsigned flags = cudaArrayLayered | cudaArraySurfaceLoadStore;
  OK(cudaMalloc3DArray(&r.res.array.array, &f, make_cudaExtent(4, 4, 6), flags));
  p.srcPtr = make_cudaPitchedPtr(host, 16, 4, 4);
  p.dstArray = r.res.array.array;
  p.extent = make_cudaExtent(4, 4, 6);
  OK(cudaMemcpy3D(&p));
  cudaSurfaceObject_t surface = 0;
  OK(cudaCreateSurfaceObject(&surface, &r));
  load<<<1, 1>>>(surface, -1, out);
  OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
  CHECK(value == 80 * 80);
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(r.res.array.array));
  OK(cudaFree(out));
}

int main() {
  limits();
  functions();
  memory();
  reset();
  textures();
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
