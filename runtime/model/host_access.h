// What a host thread's access to device memory is answered with: a sentence, and the end that it takes with a GPU.
#pragma once

namespace mr::model {

// For simt::set_host_access_reporter: says on standard error which allocation the host touched and where that was made.
// False when `address` is not in device memory. Called by the handler of the SIGSEGV that the access raised.
bool report_host_access(const void* address, bool is_write);

}  // namespace mr::model
