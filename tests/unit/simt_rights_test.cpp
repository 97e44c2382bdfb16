// Switching rights around device code and services keeps every argument, result and stack: with RDPKRU and WRPKRU
// emulated, so that it is tested on processors without protection keys too.
#include <cpuid.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <simt/protect.h>

#include "sanitizers.h"
#include "simt_kernels.h"

extern "C" int __sigaction(int signal, const struct sigaction* action,
                           struct sigaction* old) noexcept;  // the C library's own

namespace {
using namespace simt_test;

std::uint32_t rights;  // the emulated register
std::uint32_t writes;  // of it

void emulate(int, siginfo_t*, void* opaque) {
  auto& regs = static_cast<ucontext_t*>(opaque)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(regs[REG_RIP]);
  if (code[0] != 0x0f || code[1] != 0x01 || (code[2] & 0xfe) != 0xee || regs[REG_RCX] != 0) _exit(3);
  if (code[2] == 0xee) {
    regs[REG_RAX] = rights;
    regs[REG_RDX] = 0;
  } else {
    if (regs[REG_RDX] != 0) _exit(4);
    rights = static_cast<std::uint32_t>(regs[REG_RAX]);
    ++writes;
  }
  regs[REG_RIP] += 3;
}

class SimtRights : public testing::Test {
 protected:
  void SetUp() override {
    unsigned a, b, c = 0, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 4 & 1))
      GTEST_SKIP() << "the processor executes WRPKRU: simt_protect_test uses the real keys";
#ifdef MR_TEST_SANITIZED
    GTEST_SKIP() << "keys are never used under a sanitizer";
#endif
    // The handlers of faults must be there before the emulator takes one over.
    const MrKernel k = loop_kernel(+[](MrBlock*, std::uint64_t, std::uint64_t) {});
    Launch(k, device_, {1}, {1}).run();
    struct sigaction mine{};
    mine.sa_sigaction = emulate;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    __sigaction(SIGILL, &mine, &previous_);  // in front of the runtime's handler, not behind it
    rights = 0x55555554;
    protect::pretend_for_test(true);
    pretending_ = true;
  }
  void TearDown() override {
    if (!pretending_) return;
    protect::pretend_for_test(false);
    __sigaction(SIGILL, &previous_, nullptr);
    set_hooks({});
  }
  DeviceState device_;
  struct sigaction previous_{};
  bool pretending_ = false;
};

// What device code runs with: everything but the keys, which the emulation doesn't have, denied... the value that was
// set last.
bool with_device_rights() { return rights != 0; }

TEST_F(SimtRights, EveryKindOfArgumentArrives) {
  static int calls;
  calls = 0;
  Hooks hooks{};
  hooks.texture_fetch = [](std::uint64_t texture, std::uint32_t dimensions, const float* coordinates, int layer,
                           float level, void* result) {
    EXPECT_FALSE(with_device_rights());
    EXPECT_EQ(texture, 1u);
    EXPECT_EQ(dimensions, 2u);
    EXPECT_EQ(coordinates, reinterpret_cast<const float*>(3));
    EXPECT_EQ(layer, 4);
    EXPECT_EQ(level, 5.5f);
    EXPECT_EQ(result, reinterpret_cast<void*>(6));
    ++calls;
  };
  hooks.surface_access = [](std::uint64_t surface, bool store, int x, int y, int z, void* value, std::uint32_t bytes,
                            std::uint32_t mode) {
    EXPECT_EQ(surface, 1u);
    EXPECT_TRUE(store);
    EXPECT_EQ(x, 3);
    EXPECT_EQ(y, 4);
    EXPECT_EQ(z, 5);
    EXPECT_EQ(value, reinterpret_cast<void*>(6));
    EXPECT_EQ(bytes, 7u);
    EXPECT_EQ(mode, 8u);
    ++calls;
  };
  hooks.device_launch = [](const Grid&, const void* kernel, const std::uint32_t*, void* const*, std::uint64_t shared,
                           std::uint64_t stream) {
    EXPECT_EQ(kernel, reinterpret_cast<const void*>(1));
    EXPECT_EQ(shared, 4u);
    EXPECT_EQ(stream, 5u);
    ++calls;
    return 77;
  };
  set_hooks(hooks);
  const MrKernel k = fiber_kernel(+[](const void*) {
    EXPECT_TRUE(with_device_rights());
    device()->texture_fetch(1, 2, reinterpret_cast<const float*>(3), 4, 5.5f, reinterpret_cast<void*>(6));
    device()->surface_access(1, 2, 3, 4, 5, reinterpret_cast<void*>(6), 7, 8);
    EXPECT_EQ(device()->device_launch(reinterpret_cast<const void*>(1), nullptr, nullptr, 4, 5), 77);
    EXPECT_TRUE(with_device_rights());
  });
  Launch launch(k, device_, {1}, {1});
  EXPECT_EQ(launch.run(), Fault::none);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(rights, 0x55555554u);
}

TEST_F(SimtRights, LanesSwitchInsideServices) {
  static int sum;
  sum = 0;
  const MrKernel k = fiber_kernel(+[](const void*) {
    const std::uint32_t t = tid();
    int inside = 7;
    const std::uint64_t v = device()->shuffle(~0u, MR_SHFL_DOWN, t * std::uint64_t{10'000'000'000}, 1, 32, &inside);
    EXPECT_EQ(v, (t % 32 == 31 ? t : t + 1) * std::uint64_t{10'000'000'000});
    EXPECT_EQ(inside, t % 32 != 31);
    EXPECT_EQ(device()->barrier_reduce(MR_BAR_COUNT, t < 5), 5);
    EXPECT_TRUE(with_device_rights());
    ++sum;
  });
  Launch launch(k, device_, {3}, {64});
  EXPECT_EQ(launch.run(), Fault::none);
  EXPECT_EQ(sum, 3 * 64);
  EXPECT_EQ(rights, 0x55555554u);
}

TEST_F(SimtRights, FaultsGiveTheThreadItsRightsBack) {
  const MrKernel loop = loop_kernel(+[](MrBlock* b, std::uint64_t, std::uint64_t count) {
    EXPECT_TRUE(with_device_rights());
    EXPECT_EQ(count, 1u);
    if (*static_cast<const int*>(b->args)) *reinterpret_cast<volatile int*>(64) = 1;
  });
  const MrKernel fiber = fiber_kernel(+[](const void* args) {
    if (*static_cast<const int*>(args) == 1) *reinterpret_cast<volatile int*>(64) = 1;
    device()->trap();
  });
  for (MrKernel k : {loop, fiber})
    for (int how : {1, 2}) {
      k.args_size = sizeof how;
      Launch launch(k, device_, {1}, {1}, &how);
      const bool trap = !k.run_blocks && how == 2;
      EXPECT_EQ(launch.run(), trap ? Fault::trap : Fault::illegal_address);
      EXPECT_EQ(rights, 0x55555554u);
      clear_fault(device_);
    }
}

TEST_F(SimtRights, RuntimeScopesNestCheaply) {
  const std::uint32_t before = writes;
  {
    protect::RuntimeScope outer;
    EXPECT_EQ(rights, 0u);
    protect::RuntimeScope inner;
    EXPECT_EQ(writes, before + 1);
    {
      protect::UserScope user;
      EXPECT_EQ(writes, before + 2);
    }
    EXPECT_EQ(rights, 0u);
  }
  EXPECT_EQ(rights, 0x55555554u);
}

}  // namespace
