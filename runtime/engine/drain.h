// Executing the operations at a queue's front.
#pragma once
#include <cstdint>

#include <engine/queue.h>
#include <engine/worker.h>

namespace mr::engine {

enum class Drain : std::uint8_t {
  reached,   // completed up to the wanted number; the caller still owns the queue
  empty,     // nothing left; likewise
  close,     // a few operations left, and the enqueuer at work: a worker had better come later; likewise
  yielded,   // something more urgent is ready; likewise
  workers,   // the front operation is for workers only; likewise
  unpinned,  // the front operation is a host function and this worker has resident blocks; likewise
  gone,      // the queue parked or its front runs asynchronously: the caller doesn't own it any more
};

// For `until`: all that is there, but a worker doesn't tread on an enqueuer's heels (Drain::close).
inline constexpr std::uint64_t everything = ~std::uint64_t{0};
// Executes operations of a queue that the caller owns until `until` has completed. Those up to `known` are visible to
// the caller (tail() has been read, acquire, by him or by who told him): up to there, the tail isn't read.
Drain drain(Queue& queue, Runner& runner, std::uint64_t until, std::uint64_t known = 0) noexcept;
// Runs the host function that a worker, who has the queue, has been called with. False, and nothing is done, when it
// isn't the operation at the front (any more), or can't be run by this worker now.
bool run_called(Queue& queue, const HostCall& call, Runner& runner) noexcept;
// Gives up ownership as the result demands.
void settle(Queue& queue, Runner& runner, Drain result) noexcept;

}  // namespace mr::engine
