// External semaphores: a signal is taken for a record of an event that the semaphore has, a wait for a wait for its
// newest one. Values aren't looked at; what waits for a signal that is yet to be enqueued is behind the one before.
#include "api.h"

using namespace mr::check;

namespace mr::check {

std::shared_ptr<Event> event_of(cudaExternalSemaphore_t semaphore) {
  auto& event = checker->semaphores[semaphore];
  if (!event) event = std::make_shared<Event>();
  return event;
}

}  // namespace mr::check

MR_TWINS(cudaSignalExternalSemaphoresAsync, _ptsz,
         (const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* params, unsigned count,
          cudaStream_t stream),
         (semaphores, params, count, stream)) {
  ApiCall call("cudaSignalExternalSemaphoresAsync");
  const bool captured = capturing(stream, per_thread);
  const cudaError_t error = next(semaphores, params, count, stream);
  if (error != cudaSuccess || captured) return error;
  std::scoped_lock hold(checker->lock);
  if (const auto s = stream_of(stream, per_thread))
    for (unsigned i = 0; i < count; ++i) checker->order.record(*event_of(semaphores[i]), s);
  return error;
}
MR_TWINS(cudaWaitExternalSemaphoresAsync, _ptsz,
         (const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* params, unsigned count,
          cudaStream_t stream),
         (semaphores, params, count, stream)) {
  ApiCall call("cudaWaitExternalSemaphoresAsync");
  const bool captured = capturing(stream, per_thread);
  const cudaError_t error = next(semaphores, params, count, stream);
  if (error != cudaSuccess || captured) return error;
  std::scoped_lock hold(checker->lock);
  if (const auto s = stream_of(stream, per_thread))
    for (unsigned i = 0; i < count; ++i)
      if (const auto event = event_of(semaphores[i]); !event->records.empty()) checker->order.wait(*s, event);
  return error;
}
MR_ONE(cudaDestroyExternalSemaphore, (cudaExternalSemaphore_t semaphore), (semaphore)) {
  ApiCall call("cudaDestroyExternalSemaphore");
  const cudaError_t error = next(semaphore);
  std::scoped_lock hold(checker->lock);
  if (error == cudaSuccess) checker->semaphores.erase(semaphore);
  return error;
}
