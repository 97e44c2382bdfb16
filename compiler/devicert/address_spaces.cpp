// Which address space a pointer is in, where only the image knows.
#include <simt/abi.h>

extern "C" {
// Exported by the image: a hidden declaration here would hide it from the runtime.
[[gnu::visibility("default")]] extern const MrImage __mr_image;

// Whether the pointer lies in a __constant__ variable of this image.
std::uint32_t __mr_is_constant(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::uint64_t i = 0; i < __mr_image.variable_count; ++i) {
    const MrVariable& v = __mr_image.variables[i];
    if (v.kind == MR_VAR_CONSTANT && address - reinterpret_cast<std::uintptr_t>(v.address) < v.size) return 1;
  }
  return 0;
}
}
