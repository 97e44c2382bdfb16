#include "state.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include <observe/subscriber.h>
#include <simt/abi.h>

#include "next.h"

namespace mr::check {

Checker* checker = nullptr;
thread_local ThreadState* thread_state __attribute__((tls_model("initial-exec"))) = nullptr;

Checker::Checker()
    : shadow([this](const Access& before, const Access& now, std::uintptr_t begin, std::uintptr_t end) {
        report.conflict(before, now, begin, end);
      }) {}

namespace {
// Behind the destructors of the thread's variables.
void end_thread(void* state) {
  auto* t = static_cast<ThreadState*>(state);
  std::scoped_lock hold(checker->lock);
  for (auto& stream : t->default_streams)
    if (stream) checker->order.retire(std::move(stream));
  leave_device_accesses();
  thread_state = nullptr;
  delete t;
}
}  // namespace

ThreadState& make_thread(bool of_program, const Clock (*parent)[worlds]) {
  auto* t = new ThreadState;
  ++t->inside;
  thread_state = t;  // by now: what follows may call a malloc of the program's
  {
    std::scoped_lock hold(checker->lock);
    if (parent) {
      const auto [chain, time] = checker->order.take_chain(*parent);
      t->own.chain = chain;
      t->own.time = time + 1;
      checker->order.acquire(t->own, *parent);
    } else {
      t->own.chain = checker->order.new_chain();
    }
    t->number = checker->next_thread++;
  }
  static const pthread_key_t at_end = [] {
    pthread_key_t key;
    return pthread_key_create(&key, end_thread) == 0 ? key : ~pthread_key_t{0};
  }();
  pthread_setspecific(at_end, t);
  if (of_program) --t->inside;
  return *t;
}

void Checker::begin_child() {
  report.begin_child();
  groups.clear();
  unfinished = 0;
  operations = accesses = bytes = unchecked_kernels = 0;
}

Call call_site(ThreadState& t, const char* api, std::uintptr_t pc) {
  auto call = std::make_shared<CallSite>();
  call->api = api;
  constexpr std::size_t most = 12;
  if (t.frames.empty()) {
    // Not instrumented: by the unwinder, from the program's frame on.
    void* pcs[most + 6];
    const int count = backtrace(pcs, most + 6);
    int first = 0;
    for (int i = 0; i < count; ++i)
      if (reinterpret_cast<std::uintptr_t>(pcs[i]) == pc) first = i;
    for (int i = first; i < count; ++i) call->frames.push_back(reinterpret_cast<std::uintptr_t>(pcs[i]));
    if (call->frames.empty() || call->frames[0] != pc) call->frames.assign(1, pc);
  } else {
    call->frames.push_back(pc);
    for (std::size_t i = t.frames.size(); i > 0 && call->frames.size() < most; --i)
      call->frames.push_back(t.frames[i - 1]);
  }
  return call;
}

void Checker::add_allocation(const void* p, std::size_t bytes, Memory memory, int device, const Call& call,
                             bool fresh) {
  if (!p || !bytes) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  // Whatever was there has been given back.
  auto it = allocations.lower_bound(begin);
  if (it != allocations.begin() && std::prev(it)->second.end > begin) --it;
  while (it != allocations.end() && it->first < begin + bytes) it = allocations.erase(it);
  if (fresh) shadow.forget(begin, begin + bytes);
  allocations[begin] = {begin + bytes, memory, device, call, {}, 0};
  if (api_only) return;
  if (memory == Memory::device || memory == Memory::pool || memory == Memory::variable) return;
  for (std::uintptr_t page = begin >> 12; page <= (begin + bytes - 1) >> 12; ++page)
    pages[page >> 6 & 1023].fetch_or(std::uint64_t{1} << (page & 63), std::memory_order_relaxed);
}

const Allocation* Checker::allocation_of(std::uintptr_t address, std::uintptr_t* begin) const {
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin()) return nullptr;
  --it;
  if (address >= it->second.end) return nullptr;
  if (begin) *begin = it->first;
  return &it->second;
}

void Checker::touch(std::uintptr_t begin, std::uintptr_t end, const Access& access) {
  accesses.fetch_add(1, std::memory_order_relaxed);
  while (begin < end) {
    auto it = allocations.upper_bound(begin);
    if (it != allocations.begin() && std::prev(it)->second.end > begin) --it;
    if (it == allocations.end() || it->first >= end) return;
    const std::uintptr_t from = std::max(begin, it->first), until = std::min(end, it->second.end);
    bytes.fetch_add(until - from, std::memory_order_relaxed);
    // The end of the memory's life before may be heard of late.
    if (!(access.kind & frees) || access.op->number >= it->second.born) shadow.touch(from, until, access);
    begin = until;
  }
}

void Checker::touch(const Touch& t, const Access& access) {
  for (std::size_t slice = 0; slice < t.slices; ++slice)
    for (std::size_t row = 0; row < t.rows; ++row) {
      const std::uintptr_t begin = t.begin + slice * t.slice + row * t.pitch;
      touch(begin, begin + t.width, access);
    }
}

// The operation has run: its clock is complete, and what it touched is known.
void Checker::executed(const OpRef& op) {
  order.resolve(op);
  operations.fetch_add(1, std::memory_order_relaxed);
  if (op->kernel) {
    KernelRecord& kernel = *op->kernel;
    if (!kernel.seen && !checked_kernels.contains(kernel.name))
      unchecked_kernels.fetch_add(1, std::memory_order_relaxed);
    if (kernel.early) order.resolve(kernel.early);
    // The primary's end is its trigger when it has no other.
    const auto primary = kernel.primary.lock();
    const bool early = kernel.early && primary && primary->kernel && primary->kernel->triggered;
    kernel.finish(
        [this](std::uintptr_t at) {
          std::uintptr_t begin = 0;
          return allocation_of(at, &begin) ? begin : 0;
        },
        [&](const GridRun& run) {
          touch(run.begin, run.end, {early && run.early ? kernel.early : op, kind_of(run.way), run.site, nullptr});
        });
    kernel.early = nullptr;
    for (const BlockConflict& conflict : kernel.conflicts)
      if (allocation_of(conflict.begin)) report.block_conflict(op, conflict);
    kernel.states.clear();
    kernel.releases.clear();
  }
  for (const Touch& t : op->touches) touch(t, {op, t.kind, nullptr, nullptr});
  op->touches.clear();
}

void Checker::finish(std::uint32_t tag, const std::shared_ptr<Group>& group) {
  collect_device_accesses(tag);
  if (!group->dropped) {
    if (group->launch) {
      ExecMirror* exec = group->launch->exec;
      for (const std::uint32_t step : group->launch->tags) collect_device_accesses(step);
      for (const OpRef& op : group->launch->ops) executed(op);
      if (exec) std::erase(exec->launches, group->launch);
    }
    for (const OpRef& op : group->ops) executed(op);
  }
  groups.erase(tag);
}

// ---- calls ----

ApiCall::ApiCall(const char* api) : thread(self()), outer(thread.call) {
  ++thread.inside;
  call = call_site(thread, api, thread.call_pc);
  thread.call = this;
  std::scoped_lock hold(checker->lock);
  flush_touches(thread);
}

ApiCall::~ApiCall() {
  if (group) finish(false);
  thread.call = outer;
  --thread.inside;
}

void ApiCall::expect(std::vector<OpRef> ops) {
  group = std::make_shared<Group>();
  group->ops = std::move(ops);
  tag = checker->next_tag++;
  checker->groups[tag] = group;
}

void ApiCall::finish(bool succeeded) {
  if (!group) return;
  std::scoped_lock hold(checker->lock);
  group->closed = true;
  group->dropped = !succeeded;
  if (group->pending == 0) checker->finish(tag, group);
  group = nullptr;
}

// ---- host functions ----

FunctionScope::FunctionScope(const OpRef& op, Role role) : t_(self()), outer_(t_.actor), op_(op), inside_(t_.inside) {
  t_.inside = 1;
  frames_.swap(t_.frames);
  {
    std::scoped_lock hold(checker->lock);
    checker->order.resolve(op);
    flush_touches(t_);
    auto& [chain, time] = checker->function_chains[op->chain];
    if (!chain) chain = checker->order.new_chain();
    actor_.chain = chain;
    actor_.time = ++time;
    actor_.role = role;
    actor_.of = op;
    for (int world = 0; world < worlds; ++world) actor_.clock[world] = op->clock[world];
  }
  t_.actor = &actor_;
  static thread_local const StackRange own = own_stack();
  stack_ = std::exchange(t_.function_stack, checker->api_only ? StackRange{} : own);
  t_.inside = 0;
}

FunctionScope::~FunctionScope() {
  t_.inside = 1;
  {
    std::scoped_lock hold(checker->lock);
    flush_touches(t_);
    // Operations behind the function are behind all that it did and learnt.
    for (int world = 0; world < worlds; ++world) {
      op_->clock[world].join(actor_.clock[world]);
      op_->clock[world].raise(actor_.chain, actor_.time);
    }
    checker->function_chains[op_->chain].second = actor_.time;
  }
  t_.function_stack = stack_;
  t_.actor = outer_;
  frames_.swap(t_.frames);
  t_.inside = inside_;
}

// ---- what the runtime tells ----

namespace {

void run_pending();

std::uint32_t on_enqueued(const void*, std::uint64_t) {
  ThreadState* t = thread_state;
  if (!t || !t->call || !t->call->group) return observe::no_tag;
  // The first one: by now the runtime has registered what ends its work at exit, which comes behind this.
  [[maybe_unused]] static const int registered = std::atexit(run_pending);
  std::scoped_lock hold(checker->lock);
  ++t->call->group->pending;
  return t->call->tag;
}

void on_ended(std::uint32_t tag) {
  if (tag == observe::no_tag) return;
  ThreadState& t = self();
  Inside inside(t);
  std::scoped_lock hold(checker->lock);
  const auto it = checker->groups.find(tag);
  if (it == checker->groups.end()) return;
  const auto group = it->second;
  if (--group->pending == 0 && group->closed) checker->finish(tag, group);
}

void on_node_added(const void* node) {
  ThreadState* t = thread_state;
  if (!t || !t->call) return;
  std::scoped_lock hold(checker->lock);
  t->call->noded = true;
  checker->nodes[node] = {t->call->call, {}};
}

void on_node_copied(const void* copy, const void* original) {
  std::scoped_lock hold(checker->lock);
  if (const auto it = checker->nodes.find(original); it != checker->nodes.end()) checker->nodes[copy] = it->second;
}

std::uint32_t on_node_instantiated(const void* node) {
  ThreadState* t = thread_state;
  if (!t || !t->call) return observe::no_tag;
  std::scoped_lock hold(checker->lock);
  const std::uint32_t tag = checker->next_tag++;
  t->call->instantiated.emplace_back(node, tag);
  return tag;
}

void on_host_step(std::uint32_t tag) { self().step_tag = tag; }

void on_image_loaded(int device, const MrImage& image) {
  Inside inside(self());
  std::scoped_lock hold(checker->lock);
  for (std::uint64_t i = 0; i < image.kernel_count; ++i)
    if (image.kernels[i].flags & MR_KERNEL_CHECKED) checker->checked_kernels.insert(image.kernels[i].name);
  std::unordered_map<std::string_view, std::uint64_t> sizes;  // of managed variables
  for (std::uint64_t i = 0; i < image.variable_count; ++i)
    if (const MrVariable& v = image.variables[i]; v.kind == MR_VAR_MANAGED && !(v.flags & MR_VAR_IS_SLOT))
      sizes[v.name] = v.size;
  for (std::uint64_t i = 0; i < image.variable_count; ++i) {
    const MrVariable& v = image.variables[i];
    const bool slot = v.flags & MR_VAR_IS_SLOT;
    if (v.kind == MR_VAR_MANAGED && !slot) continue;
    void* const address = slot ? *static_cast<void**>(v.address) : v.address;
    const std::uint64_t bytes = slot ? sizes[v.name] : v.size;
    if (slot && checker->allocations.contains(reinterpret_cast<std::uintptr_t>(address))) continue;  // other device
    checker->add_allocation(address, bytes, slot ? Memory::managed : Memory::variable, device, nullptr);
    if (address && bytes) checker->allocations[reinterpret_cast<std::uintptr_t>(address)].name = v.name;
  }
}

void on_image_refused() { checker->report.cannot("{\"other_version\":\"mrcc -mrcc-check\"}"); }

// Release, behind all that synchronise_all has waited for.
std::atomic<bool> all_ran{false};

// Waits for all devices, on a thread of its own. Behind it all has run, whether or not the runtime says so of each
// record: a wait with nothing behind it may be left lying.
void* synchronise_all(void*) {
  static const auto synchronise = next_function<decltype(&::cudaDeviceSynchronize)>("cudaDeviceSynchronize");
  static const auto set_device = next_function<decltype(&::cudaSetDevice)>("cudaSetDevice");
  const Inside inside(self());
  std::vector<int> devices;
  {
    const std::scoped_lock hold(checker->lock);
    for (const auto& stream : checker->order.streams())
      if (const auto s = stream.lock(); s && std::find(devices.begin(), devices.end(), s->device) == devices.end())
        devices.push_back(s->device);
  }
  for (const int device : devices)
    if (set_device(device) == cudaSuccess) (void)synchronise();
  all_ran.store(true, std::memory_order_release);
  return nullptr;
}

// The program ends with work that has not run, perhaps: it is part of what is to be checked. Waits until all has ended,
// but not for long when nothing goes on: a kernel may spin for ever.
void run_pending() {
  ThreadState& t = self();
  if (t.actor != &t.own) return;  // a host function calls exit: it is pending itself
  const Inside inside(t);
  constexpr double pause = 1e-3;
  double patience = 10;
  if (const char* text = std::getenv("MILLRACE_CHECK_PATIENCE")) patience = std::strtod(text, nullptr);
  std::uint64_t ended = 0;
  bool asked = false;
  // Turns are counted, not the time: the process may have been stopped meanwhile.
  for (double waited = 0; waited <= patience; waited += pause) {
    {
      const bool all = all_ran.load(std::memory_order_acquire);
      const std::scoped_lock hold(checker->lock);
      if (all)
        for (const auto& [tag, group] : std::map(checker->groups.begin(), checker->groups.end()))
          checker->finish(tag, group);
      std::uint64_t pending = 0;
      for (const auto& [tag, group] : checker->groups)
        pending += group->launch ? group->launch->ops.size() : group->ops.size();
      checker->unfinished = pending;
      if (pending == 0) return;
      if (const std::uint64_t now = checker->operations; now != ended) {
        ended = now;
        waited = 0;
      }
    }
    if (pthread_t helper;
        !std::exchange(asked, true) && pthread_create(&helper, nullptr, synchronise_all, nullptr) == 0)
      pthread_detach(helper);
    usleep(static_cast<useconds_t>(pause * 1e6));
  }
}

observe::Subscriber subscription = {on_enqueued,          on_ended,     on_node_added,   on_node_copied,
                                    on_node_instantiated, on_host_step, on_image_loaded, on_image_refused,
                                    device_access};

void at_exit() {
  ThreadState& t = self();
  Inside inside(t);
  std::scoped_lock hold(checker->lock);
  flush_touches(t);
  checker->report.summary(true);
}

void on_crash(int signal) {
  // What was found has been written already; the summary says that it isn't all.
  checker->report.summary(false);
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
}

[[gnu::constructor]] void start() {
  const char* path = std::getenv("MILLRACE_CHECK");
  if (!path || !*path) return;
  using Attach = int (*)(const observe::Subscriber*, unsigned);
  const auto attach = reinterpret_cast<Attach>(dlsym(RTLD_DEFAULT, "millrace_attach"));
  const bool api_only = std::getenv("MILLRACE_CHECK_API_ONLY") != nullptr;
  if (api_only) subscription.device_access = nullptr;
  if (!attach) return;
  if (attach(&subscription, observe::subscriber_version) != 0) {
    Report refusal;
    refusal.open(path);
    refusal.cannot("{\"other_version\":\"libcudart\"}");
    return;
  }
  // What kernels touched comes and goes in large vectors: fresh pages for each would cost more than their contents.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  auto* made = new Checker;
  made->api_only = api_only;
  made->report.open(path);
  // Children have nothing to do with it.
  unsetenv("MILLRACE_CHECK");
  unsetenv("LD_PRELOAD");
  void* warm_up[2];
  backtrace(warm_up, 2);  // loads the unwinder
  checker = made;
  make_thread(true);
  std::atexit(at_exit);
  // A child is checked like its parent, into the same file. What is freed meanwhile isn't looked at: the lock is held.
  pthread_atfork(
      [] {
        ++self().inside;
        checker->lock.lock();
      },
      [] {
        checker->lock.unlock();
        --self().inside;
      },
      [] {
        checker->begin_child();
        checker->lock.unlock();
        --self().inside;
      });
  for (const int signal : {SIGABRT, SIGTERM}) {
    struct sigaction action{};
    action.sa_handler = on_crash;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace
}  // namespace mr::check
