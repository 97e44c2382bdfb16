// Device printf: C's conversions on packed arguments, return values, the order of output, and the bounded buffer.
#include <gtest/gtest.h>

#include <simt/printf.h>

#include <bit>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "simt_kernels.h"

namespace {
using namespace simt_test;

MrPrintfArg arg(double v) { return {std::bit_cast<std::uint64_t>(v), 1, 0}; }
MrPrintfArg arg(const void* v) { return {reinterpret_cast<std::uint64_t>(v), 0, 0}; }
MrPrintfArg arg(long long v) { return {static_cast<std::uint64_t>(v), 0, 0}; }
MrPrintfArg arg(int v) { return arg(static_cast<long long>(v)); }
MrPrintfArg arg(unsigned v) { return arg(static_cast<long long>(v)); }
MrPrintfArg arg(unsigned long long v) { return arg(static_cast<long long>(v)); }

std::function<void()>* body_now;
// Runs `body` as a kernel of one lane and returns what a flush prints.
std::string printed(DeviceState& device, std::function<void()> body) {
  const MrKernel k = fiber_kernel(+[](const void*) { (*body_now)(); });
  Launch launch(k, device, {1}, {1});
  body_now = &body;
  testing::internal::CaptureStdout();
  EXPECT_EQ(launch.run(), Fault::none);
  printf_flush(device);
  return testing::internal::GetCapturedStdout();
}

template <class... A> std::string one(int expected_return, const char* format, A... arguments) {
  DeviceState device;
  const std::string text = printed(device, [&] {
    const MrPrintfArg packed[] = {arg(arguments)..., {}};
    EXPECT_EQ(simt_test::device()->printf(format, packed, sizeof...(arguments)), expected_return) << format;
  });
  printf_close(device);
  return text;
}

TEST(SimtPrintf, Conversions) {
  EXPECT_EQ(one(0, "plain text\n"), "plain text\n");
  EXPECT_EQ(one(3, "%d %d %i|", 42, -42, -2147483647 - 1), "42 -42 -2147483648|");
  EXPECT_EQ(one(4, "%u %x %X %o", 4000000000u, 0xbeefu, 0xBEEFu, 8u), "4000000000 beef BEEF 10");
  EXPECT_EQ(one(2, "%u %x", -1, -1), "4294967295 ffffffff");
  EXPECT_EQ(one(3, "%lld %llu %llx", -9000000000000000000ll, 18000000000000000000ull, 0x123456789abcdefull),
            "-9000000000000000000 18000000000000000000 123456789abcdef");
  EXPECT_EQ(one(2, "%ld %zu", -5000000000ll, 5000000000ull), "-5000000000 5000000000");
  EXPECT_EQ(one(4, "%hd %hu %hhd %hhu", -3, 65535, 200, 200), "-3 65535 -56 200");
  EXPECT_EQ(one(3, "%c%c%5c", 'a', '#', 'x'), "a#    x");
  EXPECT_EQ(one(4, "%s|%s|%6s|%.2s", "abc", "", "abc", "abc"), "abc||   abc|ab");
  EXPECT_EQ(one(5, "%f %e %g %a %.0f", 1.5, 12345.678, 1e-10, 1.0, 2.5), "1.500000 1.234568e+04 1e-10 0x1p+0 2");
  EXPECT_EQ(one(2, "%F %G", -1.0 / 0.0, 1e20), "-INF 1E+20");
  EXPECT_EQ(one(5, "[%5d] [%-5d] [%05d] [%+d] [% d]", 42, 42, 42, 42, 42), "[   42] [42   ] [00042] [+42] [ 42]");
  EXPECT_EQ(one(2, "%#x %#o", 255u, 8u), "0xff 010");
  EXPECT_EQ(one(4, "[%*d] [%.*f]", 6, 42, 1, 3.14159), "[    42] [3.1]");
  EXPECT_EQ(one(2, "%p %p", reinterpret_cast<void*>(0x1234), static_cast<void*>(nullptr)), "0x1234 (nil)");
  EXPECT_EQ(one(1, "100%% of %d", 7), "100% of 7");
}

TEST(SimtPrintf, WhatIsNoConversionIsPrintedAsItIs) {
  EXPECT_EQ(one(1, "%d %d", 1), "1 %d");
  EXPECT_EQ(one(1, "%n %k %d", 5), "%n %k 5");
  EXPECT_EQ(one(0, "%"), "%");
  EXPECT_EQ(one(0, "%5.2"), "%5.2");
  EXPECT_EQ(one(1, "%*d", 5), "%*d");
  EXPECT_EQ(one(-1, nullptr), "");
}

TEST(SimtPrintf, ThirtyTwoArgumentsCount) {
  DeviceState device;
  std::string format, expected;
  std::vector<MrPrintfArg> packed;
  for (int i = 0; i < 34; ++i) {
    format += "%d,";
    expected += i < 32 ? std::to_string(i) + "," : "%d,";
    packed.push_back(arg(i));
  }
  EXPECT_EQ(printed(device, [&] { EXPECT_EQ(simt_test::device()->printf(format.c_str(), packed.data(), 34), 32); }),
            expected);
  printf_close(device);
}

TEST(SimtPrintf, LongTextsAreWhole) {
  const std::string text(100000, 'x');
  EXPECT_EQ(one(2, "%s%5000d", text.c_str(), 7), text + std::string(4999, ' ') + "7");
}

TEST(SimtPrintf, StringsAreReadWhenPrintfIsCalled) {
  DeviceState device;
  char text[] = "abc";
  EXPECT_EQ(printed(device,
                    [&] {
                      const MrPrintfArg a = arg(text);
                      simt_test::device()->printf("%s,", &a, 1);
                      text[0] = 'A';
                      simt_test::device()->printf("%s,", &a, 1);
                    }),
            "abc,Abc,");
  printf_close(device);
}

TEST(SimtPrintf, OldestOutputMakesRoom) {
  DeviceState device;
  ASSERT_TRUE(printf_resize(device, 1000));
  const std::string text = printed(device, [&] {
    for (int i = 0; i < 1000; ++i) {
      const MrPrintfArg a = arg(i);
      EXPECT_EQ(simt_test::device()->printf("%04d\n", &a, 1), 1);
    }
    const std::string huge(2000, 'x');
    EXPECT_EQ(simt_test::device()->printf(huge.c_str(), nullptr, 0), -2);
  });
  ASSERT_GT(text.size(), 400u);
  ASSERT_LT(text.size(), 1000u);
  std::string expected;
  for (int i = 1000 - static_cast<int>(text.size() / 5); i < 1000; ++i) {
    char line[8];
    std::snprintf(line, sizeof line, "%04d\n", i);
    expected += line;
  }
  EXPECT_EQ(text, expected);
  printf_close(device);
}

TEST(SimtPrintf, CallsOfManyThreadsStayWhole) {
  const MrKernel k = fiber_kernel(+[](const void*) {
    for (int i = 0; i < 20; ++i) {
      const MrPrintfArg a[] = {arg(block_linear()), arg(tid()), arg(i)};
      device()->printf("<%u.%u.%d>\n", a, 3);
    }
  });
  DeviceState device;
  Launch launch(k, device, {8}, {32});
  testing::internal::CaptureStdout();
  {
    std::thread other([&] { EXPECT_EQ(run_blocks(launch.grid, 4, 4), Fault::none); });
    EXPECT_EQ(run_blocks(launch.grid, 0, 4), Fault::none);
    printf_flush(device);
    other.join();
  }
  printf_flush(device);
  const std::string text = testing::internal::GetCapturedStdout();
  int next[8][32] = {}, lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    unsigned b, t;
    int i, used = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + at, "<%u.%u.%d>%n", &b, &t, &i, &used), 3);
    ASSERT_EQ(text[at + static_cast<std::size_t>(used)], '\n');
    EXPECT_EQ(i, next[b][t]++);
    at += static_cast<std::size_t>(used) + 1;
  }
  EXPECT_EQ(lines, 8 * 32 * 20);
  printf_close(device);
}

TEST(SimtPrintf, OutputBeforeAFaultIsKept) {
  const MrKernel k = fiber_kernel(+[](const void*) {
    device()->printf("before\n", nullptr, 0);
    const MrPrintfArg a = arg(reinterpret_cast<void*>(wild_address()));
    device()->printf("never %s\n", &a, 1);
  });
  DeviceState device;
  Launch launch(k, device, {1}, {1});
  testing::internal::CaptureStdout();
  EXPECT_EQ(launch.run(), Fault::illegal_address);
  printf_flush(device);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before\n");
  clear_fault(device);
  printf_close(device);
}

}  // namespace
