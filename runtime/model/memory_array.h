// CUDA arrays, texture and surface objects (API reference, "Memory Management", "Texture Object Management", "Surface
// Object Management").
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <memory/texture.h>

namespace mr::model {

// cudaArray_t points to one. Type-stable (ObjectPool).
struct Array {
  std::atomic<bool> live{false};
  int device = 0;
  cudaChannelFormatDesc desc{};
  cudaExtent extent{};  // in elements, as given
  unsigned flags = 0;
  memory::Surface surface;  // where the elements are
  bool is_level = false;    // of a mipmapped array, which owns the memory
  Array* next_free = nullptr;
};

// cudaMipmappedArray_t points to one.
struct MipmappedArray {
  std::atomic<bool> live{false};
  int device = 0;
  unsigned level_count = 0;
  Array* levels[memory::Texture::max_levels] = {};
  char* data = nullptr;
  MipmappedArray* next_free = nullptr;
};

// What a channel descriptor says; false for one that the device has no format for.
bool format_of(const cudaChannelFormatDesc& desc, memory::Format* out) noexcept;

// The array behind a handle, or null.
Array* array_of(cudaArray_const_t handle) noexcept;
MipmappedArray* mipmapped_of(cudaMipmappedArray_const_t handle) noexcept;

cudaError_t create_array(Array** out, const cudaChannelFormatDesc& desc, const cudaExtent& extent, unsigned flags,
                         bool three_dimensional, std::uint64_t site) noexcept;
// Waits for the device's work first.
cudaError_t destroy_array(Array& array) noexcept;
cudaError_t create_mipmapped(MipmappedArray** out, const cudaChannelFormatDesc& desc, const cudaExtent& extent,
                             unsigned levels, unsigned flags, std::uint64_t site) noexcept;
cudaError_t destroy_mipmapped(MipmappedArray& array) noexcept;
void reset_arrays(int device) noexcept;

// A texture or surface object: what it was made from, and what kernels fetch through. The handle is its address.
struct TextureObject {
  std::atomic<bool> live{false};
  int device = 0;
  bool is_surface = false;
  bool has_view = false;
  cudaResourceDesc resource{};
  cudaTextureDesc desc{};
  cudaResourceViewDesc view{};
  memory::Texture texture;
  TextureObject* next_free = nullptr;
};
TextureObject* texture_of(std::uint64_t handle, bool surface) noexcept;
cudaError_t create_texture(cudaTextureObject_t* out, const cudaResourceDesc& resource, const cudaTextureDesc& desc,
                           const cudaResourceViewDesc* view) noexcept;
cudaError_t create_surface(cudaSurfaceObject_t* out, const cudaResourceDesc& resource) noexcept;
void destroy_texture(std::uint64_t handle, bool surface) noexcept;
void reset_textures(int device) noexcept;

// Device code's fetches and accesses (simt::Hooks).
void texture_fetch(std::uint64_t texture, std::uint32_t dimensions, const float* coordinates, int layer, float level,
                   void* result);
void surface_access(std::uint64_t surface, bool store, int x_bytes, int y, int z, void* value, std::uint32_t bytes,
                    std::uint32_t boundary_mode);

}  // namespace mr::model
