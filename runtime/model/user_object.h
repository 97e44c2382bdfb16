// User objects: host-side resources that graphs keep alive (API reference, "Graph Management", cudaUserObjectCreate).
#pragma once
#include <cuda_runtime_api.h>
#include <driver_types.h>

namespace mr::model {

// cudaUserObject_t points to one. Thread-safe. Its destructor runs some time after the last reference is gone, on a
// runtime thread; like any host function it may not call the API.
struct UserObject;

cudaError_t create_user_object(UserObject** out, void* pointer, cudaHostFn_t destroy, unsigned references) noexcept;
bool valid_user_object(const UserObject* object) noexcept;
void retain_user_object(UserObject& object, unsigned count) noexcept;
void release_user_object(UserObject& object, unsigned count) noexcept;

}  // namespace mr::model
