// Memory and semaphores of other programs (CUDA Runtime API, "External Resource Interoperability").
#include <api/export.h>
#include <model/capture.h>
#include <model/external.h>
#include <model/stream.h>

using namespace mr;

namespace {

// Null: `error` is what there is to return.
model::Stream* semaphore_stream(unsigned count, const cudaExternalSemaphore_t* semaphores,
                                const cudaExternalSemaphoreSignalParams* signals,
                                const cudaExternalSemaphoreWaitParams* waits, cudaStream_t handle, bool per_thread,
                                cudaError_t& error) {
  error = cudaErrorInvalidValue;
  if (!semaphores || (!signals && !waits)) return nullptr;
  if ((error = api::refused())) return nullptr;
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) error = cudaErrorInvalidResourceHandle;
  if (stream && count && model::slow()) [[unlikely]]
    if (model::capture_external(*stream, semaphores, signals, waits, count, error)) return nullptr;
  return count ? stream : nullptr;
}

cudaError_t signal(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* params,
                   unsigned count, cudaStream_t handle, bool per_thread) {
  cudaError_t error;
  model::Stream* stream = semaphore_stream(count, semaphores, params, nullptr, handle, per_thread, error);
  return api::result(stream ? model::signal_external(semaphores, params, count, *stream) : error);
}

cudaError_t wait(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* params,
                 unsigned count, cudaStream_t handle, bool per_thread) {
  cudaError_t error;
  model::Stream* stream = semaphore_stream(count, semaphores, nullptr, params, handle, per_thread, error);
  return api::result(stream ? model::wait_external(semaphores, params, count, *stream) : error);
}

}  // namespace

MR_API cudaImportExternalMemory(cudaExternalMemory_t* memory, const cudaExternalMemoryHandleDesc* handle) {
  if (!memory || !handle) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  return api::result(model::import_memory(memory, *handle));
}

MR_API cudaExternalMemoryGetMappedBuffer(void** pointer, cudaExternalMemory_t memory,
                                         const cudaExternalMemoryBufferDesc* buffer) {
  if (!pointer || !memory || !buffer) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::map_external(pointer, memory, *buffer));
}

MR_API cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  if (!memory) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::destroy_external_memory(memory));
}

MR_API cudaImportExternalSemaphore(cudaExternalSemaphore_t* semaphore, const cudaExternalSemaphoreHandleDesc* handle) {
  if (!semaphore || !handle) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  return api::result(model::import_semaphore(semaphore, *handle));
}

MR_API cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore) {
  if (!semaphore) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::destroy_external_semaphore(semaphore));
}

MR_TWINS(cudaSignalExternalSemaphoresAsync, _ptsz, signal,
         (const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* params, unsigned count,
          cudaStream_t stream),
         semaphores, params, count, stream)
MR_TWINS(cudaWaitExternalSemaphoresAsync, _ptsz, wait,
         (const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* params, unsigned count,
          cudaStream_t stream),
         semaphores, params, count, stream)
