// What the functions that copy and set have in common.
#pragma once
#include <utility>
#include <vector>

#include "api.h"

namespace mr::check {

// As recorded (tests/conformance/own/device-peer-copy-order.cu): a copy between devices in a legacy stream stands in
// the default streams of both. Under the lock.
inline void stand_between_devices(const OpRef& op) {
  if (!op->stream->legacy || op->touches.size() != 2) return;
  int devices[2];
  for (int i = 0; i < 2; ++i) {
    const Allocation* a = checker->allocation_of(op->touches[i].begin);
    if (!a || (a->memory != Memory::device && a->memory != Memory::pool)) return;
    devices[i] = a->device;
  }
  if (devices[0] == devices[1]) return;
  for (const int device : devices)
    if (device != op->device) checker->order.stand_in(op, *legacy_stream_of(device));
}

// Calls the runtime with an operation of these touches (or several, without an order) in the stream.
template <class Real>
cudaError_t operate(ApiCall& call, cudaStream_t stream, bool per_thread, std::vector<std::vector<Touch>> parts,
                    bool waits, Real real_call) {
  std::vector<OpRef> ops;
  if (!capturing(stream, per_thread)) {
    std::scoped_lock hold(checker->lock);
    if (const auto s = stream_of(stream, per_thread)) {
      if (parts.size() == 1)
        ops = {checker->order.enqueue(s, *call.thread.actor, Role::stream, call.call)};
      else if (!parts.empty())
        ops = checker->order.enqueue_batch(s, *call.thread.actor, call.call, parts.size());
      for (std::size_t i = 0; i < ops.size(); ++i) {
        ops[i]->touches = std::move(parts[i]);
        stand_between_devices(ops[i]);
      }
      call.expect(ops);
    }
  }
  const cudaError_t error = real_call();
  call.finish(error == cudaSuccess && !call.noded);
  if (waits && error == cudaSuccess && !call.noded && !ops.empty()) {
    std::scoped_lock hold(checker->lock);
    checker->order.join(*call.thread.actor, ops);
  }
  return error;
}

enum class Form : std::uint8_t { synchronous, asynchronous };

// Whether the host has waited when a copy between these returns.
inline bool copy_waits(Form form, const void* to, const void* from) {
  std::scoped_lock hold(checker->lock);
  if (form == Form::synchronous) return host_memory(to) || host_memory(from);
  return !known_memory(to);  // into pageable memory
}
// As recorded: sets of pinned and managed memory are complete when they return.
inline bool set_waits(Form form, const void* p) {
  if (form == Form::asynchronous) return false;
  std::scoped_lock hold(checker->lock);
  return host_memory(p) || managed_memory(p);
}

}  // namespace mr::check

#define MR_COPY(name, suffix, form, to, from, touches, stream, PARAMETERS, ARGUMENTS)                                  \
  MR_TWINS(name, suffix, PARAMETERS, ARGUMENTS) {                                                                      \
    ApiCall call(#name);                                                                                               \
    const bool waits = copy_waits(form, to, from);                                                                     \
    return operate(call, stream, per_thread, {touches}, waits, [&] { return next ARGUMENTS; });                        \
  }
#define MR_LIST(...) std::vector<Touch>({__VA_ARGS__})
