// Events shared between processes of one user (API reference, cudaIpcGetEventHandle and cudaIpcOpenEventHandle).
//
// The state of a cudaEventInterprocess event lies in a page of shared memory: how many records it has had, and which of
// them is complete. Every process that has the event may record it, wait for it and ask for it; the newest record
// counts, whoever made it. A record of a process that is gone counts as complete.
#pragma once
#include <driver_types.h>
#include <engine/wait.h>
#include <model/event.h>
#include <model/stream.h>

namespace mr::model {

// Gives a new event its shared page. cudaErrorMemoryAllocation when the kernel gives none.
cudaError_t make_shared(Event& event) noexcept;
// The event's share in the page ends. Operations that are under way keep it.
void release_shared(Event& event) noexcept;

// In place of record_event, stream_wait_event, a query and a wait, for events whose `ipc` isn't null. Thread-safe.
void record_shared(Event& event, Stream& stream) noexcept;
void stream_wait_shared(Stream& stream, Event& event) noexcept;
bool shared_complete(const Event& event) noexcept;
void wait_shared(Event& event, engine::WaitMode mode) noexcept;

// cudaErrorInvalidResourceHandle: not an interprocess event, or one of another process.
cudaError_t export_event(Event& event, cudaIpcEventHandle_t* out) noexcept;
// cudaErrorInvalidResourceHandle: not a handle, or its event is gone; cudaErrorDeviceUninitialized: a handle of this
// process; cudaErrorNotPermitted: of another user.
cudaError_t import_event(const cudaIpcEventHandle_t& handle, cudaEvent_t* out) noexcept;

}  // namespace mr::model
