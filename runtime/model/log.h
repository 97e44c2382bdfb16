// The runtime's log: what went wrong, in sentences (API reference, "Error Log Management Functions").
//
// The last hundred messages are kept. Only failures are logged, so nothing of this is on the hot path.
#pragma once
#include <cstddef>
#include <string>

#include <driver_types.h>

namespace mr::model {

// Adds a message and hands it to all callbacks. Thread-safe; a message that a callback causes is kept, but not handed
// on.
void log_message(cudaLogLevel level, const char* message) noexcept;

// `function` runs on the thread that logs, after the message was kept; it must not call this API. False: no memory.
cudaLogsCallbackHandle add_log_callback(cudaLogsCallback_t function, void* data);
// False when the handle is no callback's. Returns when no other thread runs the callback any more.
bool remove_log_callback(cudaLogsCallbackHandle handle) noexcept;

// Messages are numbered; an iterator is the number of the next message to come.
cudaLogIterator log_end() noexcept;
// Is any message from `from` on still kept?
bool any_log(cudaLogIterator from) noexcept;
// The messages from `from` on that are still kept, one a line: "[hh:mm:ss.mmm][thread][CUDA][E] message". *from
// becomes the end. At most `limit` bytes; when that is too little, the newest lines that fit.
std::string log_text(cudaLogIterator* from, std::size_t limit = ~std::size_t{0});

}  // namespace mr::model
