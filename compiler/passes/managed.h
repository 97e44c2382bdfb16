// Managed variables (`__managed__`): one place for the host and all devices, which is the host's variable.
#pragma once

namespace llvm {
class Module;
}

namespace mrcc {

// Gives each managed variable a slot of its own in the image, in which the runtime stores the address of the host's
// variable when the image is loaded, and makes device code go through it. The variable itself stays in the image and
// keeps the initial value. A module with managed variables gets the section kManagedSection, by which the runtime knows
// that it must be loaded before the host reads them.
void redirect_managed(llvm::Module& module);

}  // namespace mrcc
