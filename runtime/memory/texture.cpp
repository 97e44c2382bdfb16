#include <memory/texture.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <memory/level_of_gradients.h>
#include <memory/srgb.h>

namespace mr::memory {
namespace {

struct Texel {
  float v[4];
};

float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
  const std::uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float tiny = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

// One component as an integer (extended to 32 bits) or the bits of a float.
std::uint32_t component(const char* at, const Format& format) noexcept {
  const bool is_signed = format.kind == ChannelKind::is_signed;
  if (format.bits == 8) {
    std::uint8_t raw;
    std::memcpy(&raw, at, 1);
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int8_t>(raw))) : raw;
  }
  if (format.bits == 16) {
    std::uint16_t raw;
    std::memcpy(&raw, at, 2);
    if (format.kind == ChannelKind::is_float) return std::bit_cast<std::uint32_t>(half_to_float(raw));
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int16_t>(raw))) : raw;
  }
  std::uint32_t raw;
  std::memcpy(&raw, at, 4);
  return raw;
}

ElementHook element_hook = nullptr;

void read_raw(const Surface& surface, const char* at, std::uint32_t* out) noexcept {
  if (element_hook) [[unlikely]]
    element_hook(at, surface.format.element_bytes(), false);
  const std::uint32_t size = surface.format.bits / 8;
  for (std::uint32_t c = 0; c < 4; ++c)
    out[c] = c < surface.format.channels ? component(at + c * size, surface.format) : 0;
}

// The largest value of a normalized component.
float full_scale(const Format& format) noexcept {
  const bool is_signed = format.kind == ChannelKind::is_signed;
  return static_cast<float>((1u << (format.bits - (is_signed ? 1 : 0))) - 1);
}

// `least`: what normalized numbers are not below. The least integer of signed formats is a little less than -1, and
// counts so where elements are interpolated.
Texel read_float(const Texture& texture, const Surface& surface, const char* at, float least = -1) noexcept {
  std::uint32_t raw[4];
  read_raw(surface, at, raw);
  Texel texel;
  for (int c = 0; c < 4; ++c) {
    if (surface.format.kind == ChannelKind::is_float)
      texel.v[c] = std::bit_cast<float>(raw[c]);
    else if (!texture.normalized_read)
      texel.v[c] = static_cast<float>(static_cast<std::int32_t>(raw[c]));
    else if (texture.srgb && c < 3)
      texel.v[c] = static_cast<float>(srgb_to_linear[raw[c] & 255]) / 65536;
    else if (surface.format.kind == ChannelKind::is_signed)
      texel.v[c] = std::max(static_cast<float>(static_cast<std::int32_t>(raw[c])) / full_scale(surface.format), least);
    else
      texel.v[c] = static_cast<float>(raw[c]) / full_scale(surface.format);
  }
  return texel;
}

// The element that index `i` means in a dimension of `size` elements; -1 for the border.
std::int64_t address(std::int64_t i, std::int64_t size, AddressMode mode) noexcept {
  switch (mode) {
  case AddressMode::wrap: return ((i % size) + size) % size;
  case AddressMode::clamp: return std::clamp<std::int64_t>(i, 0, size - 1);
  case AddressMode::mirror: {
    const std::int64_t m = ((i % (2 * size)) + 2 * size) % (2 * size);
    return m < size ? m : 2 * size - 1 - m;
  }
  case AddressMode::border: return i < 0 || i >= size ? -1 : i;
  }
  return 0;
}

// A coordinate in elements, in the range where its integer part is exact enough. NaN counts as 0, as seen on hardware.
double in_elements(float coordinate, bool normalized, std::uint32_t size) noexcept {
  double x = coordinate;
  if (std::isnan(x)) return 0;
  // Normalized coordinates have 22 fractional bits, rounded down: the most that fits what hardware was seen to do.
  if (normalized) x = std::floor(std::clamp(x, -0x1p24, 0x1p24) * 0x1p22) * 0x1p-22 * size;
  return std::clamp(x, -0x1p30, 0x1p30);
}

// The one or two elements of a dimension that a coordinate touches.
struct Axis {
  std::int64_t index[2];  // -1: border
  int weight = 0;         // of the second, in 256ths
  int count = 1;
};

Axis axis_of(double x, std::uint32_t size, AddressMode mode, FilterMode filter, bool gather) noexcept {
  Axis axis;
  if (filter == FilterMode::point) {
    axis.index[0] = address(static_cast<std::int64_t>(std::floor(x)), size, mode);
    return axis;
  }
  // Fixed point with 8 fractional bits, rounded to nearest.
  auto fixed = static_cast<std::int64_t>(std::floor(x * 256 + 0.5)) - 128;
  // Beyond the outer elements' centres there is one element, not two equal ones: their parts would be rounded.
  if (mode == AddressMode::clamp && !gather) fixed = std::clamp<std::int64_t>(fixed, 0, (std::int64_t{size} - 1) * 256);
  const std::int64_t first = fixed >> 8;
  axis.index[0] = address(first, size, mode);
  axis.index[1] = address(first + 1, size, mode);
  axis.weight = static_cast<int>(fixed & 255);
  axis.count = 2;
  return axis;
}

// Coordinates in one level, ready to be looked up.
struct Place {
  Axis axes[3];
  int dimensions = 1;
  std::size_t slice = 0;  // first slice: layer, or face and layer
};

const char* element(const Surface& surface, const Place& place, int ix, int iy, int iz) noexcept {
  const std::int64_t x = place.axes[0].index[ix];
  const std::int64_t y = place.dimensions > 1 ? place.axes[1].index[iy] : 0;
  const std::int64_t z = place.dimensions > 2 ? place.axes[2].index[iz] : 0;
  if (x < 0 || y < 0 || z < 0) return nullptr;
  return surface.at(static_cast<std::size_t>(x) * surface.format.element_bytes(), static_cast<std::size_t>(y),
                    place.slice + static_cast<std::size_t>(z));
}

// Normalized integers are interpolated as integers: of 16 bits, but signed bytes as they are.
bool in_integers(const Texture& texture, const Format& format, int channel) noexcept {
  return texture.normalized_read && !(texture.srgb && channel < 3) && format.kind != ChannelKind::is_float;
}
bool is_signed_byte(const Format& format) noexcept { return format.bits == 8 && format.kind == ChannelKind::is_signed; }
double as_summed(const Texture& texture, const Format& format, int channel, float value) noexcept {
  if (!in_integers(texture, format, channel)) return value;
  if (is_signed_byte(format)) return std::round(value * 127.0);
  return std::round(value * (format.kind == ChannelKind::is_signed ? 32767.0 : 65535.0));
}
// The float that a sum of such integers means.
float as_read(const Format& format, double sum) noexcept {
  if (format.kind != ChannelKind::is_signed) return static_cast<float>(std::floor(sum + 0.5) / 65535);
  double whole = std::floor(sum + 0.5);
  if (is_signed_byte(format)) {
    // From 256ths of bytes to 32767ths: 257/256 of it, of which the second part is taken from the upper bits alone.
    const auto fixed = static_cast<std::int32_t>(sum * 256);
    whole = fixed + (((fixed >> 4) * 257 + 1024) >> 11);
  }
  return static_cast<float>(std::max(whole / 32767, -1.0));
}

// The nearest float, of two equally near ones the larger in magnitude, as hardware rounds sums.
float nearest_float(double value) noexcept {
  if (!std::isfinite(value)) return static_cast<float>(value);
  constexpr std::uint64_t half = std::uint64_t{1} << 28;  // of a float's last bit
  return static_cast<float>(std::bit_cast<double>((std::bit_cast<std::uint64_t>(value) + half) & ~(2 * half - 1)));
}

// The weights of the elements around a point: whole 256ths that add up to `share`, from its distances a, b, c in x, y,
// z. As hardware makes them (all of those that were asked for): z divides the share, x each slice's, y each column's.
// Halves are the far element's, but in y only where that is far in x too.
void weigh(int share, int a, int b, int c, int (&weights)[2][2][2]) noexcept {
  const int far_z = (share * c + 128) >> 8;
  for (int z = 0; z < 2; ++z) {
    const int slice = z ? far_z : share - far_z;
    const int far_x = (slice * a + 128) >> 8, near_x = slice - far_x;
    const int far_y = (far_x * b + 128) >> 8, near_y = (near_x * b + 127) >> 8;
    weights[z][0][0] = near_x - near_y;
    weights[z][0][1] = far_x - far_y;
    weights[z][1][0] = near_y;
    weights[z][1][1] = far_y;
  }
}

// The elements that a fetch takes from one level or two, and their weights in 256ths.
struct Samples {
  int count = 0;
  int weights[16];
  Texel texels[16];
  int slices = 0;  // of all levels
  int slice[16];
};

// Adds what `share` 256ths of a fetch from one level are.
void collect(const Texture& texture, const Surface& surface, const Place& place, int share, Samples& samples) noexcept {
  const Axis& x = place.axes[0];
  const int nx = x.count;
  const int ny = place.dimensions > 1 ? place.axes[1].count : 1;
  const int nz = place.dimensions > 2 ? place.axes[2].count : 1;
  int weights[2][2][2];
  weigh(share, nx == 2 ? x.weight : 0, ny == 2 ? place.axes[1].weight : 0, nz == 2 ? place.axes[2].weight : 0, weights);
  for (int iz = 0; iz < nz; ++iz, ++samples.slices)
    for (int iy = 0; iy < ny; ++iy)
      for (int ix = 0; ix < nx; ++ix) {
        if (weights[iz][iy][ix] == 0) continue;  // also keeps infinities of untouched elements out
        samples.slice[samples.count] = samples.slices;
        samples.weights[samples.count] = weights[iz][iy][ix];
        Texel& texel = samples.texels[samples.count++];
        if (const char* at = element(surface, place, ix, iy, iz))
          texel = read_float(texture, surface, at, -2.0f);
        else
          std::memcpy(texel.v, texture.border, sizeof texel.v);
      }
}

// Sums of 16-bit floats, and of colours in sRGB: in each slice the elements are cut down to 14 bits behind the leading
// one of the largest - of colours to 7, and what is hardly less than a power of two counts as one -, and the sum of all
// is rounded to a 16-bit float, halves up in magnitude.
float half_sum(const Samples& samples, int channel, bool srgb) noexcept {
  float largest[4] = {};
  for (int i = 0; i < samples.count; ++i) {
    float& so_far = largest[samples.slice[i]];
    so_far = std::max(so_far, std::fabs(samples.texels[i].v[channel]));
  }
  double sum = 0;
  for (int i = 0; i < samples.count; ++i) {
    double value = samples.texels[i].v[channel];
    if (const float most = largest[samples.slice[i]]; most > 0 && std::isfinite(most)) {
      const int unit = srgb ? std::ilogb(most * (128 / 125.0)) - 7 : std::ilogb(most) - 14;
      value = std::ldexp(std::trunc(std::ldexp(value, -unit)), unit);
    }
    sum += value * samples.weights[i] / 256;
  }
  if (!std::isfinite(sum) || sum == 0) return static_cast<float>(sum);
  const int last = std::max(std::ilogb(sum), -14) - 10;
  return static_cast<float>(std::ldexp(std::round(std::ldexp(sum, -last)), last));
}

Texel result_of(const Texture& texture, const Format& format, const Samples& samples) noexcept {
  Texel result;
  for (int c = 0; c < 4; ++c) {
    if ((format.kind == ChannelKind::is_float && format.bits == 16) || (texture.srgb && c < 3)) {
      result.v[c] = half_sum(samples, c, texture.srgb && c < 3);
      continue;
    }
    double sum = 0;
    for (int i = 0; i < samples.count; ++i)
      sum += samples.weights[i] / 256.0 * as_summed(texture, format, c, samples.texels[i].v[c]);
    result.v[c] = in_integers(texture, format, c) ? as_read(format, sum) : nearest_float(sum);
  }
  return result;
}

// Face and place on it of a direction: +x -x +y -y +z -z; the axis of the largest component, z before y before x among
// equals.
void onto_face(const float* direction, std::uint32_t* face, float* s, float* t) noexcept {
  const float x = direction[0], y = direction[1], z = direction[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float u, v, major;
  if (az >= ax && az >= ay) {
    *face = z < 0 ? 5 : 4;
    major = az;
    u = z < 0 ? -x : x;
    v = -y;
  } else if (ay >= ax) {
    *face = y < 0 ? 3 : 2;
    major = ay;
    u = x;
    v = y < 0 ? -z : z;
  } else {
    *face = x < 0 ? 1 : 0;
    major = ax;
    u = x < 0 ? z : -z;
    v = -y;
  }
  *s = major > 0 ? (u / major + 1) / 2 : 0.5f;
  *t = major > 0 ? (v / major + 1) / 2 : 0.5f;
}

Place locate(const Texture& texture, const Surface& surface, std::uint32_t kind, const float* coordinates,
             int layer) noexcept {
  Place place;
  const std::uint32_t form = kind & fetch_coordinates;
  float coordinate[3] = {coordinates[0], form > 1 ? coordinates[1] : 0, form > 2 ? coordinates[2] : 0};
  bool normalized = texture.normalized_coordinates;
  const bool layered = kind & fetch_layered;
  // Layer numbers are unsigned on hardware: a negative one is the last layer.
  const auto layer_of = [layer](std::uint32_t layers) {
    return std::min(static_cast<std::uint32_t>(layer), layers - 1);
  };
  if (form == 4) {
    std::uint32_t face;
    onto_face(coordinates, &face, &coordinate[0], &coordinate[1]);
    normalized = true;
    place.dimensions = 2;
    place.slice = std::size_t{layered ? layer_of(std::max(surface.depth / 6, 1u)) : 0} * 6 + face;
  } else {
    // The hardware samples one dimension as the row at y = 0 of two, which lies half in the border: seen when that is
    // in use.
    const bool as_two = form == 1 && !layered && texture.filter == FilterMode::linear &&
                        texture.address[1] == AddressMode::border;
    place.dimensions = as_two ? 2 : static_cast<int>(form);
    if (layered) place.slice = layer_of(surface.depth);
  }
  const std::uint32_t sizes[3] = {surface.width, surface.height, surface.depth};
  const FilterMode filter = kind & fetch_gather ? FilterMode::linear : texture.filter;
  for (int d = 0; d < place.dimensions; ++d) {
    AddressMode mode = texture.address[d];
    if (!normalized && (mode == AddressMode::wrap || mode == AddressMode::mirror)) mode = AddressMode::clamp;
    place.axes[d] = axis_of(in_elements(coordinate[d], normalized, sizes[d]), sizes[d], mode, filter,
                            kind & fetch_gather);
  }
  return place;
}

bool reads_floats(const Texture& texture) noexcept {
  return texture.normalized_read || texture.levels[0].format.kind == ChannelKind::is_float;
}

void fetch_element(const Texture& texture, const Surface& surface, const char* at, void* result) noexcept {
  if (!at) {
    if (reads_floats(texture)) {
      std::memcpy(result, texture.border, 16);
    } else {
      // Integers are taken from the bits of the border's numbers, as many as an element has.
      char border[16];
      const std::uint32_t size = surface.format.bits / 8;
      for (std::uint32_t c = 0; c < 4; ++c) std::memcpy(border + c * size, &texture.border[c], size);
      std::uint32_t raw[4];
      read_raw(surface, border, raw);
      std::memcpy(result, raw, 16);
    }
  } else if (reads_floats(texture)) {
    const Texel texel = read_float(texture, surface, at);
    std::memcpy(result, texel.v, 16);
  } else {
    std::uint32_t raw[4];
    read_raw(surface, at, raw);
    std::memcpy(result, raw, 16);
  }
}

void fetch_level_of(const Texture& texture, const Surface& surface, std::uint32_t kind, const float* coordinates,
                    int layer, void* result) noexcept {
  const Place place = locate(texture, surface, kind, coordinates, layer);
  if (texture.filter == FilterMode::linear && reads_floats(texture)) {
    Samples samples;
    collect(texture, surface, place, 256, samples);
    const Texel texel = result_of(texture, surface.format, samples);
    std::memcpy(result, texel.v, 16);
  } else {
    fetch_element(texture, surface, element(surface, place, 0, 0, 0), result);
  }
}

// The four elements that a linear fetch would touch, one component of each: lower left, lower right, upper right, upper
// left.
void gather(const Texture& texture, std::uint32_t kind, const float* coordinates, int which, void* result) noexcept {
  const Surface& surface = texture.levels[0];
  const Place place = locate(texture, surface, kind, coordinates, 0);
  constexpr int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  for (int i = 0; i < 4; ++i) {
    const char* const at = element(surface, place, order[i][0], order[i][1], 0);
    std::uint32_t bits[4];
    if (texture.normalized_read && is_signed_byte(surface.format)) {
      // As where elements are interpolated.
      Texel texel;
      if (at)
        texel = read_float(texture, surface, at, -2.0f);
      else
        std::memcpy(texel.v, texture.border, sizeof texel.v);
      const float value = as_read(surface.format, std::round(texel.v[which & 3] * 127.0));
      std::memcpy(&bits[which & 3], &value, 4);
    } else {
      fetch_element(texture, surface, at, bits);
    }
    std::memcpy(static_cast<char*>(result) + 4 * i, &bits[which & 3], 4);
  }
}

float level_of_gradients(const Texture& texture, std::uint32_t kind, const float* gradients) noexcept {
  const Surface& surface = texture.levels[0];
  const std::uint32_t count = kind & fetch_coordinates;
  double size[3] = {1, 1, 1};
  if (count == 4) {
    size[0] = size[1] = size[2] = surface.width / 2.0;  // from -1 to 1
  } else if (texture.normalized_coordinates) {
    size[0] = surface.width;
    if (count > 1) size[1] = surface.height;
    if (count > 2) size[2] = surface.depth;
  }
  double steps[6];
  for (int i = 0; i < 6; ++i) steps[i] = gradients[i] * size[i % 3];
  return level_of_steps(steps, count == 4 ? 3 : count);
}

}  // namespace

void set_element_hook(ElementHook hook) noexcept { element_hook = hook; }

void fetch(const Texture& texture, std::uint32_t kind, const float* coordinates, int layer, float level,
           void* result) noexcept {
  if (kind & fetch_linear) {
    const auto x = std::bit_cast<std::int32_t>(coordinates[0]);
    const Surface& surface = texture.levels[0];
    if (x < 0 || static_cast<std::uint32_t>(x) >= surface.width) {
      std::memset(result, 0, 16);
      return;
    }
    fetch_element(texture, surface, surface.data + static_cast<std::size_t>(x) * surface.format.element_bytes(),
                  result);
    return;
  }
  if (kind & fetch_gather) {
    gather(texture, kind, coordinates, layer, result);
    return;
  }
  if (texture.level_count == 1 || !(kind & (fetch_level | fetch_gradients))) {
    fetch_level_of(texture, texture.levels[0], kind, coordinates, layer, result);
    return;
  }
  if (kind & fetch_gradients) level = level_of_gradients(texture, kind, coordinates + 3);
  // In 256ths; the level and its bias are cut down to them one by one.
  const auto cut = [](float value) {
    return static_cast<std::int64_t>(std::clamp(static_cast<double>(value), -1e6, 1e6) * 256);
  };
  const std::int64_t last = (std::int64_t{texture.level_count} - 1) * 256;
  std::int64_t fixed = std::isnan(level) ? 0 : cut(level) + cut(texture.level_bias);
  fixed = std::clamp(fixed, cut(texture.min_level), std::max(cut(texture.min_level), cut(texture.max_level)));
  fixed = std::clamp<std::int64_t>(fixed, 0, last);
  if (texture.level_filter == FilterMode::point) {
    fetch_level_of(texture, texture.levels[static_cast<std::size_t>((fixed + 128) >> 8)], kind, coordinates, layer,
                   result);
    return;
  }
  const auto lower = static_cast<std::size_t>(fixed >> 8);
  const int far = static_cast<int>(fixed & 255);
  if (far == 0 || !reads_floats(texture)) {
    fetch_level_of(texture, texture.levels[lower], kind, coordinates, layer, result);
    return;
  }
  Samples samples;
  for (std::size_t i = 0; i < 2; ++i) {
    const Surface& surface = texture.levels[lower + i];
    collect(texture, surface, locate(texture, surface, kind, coordinates, layer), i ? far : 256 - far, samples);
  }
  const Texel texel = result_of(texture, texture.levels[lower].format, samples);
  std::memcpy(result, texel.v, 16);
}

void set_border(Texture& texture, const float (&color)[4]) noexcept {
  const Format& format = texture.levels[0].format;
  for (int c = 0; c < 4; ++c) {
    texture.border[c] = color[c];
    if (format.kind == ChannelKind::is_float && format.bits == 16 && std::isfinite(color[c]) && color[c] != 0) {
      const int last = std::max(std::ilogb(color[c]), -14) - 10;  // cut down to a 16-bit float
      texture.border[c] = std::ldexp(std::trunc(std::ldexp(color[c], -last)), last);
      continue;
    }
    if (!texture.normalized_read || format.kind == ChannelKind::is_float) continue;
    // Rounded to nearest; a half is rounded towards zero, and so is what is a half but for a float's last bits.
    const double scale = full_scale(format);
    const double least = format.kind == ChannelKind::is_signed ? -1 : 0;
    const double value = std::isnan(color[c]) ? 0 : std::clamp<double>(color[c], least, 1);
    const double whole = std::max(std::ceil(std::fabs(value) * scale - 0.5 - 0x1p-10), 0.0);
    texture.border[c] = static_cast<float>(std::copysign(whole / scale, value));
  }
}

bool access(const Surface& surface, bool store, int x_bytes, int y, int z, void* value, std::uint32_t bytes,
            BoundaryMode mode) noexcept {
  const auto row = static_cast<std::int64_t>(surface.row_bytes());
  std::int64_t x = x_bytes, row_number = y, slice = z;
  const bool outside = x < 0 || x + bytes > row || row_number < 0 || row_number >= surface.height || slice < 0 ||
                       slice >= surface.depth;
  if (outside) {
    if (mode == BoundaryMode::trap) return false;
    if (mode == BoundaryMode::zero) {
      if (!store) std::memset(value, 0, bytes);
      return true;
    }
    const auto element_bytes = static_cast<std::int64_t>(surface.format.element_bytes());
    x = std::clamp<std::int64_t>(x, 0, std::max<std::int64_t>(row - std::max<std::int64_t>(bytes, element_bytes), 0));
    row_number = std::clamp<std::int64_t>(row_number, 0, surface.height - 1);
    slice = std::clamp<std::int64_t>(slice, 0, surface.depth - 1);
  }
  char* at = surface.at(static_cast<std::size_t>(x), static_cast<std::size_t>(row_number),
                        static_cast<std::size_t>(slice));
  if (element_hook) [[unlikely]]
    element_hook(at, bytes, store);
  if (store)
    std::memcpy(at, value, bytes);
  else
    std::memcpy(value, at, bytes);
  return true;
}

}  // namespace mr::memory
