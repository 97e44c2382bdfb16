// Faults of device code: signal handlers, classification, and the report.
#pragma once
#include <cstdint>

#include <simt/grid.h>

namespace mr::simt {

struct Executor;

// What is known of a device's first fault since clear_fault.
struct FaultReport {
  Fault fault = Fault::none;
  char kernel[256] = {};  // demangled
  std::uint32_t block[3] = {}, thread[3] = {};
  bool thread_known = false;  // false in loop mode, where the lane is not always known
  std::uint64_t address = 0;  // that was accessed; 0 when unknown or null
  std::uint64_t pc = 0;
  std::uint64_t grid_id = 0;
  char message[1280] = {};  // a sentence: what happened, where, and what to look at
};

// The report of the device's first fault; fault == none when there was none. Thread-safe.
FaultReport last_fault(const DeviceState& device) noexcept;
// Forgets it (device reset, or the DeviceState's end). Thread-safe.
void clear_fault(const DeviceState& device) noexcept;

// Code that counts as device code for interrupt_all beside the images that kernels come from (tests).
void add_device_code(const void* begin, const void* end) noexcept;
// Asks every thread that runs device code for `device` to leave it, at once if it executes device code, else when it
// next waits or polls. The caller has set device->dead. Returns how many threads still ran such code: call again until
// 0 where the end must be waited for. Thread-safe; not from device code.
std::uint32_t interrupt_all(DeviceState* device) noexcept;

// Called by a host thread's SIGSEGV handler when the host touched device memory that its protection key denies: prints
// a report with the allocation's site. Runs in a signal handler. Returns true when the address is a device address (the
// process then dies with the default action), false to treat it as any other fault.
using HostAccessReporter = bool (*)(const void* address, bool is_write);
void set_host_access_reporter(HostAccessReporter reporter) noexcept;

// For executor.cpp: gives the thread an alternate signal stack and installs the handlers once.
void prepare_thread_for_faults(Executor& e) noexcept;
void release_thread_from_faults(Executor& e) noexcept;

}  // namespace mr::simt
