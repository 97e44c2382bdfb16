// CUDA arrays: elements in rows and slices, as plain memory. (A GPU tiles them; nobody can tell from outside.)
#pragma once
#include <cstddef>
#include <cstdint>

#include <memory/copy.h>

namespace mr::memory {

// How the bits of a texel's component are read. The numbers are those of cudaChannelFormatKind.
enum class ChannelKind : std::uint32_t { is_signed = 0, is_unsigned = 1, is_float = 2 };

// 1, 2 or 4 components of 8, 16 or 32 bits each.
struct Format {
  ChannelKind kind = ChannelKind::is_float;
  std::uint32_t bits = 32;
  std::uint32_t channels = 1;
  bool normalized = false;  // integers that stand for numbers from 0 or -1 to 1 (cudaChannelFormatKind...Normalized...)
  std::uint32_t element_bytes() const noexcept { return bits / 8 * channels; }
};

struct Extent {
  std::size_t width = 0, height = 0, depth = 0;
};

// Where elements lie: linear memory, pitched memory, an array, or one level of a mipmapped array. Dimensions that don't
// exist count 1 here.
struct Surface {
  char* data = nullptr;
  Format format;
  std::uint32_t width = 0, height = 1, depth = 1;
  std::size_t row_pitch = 0, slice_pitch = 0;

  char* at(std::size_t x_bytes, std::size_t y, std::size_t z) const noexcept {
    return data + z * slice_pitch + y * row_pitch + x_bytes;
  }
  std::size_t row_bytes() const noexcept { return std::size_t{width} * format.element_bytes(); }
};

// Bytes between rows and slices of an array; the whole size is slice_pitch * depth. Rows start at multiples of 16
// bytes.
inline Surface lay_out(Format format, const Extent& extent) noexcept {
  Surface surface;
  surface.format = format;
  surface.width = static_cast<std::uint32_t>(extent.width);
  surface.height = static_cast<std::uint32_t>(extent.height ? extent.height : 1);
  surface.depth = static_cast<std::uint32_t>(extent.depth ? extent.depth : 1);
  surface.row_pitch = (surface.row_bytes() + 15) & ~std::size_t{15};
  surface.slice_pitch = surface.row_pitch * surface.height;
  return surface;
}

}  // namespace mr::memory
