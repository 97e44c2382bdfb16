// Starts the explorer when the environment asks for it (docs/explore.md), and is what the runtime calls.
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "clocks.h"
#include "controller.h"
#include "next.h"
#include "step.h"

namespace mr::explore {
namespace {

// ---- where operations come from ----

std::uint32_t on_enqueued(const void*, std::uint64_t) {
  Thread* t = thread_self;
  if (!t || t->device) return controller->add_origin({});
  return controller->add_origin({mix(std::uint64_t{t->id} << 40 | ++t->enqueued, 0x09e), t->site});
}

// By node; a destroyed node's address may come again with another one.
std::unordered_map<const void*, std::uint32_t>& node_sites() {  // under the controller's lock
  static auto* all = new std::unordered_map<const void*, std::uint32_t>;
  return *all;
}
void on_node_added(const void* node) {
  if (!thread_self) return;
  const std::scoped_lock hold(controller->lock);
  node_sites()[node] = thread_self->site;
}
void on_node_copied(const void* copy, const void* original) {
  const std::scoped_lock hold(controller->lock);
  if (const auto it = node_sites().find(original); it != node_sites().end()) {
    const std::uint32_t site = it->second;
    node_sites()[copy] = site;
  }
}
std::uint32_t on_node_instantiated(const void* node) {
  Origin origin;
  {
    const std::scoped_lock hold(controller->lock);
    if (const auto it = node_sites().find(node); it != node_sites().end()) origin.site = it->second;
  }
  return controller->add_origin(origin);
}

constexpr observe::Subscriber subscription = {
    on_enqueued,          [](std::uint32_t) {},       on_node_added, on_node_copied, on_node_instantiated,
    [](std::uint32_t) {}, [](int, const MrImage&) {}, [] {},         nullptr};

// ---- what the engine asks ----

void on_wait(const void* queue, std::uint64_t sequence) {
  if (thread_self) return controller->wait(*thread_self, queue, sequence);
  // A thread that nobody announced: it waits beside the others.
  static const auto sleep = next_function<decltype(&::nanosleep)>("nanosleep");
  const timespec time = {0, 200'000};
  while (!controller->engine->reached(queue, sequence)) sleep(&time, nullptr);
}

constexpr observe::Explorer table = {
    [](void* queue) { controller->ready(queue); },
    on_wait,
    [](bool progress) {
      if (thread_self) controller->pause(*thread_self, progress);
    },
    []() -> std::uint64_t { return thread_self ? controller->block_order(*thread_self) : 0; },
    [](unsigned count, void (*body)(void*, unsigned), void* data) {
      controller->at_once(*thread_self, count, body, data);
    },
};

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

[[gnu::constructor]] void start() {
  const char* path = std::getenv("MILLRACE_EXPLORE");
  if (!path || !*path) return;
  using Attach = int (*)(const observe::Subscriber*, unsigned);
  using Explore = const observe::ExploredEngine* (*)(const observe::Explorer*, unsigned);
  const auto attach = reinterpret_cast<Attach>(dlsym(RTLD_DEFAULT, "millrace_attach"));
  const auto explore = reinterpret_cast<Explore>(dlsym(RTLD_DEFAULT, "millrace_explore"));
  if (!attach || !explore) return;
  const char* decisions = std::getenv("MILLRACE_EXPLORE_DECISIONS");
  auto* made = new Controller(number("MILLRACE_EXPLORE_SEED", 0), number("MILLRACE_EXPLORE_STEPS", 100),
                              decisions ? decisions : "");
  if (!made->trace.open(path) || attach(&subscription, observe::subscriber_version) != 0) return;
  made->engine = explore(&table, observe::explorer_version);
  if (!made->engine) return;
  if (const char* lengths = std::getenv("MILLRACE_EXPLORE_LENGTHS")) made->policy.read_lengths(lengths);
  made->measure = std::getenv("MILLRACE_EXPLORE_MEASURE") != nullptr;
  prepare_stepping();
  // Children have nothing to do with it.
  unsetenv("MILLRACE_EXPLORE");
  unsetenv("LD_PRELOAD");
  void* warm_up[2];
  backtrace(warm_up, 2);  // loads the unwinder
  controller = made;
  made->begin_main();
  made->start_watching();
  prepare_clocks();
  std::atexit([] {
    const std::scoped_lock hold(controller->lock);
    controller->trace.print("Z\n");
  });
  pthread_atfork(nullptr, nullptr, [] {
    controller = nullptr;
    leave_clocks();
  });
}

}  // namespace
}  // namespace mr::explore
