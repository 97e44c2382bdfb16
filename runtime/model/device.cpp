#include <model/device.h>

#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <model/memory.h>
#include <simt/stacks.h>

namespace mr::model {
namespace {

DeviceSettings all_settings[max_devices];

// An address that no other thread has while this one lives.
const void* this_thread() noexcept {
  static thread_local const char mark = 0;
  return &mark;
}

// The L2 cache, and what of it can be set aside for persisting accesses: ten of its sixteen parts.
constexpr int l2_bytes = 60 << 20;
// What a thread's stack has for frames: all but its guard, the page in front of that, and where it begins.
constexpr std::size_t stack_most = MR_STACK_BYTES - (28 << 10);
constexpr int persisting_part = l2_bytes / 16;
constexpr int persisting_most = 10 * persisting_part;

// Of the counter that clock64() reads in device code, in kHz, so that programs can turn its ticks into time.
int clock_khz() noexcept {
  static const int khz = [] {
    using clock = std::chrono::steady_clock;
    const auto from = clock::now();
    const unsigned long long ticks = __rdtsc();
    clock::duration passed;
    do passed = clock::now() - from;
    while (passed < std::chrono::microseconds(200));  // right to a few parts in a hundred thousand
    return static_cast<int>(static_cast<double>(__rdtsc() - ticks) * 1e6 /
                            static_cast<double>(std::chrono::nanoseconds(passed).count()));
  }();
  return khz;
}

cudaDeviceProp describe(int device) noexcept {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "Millrace virtual device (compute capability 9.0)");
  std::memcpy(p.uuid.bytes, "millrace-device", 15);
  p.uuid.bytes[15] = static_cast<char>(device);
  p.totalGlobalMem = device_bytes();
  p.sharedMemPerBlock = shape::shared_per_block;
  p.regsPerBlock = shape::registers_per_multiprocessor;
  p.warpSize = shape::warp;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = shape::max_threads_per_block;
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = shape::max_block[i];
    p.maxGridSize[i] = static_cast<int>(shape::max_grid[i]);
  }
  p.totalConstMem = 65536;
  p.major = 9;
  p.minor = 0;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = multiprocessors();
  p.canMapHostMemory = 1;

  auto set = [](int* to, auto... values) {
    const int list[] = {values...};
    std::memcpy(to, list, sizeof list);
  };
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  set(p.maxTexture2D, 131072, 65536);
  set(p.maxTexture2DMipmap, 32768, 32768);
  set(p.maxTexture2DLinear, 131072, 65000, 2097120);
  set(p.maxTexture2DGather, 32768, 32768);
  set(p.maxTexture3D, 16384, 16384, 16384);
  set(p.maxTexture3DAlt, 8192, 8192, 32768);
  p.maxTextureCubemap = 32768;
  set(p.maxTexture1DLayered, 32768, 2048);
  set(p.maxTexture2DLayered, 32768, 32768, 2048);
  set(p.maxTextureCubemapLayered, 32768, 2046);
  p.maxSurface1D = 32768;
  set(p.maxSurface2D, 131072, 65536);
  set(p.maxSurface3D, 16384, 16384, 16384);
  set(p.maxSurface1DLayered, 32768, 2048);
  set(p.maxSurface2DLayered, 32768, 32768, 2048);
  p.maxSurfaceCubemap = 32768;
  set(p.maxSurfaceCubemapLayered, 32768, 2046);
  p.surfaceAlignment = 512;

  p.concurrentKernels = 1;
  p.pciBusID = device + 1;
  p.asyncEngineCount = shape::copy_engines;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = 6144;
  p.l2CacheSize = l2_bytes;
  p.persistingL2CacheMaxSize = persisting_most;
  p.maxThreadsPerMultiProcessor = shape::max_threads_per_multiprocessor;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = shape::shared_per_multiprocessor;
  p.regsPerMultiprocessor = shape::registers_per_multiprocessor;
  p.managedMemory = 1;
  p.multiGpuBoardGroupID = device;
  p.hostNativeAtomicSupported = 1;  // both sides are the same processor
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = shape::shared_per_block_opt_in;
  p.maxBlocksPerMultiProcessor = shape::max_blocks_per_multiprocessor;
  p.accessPolicyMaxWindowSize = 128 << 20;
  p.reservedSharedMemPerBlock = shape::shared_reserved_per_block;
  p.hostRegisterSupported = 1;
  p.hostRegisterReadOnlySupported = 1;
  p.memoryPoolsSupported = 1;
  p.memoryPoolSupportedHandleTypes = cudaMemHandleTypePosixFileDescriptor;
  p.ipcEventSupported = 1;
  p.clusterLaunch = 1;
  p.deviceNumaConfig = cudaDeviceNumaConfigNone;
  p.deviceNumaId = -1;

  p.clockRate = p.memoryClockRate = clock_khz();
  p.deviceOverlap = 1;
  p.computeMode = cudaComputeModeDefault;
  p.maxTexture1DLinear = 268435456;
  p.singleToDoublePrecisionPerfRatio = 2;
  return p;
}

}  // namespace

int multiprocessors() noexcept {
  static const int count = std::clamp(
      static_cast<int>(simt::StackPool::instance().capacity() / shape::max_threads_per_multiprocessor), 1, 132);
  return count;
}

const cudaDeviceProp& properties(int device) noexcept {
  struct All {
    cudaDeviceProp of[max_devices];
    All() noexcept {
      for (int i = 0; i < max_devices; ++i) of[i] = describe(i);
    }
  };
  static const All all;
  return all.of[device];
}

bool attribute(int device, cudaDeviceAttr which, int* value) noexcept {
  const cudaDeviceProp& p = properties(device);
  const auto number = [](std::size_t n) { return static_cast<int>(n); };
  switch (which) {
  case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; return true;
  case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; return true;
  case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; return true;
  case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; return true;
  case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; return true;
  case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; return true;
  case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; return true;
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = number(p.sharedMemPerBlock); return true;
  case cudaDevAttrTotalConstantMemory: *value = number(p.totalConstMem); return true;
  case cudaDevAttrWarpSize: *value = p.warpSize; return true;
  case cudaDevAttrMaxPitch: *value = number(p.memPitch); return true;
  case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; return true;
  case cudaDevAttrClockRate: *value = p.clockRate; return true;
  case cudaDevAttrTextureAlignment: *value = number(p.textureAlignment); return true;
  case cudaDevAttrGpuOverlap: *value = p.deviceOverlap; return true;
  case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; return true;
  case cudaDevAttrKernelExecTimeout: *value = p.kernelExecTimeoutEnabled; return true;
  case cudaDevAttrIntegrated: *value = p.integrated; return true;
  case cudaDevAttrCanMapHostMemory: *value = p.canMapHostMemory; return true;
  case cudaDevAttrComputeMode: *value = p.computeMode; return true;
  case cudaDevAttrMaxTexture1DWidth: *value = p.maxTexture1D; return true;
  case cudaDevAttrMaxTexture2DWidth: *value = p.maxTexture2D[0]; return true;
  case cudaDevAttrMaxTexture2DHeight: *value = p.maxTexture2D[1]; return true;
  case cudaDevAttrMaxTexture3DWidth: *value = p.maxTexture3D[0]; return true;
  case cudaDevAttrMaxTexture3DHeight: *value = p.maxTexture3D[1]; return true;
  case cudaDevAttrMaxTexture3DDepth: *value = p.maxTexture3D[2]; return true;
  case cudaDevAttrMaxTexture2DLayeredWidth: *value = p.maxTexture2DLayered[0]; return true;
  case cudaDevAttrMaxTexture2DLayeredHeight: *value = p.maxTexture2DLayered[1]; return true;
  case cudaDevAttrMaxTexture2DLayeredLayers: *value = p.maxTexture2DLayered[2]; return true;
  case cudaDevAttrSurfaceAlignment: *value = number(p.surfaceAlignment); return true;
  case cudaDevAttrConcurrentKernels: *value = p.concurrentKernels; return true;
  case cudaDevAttrEccEnabled: *value = p.ECCEnabled; return true;
  case cudaDevAttrPciBusId: *value = p.pciBusID; return true;
  case cudaDevAttrPciDeviceId: *value = p.pciDeviceID; return true;
  case cudaDevAttrTccDriver: *value = p.tccDriver; return true;
  case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; return true;
  case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; return true;
  case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; return true;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; return true;
  case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; return true;
  case cudaDevAttrUnifiedAddressing: *value = p.unifiedAddressing; return true;
  case cudaDevAttrMaxTexture1DLayeredWidth: *value = p.maxTexture1DLayered[0]; return true;
  case cudaDevAttrMaxTexture1DLayeredLayers: *value = p.maxTexture1DLayered[1]; return true;
  case cudaDevAttrMaxTexture2DGatherWidth: *value = p.maxTexture2DGather[0]; return true;
  case cudaDevAttrMaxTexture2DGatherHeight: *value = p.maxTexture2DGather[1]; return true;
  case cudaDevAttrMaxTexture3DWidthAlt: *value = p.maxTexture3DAlt[0]; return true;
  case cudaDevAttrMaxTexture3DHeightAlt: *value = p.maxTexture3DAlt[1]; return true;
  case cudaDevAttrMaxTexture3DDepthAlt: *value = p.maxTexture3DAlt[2]; return true;
  case cudaDevAttrPciDomainId: *value = p.pciDomainID; return true;
  case cudaDevAttrTexturePitchAlignment: *value = number(p.texturePitchAlignment); return true;
  case cudaDevAttrMaxTextureCubemapWidth: *value = p.maxTextureCubemap; return true;
  case cudaDevAttrMaxTextureCubemapLayeredWidth: *value = p.maxTextureCubemapLayered[0]; return true;
  case cudaDevAttrMaxTextureCubemapLayeredLayers: *value = p.maxTextureCubemapLayered[1]; return true;
  case cudaDevAttrMaxSurface1DWidth: *value = p.maxSurface1D; return true;
  case cudaDevAttrMaxSurface2DWidth: *value = p.maxSurface2D[0]; return true;
  case cudaDevAttrMaxSurface2DHeight: *value = p.maxSurface2D[1]; return true;
  case cudaDevAttrMaxSurface3DWidth: *value = p.maxSurface3D[0]; return true;
  case cudaDevAttrMaxSurface3DHeight: *value = p.maxSurface3D[1]; return true;
  case cudaDevAttrMaxSurface3DDepth: *value = p.maxSurface3D[2]; return true;
  case cudaDevAttrMaxSurface1DLayeredWidth: *value = p.maxSurface1DLayered[0]; return true;
  case cudaDevAttrMaxSurface1DLayeredLayers: *value = p.maxSurface1DLayered[1]; return true;
  case cudaDevAttrMaxSurface2DLayeredWidth: *value = p.maxSurface2DLayered[0]; return true;
  case cudaDevAttrMaxSurface2DLayeredHeight: *value = p.maxSurface2DLayered[1]; return true;
  case cudaDevAttrMaxSurface2DLayeredLayers: *value = p.maxSurface2DLayered[2]; return true;
  case cudaDevAttrMaxSurfaceCubemapWidth: *value = p.maxSurfaceCubemap; return true;
  case cudaDevAttrMaxSurfaceCubemapLayeredWidth: *value = p.maxSurfaceCubemapLayered[0]; return true;
  case cudaDevAttrMaxSurfaceCubemapLayeredLayers: *value = p.maxSurfaceCubemapLayered[1]; return true;
  case cudaDevAttrMaxTexture1DLinearWidth: *value = p.maxTexture1DLinear; return true;
  case cudaDevAttrMaxTexture2DLinearWidth: *value = p.maxTexture2DLinear[0]; return true;
  case cudaDevAttrMaxTexture2DLinearHeight: *value = p.maxTexture2DLinear[1]; return true;
  case cudaDevAttrMaxTexture2DLinearPitch: *value = p.maxTexture2DLinear[2]; return true;
  case cudaDevAttrMaxTexture2DMipmappedWidth: *value = p.maxTexture2DMipmap[0]; return true;
  case cudaDevAttrMaxTexture2DMipmappedHeight: *value = p.maxTexture2DMipmap[1]; return true;
  case cudaDevAttrComputeCapabilityMajor: *value = p.major; return true;
  case cudaDevAttrComputeCapabilityMinor: *value = p.minor; return true;
  case cudaDevAttrMaxTexture1DMipmappedWidth: *value = p.maxTexture1DMipmap; return true;
  case cudaDevAttrStreamPrioritiesSupported: *value = p.streamPrioritiesSupported; return true;
  case cudaDevAttrGlobalL1CacheSupported: *value = p.globalL1CacheSupported; return true;
  case cudaDevAttrLocalL1CacheSupported: *value = p.localL1CacheSupported; return true;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = number(p.sharedMemPerMultiprocessor); return true;
  case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; return true;
  case cudaDevAttrManagedMemory: *value = p.managedMemory; return true;
  case cudaDevAttrIsMultiGpuBoard: *value = p.isMultiGpuBoard; return true;
  case cudaDevAttrMultiGpuBoardGroupID: *value = p.multiGpuBoardGroupID; return true;
  case cudaDevAttrHostNativeAtomicSupported: *value = p.hostNativeAtomicSupported; return true;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = p.singleToDoublePrecisionPerfRatio; return true;
  case cudaDevAttrPageableMemoryAccess: *value = p.pageableMemoryAccess; return true;
  case cudaDevAttrConcurrentManagedAccess: *value = p.concurrentManagedAccess; return true;
  case cudaDevAttrComputePreemptionSupported: *value = p.computePreemptionSupported; return true;
  case cudaDevAttrCanUseHostPointerForRegisteredMem: *value = p.canUseHostPointerForRegisteredMem; return true;
  case cudaDevAttrCooperativeLaunch: *value = p.cooperativeLaunch; return true;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = number(p.sharedMemPerBlockOptin); return true;
  case cudaDevAttrCanFlushRemoteWrites: *value = 0; return true;
  case cudaDevAttrHostRegisterSupported: *value = p.hostRegisterSupported; return true;
  case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    *value = p.pageableMemoryAccessUsesHostPageTables;
    return true;
  case cudaDevAttrDirectManagedMemAccessFromHost: *value = p.directManagedMemAccessFromHost; return true;
  case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; return true;
  case cudaDevAttrMaxPersistingL2CacheSize: *value = p.persistingL2CacheMaxSize; return true;
  case cudaDevAttrMaxAccessPolicyWindowSize: *value = p.accessPolicyMaxWindowSize; return true;
  case cudaDevAttrReservedSharedMemoryPerBlock: *value = number(p.reservedSharedMemPerBlock); return true;
  case cudaDevAttrSparseCudaArraySupported: *value = p.sparseCudaArraySupported; return true;
  case cudaDevAttrHostRegisterReadOnlySupported: *value = p.hostRegisterReadOnlySupported; return true;
  case cudaDevAttrTimelineSemaphoreInteropSupported: *value = p.timelineSemaphoreInteropSupported; return true;
  case cudaDevAttrMemoryPoolsSupported: *value = p.memoryPoolsSupported; return true;
  case cudaDevAttrGPUDirectRDMASupported: *value = p.gpuDirectRDMASupported; return true;
  case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
    *value = static_cast<int>(p.gpuDirectRDMAFlushWritesOptions);
    return true;
  case cudaDevAttrGPUDirectRDMAWritesOrdering: *value = p.gpuDirectRDMAWritesOrdering; return true;
  case cudaDevAttrMemoryPoolSupportedHandleTypes:
    *value = static_cast<int>(p.memoryPoolSupportedHandleTypes);
    return true;
  case cudaDevAttrClusterLaunch: *value = p.clusterLaunch; return true;
  case cudaDevAttrDeferredMappingCudaArraySupported: *value = p.deferredMappingCudaArraySupported; return true;
  case cudaDevAttrIpcEventSupport: *value = p.ipcEventSupported; return true;
  case cudaDevAttrMemSyncDomainCount: *value = 4; return true;
  case cudaDevAttrNumaConfig: *value = p.deviceNumaConfig; return true;
  case cudaDevAttrNumaId: *value = p.deviceNumaId; return true;
  case cudaDevAttrMpsEnabled: *value = p.mpsEnabled; return true;
  case cudaDevAttrHostNumaId: *value = p.hostNumaId; return true;
  case cudaDevAttrGpuPciDeviceId: *value = static_cast<int>(p.gpuPciDeviceID); return true;
  case cudaDevAttrGpuPciSubsystemId: *value = static_cast<int>(p.gpuPciSubsystemID); return true;
  case cudaDevAttrHostNumaMultinodeIpcSupported: *value = p.hostNumaMultinodeIpcSupported; return true;
  case cudaDevAttrHostMemoryPoolsSupported:
  case cudaDevAttrHostNumaMemoryPoolsSupported: *value = 1; return true;
  // What an x86 host with a virtual device has none of.
  case cudaDevAttrD3D12CigSupported:
  case cudaDevAttrVulkanCigSupported:
  case cudaDevAttrOnlyPartialHostNativeAtomicSupported:
  case cudaDevAttrReserved92:
  case cudaDevAttrReserved93:
  case cudaDevAttrReserved94:
  case cudaDevAttrReserved96:
  case cudaDevAttrReserved122:
  case cudaDevAttrReserved123:
  case cudaDevAttrReserved124:
  case cudaDevAttrReserved127:
  case cudaDevAttrReserved128:
  case cudaDevAttrReserved129:
  case cudaDevAttrReserved132:
  case cudaDevAttrReserved141:
  case cudaDevAttrReserved145: *value = 0; return true;
  case cudaDevAttrMax: break;
  }
  // Those that only the driver's API names are answered, too.
  switch (static_cast<int>(which)) {
  case 44: *value = 1; return true;  // gathers from two-dimensional textures
  case 102:                          // memory that programs map themselves, and how it is shared and compressed
  case 103:
  case 104:
  case 105:
  case 107:
  case 110:
  case 136:  // decompression in hardware
  case 137:
  case 146: *value = 0; return true;  // pinned memory as dma-buf
  default: return false;
  }
}

DeviceSettings& settings(int device) noexcept { return all_settings[device]; }

cudaError_t DeviceSettings::limit(cudaLimit which, std::size_t* value) const noexcept {
  const int index = static_cast<int>(which);
  if (index < 0 || index >= limit_count) return cudaErrorInvalidValue;
  if (which == cudaLimitDevRuntimeSyncDepth || index == limit_count - 1) return cudaErrorUnsupportedLimit;
  *value = limits_[index].load(std::memory_order_relaxed);
  return cudaSuccess;
}

namespace {

// Of what is close to the largest number, nothing smaller than it.
constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
  return value > ~std::size_t{0} - unit ? value : (value + unit - 1) / unit * unit;
}

}  // namespace

cudaError_t DeviceSettings::set_limit(cudaLimit which, std::size_t value, bool in_use) noexcept {
  switch (which) {
  // What is too small or too large is granted as far as it goes.
  case cudaLimitPrintfFifoSize:
    if (in_use) return cudaErrorInvalidValue;
    value = std::clamp(round_up(value, 256), std::size_t{512} << 10, std::size_t{2} << 30);
    break;
  case cudaLimitMallocHeapSize:
    if (in_use) return cudaErrorInvalidValue;
    value = std::clamp(round_up(value, 64 << 10), std::size_t{4} << 20,
                       std::max(properties(0).totalGlobalMem / 8, std::size_t{8} << 20));
    break;
  case cudaLimitStackSize:
    // Stacks are what they are (simt/abi.h): all of it is there from the start, and a request that doesn't fit is
    // refused rather than granted in name.
    if (value > stack_most) return cudaErrorInvalidValue;
    // As recorded: what asks for no other stacks than there are is kept as it was asked for.
    if (round_up(value, 16) != round_up(limits_[which].load(std::memory_order_relaxed), 16))
      value = round_up(value, 16);
    break;
  case cudaLimitMaxL2FetchGranularity:
    if (value > 128) return cudaErrorInvalidValue;
    break;
  case cudaLimitPersistingL2CacheSize:
    if (value > persisting_most) return cudaErrorInvalidValue;
    value = (value + persisting_part - 1) / persisting_part * persisting_part;
    break;
  case cudaLimitDevRuntimePendingLaunchCount: value = std::clamp<std::size_t>(value, 32, 599186); break;
  case cudaLimitDevRuntimeSyncDepth: return cudaErrorUnsupportedLimit;
  default:
    if (static_cast<int>(which) < 0 || static_cast<int>(which) >= limit_count) return cudaErrorInvalidValue;
    return static_cast<int>(which) == limit_count - 1 ? cudaErrorUnsupportedLimit : cudaErrorNotPermitted;
  }
  limits_[which].store(value, std::memory_order_relaxed);
  return cudaSuccess;
}

void DeviceSettings::set_flags(unsigned flags) noexcept {
  flags_.store(flags, std::memory_order_relaxed);
  flags_setter_.store(this_thread(), std::memory_order_relaxed);
}

void DeviceSettings::reset() noexcept {
  for (int i = 0; i < limit_count; ++i) limits_[i].store(initial[i], std::memory_order_relaxed);
  cache_config_.store(cudaFuncCachePreferNone, std::memory_order_relaxed);
  if (flags_setter_.load(std::memory_order_relaxed) == this_thread()) set_flags(cudaDeviceScheduleAuto);
  peers_.store(0, std::memory_order_release);
}

}  // namespace mr::model
