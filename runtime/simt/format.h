// Device printf's formatting: C's conversions, applied to arguments that were packed by device code.
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/abi.h>

namespace mr::simt {

// Text that grows. Starts without allocation.
class Text {
 public:
  Text() noexcept = default;
  ~Text();
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool failed() const noexcept { return failed_; }  // memory was exhausted; text is missing
  void append(const char* text, std::size_t bytes) noexcept;
  void append(char c) noexcept { append(&c, 1); }
  // As snprintf; for conversions of one value.
  template <class... A> void print(const char* spec, A... arguments) noexcept;

 private:
  bool room(std::size_t bytes) noexcept;

  char inline_[1024];
  char* data_ = inline_;
  std::size_t size_ = 0, capacity_ = sizeof inline_;
  bool failed_ = false;
};

inline constexpr std::uint32_t most_printf_arguments = 32;

// Formats into `text`: flags, width, precision, h l ll and z j t sizes, and the conversions c d i u o x X p e E f F g G
// a A s. A conversion without an argument, or an unknown one, appears as it was written. Reads format and strings where
// they are (a fault there is the kernel's).
void format_device_text(Text& text, const char* format, const MrPrintfArg* arguments, std::uint32_t count) noexcept;

}  // namespace mr::simt
