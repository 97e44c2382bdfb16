// Spinning loops reach the runtime: each spin_* kernel is started with its condition unmet, and the poll service meets
// it.
#include <cstdio>

#include "harness.h"

namespace {
using namespace harness;
int flag;

void spins(const Image& m, const char* name, int start, int end) {
  static int meet;
  meet = end;
  flag = start;
  seen.polls = 0;
  seen.on_poll = [] {
    if (seen.polls == 3) __atomic_store_n(&flag, meet, __ATOMIC_RELEASE);
  };
  const MrKernel& k = m.kernel(name);
  int result = 0;
  alignas(16) unsigned char args[32] = {};
  int* p = &flag;
  int* out = &result;
  std::memcpy(args + k.params[0].offset, &p, 8);
  if (k.param_count > 1 && k.params[1].size == 8) std::memcpy(args + k.params[1].offset, &out, 8);
  run_lanes(k, Shape{}, args);
  check(seen.polls >= 3, std::string(name) + " polls");
}
}  // namespace

int main(int, char** argv) {
  Image m(argv[1]);
  for (const char* name : {"spin_flag", "spin_flag_atomic", "spin_add_zero", "spin_fence", "spin_through_call",
                           "spin_in_callee", "spin_pointer"})
    spins(m, name, 0, 1);
  for (const char* name : {"spin_lock", "spin_member"}) spins(m, name, 1, 0);
  spins(m, "spin_done_flag", 0, 4);
  spins(m, "spin_semaphore", -5, 50);
  spins(m, "spin_count_in_condition", 0, 1);
  for (std::uint64_t i = 0; i < m.image().kernel_count; ++i) {
    const MrKernel& k = m.image().kernels[i];
    const std::string name = k.name;
    const bool spin = k.flags & MR_KERNEL_MAY_SPIN, meet = k.flags & MR_KERNEL_BARRIER;
    if (name.starts_with("finite_")) check(!spin && !meet && (k.run_blocks || argv[2]), name + " is finite");
    if (name.starts_with("spin_")) check(spin && !k.run_blocks, name + " may spin");
    if (name.starts_with("split_"))
      check(!spin && meet && (!k.run_blocks || !argv[2]), name + " has barriers, and blocks only if not forced");
    if (name.starts_with("meet_")) check(!spin && meet && !k.run_blocks, name + " needs coexisting lanes");
  }
  return failures() != 0;
}
