// How a host thread calls the worker that watches a queue, and gets his answer.
//
// A worker that watches a queue (worker.h) looks at its call line all the time. Whoever waits for a host function
// writes the operation's number there; a thread that waits for what it has itself enqueued last adds the function, so
// that the worker needn't fetch the record, and looks for the answer in the same line: a line that goes to and fro
// between two writers costs half of what two lines cost that are each written by one side and read by the other.
#pragma once
#include <atomic>
#include <cstdint>

#include <engine/clock.h>
#include <engine/delay.h>
#include <engine/op.h>
#include <engine/spinlock.h>

namespace mr::engine {

// A host function together with where it stands.
struct HostCall {
  std::uint64_t sequence = 0;      // of the operation; 0: none
  const HostOp* record = nullptr;  // its address only: the record may have been run, and its memory used again
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  void (*with_status)(HostOp& op, bool dead) = nullptr;
};

class alignas(64) CallLine {
 public:
  // Ticks that pass at least from a call to its answer, and from the end of a call's work to the next call, about half
  // of a line's round trip: who looks earlier takes the line away from the one who is about to write it, and that costs
  // them both another way. (Of the values from 0 to 220 each, these are the best ones of a pair that calls all the
  // time; for one that doesn't, they change nothing.)
  static constexpr std::uint64_t answer_ticks = 150, next_call_ticks = 100;
  static void pause_until(std::uint64_t tick) noexcept {
    while (ticks() < tick) cpu_pause();
  }
  // Any thread. Asks for everything up to `sequence`. A call may get lost behind another thread's.
  void call(std::uint64_t sequence) noexcept { called_for_.store(sequence, std::memory_order_release); }
  // The same with the function, by one thread at a time: who holds the queue's append lock. (A lock in this line would
  // have to wait for it, and the worker takes it away again before what is guarded has been written; plain stores wait
  // in the store buffer and go out together.)
  void call(const HostCall& what) noexcept {
    function_of_.store(writing, std::memory_order_relaxed);
    // Nothing of the function is seen before the mark: pairs with the fence in take().
    std::atomic_thread_fence(std::memory_order_release);
    MR_DELAY();
    record_.store(what.record, std::memory_order_relaxed);
    function_.store(what.function, std::memory_order_relaxed);
    data_.store(what.data, std::memory_order_relaxed);
    with_status_.store(what.with_status, std::memory_order_relaxed);
    function_of_.store(what.sequence, std::memory_order_release);
    MR_DELAY();
    called_for_.store(what.sequence, std::memory_order_release);
  }
  // Acquire: the operations up to there.
  std::uint64_t called_for() const noexcept { return called_for_.load(std::memory_order_acquire); }

  // The worker. The function of `sequence`, which it has been called for; `what.sequence` is 0 if it must be read from
  // the record.
  void take(std::uint64_t sequence, HostCall& what) const noexcept {
    what.sequence = 0;
    if (function_of_.load(std::memory_order_acquire) != sequence) return;
    what.record = record_.load(std::memory_order_relaxed);
    what.function = function_.load(std::memory_order_relaxed);
    what.data = data_.load(std::memory_order_relaxed);
    what.with_status = with_status_.load(std::memory_order_relaxed);
    // If any of it is a later caller's, his mark is seen here.
    std::atomic_thread_fence(std::memory_order_acquire);
    MR_DELAY();
    if (function_of_.load(std::memory_order_relaxed) == sequence) what.sequence = sequence;
  }
  // After the operation has been published as completed. Invariant: answered() <= Queue::completed().
  void answer(std::uint64_t sequence) noexcept { answered_.store(sequence, std::memory_order_release); }
  // Acquire: what the operations up to there wrote.
  std::uint64_t answered() const noexcept { return answered_.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint64_t writing = ~std::uint64_t{0};
  std::atomic<std::uint64_t> called_for_{0};
  // Whose function the next four fields hold: `writing` while they change.
  std::atomic<std::uint64_t> function_of_{0};
  std::atomic<const HostOp*> record_{nullptr};
  std::atomic<void (*)(void*)> function_{nullptr};
  std::atomic<void*> data_{nullptr};
  std::atomic<void (*)(HostOp&, bool)> with_status_{nullptr};
  std::atomic<std::uint64_t> answered_{0};
};
static_assert(sizeof(CallLine) == 64);

}  // namespace mr::engine
