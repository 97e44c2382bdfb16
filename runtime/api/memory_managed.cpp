// Managed memory (CUDA Runtime API, "Memory Management": cudaMallocManaged, prefetching, advice, range attributes;
// cudaStreamAttachMemAsync).
#include <api/export.h>
#include <api/unsafe.h>
#include <model/capture.h>
#include <model/memory.h>
#include <model/memory_managed.h>
#include <model/stream.h>

using namespace mr;

namespace {

cudaError_t prefetch(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned flags,
                     cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  if (const cudaError_t error = model::check_prefetch(pointer, bytes, location, flags)) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  cudaError_t error;
  if (model::slow() && model::capture_refuse(*stream, error)) return api::result(error);
  model::prefetched(pointer, bytes, location, false);
  return cudaSuccess;
}

// What the batch forms have in common. Locations count from their index on, up to the next one's.
struct Batch {
  void** pointers;
  std::size_t* sizes;
  std::size_t count;
  cudaMemLocation* locations;
  std::size_t* indexes;
  std::size_t location_count;
  bool prefetch;
};

cudaError_t run_batch(const Batch& batch, unsigned long long flags, cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!batch.pointers || !batch.sizes || batch.count == 0 || flags != 0) return api::result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (stream->is_legacy) return api::result(cudaErrorInvalidValue);
  if (batch.prefetch) {
    if (!batch.locations || !batch.indexes || batch.location_count == 0 || batch.location_count > batch.count ||
        batch.indexes[0] != 0)
      return api::result(cudaErrorInvalidValue);
    for (std::size_t i = 1; i < batch.location_count; ++i)
      if (batch.indexes[i] <= batch.indexes[i - 1] || batch.indexes[i] >= batch.count)
        return api::result(cudaErrorInvalidValue);
  }
  const auto each = [&](auto&& visit) -> cudaError_t {
    std::size_t location = 0;
    for (std::size_t i = 0; i < batch.count; ++i) {
      while (batch.prefetch && location + 1 < batch.location_count && batch.indexes[location + 1] <= i) ++location;
      if (const cudaError_t error = visit(i, location)) return error;
    }
    return cudaSuccess;
  };
  const cudaError_t wrong = each([&](std::size_t i, std::size_t location) {
    if (!batch.prefetch)
      return model::managed_range(batch.pointers[i], batch.sizes[i]) ? cudaSuccess : cudaErrorInvalidValue;
    return model::check_prefetch(batch.pointers[i], batch.sizes[i], batch.locations[location], 0) == cudaSuccess
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
  if (wrong) return api::result(wrong);
  cudaError_t error;
  if (model::slow() && model::capture_refuse(*stream, error)) return api::result(error);
  // Discarded contents may stay as they are: nobody may read them before they are written again.
  if (batch.prefetch)
    each([&](std::size_t i, std::size_t location) {
      model::prefetched(batch.pointers[i], batch.sizes[i], batch.locations[location], true);
      return cudaSuccess;
    });
  return cudaSuccess;
}

cudaError_t prefetch_batch(void** pointers, std::size_t* sizes, std::size_t count, cudaMemLocation* locations,
                           std::size_t* indexes, std::size_t location_count, unsigned long long flags,
                           cudaStream_t stream, bool per_thread) {
  return run_batch({pointers, sizes, count, locations, indexes, location_count, true}, flags, stream, per_thread);
}
cudaError_t discard_batch(void** pointers, std::size_t* sizes, std::size_t count, unsigned long long flags,
                          cudaStream_t stream, bool per_thread) {
  return run_batch({pointers, sizes, count, nullptr, nullptr, 0, false}, flags, stream, per_thread);
}

cudaError_t attach(cudaStream_t handle, void* pointer, std::size_t length, unsigned flags, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_refuse(*stream, error) || model::capture_unsafe(error)) return api::result(error);
  }
  return api::result(model::attach(!handle && !per_thread, pointer, length, flags));
}

}  // namespace

MR_API cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  cudaError_t error;
  if (model::slow() && model::capture_unsafe(error)) return api::result(error);
  return api::result(
      model::allocate_managed(out, bytes, flags, reinterpret_cast<std::uint64_t>(__builtin_return_address(0))));
}

MR_TWINS(cudaMemPrefetchAsync, _ptsz, prefetch,
         (const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream), pointer,
         bytes, location, flags, stream)
MR_TWINS(cudaMemPrefetchBatchAsync, _ptsz, prefetch_batch,
         (void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations, size_t* indexes,
          size_t location_count, unsigned long long flags, cudaStream_t stream),
         pointers, sizes, count, locations, indexes, location_count, flags, stream)
MR_TWINS(cudaMemDiscardAndPrefetchBatchAsync, _ptsz, prefetch_batch,
         (void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations, size_t* indexes,
          size_t location_count, unsigned long long flags, cudaStream_t stream),
         pointers, sizes, count, locations, indexes, location_count, flags, stream)
MR_TWINS(cudaMemDiscardBatchAsync, _ptsz, discard_batch,
         (void** pointers, size_t* sizes, size_t count, unsigned long long flags, cudaStream_t stream), pointers, sizes,
         count, flags, stream)
MR_TWINS(cudaStreamAttachMemAsync, _ptsz, attach, (cudaStream_t stream, void* pointer, size_t length, unsigned flags),
         stream, pointer, length, flags)

MR_API cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  if (const cudaError_t error = api::refused_or_unsafe()) return api::result(error);
  model::current_context();
  return api::result(model::advise(pointer, bytes, advice, location));
}
MR_API cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute, const void* pointer,
                                size_t bytes) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  return api::result(model::range_attribute(data, data_bytes, attribute, pointer, bytes, true));
}
MR_API cudaMemRangeGetAttributes(void** data, size_t* data_bytes, cudaMemRangeAttribute* attributes, size_t count,
                                 const void* pointer, size_t bytes) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!data || !data_bytes || !attributes || count == 0) return api::result(cudaErrorInvalidValue);
  model::current_context();
  // All are checked before the first is written.
  for (const bool write : {false, true})
    for (std::size_t i = 0; i < count; ++i)
      if (const cudaError_t error = model::range_attribute(data[i], data_bytes[i], attributes[i], pointer, bytes,
                                                           write))
        return api::result(error);
  return cudaSuccess;
}
