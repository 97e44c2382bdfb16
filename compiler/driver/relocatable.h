// Relocatable device code (-rdc=true, -dc): objects that carry device bitcode, in the way that nvcc's objects carry
// theirs.
//
// clang emits, for each unit, a section __nv_relfatbin with what -fcuda-include-gpubinary names, a section
// __nv_module_id, and a constructor that calls the undefined __cudaRegisterLinkedBinary<module id>; the device link
// (device_link.h) defines that. In __nv_relfatbin mrcc puts a BitcodeHeader followed by the bitcode, so that sections
// joined by `ld -r` can still be taken apart.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "options.h"
#include "toolchain.h"

namespace mrcc {

inline constexpr char bitcode_magic[8] = {'M', 'R', 'D', 'E', 'V', 'B', 'C', '1'};

// 96 bytes before each unit's bitcode in __nv_relfatbin.
struct BitcodeHeader {
  char magic[8];
  std::uint64_t bytes;  // of the bitcode that follows, before padding to 8
  char unit[40];        // the unit's id, ends with 0: the name after __cudaRegisterLinkedBinary__nv_
  char march[40];       // the -march= it was compiled for, ends with 0
};
static_assert(sizeof(BitcodeHeader) == 96);

// Device code of one unit, as found in an object.
struct DeviceUnit {
  std::string unit;
  std::string march;
  std::string bitcode;
};

// A hexadecimal name for the unit that is compiled from `input` to `output`: from their absolute names and the options
// that select code.
std::string unit_id(const std::string& input, const std::string& output, const Options& options);
std::string wrap_bitcode(const std::string& bitcode, const std::string& unit, const Options& options);
// All units in the contents of a __nv_relfatbin section; `object` is for messages. Throws Failure for damaged contents.
std::vector<DeviceUnit> unwrap_bitcode(std::string_view section, const std::string& object);
// clang derives the module id from the source's name as given, so that d1/a.cu and d2/a.cu, each compiled as a.cu,
// clash: renames the symbols that carry it after the unit's id.
void finish_relocatable(const Options& options, const Toolchain& tools, const std::string& object,
                        const std::string& unit);

}  // namespace mrcc
