// Managed variables: the host's variable is the one variable that the host and all devices use.
#pragma once

#include <simt/abi.h>

namespace mr::model {

class Module;

// Does the image (an ELF file in memory) have managed variables? Looks at its section names only.
bool image_has_managed(const void* image) noexcept;
// A freshly loaded image: its slots get the addresses of the host's variables, which get their initial values with the
// first image of the module and become known as managed memory. Called with the module's lock held.
void connect_managed(Module& module, const MrImage& image, bool first) noexcept;
// The host's variables get their initial values again (cudaDeviceReset).
void restore_managed(Module& module, const MrImage& image) noexcept;
// The module's library is being unloaded.
void forget_managed_variables(Module& module) noexcept;

}  // namespace mr::model
