// The explorer's signal handlers, in front of the runtime's and the program's: sigaction and signal are intercepted,
// and what comes for others is passed on. So are functions during which no signal of the explorer's may come.
#pragma once
#include <signal.h>

namespace mr::explore {

using Handler = void (*)(int, siginfo_t*, void*);
// SIGTRAP or SIGSEGV. `handler` runs with all signals blocked but those that an instruction raises.
void chain(int signal, Handler handler);
// From such a handler: the signal is whoever else's.
void pass_on(int signal, siginfo_t* info, void* context);

}  // namespace mr::explore
