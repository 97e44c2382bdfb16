#include <simt/protect.h>

#include <sys/mman.h>

#include <cstdlib>

#include <simt/context.h>

namespace mr::simt::protect {

bool active() noexcept { return false; }
int device_key() noexcept { return -1; }
const char* inactive_reason() noexcept { return "protection keys are not implemented yet"; }

bool make_lane_memory(void* begin, std::size_t bytes) noexcept {
  return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
}
void* make_signal_stack(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void HostScope::enter() noexcept { rights_ = 0; }
void HostScope::leave() noexcept { (void)rights_; }
std::uint64_t call_loop(Executor*, MrRunBlocks, std::uint64_t, std::uint64_t) noexcept { std::abort(); }
void call_lane(MrRunLane, const void*, MrLane*) noexcept { std::abort(); }
const void* copy_arguments(Window&, const Grid&) noexcept { std::abort(); }
const MrServices* switching_table(const MrServices& direct) noexcept { return &direct; }
Handler handler_entry(Handler handler) noexcept { return handler; }
std::uint64_t resume_address(gregset_t&) noexcept { return reinterpret_cast<std::uint64_t>(&mr_simt_resume); }

}  // namespace mr::simt::protect
