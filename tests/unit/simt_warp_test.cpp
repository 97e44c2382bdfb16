// Warp operations against a reference: random sequences of operations on random sets of lanes, with lanes that end in
// between.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "simt_kernels.h"

namespace {
using namespace simt_test;

enum class Kind { sync, shuffle, ballot, match_any, match_all, reduce };

struct Operation {
  Kind kind;
  std::uint32_t mask, mode, operand, width;
  std::uint64_t value;
  std::uint64_t expected;
  int expected_flag;
};

// One warp's operations, lane by lane; lanes end after their last one.
struct Program {
  std::vector<Operation> lanes[32];
};

// Source and predicate of a shuffle as the PTX reference writes them down.
std::pair<int, bool> reference_source(int lane, std::uint32_t mode, std::uint32_t operand, std::uint32_t width) {
  const int b = static_cast<int>(operand & 31), segment = static_cast<int>(32 - width) & 31;
  const int clamp = mode == MR_SHFL_UP ? 0 : 31;
  const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  int j = 0;
  bool p = false;
  switch (mode) {
  case MR_SHFL_UP:
    j = lane - b;
    p = j >= last;
    break;
  case MR_SHFL_DOWN:
    j = lane + b;
    p = j <= last;
    break;
  case MR_SHFL_XOR:
    j = lane ^ b;
    p = j <= last;
    break;
  default: j = first | (b & ~segment); p = j <= last;
  }
  return {p ? j : lane, p};
}

std::uint32_t reference_reduce(std::uint32_t op, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (op) {
  case MR_RED_ADD: return a + b;
  case MR_RED_MIN_U: return std::min(a, b);
  case MR_RED_MAX_U: return std::max(a, b);
  case MR_RED_MIN_S: return static_cast<std::uint32_t>(std::min(sa, sb));
  case MR_RED_MAX_S: return static_cast<std::uint32_t>(std::max(sa, sb));
  case MR_RED_AND: return a & b;
  case MR_RED_OR: return a | b;
  default: return a ^ b;
  }
}

Program random_program(std::mt19937_64& random, std::uint32_t existing, int length) {
  Program p;
  std::uint32_t alive = existing;
  for (int i = 0; i < length && alive; ++i) {
    if (random() % 20 == 0) alive &= static_cast<std::uint32_t>(random() | random());
    const bool all = random() % 2;
    const std::uint32_t lanes = all ? alive : alive & static_cast<std::uint32_t>(random());
    if (!lanes) continue;
    // Lanes that have ended, or never existed, may be named too.
    const std::uint32_t mask = lanes | (random() % 4 == 0 ? ~alive : 0);
    const Kind kind = static_cast<Kind>(random() % 6);
    const std::uint32_t reduce_op = random() % 8;
    std::uint64_t values[32] = {};
    for (std::uint64_t& v : values)
      v = kind == Kind::match_all && random() % 2 ? 7 : kind == Kind::match_any ? random() % 3 << 32 : random();
    if (kind == Kind::match_all && random() % 2)
      for (std::uint64_t& v : values) v = values[0];
    const std::uint32_t width = 1u << random() % 6, mode = random() % 4;
    std::uint32_t operands[32];
    for (std::uint32_t& o : operands) o = static_cast<std::uint32_t>(random() % (mode == MR_SHFL_IDX ? 64 : 33));
    std::uint32_t ballot = 0, total = 0;
    bool equal = true, first = true;
    for (int l = 0; l < 32; ++l) {
      if (!(lanes >> l & 1)) continue;
      ballot |= static_cast<std::uint32_t>(values[l] & 1) << l;
      total = first ? static_cast<std::uint32_t>(values[l])
                    : reference_reduce(reduce_op, total, static_cast<std::uint32_t>(values[l]));
      first = false;
      equal &= values[l] == values[std::countr_zero(lanes)];
    }
    for (int l = 0; l < 32; ++l) {
      if (!(lanes >> l & 1)) continue;
      Operation o{kind, mask, mode, operands[l], width, values[l], 0, 0};
      switch (kind) {
      case Kind::sync: break;
      case Kind::shuffle: {
        const auto [source, inside] = reference_source(l, mode, operands[l], width);
        o.expected = lanes >> source & 1 ? values[source] : 0;
        o.expected_flag = inside;
        break;
      }
      case Kind::ballot: o.expected = ballot; break;
      case Kind::match_any:
        for (int k = 0; k < 32; ++k)
          if (lanes >> k & 1 && values[k] == values[l]) o.expected |= std::uint64_t{1} << k;
        break;
      case Kind::match_all:
        o.expected = equal ? lanes : 0;
        o.expected_flag = equal;
        break;
      case Kind::reduce:
        o.mode = reduce_op;
        o.expected = total;
        break;
      }
      p.lanes[l].push_back(o);
    }
  }
  return p;
}

struct Args {
  const Program* warps;
  int* wrong;
};

void run_program(const void* args) {
  const Args& a = *static_cast<const Args*>(args);
  const std::uint32_t t = tid();
  for (const Operation& o : a.warps[t / 32].lanes[t % 32]) {
    std::uint64_t result = 0;
    int flag = 0;
    switch (o.kind) {
    case Kind::sync: device()->warp_sync(o.mask); break;
    case Kind::shuffle: result = device()->shuffle(o.mask, o.mode, o.value, o.operand, o.width, &flag); break;
    case Kind::ballot: result = device()->ballot(o.mask, static_cast<int>(o.value & 1) * 4); break;
    case Kind::match_any: result = device()->match(o.mask, MR_MATCH_ANY, o.value, nullptr); break;
    case Kind::match_all: result = device()->match(o.mask, MR_MATCH_ALL, o.value, &flag); break;
    case Kind::reduce: result = device()->reduce(o.mask, o.mode, static_cast<std::uint32_t>(o.value)); break;
    }
    if (result != o.expected || flag != o.expected_flag) ++*a.wrong;
  }
}

TEST(SimtWarp, RandomSequencesAgreeWithTheReference) {
  std::mt19937_64 random(20);
  DeviceState device;
  const MrKernel k = fiber_kernel(run_program);
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t threads = 1 + random() % 96;
    std::vector<Program> warps;
    for (std::uint32_t first = 0; first < threads; first += 32)
      warps.push_back(random_program(random, threads - first >= 32 ? ~0u : (1u << (threads - first)) - 1, 200));
    int wrong = 0;
    Args args{warps.data(), &wrong};
    Launch launch(k, device, {1}, {threads}, &args);
    ASSERT_EQ(launch.run(), Fault::none) << last_fault(device).message;
    ASSERT_EQ(wrong, 0) << "round " << round;
  }
}

TEST(SimtWarp, ActivemaskSeesTheLanesThatAreHereTogether) {
  struct Args {
    std::uint32_t* out;
  };
  const MrKernel k = fiber_kernel(+[](const void* args) {
    std::uint32_t* out = static_cast<const Args*>(args)->out;
    const std::uint32_t t = tid(), lane = t % 32;
    out[t] = device()->activemask();
    if (lane % 4 == 1) {
      out[64 + t] = device()->activemask();
    } else if (lane % 4 == 2) {
      device()->ballot(0x44444444u, 1);
      out[64 + t] = device()->activemask() & device()->activemask();
    } else if (lane % 4 == 3) {
      return;
    }
    device()->warp_sync(0x77777777u);
    out[128 + t] = device()->activemask();
  });
  std::vector<std::uint32_t> out(192);
  Args args{out.data()};
  DeviceState device;
  Launch launch(k, device, {1}, {45}, &args);
  ASSERT_EQ(launch.run(), Fault::none);
  for (std::uint32_t t = 0; t < 45; ++t) {
    const std::uint32_t all = t < 32 ? ~0u : (1u << 13) - 1;
    EXPECT_EQ(out[t], all);
    if (t % 4 == 1) EXPECT_EQ(out[64 + t], all & 0x22222222u);
    if (t % 4 == 2) EXPECT_EQ(out[64 + t], all & 0x44444444u);
    if (t % 4 != 3) EXPECT_EQ(out[128 + t], all & 0x77777777u);
  }
}

TEST(SimtWarp, LanesGoOnInTheirOrder) {
  static std::vector<std::uint32_t> order;
  order.clear();
  const MrKernel k = fiber_kernel(+[](const void*) {
    device()->warp_sync(~0u);
    order.push_back(tid());
    device()->barrier();
    order.push_back(tid());
  });
  DeviceState device;
  Launch launch(k, device, {1}, {64});
  ASSERT_EQ(launch.run(), Fault::none);
  ASSERT_EQ(order.size(), 128u);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(order[i], i % 64);
}

}  // namespace
