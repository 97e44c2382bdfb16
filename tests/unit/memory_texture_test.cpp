#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <memory/texture.h>

#include "memory_texture_recorded.h"

namespace mr::memory {
namespace {

// The elements of the recorded textures, and the coordinates of the recorded fetches.
float value_of(int i) { return 10.0f * static_cast<float>(i) + static_cast<float>((i * 7) % 5); }
const std::vector<float> points = {-3.3f,
                                   -1.0f,
                                   -0.6f,
                                   -0.1f,
                                   0,
                                   0.25f,
                                   0.5f,
                                   0.75f,
                                   1,
                                   1.49f,
                                   1.5f,
                                   2.3f,
                                   2.501953125f,
                                   2.5f + 1.f / 512,
                                   2.5f + 3.f / 1024,
                                   3.9f,
                                   4.4999f,
                                   4.5f,
                                   4.75f,
                                   5,
                                   5.3f,
                                   7.2f,
                                   11.1f,
                                   1e9f,
                                   -1e9f};

struct Case {
  std::vector<float> data;
  std::vector<unsigned char> bytes;
  Texture texture;
  std::vector<float> fetches;  // three coordinates each
  std::vector<int> layers;
  std::vector<float> levels;
  std::uint32_t kind = 1;
};

Surface surface_over(std::vector<float>& data, std::uint32_t width, std::uint32_t height, std::uint32_t depth) {
  data.resize(std::size_t{width} * height * depth);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = value_of(static_cast<int>(i));
  Surface surface;
  surface.data = reinterpret_cast<char*>(data.data());
  surface.width = width;
  surface.height = height;
  surface.depth = depth;
  surface.row_pitch = width * sizeof(float);
  surface.slice_pitch = surface.row_pitch * height;
  return surface;
}

void add(Case& c, float x, float y, float z) { c.fetches.insert(c.fetches.end(), {x, y, z}); }

void build(Case& c, const Recorded& row) {
  const std::string form = row.form;
  const std::size_t n = points.size();
  const auto in = [&](float x, float size) { return row.normalized ? x / size : x; };
  if (form == "1D") {
    c.texture.levels[0] = surface_over(c.data, 5, 1, 1);
    for (float x : points) add(c, in(x, 5), 0, 0);
  } else if (form == "2D") {
    c.kind = 2;
    c.texture.levels[0] = surface_over(c.data, 5, 4, 1);
    for (std::size_t i = 0; i < n; ++i) add(c, in(points[i], 5), in(points[(i * 5 + 3) % n], 4), 0);
  } else if (form == "3D") {
    c.kind = 3;
    c.texture.levels[0] = surface_over(c.data, 3, 3, 3);
    for (std::size_t i = 0; i < n; ++i)
      add(c, in(points[i % n], 3), in(points[(i * 3 + 3) % n], 3), in(points[(i * 5 + 6) % n], 3));
  } else if (form == "2Dlayered") {
    c.kind = 2 | fetch_layered;
    c.texture.levels[0] = surface_over(c.data, 3, 3, 3);
    for (std::size_t i = 0; i < n; ++i) {
      add(c, in(points[i], 3), in(points[(i * 5 + 3) % n], 3), 0);
      c.layers.push_back(static_cast<int>(i % 6) - 1);
    }
  } else if (form == "cube") {
    c.kind = 4;
    c.texture.cubemap = true;
    c.texture.levels[0] = surface_over(c.data, 2, 2, 6);
    c.fetches = {1,   0,    0,  -1,  0,    0,    0,  1,   0,    0,   -1,  0,    0,   0,  1,
                 0,   0,    -1, 1,   .5f,  .25f, -1, .5f, .25f, .5f, 1,   .25f, .5f, -1, .25f,
                 .5f, .25f, 1,  .5f, .25f, -1,   1,  1,   1,    1,   .9f, -.3f, 0,   0,  0};
  } else if (form == "uchar") {
    c.bytes = {0, 1, 100, 254, 255};
    c.texture.levels[0].data = reinterpret_cast<char*>(c.bytes.data());
    c.texture.levels[0].format = {ChannelKind::is_unsigned, 8, 1};
    c.texture.levels[0].width = 5;
    c.texture.normalized_read = true;
    for (float x : points) add(c, x, 0, 0);
  } else if (form == "mip") {
    c.kind = 2 | fetch_level;
    c.texture.level_count = 4;
    c.texture.level_filter = static_cast<FilterMode>(row.address);
    c.texture.max_level = 3;
    surface_over(c.data, 64, 2, 1);
    for (std::uint32_t i = 0; i < 4; ++i) {
      Surface& level = c.texture.levels[i];
      level.width = level.height = 8u >> i;
      level.row_pitch = level.width * 4;
      level.data = reinterpret_cast<char*>(c.data.data() + i);
    }
    for (float level : {0.0f, .4f, .5f, 1.0f, 1.75f, 7.0f, -1.0f}) {
      add(c, .3f, .4f, 0);
      c.levels.push_back(level);
    }
  }
  c.texture.normalized_coordinates = row.normalized;
  if (form != "mip")
    for (auto& mode : c.texture.address) mode = static_cast<AddressMode>(row.address);
  c.texture.filter = static_cast<FilterMode>(row.filter);
  c.texture.border[0] = 0.5f;
}

TEST(Texture, FetchesWhatHardwareFetched) {
  for (const Recorded& row : recorded) {
    Case c;
    build(c, row);
    std::istringstream values(row.values);
    for (std::size_t i = 0; i * 3 < c.fetches.size(); ++i) {
      double expected = 0;
      values >> expected;
      float got[4];
      fetch(c.texture, c.kind, &c.fetches[i * 3], c.layers.empty() ? 0 : c.layers[i],
            c.levels.empty() ? 0 : c.levels[i], got);
      EXPECT_EQ(got[0], static_cast<float>(expected))
          << row.form << " normalized " << row.normalized << " address " << row.address << " filter " << row.filter
          << " fetch " << i << " at " << c.fetches[i * 3] << " " << c.fetches[i * 3 + 1] << " " << c.fetches[i * 3 + 2];
    }
  }
}

// One fetch from a 2x2x2 texture of floats, so many 256ths away from its first element.
float fetch_between(const float (&elements)[8], const int (&at)[3]) {
  Texture texture;
  texture.levels[0].data = reinterpret_cast<char*>(const_cast<float*>(elements));
  texture.levels[0].width = texture.levels[0].height = texture.levels[0].depth = 2;
  texture.levels[0].row_pitch = 8;
  texture.levels[0].slice_pitch = 16;
  texture.filter = FilterMode::linear;
  for (auto& mode : texture.address) mode = AddressMode::clamp;
  float coordinates[3], got[4];
  for (int d = 0; d < 3; ++d) coordinates[d] = 0.5f + static_cast<float>(at[d]) / 256;
  fetch(texture, 3, coordinates, 0, 0, got);
  return got[0];
}

TEST(Texture, WeightsOfEightElementsAreTheHardwares) {
  for (const RecordedWeights& row : recorded_weights) {
    for (int i = 0; i < 8; ++i) {
      float elements[8] = {};
      elements[i] = 256;
      EXPECT_EQ(fetch_between(elements, row.at), static_cast<float>(row.weights[i]))
          << "element " << i << " at " << row.at[0] << " " << row.at[1] << " " << row.at[2];
    }
  }
}

TEST(Texture, SumsAreRoundedAsTheHardwareDoes) {
  for (const RecordedSum& row : recorded_sums)
    EXPECT_EQ(fetch_between(recorded_elements, row.at), row.value) << row.at[0] << " " << row.at[1] << " " << row.at[2];
}

TEST(Texture, ElementsKeepTheirBitsAndMissingComponentsAreZero) {
  short elements[4] = {-5, 300, 7, -9};
  Texture texture;
  texture.levels[0].data = reinterpret_cast<char*>(elements);
  texture.levels[0].format = {ChannelKind::is_signed, 16, 2};
  texture.levels[0].width = 2;
  texture.linear = true;
  std::int32_t got[4] = {9, 9, 9, 9};
  const int index = 1;
  float coordinate;
  std::memcpy(&coordinate, &index, 4);
  fetch(texture, 1 | fetch_linear, &coordinate, 0, 0, got);
  EXPECT_EQ(got[0], 7);
  EXPECT_EQ(got[1], -9);
  EXPECT_EQ(got[2], 0);
  for (int outside : {-1, 2, 1 << 30}) {
    std::memcpy(&coordinate, &outside, 4);
    got[0] = 5;
    fetch(texture, 1 | fetch_linear, &coordinate, 0, 0, got);
    EXPECT_EQ(got[0], 0);
  }
}

TEST(Texture, HalfFloats) {
  std::uint16_t elements[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x8000};
  Texture texture;
  texture.levels[0].data = reinterpret_cast<char*>(elements);
  texture.levels[0].format = {ChannelKind::is_float, 16, 1};
  texture.levels[0].width = 5;
  const float expected[] = {1, -2, 0x1p-24f, INFINITY, -0.0f};
  for (int i = 0; i < 5; ++i) {
    const float x = static_cast<float>(i) + 0.5f;
    float got[4];
    fetch(texture, 1, &x, 0, 0, got);
    EXPECT_EQ(got[0], expected[i]);
  }
}

TEST(Texture, GatherTakesTheFourNeighboursCounterclockwise) {
  std::vector<float> data;
  Texture texture;
  texture.levels[0] = surface_over(data, 5, 4, 1);
  const float at[3] = {1, 2, 0};
  float got[4];
  fetch(texture, 2 | fetch_gather, at, 0, 0, got);
  EXPECT_EQ(std::vector<float>(got, got + 4), (std::vector<float>{100, 112, 62, 50}));
}

TEST(Surface, BoundaryModes) {
  std::vector<float> data;
  Surface surface = surface_over(data, 5, 4, 1);
  float value = 42;
  EXPECT_TRUE(access(surface, true, 4, 1, 0, &value, 4, BoundaryMode::trap));
  EXPECT_EQ(data[6], 42);
  value = 43;
  EXPECT_TRUE(access(surface, true, 400, 1, 0, &value, 4, BoundaryMode::zero));
  value = 44;
  EXPECT_TRUE(access(surface, true, 400, 2, 0, &value, 4, BoundaryMode::clamp));
  EXPECT_EQ(data[14], 44);
  EXPECT_EQ(data[9], value_of(9));
  EXPECT_TRUE(access(surface, false, 400, 1, 0, &value, 4, BoundaryMode::zero));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(access(surface, false, -8, -3, 5, &value, 4, BoundaryMode::clamp));
  EXPECT_EQ(value, data[0]);
  EXPECT_FALSE(access(surface, false, 20, 0, 0, &value, 4, BoundaryMode::trap));
  EXPECT_FALSE(access(surface, true, 0, 4, 0, &value, 4, BoundaryMode::trap));
}

}  // namespace
}  // namespace mr::memory
