// Where an instruction that raised a general-protection fault wanted to go: the processor reports no address for it.
#pragma once
#include <ucontext.h>

#include <cstdint>
#include <optional>

namespace mr::simt {

// The address of the memory operand of the instruction at the context's rip; nothing when it has none or is not
// understood. Async-signal-safe; the instruction must be readable (it was just executed).
std::optional<std::uint64_t> operand_address(const ucontext_t& context) noexcept;

inline bool canonical(std::uint64_t address) noexcept {
  const auto top = static_cast<std::int64_t>(address) >> 47;
  return top == 0 || top == -1;
}

}  // namespace mr::simt
