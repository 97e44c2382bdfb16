// Clocks show the explorer's time (VirtualTime): the C library's, and the time stamp counter, which the kernel lets
// raise SIGSEGV where it is read (prctl(2), PR_SET_TSC) and a handler answers - in device code's clock64() as in the
// host's.
#pragma once

namespace mr::explore {

// Before any other thread is under control; the calling thread and those that it starts see the explorer's time.
void prepare_clocks();
// The calling thread, which is no part of the program, reads the processor's counter again.
void leave_clocks();

bool counter_is_ours();

// The calling thread, and what it starts meanwhile, read the processor's counter: programs keep the kernel's setting.
class RealClocks {
 public:
  RealClocks();
  ~RealClocks();
  RealClocks(const RealClocks&) = delete;
  RealClocks& operator=(const RealClocks&) = delete;

 private:
  bool traps_;
};

}  // namespace mr::explore
