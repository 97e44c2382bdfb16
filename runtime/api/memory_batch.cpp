// Batches of copies (CUDA Runtime API, cudaMemcpyBatchAsync and cudaMemcpy3DBatchAsync). What is wrong with a batch's
// form refuses it as a whole; what is wrong with an entry ends it there: the entries before are on their way.
#include <vector>

#include <api/copy_call.h>

using namespace mr;

namespace {

bool known_location(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeDevice) return location.id >= 0 && location.id < model::device_count();
  return location.type >= cudaMemLocationTypeInvalid && location.type <= cudaMemLocationTypeHostNumaCurrent;
}
bool valid_order(cudaMemcpySrcAccessOrder order) {
  return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny;
}

// The stream of a batch: any but the legacy default stream.
cudaError_t stream_of(cudaStream_t handle, bool per_thread, model::Stream** out) {
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (stream->is_legacy) return cudaErrorInvalidValue;
  *out = stream;
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_bars(*stream, error)) return error;
    if (model::capture_refuse(*stream, error, false)) return error;  // the capture goes on
  }
  return cudaSuccess;
}

void run(model::Stream& stream, const model::CopyPlan& plan, cudaMemcpySrcAccessOrder order) {
  if (order == cudaMemcpySrcAccessOrderDuringApiCall)
    model::copy_taking_source(stream, plan);
  else
    model::copy_async(stream, plan);
}

cudaError_t check_attributes(const cudaMemcpyAttributes* attributes, const std::size_t* indexes, std::size_t count,
                             std::size_t copies) {
  if (!attributes || !indexes || count == 0 || count > copies || indexes[0] != 0) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    if (indexes[i] >= copies || (i && indexes[i] <= indexes[i - 1])) return cudaErrorInvalidValue;
    const cudaMemcpyAttributes& a = attributes[i];
    if (!valid_order(a.srcAccessOrder) || (a.flags & ~static_cast<unsigned>(cudaMemcpyFlagPreferOverlapWithCompute)) ||
        !known_location(a.srcLocHint) || !known_location(a.dstLocHint))
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t batch(void* const* dst, const void* const* src, const std::size_t* sizes, std::size_t count,
                  cudaMemcpyAttributes* attributes, std::size_t* indexes, std::size_t attribute_count,
                  cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!dst || !src || !sizes || count == 0) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = check_attributes(attributes, indexes, attribute_count, count))
    return api::result(error);
  model::Stream* stream = nullptr;
  if (const cudaError_t error = stream_of(handle, per_thread, &stream)) return api::result(error);
  std::size_t attribute = 0;
  for (std::size_t i = 0; i < count; ++i) {
    while (attribute + 1 < attribute_count && indexes[attribute + 1] <= i) ++attribute;
    model::CopyPlan plan;
    if (sizes[i] == 0) return api::result(cudaErrorInvalidValue);
    if (const cudaError_t error = model::check_copy(plan, dst[i], src[i], sizes[i], cudaMemcpyDefault))
      return api::result(error);
    run(*stream, plan, attributes[attribute].srcAccessOrder);
  }
  return api::result(api::broken());
}

cudaError_t batch_3d(std::size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags, cudaStream_t handle,
                     bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!operations || count == 0 || flags != 0) return api::result(cudaErrorInvalidValue);
  model::Stream* stream = nullptr;
  if (const cudaError_t error = stream_of(handle, per_thread, &stream)) return api::result(error);
  std::vector<model::CopyPlan> plans(count);
  cudaError_t outside = cudaSuccess;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const cudaError_t error = model::check_batch_3d(plans[i], operations[i]);
    if (error && !plans[i].outside) return api::result(error);
    if (outside) continue;
    outside = error;
    if (!error) inside = i + 1;
  }
  for (std::size_t i = 0; i < inside; ++i) run(*stream, plans[i], operations[i].srcAccessOrder);
  return api::result(outside ? outside : api::broken());
}

}  // namespace

MR_TWINS(cudaMemcpyBatchAsync, _ptsz, batch,
         (void* const* dst, const void* const* src, const size_t* sizes, size_t count, cudaMemcpyAttributes* attributes,
          size_t* indexes, size_t attribute_count, cudaStream_t stream),
         dst, src, sizes, count, attributes, indexes, attribute_count, stream)
MR_TWINS(cudaMemcpy3DBatchAsync, _ptsz, batch_3d,
         (size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags, cudaStream_t stream), count,
         operations, flags, stream)
