// Functions for the host alone that device code refers to (frontend/host_calls.cpp): a device that comes to such a call
// traps, and the report says what it called.
#pragma once

namespace llvm {
class Module;
}

namespace mrcc {

void trap_host_calls(llvm::Module& module);

}  // namespace mrcc
