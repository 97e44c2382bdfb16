// Stream-ordered memory: pools as the API sees them (API reference, "Stream Ordered Memory Allocator").
#pragma once
#include <cstddef>
#include <cstdint>

#include <driver_types.h>
#include <memory/pool.h>
#include <memory/space.h>

namespace mr::engine {
class Queue;
}

namespace mr::model {

struct Stream;

// Tells the pools how streams are ordered. Called once by initialise_memory.
void prepare_pools() noexcept;
// The pools of a device are forgotten with their memory.
void reset_pools(int device) noexcept;

// cudaMemPool_t points to one.
memory::Pool* default_pool(int device) noexcept;
memory::Pool* current_pool(int device) noexcept;
// False when the pool's memory does not lie on the device.
bool set_current_pool(int device, memory::Pool* pool) noexcept;

cudaError_t create_pool(memory::Pool** out, const cudaMemPoolProps& props) noexcept;
cudaError_t destroy_pool(memory::Pool& pool) noexcept;

// Memory for what the stream will be given from now on. `pool` null: the current one of the stream's device.
cudaError_t allocate_ordered(void** out, std::size_t bytes, memory::Pool* pool, Stream& stream,
                             std::uint64_t site) noexcept;
// Any device block, free for others once what the stream was given so far has completed.
cudaError_t free_ordered(void* pointer, Stream& stream) noexcept;
// cudaFree of a stream-ordered block: its user says that it is no longer in use.
cudaError_t free_ordered_now(const memory::Pointer& found, void* pointer) noexcept;

// The stream's later work waits for a point of another queue: memory freed there before may be used by it. Cheap when
// no pool holds any.
void note_order(engine::Queue& queue, engine::Queue& on, std::uint64_t sequence) noexcept;

// Pools by location (cudaMemGetDefaultMemPool, cudaMemGetMemPool, cudaMemSetMemPool); null for a location or type that
// has none.
memory::Pool* located_pool(const cudaMemLocation& location, cudaMemAllocationType type, bool current) noexcept;
cudaError_t set_located_pool(const cudaMemLocation& location, cudaMemAllocationType type, memory::Pool* pool) noexcept;

cudaError_t pool_attribute(memory::Pool& pool, cudaMemPoolAttr attribute, void* value) noexcept;
cudaError_t set_pool_attribute(memory::Pool& pool, cudaMemPoolAttr attribute, const void* value) noexcept;
cudaError_t pool_access(memory::Pool& pool, const cudaMemLocation& location, cudaMemAccessFlags* flags) noexcept;
cudaError_t set_pool_access(memory::Pool& pool, const cudaMemAccessDesc* list, std::size_t count) noexcept;

}  // namespace mr::model
