#include <model/host_function.h>

#include <engine/wait.h>

namespace mr::model {

constinit thread_local bool inside_host_function = false;

namespace {

void run_function(engine::HostOp& op, bool dead) {
  if (dead) return;
  HostFunctionScope scope;
  op.function(op.data);
}

void run_callback(engine::HostOp& op, bool) {
  auto* stream = static_cast<Stream*>(op.extra[0]);
  const auto callback = reinterpret_cast<cudaStreamCallback_t>(reinterpret_cast<void*>(op.function));
  const cudaError_t status = stream->context->sticky.load(std::memory_order_acquire);
  HostFunctionScope scope;
  callback(static_cast<cudaStream_t>(op.extra[1]), status, op.data);
}

}  // namespace

HostFunctionScope::HostFunctionScope() noexcept { inside_host_function = true; }
HostFunctionScope::~HostFunctionScope() noexcept { inside_host_function = false; }

void enqueue_host_function(Stream& stream, cudaHostFn_t function, void* data) noexcept {
  engine::HostCall call{0, nullptr, function, data, run_function};
  {
    Enqueue enqueue(stream);
    auto* op = enqueue.push<engine::HostOp>(engine::OpKind::host);
    op->function = function;
    op->data = data;
    op->with_status = run_function;
    call.record = op;
    if (op->site == 0) call.sequence = enqueue.sequence();
  }
  if (call.sequence != 0) engine::newest_host_call.enqueued(*stream.queue, call);
}

void enqueue_callback(Stream& stream, cudaStream_t handle, cudaStreamCallback_t callback, void* data) noexcept {
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::HostOp>(engine::OpKind::host);
  op->function = reinterpret_cast<void (*)(void*)>(reinterpret_cast<void*>(callback));
  op->data = data;
  op->with_status = run_callback;
  op->extra[0] = &stream;
  op->extra[1] = handle;
}

}  // namespace mr::model
