// Linked into all unit tests but simt_protect_test: their kernels are functions of the test itself and use the host's
// memory, and tests look at device memory without asking the runtime.
#include <cstdlib>

namespace {

// Before the library is set up.
[[gnu::constructor(101)]] void without_protection_keys() { setenv("MILLRACE_PROTECT", "0", 0); }

}  // namespace
