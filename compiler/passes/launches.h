// Kernel launches in device code (frontend/device_launches.h): a call of the kernel with its arguments, then a call of
// __mr_launch_go with the configuration.
#pragma once

namespace llvm {
class Module;
}

namespace mrcc {

// Per unit, before any optimisation: the pair becomes `__mr.launch.pack(pending, kernel, arguments...)`, which stands
// for storing the arguments, and `__mr_launch(pending, configuration)` (devicert/launch.cpp).
void lower_launches(llvm::Module& module);
// Per image, when every kernel's parameters are known: stores the arguments. Before kernels get their entries.
void pack_launch_arguments(llvm::Module& module);

}  // namespace mrcc
