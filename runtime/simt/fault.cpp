// Signal handlers: who faulted, why, and how device code is left.
//
// A fault on a device stack is the kernel's: the handler notes what happened in the thread's executor and makes the
// interrupted context continue in the suspended host context (see context.S), as if the device code had been left.
// Everything else is passed on to the program's own handler (signal_chain.h).
#include <simt/fault.h>

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include <simt/executor.h>
#include <simt/lock.h>
#include <simt/operand.h>
#include <simt/protect.h>
#include <simt/signal_chain.h>

namespace mr::simt {
namespace {

constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
constexpr std::size_t signal_stack_bytes = 128 * 1024;
constexpr int segv_pkuerr = 4;  // SEGV_PKUERR

int interrupt_signal = 0;  // written once, before any executor exists
std::atomic<HostAccessReporter> host_access_reporter{nullptr};

// Further device code, see add_device_code. Entries are published by the count (release; acquired by the handler).
struct CodeRange {
  std::uint64_t begin, end;
};
constexpr std::uint32_t most_code_ranges = 64;
CodeRange code_ranges[most_code_ranges];
std::atomic<std::uint32_t> code_range_count{0};

std::uint64_t greg(const ucontext_t& context, int number) noexcept {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]);
}

struct Classified {
  Fault fault;
  std::uint64_t address;
};

Classified classify(int signal, const siginfo_t& info, const ucontext_t& context) noexcept {
  constexpr std::uint64_t page_fault = 14, general_protection = 13, instruction_fetch = 0x10;
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(info.si_addr), pc = greg(context, REG_RIP);
  switch (signal) {
  case SIGSEGV:
    if (greg(context, REG_TRAPNO) == page_fault && (greg(context, REG_ERR) & instruction_fetch))
      return {Fault::invalid_pc, pc};
    // valgrind, which executes the program on its own, reports a vector access that wants alignment without the trap's
    // number; the registers may be older ones then.
    if (info.si_code == SI_KERNEL && greg(context, REG_TRAPNO) == 0) {
      const std::optional<std::uint64_t> operand = operand_address(context);
      return {Fault::misaligned_address, operand && canonical(*operand) ? *operand : 0};
    }
    if (greg(context, REG_TRAPNO) == general_protection) {
      // No such address, or a vector access that wants alignment; the processor doesn't say.
      const std::optional<std::uint64_t> operand = operand_address(context);
      if (operand && canonical(*operand)) return {Fault::misaligned_address, *operand};
      return {Fault::illegal_address, operand.value_or(0)};
    }
    if (address == pc) return {Fault::invalid_pc, pc};
    if (StackPool::instance().in_guard(address)) return {Fault::stack_error, address};
    return {Fault::illegal_address, address};
  case SIGBUS: return {info.si_code == BUS_ADRALN ? Fault::misaligned_address : Fault::illegal_address, address};
  case SIGILL: {
    // ud2 is what compilers make of __builtin_trap().
    const auto* code = reinterpret_cast<const std::uint8_t*>(pc);
    return {code[0] == 0x0f && code[1] == 0x0b ? Fault::trap : Fault::illegal_instruction, pc};
  }
  default: return {Fault::trap, pc};
  }
}

// Makes the interrupted device code of `e` continue as an abandoned host context.
void leave(Executor& e, ucontext_t& context, const RawFault& raw) noexcept {
  e.raw = raw;
  e.uninterruptible = 0;
  auto& regs = context.uc_mcontext.gregs;
  regs[REG_RSP] = static_cast<greg_t>(e.host_context);
  regs[REG_RAX] = leave_abandoned;
  regs[REG_RIP] = static_cast<greg_t>(protect::resume_address());
  constexpr greg_t trap_flag = 0x100, direction_flag = 0x400, alignment_check = 0x40000;
  regs[REG_EFL] &= ~(trap_flag | direction_flag | alignment_check);
}

void on_fault(int signal, siginfo_t* info, void* opaque) noexcept {
  auto& context = *static_cast<ucontext_t*>(opaque);
  Executor* const e = existing_executor();
  const std::uint64_t sp = greg(context, REG_RSP);
  const bool sent = info->si_code <= 0;
  if (signal == SIGSEGV && !sent && protect::grant_after_fault(*info, context, StackPool::instance().contains(sp)))
    return;
  if (e && e->grid && !sent && StackPool::instance().contains(sp)) {
    const Classified c = classify(signal, *info, context);
    return leave(*e, context, {c.fault, c.address, greg(context, REG_RIP), mr_lane_of(sp), nullptr});
  }
  if (signal == SIGSEGV && info->si_code == segv_pkuerr)
    if (const HostAccessReporter report = host_access_reporter.load(std::memory_order_acquire))
      report(info->si_addr, (greg(context, REG_ERR) & 2) != 0);
  signal_chain::pass_on(signal, info, opaque);
}

// The loaded object that holds `address`; null when unknown. Async-signal-safe and lock-free.
const void* object_of(std::uint64_t address) noexcept {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 ? found.dlfo_map_start : nullptr;
}

bool is_device_code(std::uint64_t pc, const Grid& grid) noexcept {
  const std::uint32_t ranges = code_range_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < ranges; ++i)
    if (pc >= code_ranges[i].begin && pc < code_ranges[i].end) return true;
  // An image holds device code only; where it is linked together with this room, nothing can be told apart.
  const void* object = object_of(pc);
  return object && object == object_of(reinterpret_cast<std::uint64_t>(grid.kernel->run_lane)) &&
         object != object_of(reinterpret_cast<std::uint64_t>(&is_device_code));
}

void on_interrupt(int signal, siginfo_t* info, void* opaque) noexcept {
  auto& context = *static_cast<ucontext_t*>(opaque);
  Executor* const e = existing_executor();
  if (e && e->grid) {
    DeviceState* device = e->device.load(std::memory_order_relaxed);
    const std::uint64_t sp = greg(context, REG_RSP), pc = greg(context, REG_RIP);
    if (device && device->dead.load(std::memory_order_relaxed) && !e->uninterruptible &&
        StackPool::instance().contains(sp) && is_device_code(pc, *e->grid))
      leave(*e, context, {Fault::interrupted, 0, pc, mr_lane_of(sp), nullptr});
    return;
  }
  if (signal_chain::program_action(signal).sa_handler != SIG_DFL) signal_chain::pass_on(signal, info, opaque);
}

void install_handlers() noexcept {
  struct sigaction action{};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  action.sa_sigaction = protect::fault_entry(&on_fault);
  for (int signal : fault_signals) signal_chain::take(signal, action);
  // SIGURG, which programs hardly use and debuggers pass on without stopping; else a real-time signal that is free.
  action.sa_sigaction = protect::interrupt_entry(&on_interrupt);
  const auto take = [&](int signal) {
    struct sigaction old{};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_DFL || (old.sa_flags & SA_SIGINFO)) return false;
    interrupt_signal = signal;
    signal_chain::take(signal, action);
    return true;
  };
  if (take(SIGURG)) return;
  for (int signal = SIGRTMAX - 4; signal > SIGRTMIN; --signal)
    if (take(signal)) return;
}

void install_handlers_once() noexcept {
  static std::once_flag once;
  std::call_once(once, install_handlers);
}

}  // namespace

void prepare_thread_for_faults(Executor& e) noexcept {
  install_handlers_once();
  if (protect::active()) protect::prepare_thread();
  stack_t now{};
  sigaltstack(nullptr, &now);
  if (!(now.ss_flags & SS_DISABLE) && now.ss_size >= signal_stack_bytes / 4 && !protect::active()) return;
  void* memory = protect::make_signal_stack(signal_stack_bytes);
  if (!memory) return;
  stack_t own{};
  own.ss_sp = memory;
  own.ss_size = signal_stack_bytes;
  if (sigaltstack(&own, nullptr) != 0) {
    munmap(memory, signal_stack_bytes);
    return;
  }
  e.signal_stack = memory;
}

void release_thread_from_faults(Executor& e) noexcept {
  if (!e.signal_stack) return;
  stack_t now{};
  sigaltstack(nullptr, &now);
  if (now.ss_sp == e.signal_stack) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(e.signal_stack, signal_stack_bytes);
  e.signal_stack = nullptr;
}

MR_SIMT_SWITCHES void abandon(Executor* e, Fault fault, std::uint64_t address) noexcept {
  e->raw.fault = fault;
  e->raw.address = address;
  e->raw.pc = 0;
  e->raw.lane = current_lane();
  e->uninterruptible = 0;
  mr_simt_jump(e->host_context, leave_abandoned);
}

void set_host_access_reporter(HostAccessReporter reporter) noexcept {
  host_access_reporter.store(reporter, std::memory_order_release);
  if (protect::active()) install_handlers_once();
}

void add_device_code(const void* begin, const void* end) noexcept {
  static Lock lock;
  std::lock_guard guard(lock);
  const std::uint32_t count = code_range_count.load(std::memory_order_relaxed);
  if (count == most_code_ranges) return;
  code_ranges[count] = {reinterpret_cast<std::uint64_t>(begin), reinterpret_cast<std::uint64_t>(end)};
  code_range_count.store(count + 1, std::memory_order_release);
}

std::uint32_t interrupt_all(DeviceState* device) noexcept {
  struct Search {
    DeviceState* device;
    std::uint32_t found;
  } search{device, 0};
  for_each_executor(
      [](Executor& e, void* argument) {
        Search& s = *static_cast<Search*>(argument);
        if (e.device.load(std::memory_order_acquire) != s.device) return;
        ++s.found;
        // Executors leave the list before their thread ends, so the thread exists.
        if (interrupt_signal && !pthread_equal(e.thread, pthread_self())) pthread_kill(e.thread, interrupt_signal);
      },
      &search);
  return search.found;
}

}  // namespace mr::simt
