// cudaDeviceReset: a device starts over.
#pragma once

namespace mr::model {

// Destroys what the process has on a device: waits for its work (a dead context's work is dropped), then invalidates
// its streams and events, gives device variables their initial values again, and puts limits and preferences back.
// Function attributes and schedule flags stay. A context that died of an error is not usable again in this process:
// later calls return cudaErrorDevicesUnavailable. Thread-safe, but other threads must not use the device meanwhile.
void reset_device(int device) noexcept;

// Called during every reset, after the device's work has ended and before its variables are restored: whoever keeps
// things on a device (memory, pools, graphs) lets go of them. Hooks are called in the order of their registration,
// which must be over before the first reset.
using ResetHook = void (*)(int device);
void add_reset_hook(ResetHook hook) noexcept;

}  // namespace mr::model
