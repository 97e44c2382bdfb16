// What the functions that copy and set have in common.
#pragma once
#include <utility>
#include <vector>

#include "api.h"

namespace mr::check {

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
      for (std::size_t i = 0; i < ops.size(); ++i) ops[i]->touches = std::move(parts[i]);
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

// The same in the default stream, behind and before all work of the devices that the copy is between.
template <class Real>
cudaError_t operate_between(ApiCall& call, int to_device, int from_device, std::vector<Touch> touches, Real real_call) {
  OpRef op;
  {
    std::scoped_lock hold(checker->lock);
    op = checker->order.enqueue(stream_of(nullptr, false), *call.thread.actor, Role::stream, call.call);
    for (const int device : {to_device, from_device})
      if (device != op->device) checker->order.behind_device(*op, device);
    op->touches = std::move(touches);
    call.expect({op});
  }
  const cudaError_t error = real_call();
  call.finish(error == cudaSuccess);
  if (error == cudaSuccess) {
    std::scoped_lock hold(checker->lock);
    checker->order.join(*call.thread.actor, {op});
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
