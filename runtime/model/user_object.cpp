#include <model/user_object.h>

#include <atomic>

#include <engine/queue.h>
#include <model/context.h>
#include <model/host_function.h>
#include <model/object_pool.h>

namespace mr::model {

struct UserObject {
  std::atomic<bool> live{false};
  UserObject* next_free = nullptr;
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  // acq_rel: the destructor sees what every holder did.
  std::atomic<std::uint64_t> references{0};
};

namespace {
ObjectPool<UserObject>& pool() {
  static ObjectPool<UserObject>* const instance = new ObjectPool<UserObject>(1u << 22);
  return *instance;
}

// Also when the context has died: the resource is the host's.
void destroy(engine::HostOp& op, bool) {
  auto* object = static_cast<UserObject*>(op.data);
  {
    HostFunctionScope scope;
    object->destroy(object->pointer);
  }
  pool().release(object);
}

}  // namespace

cudaError_t create_user_object(UserObject** out, void* pointer, cudaHostFn_t destroy, unsigned references) noexcept {
  UserObject* object = pool().take();
  if (!object) return cudaErrorMemoryAllocation;
  object->pointer = pointer;
  object->destroy = destroy;
  object->references.store(references, std::memory_order_relaxed);
  object->live.store(true, std::memory_order_release);
  *out = object;
  return cudaSuccess;
}

bool valid_user_object(const UserObject* object) noexcept { return object && pool().valid(object); }

void retain_user_object(UserObject& object, unsigned count) noexcept {
  object.references.fetch_add(count, std::memory_order_relaxed);
}

void release_user_object(UserObject& object, unsigned count) noexcept {
  std::uint64_t now = object.references.load(std::memory_order_relaxed);
  std::uint64_t left;
  do {
    if (now == 0) return;
    left = now > count ? now - count : 0;
  } while (!object.references.compare_exchange_weak(now, left, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (left) return;
  object.live.store(false, std::memory_order_relaxed);
  // Not on this thread, which may hold locks that the destructor takes: in a queue of its own, like a host function.
  static engine::Queue* const queue = engine::take_queue(&current_context().domain, engine::priority_levels - 1);
  engine::Appender appender(*queue);
  auto* op = appender.push<engine::HostOp>(engine::OpKind::host);
  op->with_status = destroy;
  op->data = &object;
}

}  // namespace mr::model
