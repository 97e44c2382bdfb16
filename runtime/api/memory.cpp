// Memory (CUDA Runtime API, "Memory Management" and "Unified Addressing"): allocation, host memory, questions, other
// processes.
#include <api/export.h>
#include <model/capture.h>
#include <model/graph_memory.h>
#include <model/memory.h>
#include <model/stream.h>

using namespace mr;

namespace {

constexpr std::size_t pitch_unit = 512;  // rows of pitched memory start at multiples of the texture alignment

// Why a call that allocates or frees can't be made now: cudaSuccess almost always.
cudaError_t refused_unsafe() {
  if (const cudaError_t error = api::refused()) return error;
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_unsafe(error)) return error;
  }
  return cudaSuccess;
}

cudaError_t allocate(void** out, std::size_t bytes, std::uint64_t site) {
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t error = api::refused()) return error;
  if (bytes == 0) {  // nothing is allocated, so captures don't mind
    model::current_context();
    *out = nullptr;
    return cudaSuccess;
  }
  if (const cudaError_t error = refused_unsafe()) return error;
  return model::allocate_device(out, bytes, memory::BlockTag::plain, site);
}

// Rows of `width` bytes, `rows` of them. *pitch is set even when there is not enough memory.
cudaError_t allocate_rows(void** out, std::size_t* pitch, std::size_t width, std::size_t rows, bool rows_overflow,
                          std::uint64_t site) {
  *out = nullptr;
  *pitch = 0;
  if (width == 0 || (rows == 0 && !rows_overflow)) return cudaSuccess;
  if (width > ~std::size_t{0} - (pitch_unit - 1)) return cudaErrorInvalidValue;
  *pitch = (width + pitch_unit - 1) / pitch_unit * pitch_unit;
  std::size_t bytes;
  if (rows_overflow || __builtin_mul_overflow(*pitch, rows, &bytes)) return cudaErrorMemoryAllocation;
  return model::allocate_device(out, bytes, memory::BlockTag::pitched, site);
}

cudaError_t allocate_pitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height, std::uint64_t site) {
  if (!out || !pitch) return cudaErrorInvalidValue;
  if (const cudaError_t error = refused_unsafe()) return error;
  return allocate_rows(out, pitch, width, height, false, site);
}

cudaError_t allocate_3d(cudaPitchedPtr* out, cudaExtent extent, std::uint64_t site) {
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t error = refused_unsafe()) return error;
  std::size_t rows;
  const bool overflow = __builtin_mul_overflow(extent.height, extent.depth, &rows);
  const cudaError_t error = allocate_rows(&out->ptr, &out->pitch, extent.width, rows, overflow, site);
  if (error == cudaSuccess) {
    out->xsize = extent.width;
    out->ysize = extent.height;
  }
  return error;
}

cudaError_t release(void* pointer) {
  if (const cudaError_t error = refused_unsafe()) return error;
  if (!pointer) {
    model::current_context();  // the usual way to make a context
    return cudaSuccess;
  }
  cudaError_t error;
  if (model::free_graph_memory(pointer, error)) return error;
  if (const cudaError_t freed = model::free_memory(pointer)) return freed;
  return api::broken();
}

cudaError_t allocate_host(void** out, std::size_t bytes, unsigned flags, std::uint64_t site) {
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t error = refused_unsafe()) return error;
  return model::allocate_host(out, bytes, flags, site);
}

cudaError_t free_host(void* pointer) {
  if (const cudaError_t error = refused_unsafe()) return error;
  if (!pointer) return cudaSuccess;
  if (const cudaError_t freed = model::free_host(pointer)) return freed;
  return api::broken();
}

cudaError_t mem_info(std::size_t* free_bytes, std::size_t* total) {
  if (const cudaError_t error = api::refused()) return error;
  const int device = model::current_context().ordinal;
  if (free_bytes) *free_bytes = memory::space().free_bytes(device);
  if (total) *total = memory::space().total_bytes(device);
  return cudaSuccess;
}

std::uint64_t caller(void* address) { return reinterpret_cast<std::uint64_t>(address); }

}  // namespace

#define MR_SITE caller(__builtin_return_address(0))

MR_API cudaMalloc(void** out, size_t bytes) { return api::result(allocate(out, bytes, MR_SITE)); }
MR_API cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return api::result(allocate_pitch(out, pitch, width, height, MR_SITE));
}
MR_API cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) { return api::result(allocate_3d(out, extent, MR_SITE)); }
MR_API cudaFree(void* pointer) { return api::result(release(pointer)); }
MR_API cudaMallocHost(void** out, size_t bytes) {
  return api::result(allocate_host(out, bytes, cudaHostAllocDefault, MR_SITE));
}
MR_API cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  return api::result(allocate_host(out, bytes, flags, MR_SITE));
}
MR_API cudaFreeHost(void* pointer) { return api::result(free_host(pointer)); }

MR_API cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  return api::result(model::register_host(pointer, bytes, flags));
}
MR_API cudaHostUnregister(void* pointer) {
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  return api::result(model::unregister_host(pointer));
}
MR_API cudaHostGetDevicePointer(void** out, void* pointer, unsigned flags) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  if (flags != 0) {
    *out = nullptr;
    return api::result(cudaErrorInvalidValue);
  }
  return api::result(model::host_device_pointer(out, pointer));
}
MR_API cudaHostGetFlags(unsigned* out, void* pointer) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  return api::result(model::host_flags_of(out, pointer));
}
MR_API cudaMemGetInfo(size_t* free_bytes, size_t* total) { return api::result(mem_info(free_bytes, total)); }
MR_API cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::current_context();
  model::pointer_attributes(out, pointer);
  return cudaSuccess;
}

MR_API cudaGetSymbolAddress(void** out, const void* symbol) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  char* address = nullptr;
  std::size_t size = 0;
  if (const cudaError_t error = model::symbol_address(symbol, &address, &size)) return api::result(error);
  *out = address;
  return cudaSuccess;
}
MR_API cudaGetSymbolSize(size_t* out, const void* symbol) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  char* address = nullptr;
  std::size_t size = 0;
  if (const cudaError_t error = model::symbol_address(symbol, &address, &size)) return api::result(error);
  *out = size;
  return cudaSuccess;
}

MR_API cudaIpcGetMemHandle(cudaIpcMemHandle_t* out, void* pointer) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::ipc_export(out, pointer));
}
MR_API cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned flags) {
  if (!out || !(flags & cudaIpcMemLazyEnablePeerAccess)) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  model::current_context();
  return api::result(model::ipc_open(out, handle));
}
MR_API cudaIpcCloseMemHandle(void* pointer) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::ipc_close(pointer));
}
