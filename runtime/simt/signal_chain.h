// Whose turn it is with a signal that the runtime handles itself.
//
// Programs install handlers of their own at any time: test frameworks do for every test. A kernel's fault is no signal
// to the program, so the runtime's handler stays the one that the kernel (the operating system's) calls, and what the
// program installs is kept here, answered when it asks, and called for what is not about device code. For that the
// runtime defines sigaction and signal, which come before the C library's in the dynamic linker's order.
#pragma once
#include <signal.h>

namespace mr::simt::signal_chain {

// Puts `action` in front of the program's own for `signal`, for good. Called once for each signal.
void take(int signal, const struct sigaction& action) noexcept;

// What the program wants of `signal`. Async-signal-safe.
struct sigaction program_action(int signal) noexcept;

// Does what the program wants, from a handler of ours, as if the operating system had called the program's handler.
void pass_on(int signal, siginfo_t* info, void* context) noexcept;

}  // namespace mr::simt::signal_chain
