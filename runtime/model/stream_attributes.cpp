// cudaStreamGetAttribute, cudaStreamSetAttribute, cudaStreamCopyAttributes.
#include <algorithm>
#include <mutex>

#include <model/launch_attributes.h>
#include <model/stream.h>

namespace mr::model {
namespace {

// All streams': attributes are rarely touched.
engine::SpinLock lock;

void set_priority(Stream& stream, int priority) noexcept {
  const int clamped = std::clamp(priority, greatest_priority, 0);
  stream.priority.store(clamped, std::memory_order_relaxed);
  stream.queue->set_level(level_of(clamped));
}

}  // namespace

void reset_attributes(Stream& stream) noexcept {
  std::scoped_lock hold(lock);
  stream.attributes.access_policy = {};
  stream.attributes.sync_policy.store(-1, std::memory_order_relaxed);
  stream.attributes.domain = cudaLaunchMemSyncDomainDefault;
  stream.attributes.domain_map = {0, 1};
  stream.attributes.hinted.store(false, std::memory_order_relaxed);
}

StreamHints hints_of(Stream& stream) noexcept {
  std::scoped_lock hold(lock);
  const StreamAttributes& a = stream.attributes;
  return {a.access_policy, a.domain, a.domain_map};
}

cudaError_t get_attribute(Stream& stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* out) noexcept {
  std::scoped_lock hold(lock);
  const StreamAttributes& a = stream.attributes;
  switch (id) {
  case cudaLaunchAttributeAccessPolicyWindow: out->accessPolicyWindow = a.access_policy; return cudaSuccess;
  case cudaLaunchAttributeSynchronizationPolicy:
    out->syncPolicy = static_cast<cudaSynchronizationPolicy>(a.sync_policy.load(std::memory_order_relaxed));
    return cudaSuccess;
  case cudaLaunchAttributeMemSyncDomain: out->memSyncDomain = a.domain; return cudaSuccess;
  case cudaLaunchAttributeMemSyncDomainMap: out->memSyncDomainMap = a.domain_map; return cudaSuccess;
  case cudaLaunchAttributePriority: out->priority = stream.priority.load(std::memory_order_relaxed); return cudaSuccess;
  default: return cudaErrorInvalidValue;
  }
}

cudaError_t set_attribute(Stream& stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) noexcept {
  if (!valid_attribute_value(id, value)) return cudaErrorInvalidValue;
  std::scoped_lock hold(lock);
  StreamAttributes& a = stream.attributes;
  // Relaxed: a capture of the stream by another thread is ordered behind this call by the program, or doesn't matter.
  a.hinted.store(true, std::memory_order_relaxed);
  switch (id) {
  case cudaLaunchAttributeAccessPolicyWindow: a.access_policy = value.accessPolicyWindow; return cudaSuccess;
  case cudaLaunchAttributeSynchronizationPolicy:
    a.sync_policy.store(value.syncPolicy, std::memory_order_relaxed);
    return cudaSuccess;
  case cudaLaunchAttributeMemSyncDomain: a.domain = value.memSyncDomain; return cudaSuccess;
  case cudaLaunchAttributeMemSyncDomainMap: a.domain_map = value.memSyncDomainMap; return cudaSuccess;
  case cudaLaunchAttributePriority: set_priority(stream, value.priority); return cudaSuccess;
  default: return cudaErrorInvalidValue;
  }
}

void copy_attributes(Stream& to, Stream& from) noexcept {
  if (&to == &from) return;
  std::scoped_lock hold(lock);
  to.attributes.access_policy = from.attributes.access_policy;
  to.attributes.sync_policy.store(from.attributes.sync_policy.load(std::memory_order_relaxed),
                                  std::memory_order_relaxed);
  to.attributes.domain = from.attributes.domain;
  to.attributes.domain_map = from.attributes.domain_map;
  to.attributes.hinted.store(true, std::memory_order_relaxed);
  set_priority(to, from.priority.load(std::memory_order_relaxed));
}

engine::WaitMode wait_mode(const Stream& stream) noexcept {
  switch (stream.attributes.sync_policy.load(std::memory_order_relaxed)) {
  case cudaSyncPolicyAuto: return engine::WaitMode::automatic;
  case cudaSyncPolicySpin: return engine::WaitMode::spin;
  case cudaSyncPolicyYield: return engine::WaitMode::yield;
  case cudaSyncPolicyBlockingSync: return engine::WaitMode::block;
  default: return stream.context->wait_mode();
  }
}

}  // namespace mr::model
