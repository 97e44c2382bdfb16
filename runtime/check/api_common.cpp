#include <observe/array_layout.h>

#include "api.h"

namespace mr::check {

int current_device() {
  static const auto get = MR_REAL(cudaGetDevice);
  int device = 0;
  return get(&device) == cudaSuccess ? device : 0;
}

namespace {
bool is_legacy(cudaStream_t h, bool per_thread) { return h == cudaStreamLegacy || (!h && !per_thread); }
bool is_per_thread(cudaStream_t h, bool per_thread) { return h == cudaStreamPerThread || (!h && per_thread); }

const std::shared_ptr<Stream>& default_stream_of(int of, bool legacy) {
  const auto device = static_cast<std::size_t>(of);
  auto& streams = legacy ? checker->legacy : self().default_streams;
  if (streams.size() <= device) streams.resize(device + 1);
  if (!streams[device]) {
    std::string name = legacy ? "the default stream"
                              : "the per-thread default stream of thread " + std::to_string(self().number);
    if (device) name += " of device " + std::to_string(device);
    streams[device] = checker->order.make_stream(of, true, legacy, true, name, legacy ? nullptr : self().actor);
  }
  return streams[device];
}
}  // namespace

const std::shared_ptr<Stream>& legacy_stream_of(int device) { return default_stream_of(device, true); }

// Under the lock; null for a handle that is no stream's.
std::shared_ptr<Stream> stream_of(cudaStream_t handle, bool per_thread) {
  if (is_legacy(handle, per_thread) || is_per_thread(handle, per_thread)) {
    return default_stream_of(current_device(), is_legacy(handle, per_thread));
  }
  const auto it = checker->streams.find(handle);
  return it == checker->streams.end() ? nullptr : it->second;
}

bool capturing(cudaStream_t handle, bool per_thread) {
  if (is_legacy(handle, per_thread)) return false;
  if (!is_per_thread(handle, per_thread)) {
    std::scoped_lock hold(checker->lock);
    if (!checker->streams.count(handle)) return false;
  }
  static const auto ask = MR_REAL(cudaStreamIsCapturing);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return ask(handle ? handle : cudaStreamPerThread, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

Touch linear(const void* p, std::size_t bytes, std::uint32_t kind) { return rows(p, bytes, bytes, 1, kind); }

Touch rows(const void* p, std::size_t pitch, std::size_t width, std::size_t height, std::uint32_t kind) {
  Touch t;
  t.begin = reinterpret_cast<std::uintptr_t>(p);
  t.width = width;
  t.pitch = pitch;
  t.rows = height;
  t.kind = kind;
  if (pitch == width) {
    t.width = width * height;
    t.rows = 1;
  }
  return t;
}

std::vector<Touch> box(const cudaMemcpy3DParms& p) {
  std::vector<Touch> touches;
  if (!p.extent.width || !p.extent.height || !p.extent.depth) return touches;
  static const auto layout_of = MR_REAL(millrace_array_layout);
  observe::ArrayLayout from{}, to{};
  if (p.srcArray && !layout_of(p.srcArray, &from)) return touches;
  if (p.dstArray && !layout_of(p.dstArray, &to)) return touches;
  // An extent beside an array counts its elements.
  const std::size_t width = p.extent.width * (p.srcArray ? from.element : p.dstArray ? to.element : 1);
  const auto array_side = [&](const observe::ArrayLayout& array, const cudaPos& at, std::uint32_t kind) {
    Touch t;
    t.slice = array.slice_pitch;
    t.begin = reinterpret_cast<std::uintptr_t>(array.data) + at.z * t.slice + at.y * array.row_pitch +
              at.x * array.element;
    t.width = width;
    t.pitch = array.row_pitch;
    t.rows = p.extent.height;
    t.slices = p.extent.depth;
    t.kind = kind;
    touches.push_back(t);
  };
  const auto side = [&](const cudaPitchedPtr& q, const cudaPos& at, std::uint32_t kind) {
    if (!q.ptr) return;
    Touch t;
    t.slice = q.pitch * q.ysize;
    t.begin = reinterpret_cast<std::uintptr_t>(q.ptr) + at.z * t.slice + at.y * q.pitch + at.x;
    t.width = width;
    t.pitch = q.pitch;
    t.rows = p.extent.height;
    t.slices = p.extent.depth;
    t.kind = kind;
    touches.push_back(t);
  };
  if (p.srcArray)
    array_side(from, p.srcPos, reads);
  else
    side(p.srcPtr, p.srcPos, reads);
  if (p.dstArray)
    array_side(to, p.dstPos, writes);
  else
    side(p.dstPtr, p.dstPos, writes);
  return touches;
}

std::vector<Touch> box(const cudaMemsetParams& p) {
  return {rows(p.dst, p.pitch ? p.pitch : p.width * p.elementSize, p.width * p.elementSize, p.height ? p.height : 1,
               writes)};
}

bool known_memory(const void* p) { return checker->allocation_of(reinterpret_cast<std::uintptr_t>(p)) != nullptr; }
bool managed_memory(const void* p) {
  const Allocation* a = checker->allocation_of(reinterpret_cast<std::uintptr_t>(p));
  return a && a->memory == Memory::managed;
}
bool host_memory(const void* p) {
  const Allocation* a = checker->allocation_of(reinterpret_cast<std::uintptr_t>(p));
  return !a || a->memory == Memory::pinned || a->memory == Memory::registered;
}

void run_wrapped(void* data) {
  auto* wrapped = static_cast<WrappedFunction*>(data);
  OpRef op = wrapped->op;
  Role role = Role::host_function;
  if (op) {
    // Run once.
  } else if (checker) {
    ThreadState& t = self();
    Inside inside(t);
    std::scoped_lock hold(checker->lock);
    if (const auto step = checker->steps.find(t.step_tag); step != checker->steps.end())
      if (ExecMirror* exec = step->second.exec; exec && !exec->launches.empty())
        op = exec->launches.front()->ops[step->second.node];
    role = Role::node_host_function;
  }
  if (op) {
    const FunctionScope scope(op, role);
    wrapped->function(wrapped->data);
  } else {
    // Of no launch that the checker knows: the thread's own, which is nobody's.
    wrapped->function(wrapped->data);
  }
  if (wrapped->op) delete wrapped;
}

void wrap(cudaHostNodeParams& params) {
  if (!params.fn) return;
  expose(params.userData);
  params = {run_wrapped, new WrappedFunction{params.fn, params.userData, nullptr}};
}
void unwrap(cudaHostNodeParams& params) {
  if (params.fn != run_wrapped) return;
  const auto* wrapped = static_cast<const WrappedFunction*>(params.userData);
  params = {wrapped->function, wrapped->data};
}

cudaGraphNodeParams wrapped_params(const cudaGraphNodeParams& params) {
  cudaGraphNodeParams copy = params;
  if (params.type == cudaGraphNodeTypeHost && params.host.fn) {
    cudaHostNodeParams host{params.host.fn, params.host.userData};
    wrap(host);
    copy.host.fn = host.fn;
    copy.host.userData = host.userData;
  }
  return copy;
}

std::string kernel_name(const void* function) {
  static const auto name_of = MR_REAL(cudaFuncGetName);
  const char* name = nullptr;
  return function && name_of(&name, function) == cudaSuccess && name ? name : "";
}

char* symbol_address(const void* symbol, std::size_t bytes) {
  if (!bytes) return nullptr;  // asking would leave an error behind for a call that succeeds
  static const auto ask = MR_REAL(cudaGetSymbolAddress);
  void* address = nullptr;
  return ask(&address, symbol) == cudaSuccess ? static_cast<char*>(address) : nullptr;
}

}  // namespace mr::check
