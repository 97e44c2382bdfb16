#include <model/launch_attributes.h>

#include <model/device.h>
#include <model/event.h>

namespace mr::model {
namespace {

constexpr int memory_domains = 4;  // cudaDevAttrMemSyncDomainCount

// Events that a launch records can neither take the time nor be other processes', and have no flags.
cudaError_t event_of(cudaEvent_t handle, int flags, Purpose purpose, Event** out) noexcept {
  auto* event = reinterpret_cast<Event*>(handle);
  if (!valid_event(event)) return cudaErrorInvalidResourceHandle;
  if (flags == static_cast<int>(cudaEventRecordExternal))
    return purpose == Purpose::node ? cudaErrorNotSupported : cudaErrorIllegalState;
  if (flags) return cudaErrorInvalidValue;
  if (event->timed() || event->ipc) return cudaErrorNotSupported;
  *out = event;
  return cudaSuccess;
}

}  // namespace

bool valid_attribute_value(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) noexcept {
  switch (id) {
  case cudaLaunchAttributeAccessPolicyWindow: {
    const cudaAccessPolicyWindow& w = value.accessPolicyWindow;
    return w.hitRatio >= 0.0f && w.hitRatio <= 1.0f && w.missProp != cudaAccessPropertyPersisting &&
           w.num_bytes <= static_cast<std::size_t>(properties(current_device()).accessPolicyMaxWindowSize);
  }
  case cudaLaunchAttributeSynchronizationPolicy:
    return value.syncPolicy >= cudaSyncPolicyAuto && value.syncPolicy <= cudaSyncPolicyBlockingSync;
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    return value.clusterSchedulingPolicyPreference >= cudaClusterSchedulingPolicyDefault &&
           value.clusterSchedulingPolicyPreference <= cudaClusterSchedulingPolicyLoadBalancing;
  case cudaLaunchAttributeMemSyncDomainMap:
    return value.memSyncDomainMap.default_ < memory_domains && value.memSyncDomainMap.remote < memory_domains;
  case cudaLaunchAttributeMemSyncDomain:
    return value.memSyncDomain == cudaLaunchMemSyncDomainDefault ||
           value.memSyncDomain == cudaLaunchMemSyncDomainRemote;
  case cudaLaunchAttributePreferredSharedMemoryCarveout:
    // A percentage. cudaSharedmemCarveoutDefault (-1) is one of functions only (recorded).
    return value.sharedMemCarveout <= static_cast<unsigned>(cudaSharedmemCarveoutMaxShared);
  case cudaLaunchAttributeIgnore:
  case cudaLaunchAttributeCooperative:
  case cudaLaunchAttributeClusterDimension:
  case cudaLaunchAttributeProgrammaticStreamSerialization:
  case cudaLaunchAttributeProgrammaticEvent:
  case cudaLaunchAttributePriority:
  case cudaLaunchAttributePreferredClusterDimension:
  case cudaLaunchAttributeLaunchCompletionEvent:
  case cudaLaunchAttributeDeviceUpdatableKernelNode:
  case cudaLaunchAttributeNvlinkUtilCentricScheduling: return true;
  }
  return false;
}

namespace {
// Of a cluster that isn't left out, with all three 0.
bool empty_cluster(unsigned x, unsigned y, unsigned z) noexcept { return !(x && y && z) && (x || y || z); }
}  // namespace

cudaError_t apply_attribute(LaunchRequest& request, const cudaLaunchAttribute& attribute, Purpose purpose) noexcept {
  const cudaLaunchAttributeValue& value = attribute.val;
  if (!valid_attribute_value(attribute.id, value)) return cudaErrorInvalidValue;
  switch (attribute.id) {
  case cudaLaunchAttributeCooperative: request.cooperative = value.cooperative != 0; break;
  case cudaLaunchAttributeClusterDimension:
    if (empty_cluster(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)) return cudaErrorInvalidClusterSize;
    request.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    request.cluster_given = value.clusterDim.x || value.clusterDim.y || value.clusterDim.z;  // all zero: none
    break;
  case cudaLaunchAttributeProgrammaticStreamSerialization:
    request.programmatic = value.programmaticStreamSerializationAllowed != 0;
    break;
  case cudaLaunchAttributeProgrammaticEvent:
    request.trigger_at_block_start = value.programmaticEvent.triggerAtBlockStart != 0;
    return event_of(value.programmaticEvent.event, value.programmaticEvent.flags, purpose, &request.programmatic_event);
  case cudaLaunchAttributeLaunchCompletionEvent:
    return event_of(value.launchCompletionEvent.event, value.launchCompletionEvent.flags, purpose,
                    &request.completion_event);
  case cudaLaunchAttributePriority:
    request.priority = value.priority;
    request.has_priority = true;
    break;
  case cudaLaunchAttributeDeviceUpdatableKernelNode:
    if (purpose == Purpose::stream) return cudaErrorNotSupported;
    if (value.deviceUpdatableKernelNode.deviceUpdatable < 0 || value.deviceUpdatableKernelNode.deviceUpdatable > 1)
      return cudaErrorInvalidValue;
    // The handle is given back in a place that the declaration calls constant.
    if (value.deviceUpdatableKernelNode.deviceUpdatable)
      request.device_updatable = const_cast<cudaGraphDeviceNode_t*>(&value.deviceUpdatableKernelNode.devNode);
    break;
  case cudaLaunchAttributePreferredClusterDimension:
    if (empty_cluster(value.preferredClusterDim.x, value.preferredClusterDim.y, value.preferredClusterDim.z))
      return cudaErrorInvalidClusterSize;
    request.preferred_cluster = {value.preferredClusterDim.x, value.preferredClusterDim.y, value.preferredClusterDim.z};
    break;
  // Streams only: it is the host that waits.
  case cudaLaunchAttributeSynchronizationPolicy: return cudaErrorInvalidValue;
  // Hints about caches, memory order between devices, and where clusters go: all of them change nothing that a program
  // can see.
  case cudaLaunchAttributeIgnore:
  case cudaLaunchAttributeAccessPolicyWindow:
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
  case cudaLaunchAttributeMemSyncDomainMap:
  case cudaLaunchAttributeMemSyncDomain:
  case cudaLaunchAttributePreferredSharedMemoryCarveout:
  case cudaLaunchAttributeNvlinkUtilCentricScheduling: break;
  }
  return cudaSuccess;
}

}  // namespace mr::model
