// Reading x86-64 ELF objects and archives, as far as linking device code needs it: sections and symbols.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mrcc {

struct ElfSymbol {
  std::string name;
  bool defined = false, weak = false, global = false, common = false;
};

// One object. Owns the bytes; views stay valid as long as it lives.
class ElfObject {
 public:
  // Throws Failure with `name` in the sentence when the bytes aren't a 64-bit little-endian ELF file.
  ElfObject(std::string bytes, std::string name);
  const std::string& name() const { return name_; }
  bool is_shared_library() const { return shared_; }
  // The contents of all sections with this name, joined; empty when there is none.
  std::string section(std::string_view name) const;
  std::vector<ElfSymbol> symbols() const;

  static bool is_elf(std::string_view bytes);

 private:
  friend bool replace_section(std::string&, const std::string&, std::string_view, std::string_view);
  template <class T> const T* at(std::uint64_t offset, std::uint64_t count = 1) const;
  // Calls f(section header, its name) for all of them.
  template <class F> void each_section(F&& f) const;

  std::string bytes_, name_;
  bool shared_ = false;
};

// Gives the section of an object this content in place of its own. False, and nothing is changed, when there is no such
// section. Throws Failure with `name` in the sentence when the bytes aren't a 64-bit little-endian ELF file.
bool replace_section(std::string& object, const std::string& name, std::string_view section, std::string_view contents);

// The members of an archive (thin archives too), in order. `name` becomes "lib.a(member.o)".
struct ArchiveMember {
  std::string name;
  std::string bytes;
};
bool is_archive(std::string_view bytes);
std::vector<ArchiveMember> archive_members(std::string_view bytes, const std::string& path);

}  // namespace mrcc
