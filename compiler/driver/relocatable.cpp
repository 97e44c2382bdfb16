#include "relocatable.h"

#include <cstring>

#include "compile.h"
#include "elf_objects.h"
#include "failure.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string unit_id(const std::string& input, const std::string& output, const Options& options) {
  std::string text = fs::absolute(input).lexically_normal().string() + "\n" +
                     fs::absolute(output).lexically_normal().string();
  for (const auto& flag : options.both) text += "\n" + flag;
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(fnv1a(text, 0xcbf29ce484222325u)),
                static_cast<unsigned long long>(fnv1a(text, 0x6c62272e07bb0142u)));
  return name;
}

std::string wrap_bitcode(const std::string& bitcode, const std::string& unit, const Options& options) {
  BitcodeHeader header{};
  std::memcpy(header.magic, bitcode_magic, sizeof header.magic);
  header.bytes = bitcode.size();
  unit.copy(header.unit, sizeof header.unit - 1);
  device_march(options).copy(header.march, sizeof header.march - 1);
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all += bitcode;
  all.resize((all.size() + 7) & ~std::size_t{7});
  return all;
}

std::vector<DeviceUnit> unwrap_bitcode(std::string_view section, const std::string& object) {
  std::vector<DeviceUnit> units;
  while (!section.empty()) {
    BitcodeHeader header;
    if (section.size() < sizeof header) {
      if (section.find_first_not_of('\0') == section.npos) break;
      throw Failure("the device code in " + object + " is cut short: compile it again");
    }
    std::memcpy(&header, section.data(), sizeof header);
    if (std::memcmp(header.magic, bitcode_magic, sizeof header.magic) != 0) {
      if (section[0] == 0) {  // padding between joined sections
        section.remove_prefix(8);
        continue;
      }
      throw Failure("the device code in " + object +
                    " wasn't made by this mrcc (a GPU compiler's object?): compile it again with mrcc");
    }
    if (header.bytes > section.size() - sizeof header)
      throw Failure("the device code in " + object + " is cut short: compile it again");
    header.unit[sizeof header.unit - 1] = 0;
    header.march[sizeof header.march - 1] = 0;
    units.push_back({header.unit, header.march, std::string(section.substr(sizeof header, header.bytes))});
    section.remove_prefix(std::min(section.size(), (sizeof header + header.bytes + 7) & ~std::size_t{7}));
  }
  return units;
}

void finish_relocatable(const Options& o, const Toolchain& tools, const std::string& object, const std::string& unit) {
  if (o.phase == Phase::assembly) return;
  const ElfObject elf(read_file(object), object);
  Argv a{tools.tool("llvm-objcopy")};
  for (const auto& symbol : elf.symbols())
    for (std::string_view prefix : {"__cudaRegisterLinkedBinary__nv_", "__fatbinwrap__nv_"})
      if (symbol.name.starts_with(prefix))
        a.push_back("--redefine-sym=" + symbol.name + "=" + std::string(prefix) + unit);
  if (a.size() == 1) return;  // No device code at all in this unit.
  a.push_back(object);
  if (run(o, a)) throw Failure("the symbols of " + object + " can't be renamed");
}

}  // namespace mrcc
