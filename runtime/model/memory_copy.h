// Copies and sets: what the API checks at the call, and how they become operations (API reference, "Memory Management";
// specification 2.5.2).
#pragma once
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <memory/copy.h>
#include <memory/space.h>
#include <model/memory.h>

namespace mr::model {

struct Stream;

// A checked copy. All check_ functions return the error that the real runtime reports for the arguments; on success the
// plan says what to move, or that there is nothing to move. They look at no stream and change nothing; graph nodes use
// them as well.
struct CopyPlan {
  memory::Copy copy{};
  bool empty = true;
  bool outside = false;  // of a refused box of a batch: its form is right, but it leaves its array or block
  memory::Kind dst = memory::Kind::pageable, src = memory::Kind::pageable;  // an array counts as device memory

  bool within_device() const noexcept { return memory::on_device(dst) && memory::on_device(src); }
};

cudaError_t check_copy(CopyPlan& plan, void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind) noexcept;
cudaError_t check_copy_2d(CopyPlan& plan, void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind) noexcept;
// As a node shows them: an array is the device's, whatever the direction says, and has no pitch.
cudaMemcpy3DParms shown_parameters(const cudaMemcpy3DParms& parameters) noexcept;
cudaError_t check_copy_3d(CopyPlan& plan, const cudaMemcpy3DParms& parameters) noexcept;
cudaError_t check_peer_3d(CopyPlan& plan, const cudaMemcpy3DPeerParms& parameters) noexcept;
cudaError_t check_peer(CopyPlan& plan, void* dst, int dst_device, const void* src, int src_device,
                       std::size_t bytes) noexcept;
cudaError_t check_to_array(CopyPlan& plan, cudaArray_t dst, std::size_t x, std::size_t y, const void* src,
                           std::size_t src_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) noexcept;
cudaError_t check_from_array(CopyPlan& plan, void* dst, std::size_t dst_pitch, cudaArray_const_t src, std::size_t x,
                             std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) noexcept;
cudaError_t check_between_arrays(CopyPlan& plan, cudaArray_t dst, std::size_t dst_x, std::size_t dst_y,
                                 cudaArray_const_t src, std::size_t src_x, std::size_t src_y, std::size_t width,
                                 std::size_t height, cudaMemcpyKind kind) noexcept;
// `range_first`: what reaches beyond the variable counts before a wrong direction, as it does in calls that wait.
cudaError_t check_to_symbol(CopyPlan& plan, const void* symbol, const void* src, std::size_t bytes, std::size_t offset,
                            cudaMemcpyKind kind, bool range_first) noexcept;
cudaError_t check_from_symbol(CopyPlan& plan, void* dst, const void* symbol, std::size_t bytes, std::size_t offset,
                              cudaMemcpyKind kind, bool range_first) noexcept;
cudaError_t check_batch_3d(CopyPlan& plan, const cudaMemcpy3DBatchOp& operation) noexcept;

// Fills. `fill` is complete after the shape check; the target's memory is looked at by check_fill_target, for
// the device that is to write it.
cudaError_t check_fill(memory::Fill& fill, bool& empty, void* dst, std::size_t pitch, std::size_t slice_rows, int value,
                       const cudaExtent& extent, bool three_dimensional) noexcept;
cudaError_t check_fill_target(const memory::Fill& fill, int device, memory::Kind* kind) noexcept;

// ---- running them ----

// Appends the fill to the stream.
void enqueue_fill(Stream& stream, const memory::Fill& fill) noexcept;

// A copy of a call with a stream. Pageable memory is read, and host memory that no device can reach is written, before
// this returns: small uploads through a staging buffer, everything else by waiting for the stream.
void copy_async(Stream& stream, const CopyPlan& plan) noexcept;
// The same, with the source read before this returns whatever memory it is (cudaMemcpySrcAccessOrderDuringApiCall).
void copy_taking_source(Stream& stream, const CopyPlan& plan) noexcept;
// A copy or set of a call without a stream, in the default stream: waits for it unless everything stays on the device.
void copy_and_wait(Stream& stream, const CopyPlan& plan) noexcept;
void fill_and_wait(Stream& stream, const memory::Fill& fill, memory::Kind kind) noexcept;

}  // namespace mr::model
