// Device code that is there twice: programs built with -mrcc-check have the image that any program has, and behind it
// in the same bytes the instrumented one, which the runtime takes when `millrace check` looks at kernels. So a program
// pays nothing for having been built to be checked, and nothing with --api-only.
#pragma once
#include <string>
#include <string_view>

#include "options.h"

namespace mrcc {

// Options of the image without instrumentation. Line tables stay.
Options without_checks(const Options& options);
// Both images as the bytes to embed (model/image_file.h reads them).
std::string with_instrumented(std::string plain, std::string_view instrumented);

}  // namespace mrcc
