// Memory calls without kernels: what they return for right and wrong arguments, as recorded on an H200 with CUDA 13.0.
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class Calls : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("MILLRACE_MEMORY", "4G", 1); }
  void TearDown() override { cudaGetLastError(); }
};

// Every call leaves its error for cudaGetLastError.
#define EXPECT_ERROR(error, ...)                                                                                       \
  do {                                                                                                                 \
    cudaGetLastError();                                                                                                \
    EXPECT_EQ(__VA_ARGS__, error);                                                                                     \
    EXPECT_EQ(cudaGetLastError(), error);                                                                              \
  } while (0)

struct Memories {
  char* block[5][2];  // pageable, pinned, device, managed, registered
  Memories() {
    for (int i = 0; i < 2; ++i) {
      block[0][i] = static_cast<char*>(std::malloc(256));
      cudaMallocHost(reinterpret_cast<void**>(&block[1][i]), 256);
      cudaMalloc(reinterpret_cast<void**>(&block[2][i]), 256);
      cudaMallocManaged(reinterpret_cast<void**>(&block[3][i]), 256, cudaMemAttachGlobal);
      block[4][i] = static_cast<char*>(std::aligned_alloc(4096, 4096));
      cudaHostRegister(block[4][i], 4096, cudaHostRegisterDefault);
    }
  }
  ~Memories() {
    for (int i = 0; i < 2; ++i) {
      std::free(block[0][i]);
      cudaFreeHost(block[1][i]);
      cudaFree(block[2][i]);
      cudaFree(block[3][i]);
      cudaHostUnregister(block[4][i]);
      std::free(block[4][i]);
    }
  }
};

TEST_F(Calls, TheDirectionWordCountsAgainstPageableMemoryOnly) {
  Memories m;
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (int async = 0; async < 2; ++async)
    for (int dst = 0; dst < 5; ++dst)
      for (int src = 0; src < 5; ++src)
        for (int kind = 0; kind <= 4; ++kind) {
          const bool device_dst = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
          const bool device_src = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
          const bool refused = (device_dst && dst == 0) || (device_src && src == 0);
          char pattern[256], back[256];
          std::memset(pattern, 1, sizeof pattern);
          cudaMemcpy(m.block[dst][0], pattern, 256, cudaMemcpyDefault);
          std::memset(pattern, 2, sizeof pattern);
          cudaMemcpy(m.block[src][1], pattern, 256, cudaMemcpyDefault);
          const auto word = static_cast<cudaMemcpyKind>(kind);
          const cudaError_t error = async ? cudaMemcpyAsync(m.block[dst][0], m.block[src][1], 256, word, stream)
                                          : cudaMemcpy(m.block[dst][0], m.block[src][1], 256, word);
          EXPECT_EQ(error, refused ? cudaErrorInvalidValue : cudaSuccess) << async << dst << src << kind;
          cudaDeviceSynchronize();
          cudaMemcpy(back, m.block[dst][0], 256, cudaMemcpyDefault);
          EXPECT_EQ(back[255], refused ? 1 : 2) << async << dst << src << kind;
        }
  cudaStreamDestroy(stream);
}

TEST_F(Calls, CopiesAndSetsStayInsideTheirBlocks) {
  char *small, *big, *pinned;
  static char host[9 * mib];
  cudaMalloc(reinterpret_cast<void**>(&small), 4096);
  cudaMalloc(reinterpret_cast<void**>(&big), 8 * mib);
  cudaMallocHost(reinterpret_cast<void**>(&pinned), 4096);
  EXPECT_EQ(cudaMemcpy(big, host, 8 * mib, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(small, host, 4097, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(big + mib, host, 7 * mib + 1, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(host, big, 8 * mib + 1, cudaMemcpyDeviceToHost));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(big, pinned, 4097, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(small, 0, 4097));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset2D(big, mib, 0, mib, 9));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(host, 0, 16));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 16));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(host, reinterpret_cast<void*>(0x10), 16, cudaMemcpyDeviceToHost));
  cudaFree(small);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(small, host, 16, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(small, 0, 16));
  cudaFree(big);
  cudaFreeHost(pinned);
}

TEST_F(Calls, BoxesFollowTheRulesOfPitchAndSlice) {
  static char host[100000];
  char* device;
  cudaMalloc(reinterpret_cast<void**>(&device), 100000);
  const auto copy = [&](std::size_t src_pitch, std::size_t src_rows, cudaPos src, std::size_t dst_rows, cudaPos dst,
                        cudaExtent extent) {
    cudaMemcpy3DParms p{};
    p.srcPtr = {host, src_pitch, 64, src_rows};
    p.dstPtr = {device, 64, 64, dst_rows};
    p.srcPos = src;
    p.dstPos = dst;
    p.extent = extent;
    p.kind = cudaMemcpyHostToDevice;
    return cudaMemcpy3D(&p);
  };
  EXPECT_EQ(copy(64, 8, {40, 0, 0}, 8, {}, {32, 4, 2}), cudaErrorInvalidValue);  // leaves the row
  EXPECT_EQ(copy(64, 8, {0, 6, 0}, 8, {}, {32, 4, 2}), cudaErrorInvalidValue);   // leaves the slice
  EXPECT_EQ(copy(64, 8, {}, 8, {0, 6, 0}, {32, 4, 1}), cudaErrorInvalidValue);
  EXPECT_EQ(copy(16, 8, {}, 8, {}, {32, 1, 1}), cudaErrorInvalidValue);
  EXPECT_EQ(copy(0, 8, {}, 8, {}, {32, 1, 1}), cudaSuccess);
  EXPECT_EQ(copy(16, 8, {}, 8, {}, {32, 1, 2}), cudaErrorInvalidPitchValue);
  EXPECT_EQ(copy(64, 0, {}, 0, {}, {32, 4, 1}), cudaSuccess);
  EXPECT_EQ(copy(64, 0, {}, 0, {}, {32, 4, 2}), cudaErrorInvalidPitchValue);
  EXPECT_EQ(copy(std::size_t{1} << 40, 8, {}, 8, {}, {32, 1, 1}), cudaSuccess);
  const auto set = [&](std::size_t pitch, std::size_t rows, cudaExtent extent) {
    return cudaMemset3D({device, pitch, 64, rows}, 0, extent);
  };
  EXPECT_EQ(set(64, 4, {64, 4, 4}), cudaSuccess);
  EXPECT_EQ(set(16, 4, {64, 4, 4}), cudaErrorInvalidValue);
  EXPECT_EQ(set(16, 4, {64, 1, 1}), cudaSuccess);
  EXPECT_EQ(set(64, 2, {64, 4, 1}), cudaErrorInvalidValue);
  EXPECT_EQ(set(64, 0, {64, 4, 1}), cudaErrorInvalidValue);
  EXPECT_EQ(set(16, 4, {64, 4, 0}), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(device, 8, 0, 16, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2D(device, 8, 0, 16, 1), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(nullptr, 16, 0, 0, 4), cudaSuccess);
  cudaFree(device);
}

TEST_F(Calls, PitchedMemory) {
  for (const auto& [width, expected] :
       std::map<std::size_t, std::size_t>{{1, 512}, {512, 512}, {513, 1024}, {1025, 1536}}) {
    void* p;
    std::size_t pitch;
    ASSERT_EQ(cudaMallocPitch(&p, &pitch, width, 3), cudaSuccess);
    EXPECT_EQ(pitch, expected);
    cudaFree(p);
  }
  void* p = &p;
  std::size_t pitch = 7;
  EXPECT_EQ(cudaMallocPitch(&p, &pitch, 0, 4), cudaSuccess);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(pitch, 0u);
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMallocPitch(&p, &pitch, 1 << 20, std::size_t{1} << 40));
  EXPECT_EQ(pitch, std::size_t{1} << 20);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocPitch(&p, &pitch, SIZE_MAX, SIZE_MAX));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocPitch(&p, nullptr, 16, 16));
  cudaPitchedPtr box{};
  EXPECT_EQ(cudaMalloc3D(&box, {0, 1, 1}), cudaSuccess);
  EXPECT_EQ(box.ptr, nullptr);
  EXPECT_EQ(box.ysize, 1u);
}

TEST_F(Calls, PinnedMemoryAndItsFlags) {
  for (unsigned flags = 0; flags < 18; ++flags) {
    void* p = &p;
    const cudaError_t error = cudaHostAlloc(&p, 4096, flags);
    EXPECT_EQ(error, flags < 8 ? cudaSuccess : cudaErrorInvalidValue);
    if (flags >= 8) {
      EXPECT_EQ(p, nullptr);
      continue;
    }
    unsigned got = 99;
    EXPECT_EQ(cudaHostGetFlags(&got, static_cast<char*>(p) + 100), cudaSuccess);
    EXPECT_EQ(got, flags | 2);
    cudaFreeHost(p);
  }
  void *p, *d = &p;
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMallocHost(&p, std::size_t{1} << 50));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostGetDevicePointer(&d, &p, 0));
  EXPECT_EQ(d, nullptr);
}

TEST_F(Calls, RegisteredMemory) {
  auto* a = static_cast<char*>(std::aligned_alloc(4096, mib));
  for (const unsigned flags : {0u, 1u, 2u, 3u, 8u, 9u}) {
    EXPECT_EQ(cudaHostRegister(a, 65536, flags), cudaSuccess);
    unsigned got;
    EXPECT_EQ(cudaHostGetFlags(&got, a), cudaSuccess);
    EXPECT_EQ(got, (flags & 1) | 2);
    EXPECT_EQ(cudaHostUnregister(a), cudaSuccess);
  }
  for (const unsigned flags : {4u, 5u, 15u, 16u, 32u})
    EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(a, 65536, flags));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(nullptr, 64, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(a, 0, 0));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaHostRegister(a, std::size_t{1} << 45, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(reinterpret_cast<void*>(4096), 4096, 0));
  EXPECT_EQ(cudaHostRegister(a + 4096, 8192, 0), cudaSuccess);
  EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(a + 4096, 8192, 0));
  EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(a, 8192, 0));
  EXPECT_EQ(cudaHostRegister(a + 12288, 4096, 0), cudaSuccess);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostUnregister(a + 4096 + 64));
  EXPECT_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(a));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostUnregister(nullptr));
  EXPECT_EQ(cudaHostUnregister(a + 4096), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(a + 12288), cudaSuccess);
  cudaPointerAttributes at;
  EXPECT_EQ(cudaHostRegister(a + 100, 200, 0), cudaSuccess);
  cudaPointerGetAttributes(&at, a + 299);
  EXPECT_EQ(at.type, cudaMemoryTypeHost);
  cudaPointerGetAttributes(&at, a + 300);
  EXPECT_EQ(at.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(at.device, -2);
  EXPECT_EQ(cudaHostUnregister(a + 100), cudaSuccess);
  static const int read_only[4096] = {1};
  EXPECT_ERROR(cudaErrorInvalidValue, cudaHostRegister(const_cast<int*>(read_only), sizeof read_only, 0));
  EXPECT_EQ(cudaHostRegister(const_cast<int*>(read_only), sizeof read_only, cudaHostRegisterReadOnly), cudaSuccess);
  cudaHostUnregister(const_cast<int*>(read_only));
  std::free(a);
}

TEST_F(Calls, ManagedHintsAreReadBack) {
  char* m;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&m), mib, cudaMemAttachGlobal), cudaSuccess);
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0},
      unknown{cudaMemLocationTypeDevice, 77};
  const auto get = [&](cudaMemRangeAttribute attribute) {
    int value = 99;
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, sizeof value, attribute, m, mib), cudaSuccess);
    return value;
  };
  EXPECT_EQ(get(cudaMemRangeAttributeLastPrefetchLocation), -2);
  EXPECT_EQ(cudaMemPrefetchAsync(m, mib, device, 0, nullptr), cudaSuccess);
  EXPECT_EQ(get(cudaMemRangeAttributeLastPrefetchLocation), 0);
  EXPECT_EQ(get(cudaMemRangeAttributeLastPrefetchLocationType), 1);
  EXPECT_EQ(cudaMemPrefetchAsync(m, mib, host, 0, nullptr), cudaSuccess);
  EXPECT_EQ(get(cudaMemRangeAttributeLastPrefetchLocation), -1);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaMemPrefetchAsync(m, mib, unknown, 0, nullptr));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPrefetchAsync(m, mib + 1, device, 0, nullptr));
  EXPECT_EQ(cudaMemAdvise(m, mib, cudaMemAdviseSetReadMostly, unknown), cudaSuccess);
  EXPECT_EQ(get(cudaMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(cudaMemAdvise(m + 65536, mib - 65536, cudaMemAdviseUnsetReadMostly, device), cudaSuccess);
  EXPECT_EQ(get(cudaMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(cudaMemAdvise(m, 65536, cudaMemAdviseSetPreferredLocation, device), cudaSuccess);
  EXPECT_EQ(get(cudaMemRangeAttributePreferredLocation), -2);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemAdvise(m, mib, cudaMemAdviseSetPreferredLocation, unknown));
  EXPECT_EQ(cudaMemAdvise(m, mib, cudaMemAdviseSetAccessedBy, device), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(m, mib, cudaMemAdviseSetAccessedBy, host), cudaSuccess);
  int by[4];
  EXPECT_EQ(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, m, mib), cudaSuccess);
  EXPECT_EQ(std::vector<int>(by, by + 4), (std::vector<int>{0, -1, -2, -2}));
  cudaFree(m);
}

TEST_F(Calls, ArraysHaveTheDevicesLimits) {
  const cudaChannelFormatDesc bytes{8, 0, 0, 0, cudaChannelFormatKindSigned};
  const auto make = [&](cudaExtent extent, unsigned flags) {
    cudaArray_t array;
    const cudaError_t error = cudaMalloc3DArray(&array, &bytes, extent, flags);
    if (error == cudaSuccess) cudaFreeArray(array);
    return error;
  };
  EXPECT_EQ(make({16, 0, 4}, 0), cudaErrorInvalidValue);
  EXPECT_EQ(make({16, 0, 4}, cudaArrayLayered), cudaSuccess);
  EXPECT_EQ(make({16, 16, 0}, cudaArrayLayered), cudaErrorInvalidValue);
  EXPECT_EQ(make({16385, 2, 2}, 0), cudaErrorInvalidValue);
  EXPECT_EQ(make({16385, 2, 2}, cudaArrayLayered), cudaSuccess);
  EXPECT_EQ(make({2, 2, 16385}, 0), cudaSuccess);
  EXPECT_EQ(make({131072, 0, 0}, 0), cudaSuccess);
  EXPECT_EQ(make({131073, 0, 0}, 0), cudaErrorInvalidValue);
  EXPECT_EQ(make({16, 16, 2049}, cudaArrayLayered), cudaErrorInvalidValue);
  EXPECT_EQ(make({8, 8, 12}, cudaArrayCubemap | cudaArrayLayered), cudaSuccess);
  EXPECT_EQ(make({8, 8, 7}, cudaArrayCubemap | cudaArrayLayered), cudaErrorInvalidValue);
  EXPECT_EQ(make({16, 16, 6}, cudaArrayTextureGather), cudaErrorInvalidValue);
}

TEST_F(Calls, PoolsAsTheyWereRecorded) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &props), cudaSuccess);
  const auto get = [&](cudaMemPoolAttr attribute) {
    std::uint64_t value = 77;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), cudaSuccess);
    return value;
  };
  void *a, *b;
  EXPECT_EQ(cudaMallocFromPoolAsync(&a, 1, pool, stream), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 1u);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 32 * mib);
  EXPECT_EQ(cudaFreeAsync(a, stream), cudaSuccess);
  EXPECT_EQ(cudaMallocFromPoolAsync(&b, 1, pool, stream), cudaSuccess);
  EXPECT_EQ(a, b);
  EXPECT_EQ(cudaFreeAsync(b, stream), cudaSuccess);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeAsync(b, stream));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 0u);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemHigh), 32 * mib);
  std::uint64_t five = 5;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &five));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &five));
  EXPECT_EQ(cudaDeviceSetMemPool(0, pool), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&a, 100, stream), cudaSuccess);
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 100u);
  EXPECT_EQ(cudaFreeAsync(a, stream), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  cudaMemPool_t current, standard;
  cudaDeviceGetMemPool(&current, 0);
  cudaDeviceGetDefaultMemPool(&standard, 0);
  EXPECT_EQ(current, standard);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(standard));
  props.handleTypes = static_cast<cudaMemAllocationHandleType>(2);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &props));
  cudaStreamDestroy(stream);
}

TEST_F(Calls, MemoryRunsOutAndComesBack) {
  std::size_t free_bytes, total;
  cudaMemGetInfo(&free_bytes, &total);
  void* p = &p;
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
  EXPECT_EQ(p, nullptr);
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&p, SIZE_MAX));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMallocAsync(&p, SIZE_MAX, nullptr));
  std::vector<void*> blocks;
  while (cudaMalloc(&p, 256 * mib) == cudaSuccess) blocks.push_back(p);
  EXPECT_GE(blocks.size(), 15u);
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMallocAsync(&p, 300 * mib, nullptr));
  for (void* block : blocks) EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&p, 300 * mib, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, nullptr), cudaSuccess);
  // What the pool keeps does not stand in the way of a large block.
  cudaMemGetInfo(&free_bytes, &total);
  EXPECT_EQ(cudaMalloc(&p, total - 64 * mib), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

// What each allocation took from cudaMemGetInfo's free memory, and gave back, as recorded on an H200.
TEST_F(Calls, FreeMemoryGoesInPagesOfTwoMib) {
  const auto free_now = [] {
    std::size_t free_bytes = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
    return free_bytes;
  };
  constexpr std::size_t kib = 1024;
  constexpr struct {
    std::size_t bytes, taken_kib, given_kib;
  } steps[] = {{1, 2048, 2048},
               {1, 0, 0},
               {512, 0, 0},
               {256 * kib, 0, 0},
               {512 * kib, 0, 0},
               {mib, 0, 0},
               {mib, 2048, 2048},
               {mib + 1, 2048, 2048},
               {2 * mib - 1, 2048, 2048},
               {2 * mib, 2048, 2048},
               {2 * mib + 1, 4096, 4096},
               {3 * mib, 4096, 4096},
               {3 * mib, 4096, 4096},
               {5 * mib, 6144, 6144},
               {7 * mib + 3, 8192, 8192},
               {33 * mib, 34816, 34816}};
  std::vector<void*> blocks;
  std::size_t before = free_now();
  for (const auto& step : steps) {
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, step.bytes), cudaSuccess);
    blocks.push_back(p);
    const std::size_t now = free_now();
    EXPECT_EQ((before - now) / kib, step.taken_kib) << step.bytes;
    before = now;
  }
  for (std::size_t i = blocks.size(); i-- > 0;) {
    ASSERT_EQ(cudaFree(blocks[i]), cudaSuccess);
    const std::size_t now = free_now();
    EXPECT_EQ((now - before) / kib, steps[i].given_kib) << steps[i].bytes;
    before = now;
  }
}

// Random calls against a model: contents, attributes and errors.
TEST_F(Calls, RandomCallsAgreeWithAModel) {
  struct Block {
    std::vector<char> bytes;
    int kind;  // 0 device, 1 pinned, 2 managed, 3 stream-ordered
  };
  std::map<char*, Block> live;
  std::mt19937 random(20);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const auto pick = [&] {
    auto at = live.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random() % live.size()));
    return at;
  };
  for (int step = 0; step < 3000; ++step) {
    const unsigned what = random() % 10;
    if (live.size() < 4 || what == 0) {
      const int kind = static_cast<int>(random() % 4);
      const std::size_t bytes = 1 + random() % 60000;
      char* p = nullptr;
      void** out = reinterpret_cast<void**>(&p);
      ASSERT_EQ(kind == 0   ? cudaMalloc(out, bytes)
                : kind == 1 ? cudaMallocHost(out, bytes)
                : kind == 2 ? cudaMallocManaged(out, bytes, cudaMemAttachGlobal)
                            : cudaMallocAsync(out, bytes, stream),
                cudaSuccess);
      ASSERT_EQ(cudaMemsetAsync(p, step, bytes, stream), cudaSuccess);
      live[p] = {std::vector<char>(bytes, static_cast<char>(step)), kind};
    } else if (what == 1 && live.size() > 8) {
      auto [p, block] = *pick();
      std::vector<char> back(block.bytes.size());
      ASSERT_EQ(cudaMemcpyAsync(back.data(), p, back.size(), cudaMemcpyDefault, stream), cudaSuccess);
      ASSERT_EQ(back, block.bytes) << "step " << step;
      ASSERT_EQ(block.kind == 1 ? cudaFree(p) : cudaFreeHost(p), cudaErrorInvalidValue);
      ASSERT_EQ(block.kind == 1   ? cudaFreeHost(p)
                : block.kind == 3 ? cudaFreeAsync(p, stream)
                                  : cudaFree(p),
                cudaSuccess);
      cudaPointerAttributes attributes;
      ASSERT_EQ(cudaPointerGetAttributes(&attributes, p), cudaSuccess);
      ASSERT_EQ(attributes.type, cudaMemoryTypeUnregistered);
      live.erase(p);
    } else if (what < 6) {
      auto to = pick(), from = pick();
      if (to == from) continue;
      const std::size_t most = std::min(to->second.bytes.size(), from->second.bytes.size());
      const std::size_t bytes = random() % (most + 1);
      const std::size_t to_at = random() % (to->second.bytes.size() - bytes + 1),
                        from_at = random() % (from->second.bytes.size() - bytes + 1);
      ASSERT_EQ(cudaMemcpyAsync(to->first + to_at, from->first + from_at, bytes, cudaMemcpyDefault, stream),
                cudaSuccess);
      std::copy_n(from->second.bytes.begin() + static_cast<std::ptrdiff_t>(from_at), bytes,
                  to->second.bytes.begin() + static_cast<std::ptrdiff_t>(to_at));
    } else if (what < 8) {
      auto at = pick();
      const std::size_t bytes = random() % (at->second.bytes.size() + 1),
                        start = random() % (at->second.bytes.size() - bytes + 1);
      ASSERT_EQ(cudaMemsetAsync(at->first + start, step, bytes, stream), cudaSuccess);
      std::fill_n(at->second.bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes, static_cast<char>(step));
    } else if (what == 8) {
      auto at = pick();
      const std::size_t size = at->second.bytes.size();
      ASSERT_EQ(cudaMemsetAsync(at->first + 1, 0, size, stream), cudaErrorInvalidValue);
      const std::size_t inner = random() % size;
      cudaPointerAttributes attributes;
      ASSERT_EQ(cudaPointerGetAttributes(&attributes, at->first + inner), cudaSuccess);
      constexpr cudaMemoryType types[] = {cudaMemoryTypeDevice, cudaMemoryTypeHost, cudaMemoryTypeManaged,
                                          cudaMemoryTypeDevice};
      ASSERT_EQ(attributes.type, types[at->second.kind]);
      ASSERT_EQ(attributes.devicePointer, at->first + inner);
    } else {
      // A box between two blocks.
      auto to = pick(), from = pick();
      const std::size_t pitch = 8 + random() % 100, width = 1 + random() % pitch, rows = 1 + random() % 20;
      const std::size_t span = (rows - 1) * pitch + width;
      const bool fits = span <= to->second.bytes.size() && span <= from->second.bytes.size();
      if (to == from) continue;
      ASSERT_EQ(cudaMemcpy2DAsync(to->first, pitch, from->first, pitch, width, rows, cudaMemcpyDefault, stream),
                fits ? cudaSuccess : cudaErrorInvalidValue);
      for (std::size_t r = 0; fits && r < rows; ++r)
        std::copy_n(from->second.bytes.begin() + static_cast<std::ptrdiff_t>(r * pitch), width,
                    to->second.bytes.begin() + static_cast<std::ptrdiff_t>(r * pitch));
    }
  }
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  for (auto& [p, block] : live) {
    std::vector<char> back(block.bytes.size());
    ASSERT_EQ(cudaMemcpyAsync(back.data(), p, back.size(), cudaMemcpyDefault, stream), cudaSuccess);
    EXPECT_EQ(back, block.bytes);
    EXPECT_EQ(block.kind == 1   ? cudaFreeHost(p)
              : block.kind == 3 ? cudaFreeAsync(p, stream)
                                : cudaFree(p),
              cudaSuccess);
  }
  cudaStreamDestroy(stream);
}

}  // namespace
