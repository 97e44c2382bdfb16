// Faults of device code: each kind is told apart, in loop mode and on fibers, and the thread runs kernels again
// afterwards.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "sanitizers.h"
#include "simt_kernels.h"

namespace {
using namespace simt_test;

[[gnu::noinline, clang::optnone]] int overflow(int n) {
  volatile char frame[512];
  frame[0] = static_cast<char>(n);
  return n == -1 ? 0 : overflow(n + 1) + frame[0];
}

char outside_code[64];
volatile std::uint64_t null = 0;

[[clang::no_sanitize("address", "undefined", "thread"), gnu::noinline]] void poke(std::uint64_t address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}

// What the faulting lane does; each returns only if nothing happened.
[[clang::no_sanitize("address", "undefined", "thread"), gnu::noinline]] void misbehave(int how) {
  const auto shared = reinterpret_cast<std::uint64_t>(lane()->block->shared);
  switch (how) {
  case 0: return poke(0);
  case 1: return poke(wild_address());
  case 2: return poke(0xdead'0000'0000'0000);
  case 3: return poke(shared + 1024);
  case 4: return poke(shared + 0xffff'ffff);
  case 5: return poke(shared - 0x8000'0000);
  case 6: return (void)overflow(0);
  case 7: return reinterpret_cast<void (*)()>(null)();
  case 8: return reinterpret_cast<void (*)()>(&outside_code)();
  case 9: return device()->trap();
  case 10: asm volatile("ud2"); return;
  case 11: asm volatile(".byte 0x0f, 0xff, 0xc0"); return;  // ud0
  case 12: asm volatile("int3"); return;
  case 13: return device()->misaligned(outside_code + 1, 4);
  case 14:
    asm volatile("movaps %%xmm0, 8(%0, %1, 8)" ::"r"(reinterpret_cast<std::uint64_t>(outside_code) & ~15),
                 "r"(std::uint64_t{2})
                 : "memory");
    return;
  case 15: asm volatile("movaps %%xmm0, (%0)" ::"r"(0xdead'0000'0000'0000) : "memory"); return;
  case 16: asm volatile("std; pushq $0x40000; addq $-8, %%rsp; movl $1, 0" ::: "memory", "cc"); return;
  default: return;
  }
}

struct Expected {
  int how;
  Fault fault;
};
const Expected cases[] = {
    {0, Fault::illegal_address},
    {1, Fault::illegal_address},
    {2, Fault::illegal_address},
    {3, Fault::illegal_address},
    {4, Fault::illegal_address},
    {5, Fault::illegal_address},
    {6, Fault::stack_error},
    {7, Fault::invalid_pc},
    {8, Fault::invalid_pc},
    {9, Fault::trap},
    {10, Fault::trap},
    {11, Fault::illegal_instruction},
    {12, Fault::trap},
    {13, Fault::misaligned_address},
    {14, Fault::misaligned_address},
    {15, Fault::illegal_address},
    {16, Fault::illegal_address},
};

struct Args {
  int how;
  int before;
};

class SimtFault : public testing::TestWithParam<Expected> {};

void check_report(DeviceState& device, Fault fault, std::uint32_t block) {
  const FaultReport report = last_fault(device);
  EXPECT_EQ(report.fault, fault);
  EXPECT_STREQ(report.kernel, "kernel(int*)");
  EXPECT_EQ(report.block[0], block);
  EXPECT_NE(std::strstr(report.message, "kernel(int*)"), nullptr);
  clear_fault(device);
  EXPECT_EQ(last_fault(device).fault, Fault::none);
}

TEST_P(SimtFault, InLoopMode) {
  const MrKernel bad = loop_kernel(+[](MrBlock* b, std::uint64_t first, std::uint64_t count) {
    Args& a = *const_cast<Args*>(static_cast<const Args*>(b->args));
    for (std::uint64_t i = first; i < first + count; ++i) {
      b->block_idx[0] = static_cast<std::uint32_t>(i);
      if (i == 3) misbehave(a.how);
      ++a.before;
    }
  });
  MrKernel k = bad;
  k.static_shared = 1024;
  DeviceState device;
  for (int again = 0; again < 2; ++again) {
    Args args{GetParam().how, 0};
    Launch launch(k, device, {5}, {1}, &args);
    EXPECT_EQ(launch.run(), GetParam().fault) << last_fault(device).message;
    EXPECT_EQ(args.before, 3);
    check_report(device, GetParam().fault, 3);
    args = {-1, 0};
    EXPECT_EQ(launch.run(), Fault::none);
    EXPECT_EQ(args.before, 5);
  }
}

void faulty_lane(const void* args) {
  Args& a = *const_cast<Args*>(static_cast<const Args*>(args));
  device()->barrier();
  if (block_linear() == 1 && tid() == 37) misbehave(a.how);
  device()->barrier();
  ++a.before;
}

TEST_P(SimtFault, OnFibers) {
  MrKernel k = fiber_kernel(faulty_lane);
  k.static_shared = 1024;
  DeviceState device;
  for (int again = 0; again < 2; ++again) {
    Args args{GetParam().how, 0};
    Launch launch(k, device, {3}, {64}, &args);
    EXPECT_EQ(launch.run(), GetParam().fault) << last_fault(device).message;
    EXPECT_EQ(args.before, 64);
    const FaultReport report = last_fault(device);
    EXPECT_TRUE(report.thread_known);
    EXPECT_EQ(report.thread[0], 37u);
    check_report(device, GetParam().fault, 1);
    EXPECT_EQ(launch.step_all(0, 3), GetParam().fault);
    check_report(device, GetParam().fault, 1);
    args = {-1, 0};
    EXPECT_EQ(launch.run(), Fault::none);
    EXPECT_EQ(args.before, 3 * 64);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SimtFault, testing::ValuesIn(cases),
                         [](const auto& info) { return "case" + std::to_string(info.param.how); });

TEST(SimtFaultReport, AddressIsTheOneAccessed) {
  if (const char* loaded = std::getenv("LD_PRELOAD"); loaded && std::strstr(loaded, "vgpreload"))
    GTEST_SKIP() << "valgrind does not keep the registers of the faulting instruction";
  const MrKernel k = loop_kernel(
      +[](MrBlock* b, std::uint64_t, std::uint64_t) { misbehave(static_cast<const Args*>(b->args)->how); });
  DeviceState device;
  for (const auto& [how, address] :
       {std::pair{1, static_cast<unsigned long long>(wild_address())}, std::pair{2, 0xdead'0000'0000'0000ull},
        std::pair{14, (reinterpret_cast<unsigned long long>(outside_code) & ~15ull) + 24}}) {
    Args args{how, 0};
    Launch launch(k, device, {1}, {1}, &args);
    launch.run();
    EXPECT_EQ(last_fault(device).address, address);
    clear_fault(device);
  }
}

TEST(SimtFaultReport, AssertionIsPrinted) {
  const MrKernel k = fiber_kernel(+[](const void*) {
    if (tid() == 33) device()->assert_fail("x < 100", "app.cu", 12, "void kernel(int *)");
  });
  DeviceState device;
  Launch launch(k, device, {1}, {8, 8});
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch.run(), Fault::assert_failed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "app.cu:12: void kernel(int *): block: [0,0,0], thread: [1,4,0] Assertion `x < 100` failed.\n");
  clear_fault(device);
}

TEST(SimtFaultReport, OnlyTheFirstFaultIsKept) {
  const MrKernel k = loop_kernel(
      +[](MrBlock* b, std::uint64_t, std::uint64_t) { misbehave(static_cast<const Args*>(b->args)->how); });
  DeviceState device;
  Args args{9, 0};
  Launch launch(k, device, {1}, {1}, &args);
  EXPECT_EQ(launch.run(), Fault::trap);
  args.how = 0;
  EXPECT_EQ(launch.run(), Fault::illegal_address);
  EXPECT_EQ(last_fault(device).fault, Fault::trap);
  clear_fault(device);
}

// ---- Others' faults
// -----------------------------------------------------------------------------------------------------

#ifndef MR_TEST_SANITIZED
TEST(SimtFaultDeathTest, HostFaultsGoToWhoHandledThemBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        struct sigaction mine{};
        mine.sa_handler = [](int) { _exit(42); };
        sigaction(SIGSEGV, &mine, nullptr);
        const MrKernel k = loop_kernel(+[](MrBlock*, std::uint64_t, std::uint64_t) {});
        DeviceState device;
        Launch launch(k, device, {1}, {1});
        launch.run();
        *reinterpret_cast<volatile int*>(16) = 1;
      },
      testing::ExitedWithCode(42), "");
  EXPECT_EXIT(
      {
        const MrKernel k = loop_kernel(+[](MrBlock*, std::uint64_t, std::uint64_t) {});
        DeviceState device;
        Launch launch(k, device, {1}, {1});
        launch.run();
        *reinterpret_cast<volatile int*>(16) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}
#endif

TEST(SimtFaultReport, FaultsOnManyThreads) {
  const MrKernel k = fiber_kernel(faulty_lane);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      DeviceState device;
      for (int again = 0; again < 20; ++again) {
        Args args{again % 3, 0};
        Launch launch(k, device, {3}, {64}, &args);
        EXPECT_EQ(launch.run(), Fault::illegal_address);
      }
      clear_fault(device);
    });
  for (std::thread& t : threads) t.join();
}

// ---- Interruption
// -------------------------------------------------------------------------------------------------------

// Left out under sanitizers: ThreadSanitizer holds asynchronous signals back until the next blocking call; under
// AddressSanitizer an endless lane spends nearly all its time in the sanitizer's own code, where it is not interrupted.
#ifndef MR_TEST_SANITIZED
std::atomic<bool> in_loop;

[[gnu::section("device_text"), gnu::noinline]] void endless(MrBlock*, std::uint64_t, std::uint64_t) {
  in_loop.store(true);
  while (true) asm volatile("");
}
[[gnu::section("device_text"), gnu::noinline]] void endless_lane(const void*) {
  if (tid() == 0) return device()->barrier();
  in_loop.store(true);
  while (true) asm volatile("");
}
extern "C" char __start_device_text[], __stop_device_text[];

void interrupt(const MrKernel& k) {
  add_device_code(__start_device_text, __stop_device_text);
  in_loop = false;
  DeviceState device, other;
  Launch launch(k, device, {1}, {32});
  std::thread runner([&] { EXPECT_EQ(launch.run(), Fault::interrupted); });
  while (!in_loop) std::this_thread::yield();
  EXPECT_EQ(interrupt_all(&other), 0u);
  device.dead = true;
  while (interrupt_all(&device)) std::this_thread::yield();
  runner.join();
  EXPECT_EQ(last_fault(device).fault, Fault::none);
}
TEST(SimtInterrupt, EndlessLoopMode) { interrupt(loop_kernel(endless)); }
TEST(SimtInterrupt, EndlessFiber) { interrupt(fiber_kernel(endless_lane)); }
#endif

}  // namespace
