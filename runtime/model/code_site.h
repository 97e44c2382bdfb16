// Names for places in the program's code, for messages: the function that an address lies in.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mr::model {

// Writes "FUNCTION (FILE+0xOFFSET)" for the call that returns to `address` to out, cut to `bytes`: the offset is what
// addr2line takes. "an unknown place" when nothing is known. Reads the symbol table of the file, so that functions
// which aren't exported are found too. Thread-safe; may be called by a handler of a synchronous signal.
void describe_call_site(char* out, std::size_t bytes, std::uint64_t address) noexcept;

}  // namespace mr::model
