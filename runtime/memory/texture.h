// Texture fetches and surface accesses (CUDA C++ Programming Guide, "Texture and Surface Memory", "Texture Fetching").
#pragma once
#include <cstddef>
#include <cstdint>

#include <memory/array.h>

namespace mr::memory {

// The numbers are those of the runtime API's enumerations.
enum class AddressMode : std::uint32_t { wrap = 0, clamp = 1, mirror = 2, border = 3 };
enum class FilterMode : std::uint32_t { point = 0, linear = 1 };
enum class BoundaryMode : std::uint32_t { zero = 0, clamp = 1, trap = 2 };

// What a fetch asks for: device code's `dimensions` word (include/millrace/device/texture.h).
enum FetchKind : std::uint32_t {
  fetch_coordinates = 0xff,  // how many coordinates: 1, 2, 3; 4 = a direction into a cube map
  fetch_linear = 0x100,      // the coordinate is an integer: an element of linear memory
  fetch_layered = 0x200,
  fetch_gather = 0x400,      // `layer` names the component
  fetch_level = 0x800,       // `level` counts
  fetch_gradients = 0x1000,  // behind the three coordinates: their change along x and along y, three each
};

// A texture object. Immutable once created.
struct Texture {
  static constexpr unsigned max_levels = 18;
  Surface levels[max_levels];  // one, unless the resource is a mipmapped array
  std::uint32_t level_count = 1;
  bool linear = false;  // over linear memory: only whole elements, zero outside
  bool cubemap = false;
  bool layered = false;  // surfaces only: layer numbers are unsigned
  AddressMode address[3] = {};
  FilterMode filter = FilterMode::point;
  FilterMode level_filter = FilterMode::point;
  bool normalized_read = false;  // integers are read as [0, 1] or [-1, 1]
  bool normalized_coordinates = false;
  float border[4] = {};
  bool srgb = false;  // the first three of four unsigned bytes are read as sRGB
  float level_bias = 0, min_level = 0, max_level = 0;
};

// Fetches four components into `result`: floats when the format is float or normalized_read, else integers extended to
// 32 bits. As the hardware does: interpolation weights have 8 fractional bits, without normalized coordinates wrap and
// mirror act as clamp.
// Told of each element that is read (or, by a surface, written), on the thread that touches it; null: nobody is. Set
// before the first fetch.
using ElementHook = void (*)(const void* at, std::size_t bytes, bool store);
void set_element_hook(ElementHook hook) noexcept;

void fetch(const Texture& texture, std::uint32_t kind, const float* coordinates, int layer, float level,
           void* result) noexcept;

// The border of a texture whose other members are set: what the elements' format can hold of `color`.
void set_border(Texture& texture, const float (&color)[4]) noexcept;

// Reads or writes `bytes` at byte x of row y, slice or layer z. Returns false when the access lies outside and mode is
// trap.
bool access(const Surface& surface, bool store, int x_bytes, int y, int z, void* value, std::uint32_t bytes,
            BoundaryMode mode) noexcept;

}  // namespace mr::memory
