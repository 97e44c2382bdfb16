// Managed variables: the host's variable is the one variable that the host and all devices use.
#pragma once

#include <simt/abi.h>

namespace mr::model {

class Module;

// Does the image (an ELF file in memory) have managed variables? Looks at its section names only.
bool image_has_managed(const void* image) noexcept;
// A loaded image: its slots get the addresses of the host's variables, which get their initial values with the
// first image of the module and become known as managed memory. Once more when further variables have been registered
// (each file of a program built with -rdc registers its own); cudaDeviceReset leaves them alone. Called with the
// module's lock held.
// A variable that the host never names isn't registered: it is the value that lies in `home`, the first image of the
// module.
void connect_managed(Module& module, const MrImage& image, const MrImage& home) noexcept;
// Brings the slots in `initial`, a copy of the image's initial data, up to date: a reset must not undo them.
void keep_slots(const MrImage& image, char* initial) noexcept;
// The module's library is being unloaded.
void forget_managed_variables(Module& module) noexcept;

}  // namespace mr::model
