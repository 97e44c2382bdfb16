// OpenMP threads: what a parallel region, its barriers, locks and tasks order. LLVM's OpenMP runtime asks for a tool by
// the interface of the OpenMP specification (5.1, chapter 19, "OMPT"), of which the few types needed are declared here.
#include <atomic>
#include <cstdint>

#include "state.h"

namespace mr::check {
namespace {

union Data {
  std::uint64_t value;
  void* pointer;
};
enum Callback : int {
  callback_parallel_begin = 3,
  callback_parallel_end = 4,
  callback_task_create = 5,
  callback_task_schedule = 6,
  callback_implicit_task = 7,
  callback_mutex_released = 17,
  callback_sync_region = 23,
  callback_mutex_acquired = 27,
};
enum Scope : int { scope_begin = 1, scope_end = 2 };
enum Region : int { region_taskwait = 5, region_taskgroup = 6, region_reduction = 7 };
using Function = void (*)();
using Lookup = Function (*)(const char* name);
using SetCallback = int (*)(int callback, Function function);

// What threads synchronise by, as keys of the checker's table: no address of the program is as low.
enum Key : std::uint64_t { key_fork, key_barrier, key_tasks, key_task, keys };
std::uintptr_t key_of(std::uint64_t id, Key key) noexcept { return 1 + id * keys + key; }
std::uint64_t new_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Of the region that a task belongs to: an implicit task has its region's number, an explicit one its own above it.
constexpr std::uint64_t region_bits = 32;
std::uint64_t region_of(const Data* task) noexcept {
  return task ? task->value & ((std::uint64_t{1} << region_bits) - 1) : 0;
}

void on_parallel_begin(Data*, const void*, Data* parallel, unsigned, int, const void*) {
  parallel->value = new_id();
  sync_release(key_of(parallel->value, key_fork));
}
void on_parallel_end(Data* parallel, Data*, int, const void*) { sync_acquire(key_of(parallel->value, key_barrier)); }
void on_implicit_task(int scope, Data* parallel, Data* task, unsigned, unsigned, int) {
  if (scope != scope_begin || !task) return;
  task->value = parallel ? parallel->value : 0;
  if (parallel) sync_acquire(key_of(parallel->value, key_fork));
}
// All barriers of a region share a key: who comes late to one may learn what belongs to the next, never less than it
// should.
void on_sync_region(int kind, int scope, Data*, Data* task, const void*) {
  if (kind == region_reduction) return;
  const std::uint64_t region = region_of(task);
  if (kind == region_taskwait || kind == region_taskgroup) {
    if (scope == scope_end) sync_acquire(key_of(region, key_tasks));
    return;
  }
  if (scope == scope_begin) sync_release(key_of(region, key_barrier));
  if (scope == scope_end) {
    sync_acquire(key_of(region, key_barrier));
    sync_acquire(key_of(region, key_tasks));
  }
}
void on_mutex_acquired(int, std::uint64_t id, const void*) { sync_acquire(id); }
void on_mutex_released(int, std::uint64_t id, const void*) { sync_release(id); }
void on_task_create(Data* by, const void*, Data* task, int, int has_dependences, const void*) {
  // The highest bit: it depends on others.
  const std::uint64_t id = new_id();
  task->value = region_of(by) | id << region_bits | (has_dependences ? std::uint64_t{1} << 63 : 0);
  sync_release(key_of(id, key_task));
}
void on_task_schedule(Data* before, int, Data* task) {
  const auto id_of = [](const Data* t) { return t ? t->value << 1 >> (region_bits + 1) : 0; };
  if (id_of(before)) sync_release(key_of(region_of(before), key_tasks));
  if (const std::uint64_t id = id_of(task)) {
    sync_acquire(key_of(id, key_task));
    if (task->value >> 63) sync_acquire(key_of(region_of(task), key_tasks));
  }
}

int initialize(Lookup lookup, int, Data*) {
  const auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (!set) return 0;
  set(callback_parallel_begin, reinterpret_cast<Function>(on_parallel_begin));
  set(callback_parallel_end, reinterpret_cast<Function>(on_parallel_end));
  set(callback_implicit_task, reinterpret_cast<Function>(on_implicit_task));
  set(callback_sync_region, reinterpret_cast<Function>(on_sync_region));
  set(callback_mutex_acquired, reinterpret_cast<Function>(on_mutex_acquired));
  set(callback_mutex_released, reinterpret_cast<Function>(on_mutex_released));
  set(callback_task_create, reinterpret_cast<Function>(on_task_create));
  set(callback_task_schedule, reinterpret_cast<Function>(on_task_schedule));
  return 1;
}

struct Tool {
  int (*initialize)(Lookup, int, Data*);
  void (*finalize)(Data*);
  Data data;
};

}  // namespace
}  // namespace mr::check

extern "C" [[gnu::visibility("default")]] void* ompt_start_tool(unsigned, const char*) {
  static mr::check::Tool tool = {mr::check::initialize, [](mr::check::Data*) {}, {}};
  return mr::check::checker ? &tool : nullptr;
}
