// malloc and free of device code.
#include <gtest/gtest.h>

#include <simt/heap.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <thread>

#include "simt_kernels.h"

namespace {
using namespace simt_test;

class SimtHeap : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 1 << 20;
  void SetUp() override { ASSERT_TRUE(heap_open(device_, region_.data(), bytes)); }
  void TearDown() override { heap_close(device_); }
  Fault run(MrRunLane body, std::uint32_t blocks, std::uint32_t threads, const void* args) {
    const MrKernel k = fiber_kernel(body);
    Launch launch(k, device_, {blocks}, {threads}, args);
    return launch.run();
  }
  struct alignas(4096) Page {
    char bytes[4096];
  };
  std::vector<Page> region_{bytes / 4096};
  DeviceState device_;
};

struct Piece {
  char* memory;
  std::size_t size;
  char mark;
};

TEST_F(SimtHeap, PiecesAreAlignedAndDisjoint) {
  struct Args {
    std::mt19937_64 random{7};
    std::vector<Piece> pieces;
    int null = 0;
  } args;
  const Fault fault = run(
      +[](const void* p) {
        Args& a = *static_cast<Args*>(const_cast<void*>(p));
        for (int i = 0; i < 20000; ++i) {
          if (a.random() % 5 < 2 && !a.pieces.empty()) {
            std::swap(a.pieces[a.random() % a.pieces.size()], a.pieces.back());
            const Piece& piece = a.pieces.back();
            EXPECT_EQ(std::count(piece.memory, piece.memory + piece.size, piece.mark), static_cast<long>(piece.size));
            device()->heap_free(piece.memory);
            a.pieces.pop_back();
            continue;
          }
          const std::size_t size = 1 + a.random() % (a.random() % 4 ? 300 : 20000);
          char* memory = static_cast<char*>(device()->heap_malloc(size));
          if (!memory) {
            ++a.null;
            continue;
          }
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0u);
          const char mark = static_cast<char>(i);
          std::memset(memory, mark, size);
          a.pieces.push_back({memory, size, mark});
        }
        for (const Piece& piece : a.pieces) device()->heap_free(piece.memory);
        // All of it is one piece again.
        void* all = device()->heap_malloc(bytes);
        EXPECT_NE(all, nullptr);
        device()->heap_free(all);
      },
      1, 1, &args);
  EXPECT_EQ(fault, Fault::none);
  EXPECT_GT(args.null, 0);
}

TEST_F(SimtHeap, ExhaustedGivesNull) {
  EXPECT_EQ(run(
                +[](const void*) {
                  EXPECT_EQ(device()->heap_malloc(bytes + 1), nullptr);
                  EXPECT_EQ(device()->heap_malloc(~std::uint64_t{0}), nullptr);
                  EXPECT_EQ(device()->heap_malloc(0), nullptr);
                  std::size_t count = 0;
                  while (device()->heap_malloc(64)) ++count;
                  EXPECT_EQ(count, bytes / 64);
                  device()->heap_free(nullptr);
                },
                1, 1, nullptr),
            Fault::none);
}

TEST_F(SimtHeap, LaterKernelsFree) {
  std::vector<void*> pieces(256);
  EXPECT_EQ(run(
                +[](const void* p) {
                  void** all = static_cast<std::vector<void*>*>(const_cast<void*>(p))->data();
                  const std::uint32_t i = block_linear() * 64 + tid();
                  all[i] = device()->heap_malloc(48);
                  std::memset(all[i], static_cast<int>(i), 48);
                },
                4, 64, &pieces),
            Fault::none);
  for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(static_cast<unsigned char*>(pieces[i])[47], i);
  EXPECT_EQ(run(
                +[](const void* p) {
                  device()->heap_free((*static_cast<const std::vector<void*>*>(p))[block_linear() * 64 + tid()]);
                },
                4, 64, &pieces),
            Fault::none);
  EXPECT_EQ(run(+[](const void*) { EXPECT_NE(device()->heap_malloc(bytes), nullptr); }, 1, 1, nullptr), Fault::none);
}

TEST_F(SimtHeap, FreeingTwiceIsAFault) {
  EXPECT_EQ(run(
                +[](const void*) {
                  void* p = device()->heap_malloc(40);
                  device()->heap_free(p);
                  device()->heap_free(p);
                },
                1, 1, nullptr),
            Fault::trap);
  EXPECT_NE(std::strstr(last_fault(device_).message, "free()"), nullptr) << last_fault(device_).message;
  clear_fault(device_);
}

TEST_F(SimtHeap, ManyThreads) {
  auto body = +[](const void*) {
    std::uint64_t noise = block_linear() * 1000 + tid();
    void* mine[8] = {};
    for (int i = 0; i < 200; ++i) {
      noise = noise * 6364136223846793005u + 1;
      void*& slot = mine[noise >> 60 & 7];
      if (slot) {
        EXPECT_EQ(*static_cast<std::uint64_t*>(slot), reinterpret_cast<std::uint64_t>(&slot));
        device()->heap_free(slot);
        slot = nullptr;
      } else if ((slot = device()->heap_malloc(8 + (noise >> 40) % 5000))) {
        *static_cast<std::uint64_t*>(slot) = reinterpret_cast<std::uint64_t>(&slot);
      }
    }
    for (void* p : mine) device()->heap_free(p);
  };
  std::thread other([&] { EXPECT_EQ(run(body, 4, 4, nullptr), Fault::none); });
  EXPECT_EQ(run(body, 4, 4, nullptr), Fault::none);
  other.join();
  EXPECT_EQ(run(+[](const void*) { EXPECT_NE(device()->heap_malloc(bytes), nullptr); }, 1, 1, nullptr), Fault::none);
}

}  // namespace
