// Devices (CUDA Runtime API, "Device Management"): choosing one, what it is, how it is set up.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include <api/export.h>
#include <api/unsafe.h>
#include <model/capture.h>
#include <model/device.h>
#include <model/memory_array.h>
#include <model/reset.h>
#include <model/stream.h>
#include <simt/heap.h>
#include <simt/printf.h>

using namespace mr;

namespace {

bool exists(int device) noexcept { return device >= 0 && device < model::device_count(); }

// Calls that need no context, but are not permitted in host functions all the same.
cudaError_t not_in_host_function() noexcept { return model::in_host_function() ? cudaErrorNotPermitted : cudaSuccess; }

constexpr unsigned kept_flags = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax |
                                cudaDeviceSyncMemops;
constexpr unsigned known_flags = kept_flags | 0x60;  // two more bits are accepted, without effect
bool flags_are_valid(unsigned flags) noexcept {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  return !(flags & ~known_flags) && (schedule & (schedule - 1)) == 0;
}

}  // namespace

MR_API cudaGetDeviceCount(int* count) {
  if (!count) return api::result(cudaErrorInvalidValue);
  *count = model::device_count();
  return *count > 0 ? cudaSuccess : api::result(cudaErrorNoDevice);
}

MR_API cudaGetDevice(int* device) {
  if (!device) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  if (model::device_count() == 0) return api::result(cudaErrorNoDevice);
  *device = model::current_device();
  return cudaSuccess;
}

MR_API cudaSetDevice(int device) {
  if (!exists(device)) return api::result(model::device_count() ? cudaErrorInvalidDevice : cudaErrorNoDevice);
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  model::set_current_device(device);
  return cudaSuccess;
}

MR_API cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  if (!exists(device)) return api::result(cudaErrorInvalidDevice);
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  if (flags & cudaInitDeviceFlagsAreValid) {
    if (!flags_are_valid(device_flags)) return api::result(cudaErrorInvalidValue);
    model::settings(device).set_flags(device_flags);
  }
  model::context_of(device);
  return cudaSuccess;
}

MR_API cudaSetDeviceFlags(unsigned flags) {
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  if (!flags_are_valid(flags)) return api::result(cudaErrorInvalidValue);
  model::settings(model::current_device()).set_flags(flags);
  return cudaSuccess;
}

MR_API cudaGetDeviceFlags(unsigned* flags) {
  if (!flags) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  *flags = (model::settings(model::current_device()).flags() & kept_flags) | cudaDeviceMapHost;
  return cudaSuccess;
}

MR_API cudaSetValidDevices(int* devices, int count) {
  if (!devices ? count != 0 : count < 0 || count > model::device_count()) return api::result(cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i)
    if (!exists(devices[i])) return api::result(cudaErrorInvalidDevice);
  if (count) model::set_current_device(devices[0]);
  return cudaSuccess;
}

MR_API cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (!device || !wanted) return api::result(cudaErrorInvalidValue);
  *device = 0;  // all are alike
  return cudaSuccess;
}

MR_API cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!properties) return api::result(cudaErrorInvalidValue);
  if (!exists(device)) return api::result(cudaErrorInvalidDevice);
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  *properties = model::properties(device);
  return cudaSuccess;
}

MR_API cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  if (!value) return api::result(cudaErrorInvalidValue);
  if (!exists(device)) return api::result(cudaErrorInvalidDevice);
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  return api::result(model::attribute(device, which, value) ? cudaSuccess : cudaErrorInvalidValue);
}

MR_API cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!text) return api::result(cudaErrorInvalidValue);
  if (!exists(device)) return api::result(cudaErrorInvalidDevice);
  if (length <= 0) return api::result(cudaErrorInvalidValue);
  const cudaDeviceProp& p = model::properties(device);
  const int needed = std::snprintf(text, static_cast<std::size_t>(length), "%04x:%02x:%02x.0",
                                   static_cast<unsigned>(p.pciDomainID), static_cast<unsigned>(p.pciBusID),
                                   static_cast<unsigned>(p.pciDeviceID));
  return api::result(needed < length ? cudaSuccess : cudaErrorInvalidValue);
}

MR_API cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (!device || !text) return api::result(cudaErrorInvalidValue);
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 &&
      std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3) return api::result(cudaErrorInvalidValue);
  }
  for (int i = 0; i < model::device_count(); ++i) {
    const cudaDeviceProp& p = model::properties(i);
    if (static_cast<int>(domain) == p.pciDomainID && static_cast<int>(bus) == p.pciBusID &&
        static_cast<int>(slot) == p.pciDeviceID) {
      *device = i;
      return cudaSuccess;
    }
  }
  return api::result(cudaErrorInvalidDevice);
}

MR_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (least) *least = 0;
  if (greatest) *greatest = model::greatest_priority;
  return cudaSuccess;
}

MR_API cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (!value) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::settings(model::current_device()).limit(limit, value));
}

MR_API cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  // The buffers are made by the first kernel that uses them, with the size that is set then.
  model::Context& context = model::current_context();
  const bool in_use = limit == cudaLimitPrintfFifoSize
                          ? simt::printf_in_use(context.device)
                          : limit == cudaLimitMallocHeapSize && simt::heap_in_use(context.device);
  model::DeviceSettings& settings = model::settings(model::current_device());
  const cudaError_t error = settings.set_limit(limit, value, in_use);
  if (!error && limit == cudaLimitPrintfFifoSize && settings.limit(limit, &value) == cudaSuccess)
    context.device.printf_bytes.store(value, std::memory_order_relaxed);
  return api::result(error);
}

MR_API cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (!config) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  *config = model::settings(model::current_device()).cache_config();
  return cudaSuccess;
}

MR_API cudaDeviceSetCacheConfig(cudaFuncCache config) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return api::result(cudaErrorInvalidValue);
  model::settings(model::current_device()).set_cache_config(config);
  return cudaSuccess;
}

MR_API cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (!config) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  *config = cudaSharedMemBankSizeFourByte;  // no device since compute capability 3 has another
  return cudaSuccess;
}

MR_API cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte)
    return api::result(cudaErrorInvalidValue);
  return cudaSuccess;
}

MR_API cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc* format, int device) {
  if (!format) return api::result(cudaErrorInvalidValue);
  memory::Format known;
  if (!model::format_of(*format, &known)) return api::result(cudaErrorInvalidChannelDescriptor);
  if (!width) return api::result(cudaErrorInvalidValue);
  if (!exists(device)) return api::result(cudaErrorInvalidDevice);
  // 4 GiB of elements, but no more than 2^30.
  const auto bytes = static_cast<std::size_t>(std::max(format->x + format->y + format->z + format->w, 32)) / 8;
  *width = (std::size_t{1} << 32) / bytes;
  return cudaSuccess;
}

// What others wrote to a device's memory is there: it is the machine's.
MR_API cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                          cudaFlushGPUDirectRDMAWritesScope scope) {
  if (target != cudaFlushGPUDirectRDMAWritesTargetCurrentDevice ||
      (scope != cudaFlushGPUDirectRDMAWritesToOwner && scope != cudaFlushGPUDirectRDMAWritesToAllDevices))
    return api::result(cudaErrorInvalidValue);
  return api::result(api::refused());
}

MR_API cudaCtxResetPersistingL2Cache() { return api::result(api::refused()); }

MR_API cudaDeviceSynchronize() {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_device_synchronize(captured)) return api::result(captured);
  }
  model::Context& context = model::current_context();
  context.synchronize();
  simt::printf_flush(context.device);
  return api::result(api::broken());
}

MR_API cudaDeviceReset() {
  if (const cudaError_t error = not_in_host_function()) return api::result(error);
  if (model::slow_word.load(std::memory_order_acquire) & model::slow_forked)
    return api::result(cudaErrorInitializationError);
  model::reset_device(model::current_device());
  return cudaSuccess;
}
