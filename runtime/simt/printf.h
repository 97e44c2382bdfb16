// printf and assert of device code.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <simt/grid.h>

namespace mr::simt {

struct Executor;

inline constexpr std::size_t default_printf_bytes = std::size_t{132} << 16;  // cudaLimitPrintfFifoSize

// Sets the size of the device's buffer (default: default_printf_bytes); what it holds is flushed. No kernel of the
// device runs. False without memory.
bool printf_resize(DeviceState& device, std::size_t bytes) noexcept;
// True once a kernel has printed: the size can't be chosen any more.
bool printf_in_use(const DeviceState& device) noexcept;
// Writes what kernels have printed since the last flush to the host's stdout, in the order of the calls. Thread-safe.
// The model calls it where the reference says that the buffer is flushed (synchronisation, launches, blocking copies,
// ...). One load when nothing was printed.
void printf_flush_buffer(DeviceState& device) noexcept;
inline void printf_flush(DeviceState& device) noexcept {
  if (std::atomic_ref<void*>(device.printf_buffer).load(std::memory_order_relaxed)) [[unlikely]]
    printf_flush_buffer(device);
}
// Flushes and frees the buffer.
void printf_close(DeviceState& device) noexcept;

// Services.
// Returns the number of arguments (at most 32), -1 for a null format, -2 when there is no memory for the output.
int device_printf(Executor& e, const char* format, const MrPrintfArg* arguments, std::uint32_t count) noexcept;
// Prints the message of a failed assertion to stderr and abandons the kernel.
[[noreturn]] void report_assertion(Executor& e, const MrLane& lane, const char* expression, const char* file,
                                   std::uint32_t line, const char* function) noexcept;

}  // namespace mr::simt
