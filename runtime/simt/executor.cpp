#include <simt/executor.h>

#include <mutex>
#include <new>

#include <simt/fault.h>
#include <simt/lock.h>
#include <simt/protect.h>
#include <simt/resident.h>

namespace mr::simt {
namespace {

Lock list_lock;
Executor* first_executor = nullptr;

// Ends with the thread. The executor itself is separate: interrupt_all and the fault handler only need the pointer.
struct ThreadExit {
  Executor* executor = nullptr;
  ~ThreadExit();
};
thread_local ThreadExit thread_exit;

}  // namespace

namespace detail {

constinit thread_local Executor* executor_of_thread __attribute__((tls_model("initial-exec"))) = nullptr;

[[gnu::noinline]] Executor* make_executor() noexcept {
  StackPool& pool = StackPool::instance();
  Executor* e = new (std::nothrow) Executor;
  if (!e) return nullptr;
  e->loop_stack = e->stacks.take();
  e->loop_window = take_window();
  if (e->loop_stack == no_stack || !e->loop_window) {
    if (e->loop_window) give_window(e->loop_window);
    e->stacks.trim(0);
    delete e;
    return nullptr;
  }
  e->loop_top = pool.top_of(e->loop_stack);
  e->loop_lane = pool.lane_of(e->loop_stack);
  // In the MrLane's page, at another pair of lines.
  const std::uint64_t base = pool.base_of(e->loop_stack), colour = base >> MR_STACK_BITS & 63;
  e->loop_block = new (reinterpret_cast<void*>(base + ((colour ^ 32) & 62) * 64)) MrBlock{};
  new (e->loop_lane) MrLane{};
  e->loop_lane->block = e->loop_block;
  e->thread = pthread_self();
#ifdef MR_SIMT_TSAN
  e->host_sanitized.fiber = __tsan_get_current_fiber();
#endif
  prepare_thread_for_faults(*e);
  {
    std::lock_guard guard(list_lock);
    e->next = first_executor;
    if (first_executor) first_executor->previous = e;
    first_executor = e;
  }
  thread_exit.executor = e;
  executor_of_thread = e;
  return e;
}

}  // namespace detail

namespace {

ThreadExit::~ThreadExit() {
  if (!executor) return;
  protect::RuntimeScope access;
  detail::executor_of_thread = nullptr;
  {
    std::lock_guard guard(list_lock);
    if (executor->previous)
      executor->previous->next = executor->next;
    else
      first_executor = executor->next;
    if (executor->next) executor->next->previous = executor->previous;
  }
  release_thread_from_faults(*executor);
  if (executor->finite) destroy(executor->finite);
  while (Resident* r = executor->spare) {
    executor->spare = r->next;
    destroy(r);
  }
  give_window(executor->loop_window);
  executor->stacks.give(executor->loop_stack);
  executor->stacks.trim(0);
  delete executor;
  executor = nullptr;
}

}  // namespace

void for_each_executor(void (*visit)(Executor&, void*), void* argument) noexcept {
  std::lock_guard guard(list_lock);
  for (Executor* e = first_executor; e; e = e->next) visit(*e, argument);
}

}  // namespace mr::simt
