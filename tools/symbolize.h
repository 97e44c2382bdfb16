// Addresses in programs, as source lines.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

struct Frame {
  std::string function, file;  // file empty: unknown
  unsigned line = 0;
  std::string text() const;  // "file:line in function"
};

using Address = std::pair<std::string, std::uint64_t>;  // module and offset of a return address

// Fills in the frames of all addresses, innermost (inlined) first. Leaves them empty where no symbolizer is installed.
void symbolize(std::map<Address, std::vector<Frame>>& addresses);
// The function that a compiler makes for a kernel, which launches it.
bool launches_for(const Frame& f);
// Not the user's own code: the runtime's headers, the standard library, functions that launch kernels.
bool foreign(const Frame& f);

}  // namespace millrace
