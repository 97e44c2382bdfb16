// Stopping a thread in the midst of its code, at an instruction that is the same in every run: the processor's trap
// flag raises SIGTRAP after each one, and the handler counts those that are the program's own - not the runtime's, the
// C library's or the explorer's. A microsecond or so for each instruction. By the same signal the controller asks
// threads that come to no point for long (Asked).
#pragma once
#include <cstdint>

namespace mr::explore {

// Once, when everything that the program is linked with is loaded.
void prepare_stepping();
// Whether the program's own code is at this address. After prepare_stepping; async-signal-safe.
bool own_code(std::uintptr_t pc);
// False where the calling thread has SIGTRAP blocked: a trap would be the end then.
bool can_step();
// From here on the calling thread, whose Thread::stepping is set, traps. Thread::stepping ends it.
void begin_stepping();

}  // namespace mr::explore
