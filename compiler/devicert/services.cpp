// Trampolines from device code to the runtime: __mr_NAME calls through the image's services pointer, which the runtime
// sets before anything of the image runs.
#include <simt/abi.h>

extern "C" {
[[gnu::visibility("hidden")]] extern const MrServices* __mr_services;

#define MR_TRAMPOLINE(result, name, parameters, arguments)                                                             \
  result __mr_##name parameters { return __mr_services->name arguments; }
MR_SERVICES(MR_TRAMPOLINE)
#undef MR_TRAMPOLINE
}
