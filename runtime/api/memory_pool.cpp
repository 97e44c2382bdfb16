// Stream-ordered memory (CUDA Runtime API, "Stream Ordered Memory Allocator").
#include <fcntl.h>

#include <cstring>

#include <api/export.h>
#include <api/unsafe.h>
#include <model/capture.h>
#include <model/graph_memory.h>
#include <model/memory_pool.h>
#include <model/stream.h>

using namespace mr;
using memory::Pool;

namespace {

std::uint64_t caller(void* address) { return reinterpret_cast<std::uint64_t>(address); }
#define MR_SITE caller(__builtin_return_address(0))

Pool* pool_of(cudaMemPool_t handle) {
  auto* pool = reinterpret_cast<Pool*>(handle);
  return memory::valid_pool(pool) ? pool : nullptr;
}

cudaError_t allocate(void** out, std::size_t bytes, Pool* pool, cudaStream_t handle, bool per_thread,
                     std::uint64_t site) {
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_alloc(*stream, out, bytes, pool, error)) return error;
  }
  return model::allocate_ordered(out, bytes, pool, *stream, site);
}

cudaError_t allocate_async(void** out, std::size_t bytes, cudaStream_t handle, std::uint64_t site, bool per_thread) {
  if (!out) return api::result(cudaErrorInvalidValue);
  *out = nullptr;
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(allocate(out, bytes, nullptr, handle, per_thread, site));
}

cudaError_t allocate_from_pool(void** out, std::size_t bytes, cudaMemPool_t handle, cudaStream_t stream,
                               std::uint64_t site, bool per_thread) {
  if (!out) return api::result(cudaErrorInvalidValue);
  *out = nullptr;
  if (const cudaError_t error = api::refused()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!pool) return api::result(cudaErrorInvalidValue);
  return api::result(allocate(out, bytes, pool, stream, per_thread, site));
}

cudaError_t free_async(void* pointer, cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  cudaError_t error;
  if (model::slow()) [[unlikely]] {
    if (model::capture_free(*stream, pointer, error)) return api::result(error);
  }
  if (!pointer) return cudaSuccess;
  if (model::free_graph_memory(pointer, error)) return api::result(error);
  return api::result(model::free_ordered(pointer, *stream));
}

}  // namespace

MR_API cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  return allocate_async(out, bytes, stream, MR_SITE, false);
}
MR_API cudaMallocAsync_ptsz(void** out, size_t bytes, cudaStream_t stream) {
  return allocate_async(out, bytes, stream, MR_SITE, true);
}
MR_API cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate_from_pool(out, bytes, pool, stream, MR_SITE, false);
}
MR_API cudaMallocFromPoolAsync_ptsz(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate_from_pool(out, bytes, pool, stream, MR_SITE, true);
}
MR_TWINS(cudaFreeAsync, _ptsz, free_async, (void* pointer, cudaStream_t stream), pointer, stream)

MR_API cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* props) {
  if (!out || !props) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  model::current_context();
  Pool* pool = nullptr;
  if (const cudaError_t error = model::create_pool(&pool, *props)) return api::result(error);
  *out = reinterpret_cast<cudaMemPool_t>(pool);
  return cudaSuccess;
}
MR_API cudaMemPoolDestroy(cudaMemPool_t handle) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  return api::result(pool ? model::destroy_pool(*pool) : cudaErrorInvalidValue);
}
MR_API cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!pool || pool->imported()) return api::result(cudaErrorInvalidValue);
  pool->trim(keep);
  return cudaSuccess;
}
MR_API cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  return api::result(pool && value ? model::set_pool_attribute(*pool, attribute, value) : cudaErrorInvalidValue);
}
MR_API cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  return api::result(pool && value ? model::pool_attribute(*pool, attribute, value) : cudaErrorInvalidValue);
}
MR_API cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list, size_t count) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!pool || (!list && count)) return api::result(cudaErrorInvalidValue);
  return api::result(model::set_pool_access(*pool, list, count));
}
MR_API cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!pool || !flags || !location) return api::result(cudaErrorInvalidValue);
  return api::result(model::pool_access(*pool, *location, flags));
}

MR_API cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (device < 0 || device >= model::device_count()) return api::result(cudaErrorInvalidDevice);
  model::context_of(device);
  *out = reinterpret_cast<cudaMemPool_t>(model::default_pool(device));
  return api::result(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}
MR_API cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  if (!out || device < 0 || device >= model::device_count()) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::context_of(device);
  *out = reinterpret_cast<cudaMemPool_t>(model::current_pool(device));
  return api::result(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}
MR_API cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!pool || device < 0 || device >= model::device_count()) return api::result(cudaErrorInvalidValue);
  return api::result(model::set_current_pool(device, pool) ? cudaSuccess : cudaErrorInvalidValue);
}

namespace {

cudaError_t located(cudaMemPool_t* out, const cudaMemLocation* location, cudaMemAllocationType type, bool current) {
  if (!out || !location) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  if (location->type > cudaMemLocationTypeHostNuma) return api::result(cudaErrorNotSupported);
  Pool* pool = model::located_pool(*location, type, current);
  if (!pool) return api::result(cudaErrorInvalidValue);
  *out = reinterpret_cast<cudaMemPool_t>(pool);
  return cudaSuccess;
}

}  // namespace

MR_API cudaMemGetDefaultMemPool(cudaMemPool_t* out, cudaMemLocation* location, cudaMemAllocationType type) {
  return located(out, location, type, false);
}
MR_API cudaMemGetMemPool(cudaMemPool_t* out, cudaMemLocation* location, cudaMemAllocationType type) {
  return located(out, location, type, true);
}
MR_API cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t handle) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!pool || !location) return api::result(cudaErrorInvalidValue);
  if (location->type > cudaMemLocationTypeHostNuma) return api::result(cudaErrorNotSupported);
  return api::result(model::set_located_pool(*location, type, pool));
}

// ---- other processes
// -------------------------------------------------------------------------------------------------

MR_API cudaMemPoolExportToShareableHandle(void* out, cudaMemPool_t handle, cudaMemAllocationHandleType type,
                                          unsigned flags) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!out || !pool || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor || !pool->options().exportable)
    return api::result(cudaErrorInvalidValue);
  const int file = pool->export_file();
  if (file < 0) return api::result(cudaErrorInvalidValue);
  *static_cast<int*>(out) = file;
  return cudaSuccess;
}
MR_API cudaMemPoolImportFromShareableHandle(cudaMemPool_t* out, void* handle, cudaMemAllocationHandleType type,
                                            unsigned flags) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!out || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor) return api::result(cudaErrorInvalidValue);
  const int device = model::current_context().ordinal;
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  Pool* pool = Pool::import(file, device);
  if (!pool) return api::result(fcntl(file, F_GETFD) < 0 ? cudaErrorUnknown : cudaErrorInvalidValue);
  *out = reinterpret_cast<cudaMemPool_t>(pool);
  return cudaSuccess;
}
MR_API cudaMemPoolExportPointer(cudaMemPoolPtrExportData* out, void* pointer) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!out || !pointer) return api::result(cudaErrorInvalidValue);
  model::current_context();
  const Pool* pool = memory::space().pool_of(pointer);
  memory::BlockName name;
  if (!pool || !pool->name_block(pointer, &name)) return api::result(cudaErrorInvalidValue);
  static_assert(sizeof name == sizeof *out);
  std::memcpy(out, &name, sizeof name);
  return cudaSuccess;
}
MR_API cudaMemPoolImportPointer(void** out, cudaMemPool_t handle, cudaMemPoolPtrExportData* data) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  Pool* pool = pool_of(handle);
  if (!out || !pool || !data) return api::result(cudaErrorInvalidValue);
  memory::BlockName name;
  std::memcpy(&name, data, sizeof name);
  void* pointer = pool->import_block(name);
  if (!pointer) return api::result(cudaErrorInvalidValue);
  *out = pointer;
  return cudaSuccess;
}
