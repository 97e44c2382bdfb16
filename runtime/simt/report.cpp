// The report of a device's first fault, in words.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <simt/executor.h>
#include <simt/fault.h>
#include <simt/hooks.h>
#include <simt/lock.h>
#include <simt/misuse.h>

namespace mr::simt {
namespace {

// Few devices and only their first faults: a table.
struct Entry {
  const DeviceState* device;
  FaultReport report;
};
constexpr int most_entries = 64;
Lock table_lock;
Entry table[most_entries];
int next_victim = 0;

const char* what_happened(Fault fault) {
  switch (fault) {
  case Fault::illegal_address: return "accessed memory that it may not touch";
  case Fault::misaligned_address: return "accessed an address that is not a multiple of the access's size";
  case Fault::assert_failed: return "failed an assertion";
  case Fault::trap: return "executed a trap";
  case Fault::illegal_instruction: return "executed an illegal instruction";
  case Fault::invalid_pc: return "jumped to an address that holds no code";
  case Fault::stack_error: return "used up its stack (recursion too deep, or local arrays too large)";
  case Fault::bad_synchronization: return "can't go on";
  default: return "was interrupted";
  }
}

void describe(FaultReport& r, const RawFault& raw, const Grid& grid) {
  int status = 0;
  char* name = abi::__cxa_demangle(grid.kernel->name, nullptr, nullptr, &status);
  std::snprintf(r.kernel, sizeof r.kernel, "%s", status == 0 && name ? name : grid.kernel->name);
  std::free(name);
  r.fault = raw.fault;
  r.address = raw.address;
  r.pc = raw.pc;
  r.grid_id = grid.grid_id;
  char where[160] = "";
  if (raw.lane && raw.lane->block) {
    const MrBlock& b = *raw.lane->block;
    const bool sites = (grid.kernel->flags & MR_KERNEL_SITES) != 0;
    r.thread_known = raw.lane->runtime != nullptr || b.threads == 1 || raw.fault == Fault::assert_failed || sites;
    for (int i = 0; i < 3; ++i) {
      r.block[i] = b.block_idx[i];
      r.thread[i] = raw.lane->tid[i];
    }
    int n;
    if (b.together > 1)
      n = std::snprintf(where, sizeof where, " in one of the blocks (%u..%u,%u,%u)", r.block[0],
                        r.block[0] + b.together - 1, r.block[1], r.block[2]);
    else
      n = std::snprintf(where, sizeof where, " in block (%u,%u,%u)", r.block[0], r.block[1], r.block[2]);
    if (r.thread_known)
      std::snprintf(where + n, sizeof where - static_cast<std::size_t>(n), ", thread (%u,%u,%u)", r.thread[0],
                    r.thread[1], r.thread[2]);
  }
  char address[64] = "", about[800] = "";
  // Compiled code collects the low bits of all addresses of a thread (compiler/passes/align_check.cpp); a whole address
  // comes from the processor.
  constexpr std::uint64_t low_bits = 16;
  if (raw.fault == Fault::misaligned_address && raw.address < low_bits)
    std::snprintf(address, sizeof address, " (low bits of the address: 0x%llx)",
                  static_cast<unsigned long long>(raw.address));
  else if (raw.fault == Fault::illegal_address || raw.fault == Fault::misaligned_address ||
           raw.fault == Fault::invalid_pc)
    std::snprintf(address, sizeof address, " at address 0x%llx", static_cast<unsigned long long>(raw.address));
  const bool whole = raw.fault == Fault::illegal_address ||
                     (raw.fault == Fault::misaligned_address && raw.address >= low_bits);
  if (whole && hooks().describe_address)
    hooks().describe_address(reinterpret_cast<const void*>(raw.address), about, sizeof about);
  char site[256];
  std::snprintf(r.message, sizeof r.message, "Kernel %.180s %s%s%s%s.%s%s%s%s", r.kernel, what_happened(raw.fault),
                address, where, describe_site(grid, raw.lane, site, sizeof site), raw.note ? " " : "",
                raw.note ? raw.note : "", about[0] ? " " : "", about);
}

}  // namespace

Fault note_fault(Executor* e, const Grid& grid) noexcept {
  const RawFault raw = e->raw;
  e->raw = RawFault{};
  if (raw.fault == Fault::interrupted) return raw.fault;
  FaultReport report;
  describe(report, raw, grid);
  static const bool print = std::getenv("MILLRACE_REPORT") != nullptr;
  // Who compiles with -G looks for errors.
  if ((print || raw.shown || (grid.kernel->flags & MR_KERNEL_SITES)) && raw.fault != Fault::assert_failed)
    std::fprintf(stderr, "millrace: %s\n", report.message);
  std::lock_guard guard(table_lock);
  Entry* place = nullptr;
  for (Entry& entry : table) {
    if (entry.device == grid.device) return raw.fault;  // only the first one counts
    if (!entry.device && !place) place = &entry;
  }
  if (!place) place = &table[next_victim++ % most_entries];
  *place = {grid.device, report};
  return raw.fault;
}

FaultReport last_fault(const DeviceState& device) noexcept {
  std::lock_guard guard(table_lock);
  for (const Entry& entry : table)
    if (entry.device == &device) return entry.report;
  return {};
}

void clear_fault(const DeviceState& device) noexcept {
  std::lock_guard guard(table_lock);
  for (Entry& entry : table)
    if (entry.device == &device) entry.device = nullptr;
}

}  // namespace mr::simt
