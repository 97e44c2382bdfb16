// Copies and sets that are large enough to be divided among threads, or to go past the caches.
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <memory/copy.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::vector<unsigned char> random_bytes(std::size_t count, unsigned seed) {
  std::vector<unsigned char> bytes(count);
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at + 8 <= count; at += 8) {
    const std::uint64_t value = random();
    std::copy_n(reinterpret_cast<const unsigned char*>(&value), 8, bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return bytes;
}

// The parts [0, parts) in an odd order, some of them together.
template <class Bytes> void run_in_parts(const Bytes& bytes, std::mt19937& random) {
  const std::uint64_t parts = mr::memory::parts(bytes);
  ASSERT_GT(parts, 1u);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  for (std::uint64_t at = 0; at < parts;) {
    const std::uint64_t count = std::min<std::uint64_t>(1 + random() % 4, parts - at);
    runs.emplace_back(at, count);
    at += count;
  }
  std::shuffle(runs.begin(), runs.end(), random);
  for (const auto& [first, count] : runs) mr::memory::run(bytes, first, count);
}

TEST(LargeCopy, ItsPartsAreTheWhole) {
  std::mt19937 random(1);
  const auto source = random_bytes(48 * mib, 2);
  for (int round = 0; round < 12; ++round) {
    mr::memory::Copy copy{};
    // One row, rows of any length with gaps, slices with gaps; the last round of each kind is larger than the caches.
    const std::size_t most = (round >= 9 ? 40 : 6) * mib;
    copy.row = round % 3 == 0 ? most - random() % 5000 : 1 + random() % 600000;
    if (round % 3 != 0) copy.row = std::min(copy.row, most / 4);
    copy.depth = round % 3 == 2 ? 2 + random() % 3 : 1;
    const std::size_t gap = random() % 100;
    copy.height = round % 3 == 0 ? 1 : std::max<std::size_t>(2, most / (copy.row + gap) / copy.depth);
    copy.dst_pitch = copy.row + gap;
    copy.src_pitch = copy.row;
    copy.dst_slice = copy.dst_pitch * copy.height + 77;
    copy.src_slice = copy.src_pitch * copy.height;
    if (copy.bytes() < 4 * mib) continue;
    const std::size_t offset = random() % 100;
    ASSERT_LE(copy.bytes() + offset, source.size());
    std::vector<unsigned char> expected(copy.dst_slice * copy.depth + 300, 0xee), seen = expected;
    for (std::size_t z = 0; z < copy.depth; ++z)
      for (std::size_t y = 0; y < copy.height; ++y)
        std::copy_n(source.data() + offset + z * copy.src_slice + y * copy.src_pitch, copy.row,
                    expected.data() + 100 + z * copy.dst_slice + y * copy.dst_pitch);
    copy.src = source.data() + offset;
    copy.dst = seen.data() + 100;
    run_in_parts(copy, random);
    EXPECT_TRUE(seen == expected) << "round " << round;
    std::fill(seen.begin(), seen.end(), 0xee);
    mr::memory::run(copy);
    EXPECT_TRUE(seen == expected) << "round " << round << ", as a whole";
  }
}

TEST(LargeCopy, OverlappingOnesAreNotDivided) {
  std::vector<unsigned char> bytes(12 * mib);
  EXPECT_EQ(mr::memory::parts(mr::memory::LinearCopy{bytes.data(), bytes.data() + 6 * mib - 1, 6 * mib}), 1u);
  EXPECT_EQ(mr::memory::parts(mr::memory::LinearCopy{bytes.data() + 6 * mib - 1, bytes.data(), 6 * mib}), 1u);
  EXPECT_GT(mr::memory::parts(mr::memory::LinearCopy{bytes.data() + 6 * mib, bytes.data(), 6 * mib}), 1u);
}

TEST(LargeFill, ItsPartsAreTheWhole) {
  std::mt19937 random(3);
  for (const std::uint32_t element : {1u, 2u, 4u}) {
    for (const bool rows : {false, true}) {
      mr::memory::Fill fill{};
      fill.element = element;
      fill.value = 0x12345678u;
      fill.row = (rows ? 70001 : 1500001) * std::size_t{4};
      fill.height = rows ? 25 : 1;
      fill.pitch = fill.row + 5;
      std::vector<unsigned char> expected(fill.pitch * fill.height + 20, 0xee), seen = expected;
      for (std::size_t y = 0; y < fill.height; ++y)
        for (std::size_t x = 0; x < fill.row; ++x)
          expected[3 + y * fill.pitch + x] = static_cast<unsigned char>(fill.value >> x % element * 8);
      fill.dst = seen.data() + 3;
      run_in_parts(fill, random);
      EXPECT_TRUE(seen == expected) << "elements of " << element << (rows ? ", rows" : "");
    }
  }
}

// Through streams, whoever runs them: each copy finds what the one before it wrote.
TEST(LargeCopy, KeepTheOrderOfTheirStreams) {
  setenv("MILLRACE_WORKERS", "4", 1);  // two would divide larger ones only
  constexpr std::size_t bytes = 9 * mib + 12345;
  constexpr int streams = 3;
  const auto source = random_bytes(bytes, 4);
  cudaStream_t stream[streams];
  char *a[streams], *b[streams], *pinned[streams];
  for (int i = 0; i < streams; ++i) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream[i], i == 0 ? cudaStreamDefault : cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&a[i]), bytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&b[i]), bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned[i]), bytes), cudaSuccess);
    std::copy(source.begin(), source.end(), pinned[i]);
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < streams; ++i) {
      ASSERT_EQ(cudaMemsetAsync(a[i], round, bytes, stream[i]), cudaSuccess);
      ASSERT_EQ(cudaMemcpyAsync(a[i], pinned[i], bytes - 1, cudaMemcpyHostToDevice, stream[i]), cudaSuccess);
      ASSERT_EQ(cudaMemcpyAsync(b[i], a[i], bytes, cudaMemcpyDeviceToDevice, stream[i]), cudaSuccess);
      ASSERT_EQ(cudaMemsetAsync(pinned[i], 0x55, bytes, stream[i]), cudaSuccess);
      ASSERT_EQ(cudaMemcpyAsync(pinned[i], b[i], bytes, cudaMemcpyDeviceToHost, stream[i]), cudaSuccess);
    }
    std::vector<unsigned char> seen(bytes);
    for (int i = streams; i-- > 0;) {
      if (i != 1) ASSERT_EQ(cudaStreamSynchronize(stream[i]), cudaSuccess);
      // Without a stream: pageable, waits for the blocking streams only.
      if (i == 1)
        ASSERT_EQ(cudaMemcpyAsync(seen.data(), b[i], bytes, cudaMemcpyDeviceToHost, stream[i]), cudaSuccess);
      else
        ASSERT_EQ(cudaMemcpy(seen.data(), b[i], bytes, cudaMemcpyDeviceToHost), cudaSuccess);
      EXPECT_TRUE(std::equal(source.begin(), source.end() - 1, seen.begin())) << "stream " << i;
      EXPECT_EQ(seen.back(), round) << "stream " << i;
    }
  }
  for (int i = 0; i < streams; ++i) {
    EXPECT_EQ(cudaStreamDestroy(stream[i]), cudaSuccess);
    EXPECT_EQ(cudaFree(a[i]), cudaSuccess);
    EXPECT_EQ(cudaFree(b[i]), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned[i]), cudaSuccess);
  }
}

}  // namespace
