// Streams, events, synchronisation, launches and host functions.
#include "api.h"

using namespace mr::check;

namespace {

void made_stream(const ApiCall& call, cudaStream_t handle, bool blocking) {
  const int device = current_device();
  std::scoped_lock hold(checker->lock);
  std::string name = "stream " + std::to_string(checker->next_stream++);
  if (!blocking) name += " (non-blocking)";
  if (device) name += " of device " + std::to_string(device);
  auto stream = checker->order.make_stream(device, blocking, false, false, name, call.thread.actor);
  stream->call = call.call;
  checker->streams[handle] = std::move(stream);
}

// What a handle stands for; asked before it is destroyed: by the time that this thread hears of it, another one may
// have made something with the same handle.
template <class Map> typename Map::mapped_type known(const Map& all, typename Map::key_type handle) {
  std::scoped_lock hold(checker->lock);
  const auto it = all.find(handle);
  return it == all.end() ? nullptr : it->second;
}

void note_synchronisation(const ApiCall& call) {  // under the lock
  Actor& actor = *call.thread.actor;
  checker->order.note_point(actor.chain, actor.time, call.call);
}

}  // namespace

MR_ONE(cudaStreamCreate, (cudaStream_t * stream), (stream)) {
  ApiCall call("cudaStreamCreate");
  const cudaError_t error = next(stream);
  if (error == cudaSuccess) made_stream(call, *stream, true);
  return error;
}
MR_ONE(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags)) {
  ApiCall call("cudaStreamCreateWithFlags");
  const cudaError_t error = next(stream, flags);
  if (error == cudaSuccess) made_stream(call, *stream, !(flags & cudaStreamNonBlocking));
  return error;
}
MR_ONE(cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority)) {
  ApiCall call("cudaStreamCreateWithPriority");
  const cudaError_t error = next(stream, flags, priority);
  if (error == cudaSuccess) made_stream(call, *stream, !(flags & cudaStreamNonBlocking));
  return error;
}
MR_ONE(cudaStreamDestroy, (cudaStream_t stream), (stream)) {
  ApiCall call("cudaStreamDestroy");
  const auto destroyed = known(checker->streams, stream);
  const cudaError_t error = next(stream);
  if (error != cudaSuccess || !destroyed) return error;
  std::scoped_lock hold(checker->lock);
  checker->order.retire(destroyed);
  if (const auto it = checker->streams.find(stream); it != checker->streams.end() && it->second == destroyed)
    checker->streams.erase(it);
  return error;
}

MR_TWINS(cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream)) {
  ApiCall call("cudaStreamSynchronize");
  const cudaError_t error = next(stream);
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  if (const auto s = stream_of(stream, per_thread)) checker->order.join_real_and_wished(*call.thread.actor, *s);
  note_synchronisation(call);
  return error;
}
MR_TWINS(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream)) {
  ApiCall call("cudaStreamQuery");
  const cudaError_t error = next(stream);
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  if (const auto s = stream_of(stream, per_thread)) checker->order.join_real_and_wished(*call.thread.actor, *s);
  note_synchronisation(call);
  return error;
}
MR_ONE(cudaDeviceSynchronize, (void), ()) {
  ApiCall call("cudaDeviceSynchronize");
  const cudaError_t error = next();
  if (error != cudaSuccess) return error;
  const int device = current_device();
  std::scoped_lock hold(checker->lock);
  checker->order.join_device(*call.thread.actor, device);
  note_synchronisation(call);
  return error;
}
MR_ONE(cudaDeviceReset, (void), ()) {
  ApiCall call("cudaDeviceReset");
  const int device = current_device();
  const cudaError_t error = next();
  std::scoped_lock hold(checker->lock);
  checker->order.join_device(*call.thread.actor, device);
  std::erase_if(checker->allocations, [&](const auto& entry) {
    if (entry.second.device != device || entry.second.memory == Memory::variable) return false;
    checker->shadow.forget(entry.first, entry.second.end);
    return true;
  });
  return error;
}

// ---- events ----

MR_ONE(cudaEventCreate, (cudaEvent_t * event), (event)) {
  ApiCall call("cudaEventCreate");
  const cudaError_t error = next(event);
  std::scoped_lock hold(checker->lock);
  if (error == cudaSuccess) checker->events[*event] = std::make_shared<Event>();
  return error;
}
MR_ONE(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags)) {
  ApiCall call("cudaEventCreateWithFlags");
  const cudaError_t error = next(event, flags);
  std::scoped_lock hold(checker->lock);
  if (error == cudaSuccess) checker->events[*event] = std::make_shared<Event>();
  return error;
}
MR_ONE(cudaEventDestroy, (cudaEvent_t event), (event)) {
  ApiCall call("cudaEventDestroy");
  const auto destroyed = known(checker->events, event);
  const cudaError_t error = next(event);
  std::scoped_lock hold(checker->lock);
  if (const auto it = checker->events.find(event);
      error == cudaSuccess && it != checker->events.end() && it->second == destroyed)
    checker->events.erase(it);
  return error;
}

namespace {
cudaError_t recorded(cudaError_t error, cudaEvent_t event, cudaStream_t stream, bool per_thread, bool captured) {
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  const auto e = checker->events.find(event);
  if (e == checker->events.end()) return error;
  if (captured) {
    e->second->captured = true;
    return error;
  }
  if (const auto s = stream_of(stream, per_thread)) checker->order.record(*e->second, s);
  return error;
}
}  // namespace

MR_TWINS(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream)) {
  ApiCall call("cudaEventRecord");
  const bool captured = capturing(stream, per_thread);
  return recorded(next(event, stream), event, stream, per_thread, captured);
}
MR_TWINS(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
         (event, stream, flags)) {
  ApiCall call("cudaEventRecordWithFlags");
  const bool captured = capturing(stream, per_thread);
  // In a capture, an external record becomes a node, and the event stays as it is until the graph is launched.
  const cudaError_t error = next(event, stream, flags);
  return captured && flags & cudaEventRecordExternal ? error : recorded(error, event, stream, per_thread, captured);
}
MR_TWINS(cudaStreamWaitEvent, _ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags)) {
  ApiCall call("cudaStreamWaitEvent");
  const bool captured = capturing(stream, per_thread);
  const cudaError_t error = next(stream, event, flags);
  if (error != cudaSuccess || captured) return error;
  std::scoped_lock hold(checker->lock);
  const auto e = checker->events.find(event);
  if (e == checker->events.end() || e->second->captured) return error;
  if (const auto s = stream_of(stream, per_thread)) checker->order.wait(*s, e->second);
  return error;
}

namespace {
cudaError_t waited(const ApiCall& call, cudaError_t error, cudaEvent_t event) {
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  const auto e = checker->events.find(event);
  if (e == checker->events.end()) return error;
  checker->order.join_event(*call.thread.actor, e->second);
  note_synchronisation(call);
  return error;
}
}  // namespace

MR_ONE(cudaEventSynchronize, (cudaEvent_t event), (event)) {
  ApiCall call("cudaEventSynchronize");
  return waited(call, next(event), event);
}
MR_ONE(cudaEventQuery, (cudaEvent_t event), (event)) {
  ApiCall call("cudaEventQuery");
  return waited(call, next(event), event);
}
MR_ONE(cudaEventElapsedTime, (float* ms, cudaEvent_t begin, cudaEvent_t end), (ms, begin, end)) {
  ApiCall call("cudaEventElapsedTime");
  return waited(call, waited(call, next(ms, begin, end), begin), end);  // told only when both are complete
}

// ---- launches ----

namespace {

// Events that a launch records: with its blocks' triggers, which are taken for its end, or with their beginning.
void record_launch_events(const cudaLaunchConfig_t& config, const std::shared_ptr<Stream>& stream,
                          const Frontier (&before)[worlds]) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& a = config.attrs[i];
    const bool programmatic = a.id == cudaLaunchAttributeProgrammaticEvent;
    if (!programmatic && a.id != cudaLaunchAttributeLaunchCompletionEvent) continue;
    const cudaEvent_t event = programmatic ? a.val.programmaticEvent.event : a.val.launchCompletionEvent.event;
    const auto known = checker->events.find(event);
    if (known == checker->events.end()) continue;
    checker->order.record(*known->second, stream);
    if (programmatic && !a.val.programmaticEvent.triggerAtBlockStart) continue;
    for (int world = 0; world < worlds; ++world) known->second->records.back().frontier[world] = before[world];
  }
}

template <class Launch>
cudaError_t launch(ApiCall& call, const void* function, cudaStream_t stream, bool per_thread, bool programmatic,
                   Launch real_launch, const cudaLaunchConfig_t* config = nullptr) {
  std::shared_ptr<Stream> in;
  Frontier before_launch[worlds];
  const_cast<CallSite&>(*call.call).kernel = kernel_name(function);
  if (!capturing(stream, per_thread)) {
    std::scoped_lock hold(checker->lock);
    if (const auto s = stream_of(stream, per_thread)) {
      Frontier primary[worlds];
      for (int world = 0; world < worlds; ++world) {
        primary[world] = s->frontier[world];
        if (config) before_launch[world] = checker->order.newest(*s, world);
      }
      in = s;
      const auto before = s->previous[real];
      const OpRef op = checker->order.enqueue(s, *call.thread.actor, Role::stream, call.call);
      op->kernel = std::make_shared<KernelRecord>();
      op->kernel->name = call.call->kernel;
      // May begin at the trigger of the kernel right before it.
      if (programmatic && primary[real].size() == 1 && primary[real][0]->kernel) {
        op->kernel->programmatic = true;
        op->kernel->primary = primary[real][0];
        const OpRef early = checker->order.make_early(s, *call.thread.actor, call.call);
        early->before[real] = before;
        early->before[wished] = before;
        for (auto& list : op->before) list.push_back(early);
        op->kernel->early = early;
      }
      call.expect({op});
    }
  }
  const cudaError_t error = real_launch();
  call.finish(error == cudaSuccess && !call.noded);
  if (config && in && error == cudaSuccess) {
    std::scoped_lock hold(checker->lock);
    record_launch_events(*config, in, before_launch);
  }
  return error;
}

bool is_programmatic(const cudaLaunchConfig_t* config) {
  for (unsigned i = 0; config && config->attrs && i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
        config->attrs[i].val.programmaticStreamSerializationAllowed)
      return true;
  return false;
}

}  // namespace

MR_TWINS(cudaLaunchKernel, _ptsz,
         (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),
         (function, grid, block, arguments, shared, stream)) {
  ApiCall call("cudaLaunchKernel");
  return launch(call, function, stream, per_thread, false,
                [&] { return next(function, grid, block, arguments, shared, stream); });
}
MR_TWINS(cudaLaunchCooperativeKernel, _ptsz,
         (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),
         (function, grid, block, arguments, shared, stream)) {
  ApiCall call("cudaLaunchCooperativeKernel");
  return launch(call, function, stream, per_thread, false,
                [&] { return next(function, grid, block, arguments, shared, stream); });
}
MR_TWINS(cudaLaunchKernelExC, _ptsz, (const cudaLaunchConfig_t* config, const void* function, void** arguments),
         (config, function, arguments)) {
  ApiCall call("cudaLaunchKernelExC");
  return launch(
      call, function, config ? config->stream : nullptr, per_thread, is_programmatic(config),
      [&] { return next(config, function, arguments); }, config);
}

// ---- host functions ----

MR_TWINS(cudaLaunchHostFunc, _ptsz, (cudaStream_t stream, cudaHostFn_t function, void* data),
         (stream, function, data)) {
  ApiCall call("cudaLaunchHostFunc");
  if (!function) return next(stream, function, data);
  expose(data);
  auto* wrapped = new WrappedFunction{function, data, nullptr};
  if (!capturing(stream, per_thread)) {
    std::scoped_lock hold(checker->lock);
    if (const auto s = stream_of(stream, per_thread)) {
      wrapped->op = checker->order.enqueue(s, *call.thread.actor, Role::host_function, call.call);
      call.expect({wrapped->op});
    }
  }
  const cudaError_t error = next(stream, run_wrapped, wrapped);
  call.finish(error == cudaSuccess);
  if (error != cudaSuccess) delete wrapped;
  return error;
}

namespace {
struct WrappedCallback {
  cudaStreamCallback_t function;
  void* data;
  OpRef op;
};
void CUDART_CB run_callback(cudaStream_t stream, cudaError_t status, void* data) {
  auto* wrapped = static_cast<WrappedCallback*>(data);
  if (wrapped->op) {
    const FunctionScope scope(wrapped->op, Role::host_function);
    wrapped->function(stream, status, wrapped->data);
  } else {
    wrapped->function(stream, status, wrapped->data);
  }
  delete wrapped;
}
}  // namespace

MR_TWINS(cudaStreamAddCallback, _ptsz, (cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags),
         (stream, function, data, flags)) {
  ApiCall call("cudaStreamAddCallback");
  if (!function || capturing(stream, per_thread)) return next(stream, function, data, flags);
  expose(data);
  auto* wrapped = new WrappedCallback{function, data, nullptr};
  {
    std::scoped_lock hold(checker->lock);
    if (const auto s = stream_of(stream, per_thread)) {
      wrapped->op = checker->order.enqueue(s, *call.thread.actor, Role::host_function, call.call);
      call.expect({wrapped->op});
    }
  }
  const cudaError_t error = next(stream, run_callback, wrapped, flags);
  call.finish(error == cudaSuccess);
  if (error != cudaSuccess) delete wrapped;
  return error;
}
