#include "device_link.h"
namespace mrcc {
std::string link_device_code(const Options&, const Toolchain&, const Compiler&, const std::vector<std::string>&) { return {}; }
}  // namespace mrcc
