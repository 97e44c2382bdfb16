// Launch attributes (API reference, cudaLaunchAttributeID): what they mean for a launch.
#pragma once
#include <driver_types.h>
#include <model/launch.h>

namespace mr::model {

// Enters one attribute of a launch into its request. cudaErrorInvalidValue: an attribute that isn't one, or a value
// that it can't have; cudaErrorInvalidClusterSize: one with some extents 0; cudaErrorInvalidResourceHandle: no such
// event; cudaErrorNotSupported: an event with timing, what is for nodes alone in a launch that becomes none.
cudaError_t apply_attribute(LaunchRequest& request, const cudaLaunchAttribute& attribute, Purpose purpose) noexcept;

// Whether a value is one that the attribute can have, for launches, streams and kernel nodes alike.
bool valid_attribute_value(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) noexcept;

}  // namespace mr::model
