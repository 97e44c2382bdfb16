// Programmatic dependent launch (specification 2.5.5; programming guide, "Programmatic Dependent Launch and
// Synchronization").
//
// A kernel launched with programmatic stream serialisation (the secondary) may begin when all blocks of the kernel in
// front of it (the primary) have called cudaTriggerProgrammaticLaunchCompletion or ended; its
// cudaGridDependencySynchronize waits until the primary has completed. How it is built from queues, for primary P at
// number p of the stream's queue Q:
//
//   T (triggers):  a custom operation that completes when P has triggered
//   A (secondaries): wait for T; the secondary S
//   Q:             P; "P has triggered" (P has ended by then); wait for S in A
//
// So the stream still completes in order, and everything behind S waits for it. Needed only if P can trigger early
// (MR_KERNEL_PDL) and has not completed yet; otherwise S just follows P in Q.
//
// A has the stream's priority; a launch's own is its kernel's wherever that stands.
//
// Programmatic events stand for operations like T: cudaLaunchAttributeProgrammaticEvent for "all blocks have triggered
// or ended" (with triggerAtBlockStart: "have begun"), cudaLaunchAttributeLaunchCompletionEvent for "all blocks have
// begun". "Begun" is told of kernels with resident blocks only: others wait for nobody, so that nobody can tell their
// beginning from their end. A kernel that a stream is given right behind a wait for a programmatic event is a secondary
// of that event's kernel: cudaGridDependencySynchronize waits for its end.
#pragma once
#include <cstdint>

#include <model/event.h>
#include <model/launch.h>
#include <model/stream.h>

namespace mr::model {

// True for launches that have to go through launch_programmatic: secondaries, and kernels that call the device
// functions or record events.
inline bool concerns_programmatic(const LaunchRequest& request, const MrKernel& kernel) noexcept {
  return request.programmatic || (kernel.flags & MR_KERNEL_PDL) != 0 || request.programmatic_event ||
         request.completion_event;
}
// Enqueues a checked launch. Thread-safe.
void launch_programmatic(const LaunchRequest& request, const MrKernel& kernel, Stream& stream);
// The stream has been made to wait for a programmatic event whose kernel ends at `end`. Thread-safe.
void wait_for_programmatic(Stream& stream, const RecordPoint& end);

// simt's hooks; `launch` is Grid::launch.
void programmatic_trigger(void* launch, std::uint64_t block);
bool programmatic_ready(void* launch);
// The engine's: all blocks of a programmatic launch have begun.
void programmatic_begun(engine::Domain& domain, const simt::Grid& grid);

}  // namespace mr::model
