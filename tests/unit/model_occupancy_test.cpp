// The occupancy calculator against the limits of a multiprocessor of compute capability 9.0.
#include <gtest/gtest.h>

#include <model/device.h>
#include <model/occupancy.h>

namespace {

using namespace mr::model;

MrKernel kernel(std::uint32_t registers = 32, std::uint32_t shared = 0, std::uint32_t max_threads = 0) {
  MrKernel k{};
  k.registers = registers;
  k.static_shared = shared;
  k.max_threads = max_threads;
  return k;
}

TEST(Occupancy, LimitedByThreadsAndBlocks) {
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 32, 0), 32);  // blocks
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 64, 0), 32);
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 128, 0), 16);  // threads
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 129, 0), 12);  // whole warps
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 1024, 0), 2);
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 1025, 0), 0);
  EXPECT_EQ(blocks_per_multiprocessor(kernel(32, 0, 256), 1024, 0), 2);  // launch bounds don't count, as recorded
}

TEST(Occupancy, LimitedBySharedMemory) {
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 32, 48 * 1024), 4);  // 49 KiB each of 228
  EXPECT_EQ(blocks_per_multiprocessor(kernel(32, 1024), 32, 47 * 1024), 4);
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 32, 227 * 1024), 1);
  EXPECT_EQ(blocks_per_multiprocessor(kernel(), 32, 227 * 1024 + 1), 0);
}

TEST(Occupancy, LimitedByRegistersButNeverToNothing) {
  EXPECT_EQ(blocks_per_multiprocessor(kernel(64), 256, 0), 4);
  EXPECT_EQ(registers_of(kernel(255)), 64);           // a block of 1024 has to fit
  EXPECT_EQ(registers_of(kernel(255, 0, 128)), 255);  // 128 threads may have more
  EXPECT_GE(blocks_per_multiprocessor(kernel(255), 1024, 0), 1);
}

// As recorded: without what the device keeps for itself, at most what one block may have.
TEST(Occupancy, SharedMemoryForBlocksIsAnEqualShare) {
  const MrKernel k = kernel(32, 4000);
  std::size_t bytes = 0;
  EXPECT_TRUE(dynamic_shared_for(k, 1, 1024, &bytes));
  EXPECT_EQ(bytes, shape::shared_per_block_opt_in - 4000);
  EXPECT_TRUE(dynamic_shared_for(k, 8, 32, &bytes));
  EXPECT_EQ(bytes, 25184u);
  EXPECT_TRUE(dynamic_shared_for(k, 32, 32, &bytes));
  EXPECT_EQ(bytes, 3296u);
  EXPECT_FALSE(dynamic_shared_for(k, 8, 1024, &bytes));
  EXPECT_FALSE(dynamic_shared_for(k, 33, 32, &bytes));
  EXPECT_FALSE(dynamic_shared_for(kernel(32, 48 * 1024), 8, 32, &bytes));
}

TEST(Occupancy, DeviceIsAsLargeAsItsMultiprocessors) {
  EXPECT_GE(multiprocessors(), 1);
  EXPECT_LE(multiprocessors(), 132);
  EXPECT_EQ(resident_blocks(kernel(), 128, 0), 16u * static_cast<unsigned>(multiprocessors()));
}

}  // namespace
