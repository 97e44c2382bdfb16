// A tool that follows what the program asks of the runtime and what is executed: `millrace check`.
//
// The tool is a library of its own (runtime/check) that hands its table to millrace_attach before the first
// context is made. Nothing of this costs anything while no tool is attached: the call sites test observe::tracing, or a
// tag that lies in a line being read anyway.
//
// Tags. `enqueued` is called by the thread that enqueues, in the middle of its API call, for each operation record; the
// tag that it returns comes back with `ended` when that record has completed, before anybody can see that it has. Steps
// of executable graphs get tags of their own (`node_instantiated`). Device code's accesses come with the tag of the
// grid that makes them. no_tag: nobody's.
//
// All functions may be called from any thread, and must not call the runtime.
#pragma once
#include <cstdint>

struct MrBlock;
struct MrImage;

namespace mr::observe {

inline constexpr std::uint32_t no_tag = ~std::uint32_t{0};

struct Subscriber {
  std::uint32_t (*enqueued)(const void* queue, std::uint64_t sequence);
  void (*ended)(std::uint32_t tag);
  // A node was added to a graph, by the API call or the capture that the thread is in; or as a copy of another.
  void (*node_added)(const void* node);
  void (*node_copied)(const void* copy, const void* original);
  // A node becomes a step of the executable graph that the thread is making or changing.
  std::uint32_t (*node_instantiated)(const void* node);
  // The host step with this tag is about to run on this thread.
  void (*host_step)(std::uint32_t tag);
  // Its managed variables have their places.
  void (*image_loaded)(int device, const MrImage& image);
  // An image's device code tells things in another way than this version's: it isn't loaded.
  void (*image_refused)();
  // Device code built with -mrcc-check touches memory (or passes a fence or barrier); see compiler/passes/check.h.
  // `rows` rows of bytes, `pitch` apart.
  void (*device_access)(std::uint32_t tag, const MrBlock& block, const void* address, std::uint64_t bytes,
                        const void* site, std::uint64_t pitch, std::uint64_t rows);
};
inline constexpr unsigned subscriber_version = 4;

// Null, or the tool. Set before the first context is made, constant afterwards.
extern const Subscriber* subscriber;

}  // namespace mr::observe

// Attaches a tool. 0, or -1 when its version is another one.
extern "C" int millrace_attach(const mr::observe::Subscriber* tool, unsigned version);
