#include <algorithm>
#include <limits>

#include <memory/space.h>
#include <model/context.h>
#include <model/device.h>
#include <model/memory.h>
#include <model/memory_array.h>
#include <model/object_pool.h>

namespace mr::model {
namespace {

constexpr std::uintptr_t address_alignment = 512;  // cudaDeviceProp::textureAlignment
constexpr std::size_t pitch_alignment = 32;        // texturePitchAlignment

ObjectPool<TextureObject>& objects() {
  static auto* const pool = new ObjectPool<TextureObject>(1u << 20);
  return *pool;
}

// 4 GiB of elements, but no more than 2^30 (cudaDeviceGetTexture1DLinearMaxWidth).
std::size_t most_linear_elements(const memory::Format& format) noexcept {
  return (std::size_t{1} << 32) / std::max(format.element_bytes(), 4u);
}

// Memory that a texture may lie in: anything but pageable memory and memory that is free.
cudaError_t check_address(const void* pointer) noexcept {
  Operand operand;
  if (!pointer || reinterpret_cast<std::uintptr_t>(pointer) % address_alignment) return cudaErrorInvalidValue;
  return look_up(pointer, 1, &operand) && operand.kind != memory::Kind::pageable ? cudaSuccess : cudaErrorInvalidValue;
}

// An array of another device can be read through an object only where that device's memory can (as recorded).
cudaError_t check_peer(const void* memory) noexcept {
  const int here = current_context().ordinal, there = memory::space().device_of(memory);
  return there < 0 || there == here || settings(here).peer(there) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
}

// Words that are no mode mean "normalized if that is possible".
bool read_normalized(const cudaTextureDesc& desc, const memory::Format& format) noexcept {
  return desc.readMode != cudaReadModeElementType && format.kind != memory::ChannelKind::is_float && format.bits < 32;
}

// Whether elements of this format can be read so; asked before it is known where they lie.
cudaError_t check_reading(const cudaTextureDesc& desc, const memory::Format& format) noexcept {
  const bool is_float = format.kind == memory::ChannelKind::is_float;
  if (format.normalized)
    return desc.readMode == cudaReadModeNormalizedFloat ? cudaSuccess : cudaErrorInvalidNormSetting;
  if (desc.filterMode == cudaFilterModeLinear && !is_float && !read_normalized(desc, format))
    return cudaErrorInvalidFilterSetting;
  if (desc.readMode == cudaReadModeNormalizedFloat && (is_float || format.bits == 32))
    return cudaErrorInvalidNormSetting;
  return cudaSuccess;
}

constexpr bool is_mode(cudaTextureAddressMode mode) noexcept {
  return static_cast<unsigned>(mode) <= cudaAddressModeBorder;
}

// Modes of dimensions that the texture hasn't aren't looked at.
cudaError_t check_sampling(const cudaTextureDesc& desc, unsigned dimensions) noexcept {
  for (unsigned i = 0; i < dimensions; ++i)
    if (!is_mode(desc.addressMode[i])) return cudaErrorInvalidValue;
  if (static_cast<unsigned>(desc.filterMode) > cudaFilterModeLinear ||
      static_cast<unsigned>(desc.mipmapFilterMode) > cudaFilterModeLinear)
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

// The dimensions in which an array's texels have coordinates of their own; layers and faces aren't one.
unsigned dimensions_of(const Array& array) noexcept {
  const bool layers = array.flags & (cudaArrayLayered | cudaArrayCubemap);
  return array.extent.depth != 0 && !layers ? 3 : array.extent.height != 0 ? 2 : 1;
}

// Fills the levels of `texture` from a resource. `reading`: as it is to be read; null for a surface.
cudaError_t find_levels(const cudaResourceDesc& resource, const cudaTextureDesc* reading, memory::Texture* texture,
                        unsigned* dimensions) noexcept {
  const auto check_use = [&] {
    return reading ? check_reading(*reading, texture->levels[0].format) : cudaErrorInvalidValue;
  };
  switch (resource.resType) {
  case cudaResourceTypeArray: {
    const Array* array = array_of(resource.res.array.array);
    if (!array) return cudaErrorInvalidResourceHandle;
    texture->levels[0] = array->surface;
    texture->cubemap = array->flags & cudaArrayCubemap;
    *dimensions = dimensions_of(*array);
    if (reading)
      if (const cudaError_t error = check_use()) return error;
    return check_peer(array->surface.data);
  }
  case cudaResourceTypeMipmappedArray: {
    const MipmappedArray* array = mipmapped_of(resource.res.mipmap.mipmap);
    if (!array) return cudaErrorInvalidResourceHandle;
    texture->level_count = array->level_count;
    for (unsigned i = 0; i < array->level_count; ++i) texture->levels[i] = array->levels[i]->surface;
    texture->cubemap = array->levels[0]->flags & cudaArrayCubemap;
    *dimensions = dimensions_of(*array->levels[0]);
    if (const cudaError_t error = check_use()) return error;
    return check_peer(texture->levels[0].data);
  }
  case cudaResourceTypeLinear: {
    const auto& linear = resource.res.linear;
    memory::Surface& surface = texture->levels[0];
    if (!format_of(linear.desc, &surface.format)) return cudaErrorInvalidChannelDescriptor;
    if (const cudaError_t error = check_use()) return error;
    if (surface.format.normalized) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_address(linear.devPtr)) return error;
    const std::size_t elements = linear.sizeInBytes / surface.format.element_bytes();
    if (elements > most_linear_elements(surface.format)) return cudaErrorInvalidValue;
    // What lies beyond the block reads as zero, like everything else outside.
    const memory::Block block = memory::space().find(linear.devPtr).block;
    const auto left = block.size - static_cast<std::size_t>(static_cast<char*>(linear.devPtr) - block.base);
    surface.data = static_cast<char*>(linear.devPtr);
    surface.width = static_cast<std::uint32_t>(std::min(elements, left / surface.format.element_bytes()));
    texture->linear = true;
    *dimensions = 1;
    return cudaSuccess;
  }
  case cudaResourceTypePitch2D: {
    const auto& pitched = resource.res.pitch2D;
    memory::Surface& surface = texture->levels[0];
    if (!format_of(pitched.desc, &surface.format)) return cudaErrorInvalidChannelDescriptor;
    if (const cudaError_t error = check_use()) return error;
    if (surface.format.normalized) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_address(pitched.devPtr)) return error;
    if (pitched.width > 131072 || pitched.height > 65000 || pitched.pitchInBytes > 2097120 ||
        pitched.pitchInBytes % pitch_alignment)  // rows may overlap
      return cudaErrorInvalidValue;
    surface.data = static_cast<char*>(pitched.devPtr);
    surface.width = static_cast<std::uint32_t>(std::max<std::size_t>(pitched.width, 1));
    surface.height = static_cast<std::uint32_t>(std::max<std::size_t>(pitched.height, 1));
    surface.row_pitch = pitched.pitchInBytes;
    surface.slice_pitch = surface.row_pitch * surface.height;
    *dimensions = 2;
    return cudaSuccess;
  }
  default: return cudaErrorInvalidValue;
  }
}

// What a view reads the elements as; false for a format of another size.
bool view_format(cudaResourceViewFormat view, memory::Format* format) noexcept {
  if (view == cudaResViewFormatNone || view > cudaResViewFormatFloat4) return false;
  const unsigned index = static_cast<unsigned>(view) - 1;
  constexpr memory::Format rows[] = {{memory::ChannelKind::is_unsigned, 8, 1},  {memory::ChannelKind::is_signed, 8, 1},
                                     {memory::ChannelKind::is_unsigned, 16, 1}, {memory::ChannelKind::is_signed, 16, 1},
                                     {memory::ChannelKind::is_unsigned, 32, 1}, {memory::ChannelKind::is_signed, 32, 1},
                                     {memory::ChannelKind::is_float, 16, 1},    {memory::ChannelKind::is_float, 32, 1}};
  memory::Format result = rows[index / 3];
  result.channels = 1u << index % 3;
  if (result.element_bytes() != format->element_bytes()) return false;
  *format = result;
  return true;
}

cudaError_t apply_view(const cudaResourceViewDesc& view, memory::Texture* texture) noexcept {
  if (texture->linear) return cudaErrorInvalidValue;
  const memory::Surface& base = texture->levels[0];
  if (view.width != base.width || (view.height != base.height && view.height != 0)) return cudaErrorInvalidValue;
  if (view.firstMipmapLevel > view.lastMipmapLevel) return cudaErrorInvalidValue;
  if (view.firstLayer > view.lastLayer || (view.lastLayer != 0 && view.lastLayer >= base.depth))
    return cudaErrorInvalidValue;
  // Levels that aren't there are the last one.
  const unsigned first = std::min<unsigned>(view.firstMipmapLevel, texture->level_count - 1);
  const unsigned levels = std::min<unsigned>(view.lastMipmapLevel, texture->level_count - 1) - first + 1;
  for (unsigned i = 0; i < levels; ++i) {
    memory::Surface level = texture->levels[first + i];
    if (!view_format(view.format, &level.format)) return cudaErrorInvalidValue;
    if (view.lastLayer != 0) {
      level.data += view.firstLayer * level.slice_pitch;
      level.depth = view.lastLayer - view.firstLayer + 1;
    }
    texture->levels[i] = level;
  }
  texture->level_count = levels;
  return cudaSuccess;
}

}  // namespace

TextureObject* texture_of(std::uint64_t handle, bool surface) noexcept {
  auto* object = reinterpret_cast<TextureObject*>(handle);
  return object && objects().valid(object) && object->is_surface == surface ? object : nullptr;
}

cudaError_t create_texture(cudaTextureObject_t* out, const cudaResourceDesc& resource, const cudaTextureDesc& desc,
                           const cudaResourceViewDesc* view) noexcept {
  memory::Texture texture;
  unsigned dimensions = 0;
  if (const cudaError_t error = find_levels(resource, &desc, &texture, &dimensions)) return error;
  if (const cudaError_t error = check_sampling(desc, dimensions)) return error;
  if (desc.seamlessCubemap && !texture.cubemap) return cudaErrorInvalidValue;
  if (view)
    if (const cudaError_t error = apply_view(*view, &texture)) return error;
  for (int i = 0; i < 3; ++i)
    texture.address[i] = static_cast<memory::AddressMode>(is_mode(desc.addressMode[i]) ? desc.addressMode[i]
                                                                                       : cudaAddressModeClamp);
  texture.filter = static_cast<memory::FilterMode>(desc.filterMode);
  texture.level_filter = static_cast<memory::FilterMode>(desc.mipmapFilterMode);
  texture.normalized_read = read_normalized(desc, texture.levels[0].format);
  texture.normalized_coordinates = desc.normalizedCoords;
  const memory::Format& format = texture.levels[0].format;
  texture.srgb = desc.sRGB && texture.normalized_read && format.bits == 8 && format.channels == 4 &&
                 format.kind == memory::ChannelKind::is_unsigned;
  memory::set_border(texture, desc.borderColor);
  texture.level_bias = desc.mipmapLevelBias;
  texture.min_level = desc.minMipmapLevelClamp;
  texture.max_level = desc.maxMipmapLevelClamp;
  TextureObject* object = objects().take();
  if (!object) return cudaErrorMemoryAllocation;
  object->device = current_context().ordinal;
  object->is_surface = false;
  object->has_view = view != nullptr;
  object->resource = resource;
  object->desc = desc;
  object->desc.readMode = texture.normalized_read ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  // What is said of it is what it came to.
  for (cudaTextureAddressMode& mode : object->desc.addressMode)
    if (!is_mode(mode)) mode = cudaAddressModeClamp;
  if (resource.resType == cudaResourceTypePitch2D && resource.res.pitch2D.height == 1)
    object->resource.res.pitch2D.pitchInBytes = 0;
  object->desc.sRGB = desc.sRGB != 0;
  object->desc.normalizedCoords = desc.normalizedCoords != 0;
  object->desc.disableTrilinearOptimization = desc.disableTrilinearOptimization != 0;
  object->view = view ? *view : cudaResourceViewDesc{};
  object->texture = texture;
  object->live.store(true, std::memory_order_release);
  *out = reinterpret_cast<std::uint64_t>(object);
  return cudaSuccess;
}

cudaError_t create_surface(cudaSurfaceObject_t* out, const cudaResourceDesc& resource) noexcept {
  // Only arrays can be written to so.
  memory::Texture texture;
  unsigned dimensions = 0;
  if (const cudaError_t error = find_levels(resource, nullptr, &texture, &dimensions)) return error;
  texture.layered = array_of(resource.res.array.array)->flags & cudaArrayLayered;
  TextureObject* object = objects().take();
  if (!object) return cudaErrorMemoryAllocation;
  object->device = current_context().ordinal;
  object->is_surface = true;
  object->has_view = false;
  object->resource = resource;
  object->texture = texture;
  object->live.store(true, std::memory_order_release);
  *out = reinterpret_cast<std::uint64_t>(object);
  return cudaSuccess;
}

void destroy_texture(std::uint64_t handle, bool surface) noexcept {
  TextureObject* object = texture_of(handle, surface);
  bool expected = true;
  if (object && object->live.compare_exchange_strong(expected, false, std::memory_order_acq_rel))
    objects().release(object);
}

void reset_textures(int device) noexcept {
  objects().for_each_live([device](TextureObject& object) {
    if (object.device == device) destroy_texture(reinterpret_cast<std::uint64_t>(&object), object.is_surface);
  });
}

namespace {

// What device code did can't be done: as on the device, an illegal address ends the kernel.
void fault() noexcept {
  // NOLINTNEXTLINE(clang-analyzer-core.FixedAddressDereference)
  *reinterpret_cast<volatile char*>(std::uintptr_t{16}) = 0;
}

}  // namespace

void texture_fetch(std::uint64_t texture, std::uint32_t dimensions, const float* coordinates, int layer, float level,
                   void* result) {
  const TextureObject* object = texture_of(texture, false);
  if (!object) {
    fault();
    return;
  }
  memory::fetch(object->texture, dimensions, coordinates, layer, level, result);
}

void surface_access(std::uint64_t surface, bool store, int x_bytes, int y, int z, void* value, std::uint32_t bytes,
                    std::uint32_t boundary_mode) {
  const TextureObject* object = texture_of(surface, true);
  // Behind the last layer rather than before the first.
  if (object && object->texture.layered && z < 0) z = std::numeric_limits<int>::max();
  if (!object || !memory::access(object->texture.levels[0], store, x_bytes, y, z, value, bytes,
                                 static_cast<memory::BoundaryMode>(boundary_mode)))
    fault();
}

}  // namespace mr::model
