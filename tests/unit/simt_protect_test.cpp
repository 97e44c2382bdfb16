// Protection keys: what device code and host threads may touch (where the processor has keys), and that switching
// rights keeps every argument and result (everywhere, with the instructions emulated).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <simt/fault.h>
#include <simt/grid.h>
#include <simt/protect.h>

#include <cstdlib>
#include <cstring>

namespace {

// Before the library is set up.
[[gnu::constructor(101)]] void with_protection_keys() { setenv("MILLRACE_PROTECT", "1", 1); }

using namespace mr::simt;

// All that a kernel of this test uses: it may touch neither globals nor the host's stack.
struct Args {
  const MrServices* services;
  volatile int* out;
  volatile int* in;
};

Grid grid_of(const MrKernel& kernel, std::uint32_t threads, DeviceState& device, const Args* args) {
  Grid g{};
  g.kernel = &kernel;
  g.args = args;
  g.grid[0] = g.grid[1] = g.grid[2] = 1;
  g.block[0] = threads;
  g.block[1] = g.block[2] = 1;
  g.total_blocks = 1;
  g.device = &device;
  return g;
}

void copy_lane(const void* a) {
  const Args& args = *static_cast<const Args*>(a);
  args.services->barrier();
  *args.out = *args.in;
  args.services->barrier();
}
void copy_loop(MrBlock* b, std::uint64_t, std::uint64_t) {
  const Args& args = *static_cast<const Args*>(b->args);
  *args.out = *args.in;
}

class SimtProtect : public testing::Test {
 protected:
  void SetUp() override {
    if (!protect::active()) GTEST_SKIP() << protect::inactive_reason();
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ASSERT_EQ(syscall(SYS_pkey_mprotect, memory, 4096, PROT_READ | PROT_WRITE, protect::device_key()), 0);
    on_device_ = static_cast<int*>(memory);
  }
  Fault run(bool loop, volatile int* out, volatile int* in) {
    MrKernel k{};
    k.name = "_Z6kernelPi";
    k.run_lane = copy_lane;
    if (loop) k.run_blocks = copy_loop;
    k.args_size = sizeof(Args);
    const Args args{services(), out, in};
    const Grid g = grid_of(k, 2, device_, &args);
    const Fault fault = run_blocks(g, 0, 1);
    clear_fault(device_);
    return fault;
  }
  DeviceState device_;
  int* on_device_ = nullptr;
};

TEST_F(SimtProtect, DeviceCodeMayUseDeviceMemoryOnly) {
  auto* on_host = new int[2]{1, 2};
  for (bool loop : {true, false}) {
    {
      protect::RuntimeScope access;
      on_device_[0] = 5;
    }
    EXPECT_EQ(run(loop, on_device_ + 1, on_device_), Fault::none);
    {
      protect::RuntimeScope access;
      EXPECT_EQ(on_device_[1], 5);
      protect::UserScope user;
    }
    EXPECT_EQ(run(loop, on_device_, on_host), Fault::illegal_address);
    EXPECT_EQ(run(loop, on_host, on_device_), Fault::illegal_address);
    EXPECT_EQ(on_host[0], 1);
  }
  delete[] on_host;
}

using SimtProtectDeathTest = SimtProtect;
TEST_F(SimtProtectDeathTest, HostAccessIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        run(true, on_device_ + 1, on_device_);
        set_host_access_reporter([](const void*, bool is_write) -> bool {
          constexpr char text[] = "host wrote device memory\n";
          if (is_write) (void)!::write(2, text, sizeof text - 1);
          return true;
        });
        *static_cast<volatile int*>(on_device_) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "host wrote device memory");
}

}  // namespace
