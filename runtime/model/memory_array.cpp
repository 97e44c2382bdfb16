#include <model/memory_array.h>

#include <algorithm>
#include <bit>

#include <memory/space.h>
#include <model/context.h>
#include <model/memory.h>
#include <model/object_pool.h>

namespace mr::model {

using memory::space;

namespace {

ObjectPool<Array>& arrays() {
  static auto* const pool = new ObjectPool<Array>(1u << 22);
  return *pool;
}
ObjectPool<MipmappedArray>& mipmaps() {
  static auto* const pool = new ObjectPool<MipmappedArray>(1u << 20);
  return *pool;
}

// Which flags an array may have.
constexpr unsigned unnamed_flag = 0x100;  // accepted by the real runtime, without effect here
constexpr unsigned common_flags = cudaArraySurfaceLoadStore | cudaArraySparse | cudaArrayDeferredMapping | unnamed_flag;
constexpr unsigned all_flags = common_flags | cudaArrayTextureGather | cudaArrayLayered | cudaArrayCubemap;

// Whether these sides make an array of the kind that the flags name; looked at before the format is.
bool has_shape(const cudaExtent& e, unsigned flags) noexcept {
  if (e.width == 0) return false;
  const bool layered = flags & cudaArrayLayered;
  if (flags & cudaArrayCubemap)
    return e.width == e.height && (layered ? e.depth != 0 && e.depth % 6 == 0 : e.depth == 6);
  return layered ? e.depth != 0 : e.depth == 0 || e.height != 0;
}

// The device's limits (cudaDeviceProp), for an array that has_shape().
bool fits(const cudaExtent& e, unsigned flags, bool mipmapped) noexcept {
  const auto at_most = [&](std::size_t w, std::size_t h, std::size_t d) {
    return e.width <= w && e.height <= h && e.depth <= d;
  };
  // Gathers read plain images only, and there are no sparse rows.
  if ((flags & cudaArrayTextureGather) && (flags & (cudaArrayLayered | cudaArrayCubemap))) return false;
  if ((flags & cudaArraySparse) && (e.height == 0 || (flags & (cudaArraySurfaceLoadStore | cudaArrayCubemap))))
    return false;
  if (flags & cudaArrayCubemap) return at_most(32768, 32768, 2046);
  if (flags & cudaArrayLayered) return at_most(32768, 32768, 2048);
  if (e.depth != 0) {
    if (flags & cudaArrayTextureGather) return false;
    return at_most(16384, 16384, 16384) || at_most(8192, 8192, 32768);
  }
  if (flags & cudaArrayTextureGather) return e.height != 0 && at_most(32768, 32768, 0);
  if (mipmapped) return at_most(32768, 32768, 0);
  if (e.height == 0 && (flags & cudaArraySurfaceLoadStore)) return at_most(32768, 0, 0);
  return at_most(131072, 65536, 0);
}

Array* new_array(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags, int device) noexcept {
  Array* array = arrays().take();
  if (!array) return nullptr;
  array->device = device;
  array->desc = desc;
  array->extent = extent;
  array->flags = flags;
  array->is_level = false;
  return array;
}

void release_array(Array& array) noexcept {
  bool expected = true;
  if (!array.live.compare_exchange_strong(expected, false, std::memory_order_acq_rel)) return;
  if (!array.is_level) space().device_heap(array.device).free(array.surface.data);
  arrays().release(&array);
}

void release_mipmapped(MipmappedArray& array) noexcept {
  bool expected = true;
  if (!array.live.compare_exchange_strong(expected, false, std::memory_order_acq_rel)) return;
  for (unsigned i = 0; i < array.level_count; ++i) release_array(*array.levels[i]);
  space().device_heap(array.device).free(array.data);
  mipmaps().release(&array);
}

void wait_for(int device) noexcept {
  if (Context* context = existing_context(device)) context->synchronize();
}

}  // namespace

bool format_of(const cudaChannelFormatDesc& desc, memory::Format* out) noexcept {
  const int bits[4] = {desc.x, desc.y, desc.z, desc.w};
  if (desc.f >= cudaChannelFormatKindUnsignedNormalized8X1 && desc.f <= cudaChannelFormatKindSignedNormalized16X4) {
    // Three numbers of channels for each of: unsigned bytes, unsigned words, signed bytes, signed words.
    const unsigned index = static_cast<unsigned>(desc.f - cudaChannelFormatKindUnsignedNormalized8X1);
    const std::uint32_t size = index / 3 % 2 ? 16 : 8, channels = 1u << index % 3;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (bits[i] != static_cast<int>(i < channels ? size : 0)) return false;
    *out = {index < 6 ? memory::ChannelKind::is_unsigned : memory::ChannelKind::is_signed, size, channels, true};
    return true;
  }
  if (desc.f != cudaChannelFormatKindSigned && desc.f != cudaChannelFormatKindUnsigned &&
      desc.f != cudaChannelFormatKindFloat)
    return false;
  std::uint32_t channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  if (channels == 0 || channels == 3) return false;
  for (std::uint32_t i = 0; i < 4; ++i)
    if (bits[i] != (i < channels ? bits[0] : 0)) return false;
  if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return false;
  if (desc.f == cudaChannelFormatKindFloat && bits[0] == 8) return false;
  *out = {static_cast<memory::ChannelKind>(desc.f), static_cast<std::uint32_t>(bits[0]), channels};
  return true;
}

namespace {

// Formats of a GPU that aren't here: compressed ones, and those of planes (of which this device would have none
// either).
cudaError_t other_format(const cudaChannelFormatDesc& d) noexcept {
  const auto bits = [&](int x, int y, int z, int w) { return d.x == x && d.y == y && d.z == z && d.w == w; };
  switch (d.f) {
  case cudaChannelFormatKindNV12: return bits(8, 8, 8, 0) ? cudaErrorInvalidValue : cudaErrorInvalidChannelDescriptor;
  case cudaChannelFormatKindUnsignedBlockCompressed1:
  case cudaChannelFormatKindUnsignedBlockCompressed1SRGB:
  case cudaChannelFormatKindUnsignedBlockCompressed2:
  case cudaChannelFormatKindUnsignedBlockCompressed2SRGB:
  case cudaChannelFormatKindUnsignedBlockCompressed3:
  case cudaChannelFormatKindUnsignedBlockCompressed3SRGB:
  case cudaChannelFormatKindUnsignedBlockCompressed7:
  case cudaChannelFormatKindUnsignedBlockCompressed7SRGB:
    return bits(8, 8, 8, 8) ? cudaErrorNotSupported : cudaErrorInvalidChannelDescriptor;
  case cudaChannelFormatKindUnsignedBlockCompressed4:
  case cudaChannelFormatKindSignedBlockCompressed4:
    return bits(8, 0, 0, 0) ? cudaErrorNotSupported : cudaErrorInvalidChannelDescriptor;
  case cudaChannelFormatKindUnsignedBlockCompressed5:
  case cudaChannelFormatKindSignedBlockCompressed5:
    return bits(8, 8, 0, 0) ? cudaErrorNotSupported : cudaErrorInvalidChannelDescriptor;
  case cudaChannelFormatKindUnsignedBlockCompressed6H:
  case cudaChannelFormatKindSignedBlockCompressed6H:
    return bits(16, 16, 16, 0) ? cudaErrorNotSupported : cudaErrorInvalidChannelDescriptor;
  case cudaChannelFormatKindUnsignedNormalized1010102:
    return bits(10, 10, 10, 2) ? cudaErrorNotSupported : cudaErrorInvalidChannelDescriptor;
  default: return cudaErrorInvalidChannelDescriptor;
  }
}

cudaError_t check_array(const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags, bool mipmapped,
                        memory::Format* format) noexcept {
  if (!has_shape(extent, flags)) return cudaErrorInvalidValue;
  if (!format_of(desc, format)) return other_format(desc);
  return (flags & ~all_flags) || !fits(extent, flags, mipmapped) ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

Array* array_of(cudaArray_const_t handle) noexcept {
  auto* array = const_cast<Array*>(reinterpret_cast<const Array*>(handle));
  return array && arrays().valid(array) ? array : nullptr;
}
MipmappedArray* mipmapped_of(cudaMipmappedArray_const_t handle) noexcept {
  auto* array = const_cast<MipmappedArray*>(reinterpret_cast<const MipmappedArray*>(handle));
  return array && mipmaps().valid(array) ? array : nullptr;
}

cudaError_t create_array(Array** out, const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags,
                         bool three_dimensional, std::uint64_t site) noexcept {
  *out = nullptr;
  memory::Format format;
  // cudaMallocArray makes plain arrays only.
  if (!three_dimensional && (flags & (cudaArrayLayered | cudaArrayCubemap))) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_array(desc, extent, flags, false, &format)) return error;
  Array* array = new_array(desc, extent, flags, current_context().ordinal);
  if (!array) return cudaErrorMemoryAllocation;
  array->surface = memory::lay_out(format, {extent.width, extent.height, extent.depth});
  void* data = nullptr;
  if (const cudaError_t error = allocate_device(&data, array->surface.slice_pitch * array->surface.depth,
                                                memory::BlockTag::array, site)) {
    arrays().release(array);
    return error;
  }
  array->surface.data = static_cast<char*>(data);
  array->live.store(true, std::memory_order_release);
  *out = array;
  return cudaSuccess;
}

cudaError_t destroy_array(Array& array) noexcept {
  wait_for(array.device);
  if (!array.is_level) release_array(array);  // a level lives as long as its mipmapped array
  return cudaSuccess;
}

cudaError_t create_mipmapped(MipmappedArray** out, const cudaChannelFormatDesc& desc, const cudaExtent& extent,
                             unsigned levels, unsigned flags, std::uint64_t site) noexcept {
  *out = nullptr;
  memory::Format format;
  if (const cudaError_t error = check_array(desc, extent, flags, true, &format)) return error;
  const bool slices_shrink = !(flags & (cudaArrayLayered | cudaArrayCubemap));
  const std::size_t longest = std::max({extent.width, extent.height, slices_shrink ? extent.depth : 0});
  const auto most = static_cast<unsigned>(std::bit_width(longest));
  levels = std::clamp(levels, 1u, std::min(most, memory::Texture::max_levels));
  const int device = current_context().ordinal;
  MipmappedArray* mipmapped = mipmaps().take();
  if (!mipmapped) return cudaErrorMemoryAllocation;
  mipmapped->device = device;
  mipmapped->level_count = 0;
  std::size_t bytes = 0;
  std::size_t offsets[memory::Texture::max_levels];
  const auto halved = [](std::size_t size, unsigned level) {
    return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
  };
  for (unsigned i = 0; i < levels; ++i) {
    const cudaExtent e{halved(extent.width, i), halved(extent.height, i),
                       slices_shrink ? halved(extent.depth, i) : extent.depth};
    Array* level = new_array(desc, e, flags, device);
    if (!level) break;
    level->is_level = true;
    level->surface = memory::lay_out(format, {e.width, e.height, e.depth});
    offsets[i] = bytes;
    bytes += (level->surface.slice_pitch * level->surface.depth + 511) & ~std::size_t{511};
    mipmapped->levels[i] = level;
    ++mipmapped->level_count;
  }
  void* data = nullptr;
  cudaError_t error = mipmapped->level_count == levels ? cudaSuccess : cudaErrorMemoryAllocation;
  if (error == cudaSuccess) error = allocate_device(&data, bytes, memory::BlockTag::array, site);
  if (error != cudaSuccess) {
    for (unsigned i = 0; i < mipmapped->level_count; ++i) arrays().release(mipmapped->levels[i]);
    mipmaps().release(mipmapped);
    return error;
  }
  mipmapped->data = static_cast<char*>(data);
  for (unsigned i = 0; i < levels; ++i) {
    mipmapped->levels[i]->surface.data = mipmapped->data + offsets[i];
    mipmapped->levels[i]->live.store(true, std::memory_order_release);
  }
  mipmapped->live.store(true, std::memory_order_release);
  *out = mipmapped;
  return cudaSuccess;
}

cudaError_t destroy_mipmapped(MipmappedArray& array) noexcept {
  wait_for(array.device);
  release_mipmapped(array);
  return cudaSuccess;
}

void reset_arrays(int device) noexcept {
  reset_textures(device);
  mipmaps().for_each_live([device](MipmappedArray& array) {
    if (array.device == device) release_mipmapped(array);
  });
  arrays().for_each_live([device](Array& array) {
    if (array.device == device) release_array(array);
  });
}

}  // namespace mr::model
