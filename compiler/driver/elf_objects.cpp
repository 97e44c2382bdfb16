#include "elf_objects.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "failure.h"
#include "process.h"

namespace mrcc {
namespace {

constexpr std::string_view magic = "!<arch>\n", thin_magic = "!<thin>\n";

Failure damaged(const std::string& name) {
  return Failure("the file " + name + " is damaged or cut short: make it again");
}

}  // namespace

bool ElfObject::is_elf(std::string_view bytes) { return bytes.starts_with(std::string_view("\177ELF", 4)); }

// Objects inside archives are copied out, but nothing says that offsets in a file are aligned: a damaged one is
// refused.
template <class T> const T* ElfObject::at(std::uint64_t offset, std::uint64_t count) const {
  if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) || offset % alignof(T))
    throw damaged(name_);
  return reinterpret_cast<const T*>(bytes_.data() + offset);
}

ElfObject::ElfObject(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {
  if (!is_elf(bytes_) || bytes_.size() < sizeof(Elf64_Ehdr) || bytes_[EI_CLASS] != ELFCLASS64 ||
      bytes_[EI_DATA] != ELFDATA2LSB)
    throw Failure("the file " + name_ + " isn't an object for this machine (64-bit ELF): check how it was made");
  shared_ = at<Elf64_Ehdr>(0)->e_type == ET_DYN;
}

template <class F> void ElfObject::each_section(F&& f) const {
  const auto* header = at<Elf64_Ehdr>(0);
  if (!header->e_shoff) return;
  // Counts that don't fit are in the first, unused section header.
  const auto* first = at<Elf64_Shdr>(header->e_shoff);
  const std::uint64_t count = header->e_shnum ? header->e_shnum : first->sh_size;
  const std::uint64_t names_at = header->e_shstrndx == SHN_XINDEX ? first->sh_link : header->e_shstrndx;
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, count);
  if (names_at >= count) throw damaged(name_);
  const Elf64_Shdr& names = sections[names_at];
  const std::string_view strings(at<char>(names.sh_offset, names.sh_size), names.sh_size);
  for (std::uint64_t i = 1; i < count; ++i) {
    if (sections[i].sh_name >= strings.size()) continue;
    const std::string_view rest = strings.substr(sections[i].sh_name);
    f(sections[i], rest.substr(0, rest.find('\0')));
  }
}

std::string ElfObject::section(std::string_view wanted) const {
  std::string contents;
  each_section([&](const Elf64_Shdr& s, std::string_view name) {
    if (name == wanted && s.sh_type != SHT_NOBITS) contents.append(at<char>(s.sh_offset, s.sh_size), s.sh_size);
  });
  return contents;
}

bool replace_section(std::string& object, const std::string& name, std::string_view section,
                     std::string_view contents) {
  ElfObject elf(std::move(object), name);
  std::uint64_t header_at = 0, align = 1;
  elf.each_section([&](const Elf64_Shdr& s, std::string_view called) {
    if (called != section || s.sh_type == SHT_NOBITS) return;
    header_at = reinterpret_cast<const char*>(&s) - elf.bytes_.data();
    align = std::max<std::uint64_t>(s.sh_addralign, 1);
  });
  object = std::move(elf.bytes_);
  if (!header_at) return false;
  // Behind everything: nothing else moves, and what the section had stays as a gap.
  object.resize((object.size() + align - 1) / align * align);
  Elf64_Shdr header;
  std::memcpy(&header, object.data() + header_at, sizeof header);
  header.sh_offset = object.size();
  header.sh_size = contents.size();
  std::memcpy(object.data() + header_at, &header, sizeof header);
  object.append(contents);
  return true;
}

std::vector<ElfSymbol> ElfObject::symbols() const {
  const auto* header = at<Elf64_Ehdr>(0);
  std::vector<ElfSymbol> all;
  if (!header->e_shoff || !header->e_shnum) return all;
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (unsigned i = 1; i < header->e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if (table.sh_type != (shared_ ? SHT_DYNSYM : SHT_SYMTAB)) continue;
    if (table.sh_link >= header->e_shnum) throw damaged(name_);
    const Elf64_Shdr& names = sections[table.sh_link];
    const std::string_view strings(at<char>(names.sh_offset, names.sh_size), names.sh_size);
    const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(table.sh_offset, count);
    for (std::uint64_t k = 1; k < count; ++k) {
      const Elf64_Sym& s = symbols[k];
      if (s.st_name >= strings.size()) continue;
      const std::string_view rest = strings.substr(s.st_name);
      const int binding = ELF64_ST_BIND(s.st_info);
      ElfSymbol symbol{std::string(rest.substr(0, rest.find('\0')))};
      symbol.defined = s.st_shndx != SHN_UNDEF;
      symbol.weak = binding == STB_WEAK;
      symbol.global = binding != STB_LOCAL;
      symbol.common = s.st_shndx == SHN_COMMON;
      if (!symbol.name.empty()) all.push_back(std::move(symbol));
    }
  }
  return all;
}

bool is_archive(std::string_view bytes) { return bytes.starts_with(magic) || bytes.starts_with(thin_magic); }

std::vector<ArchiveMember> archive_members(std::string_view bytes, const std::string& path) {
  // struct ar_hdr: name[16] date[12] uid[6] gid[6] mode[8] size[10] "`\n", all text.
  const bool thin = bytes.starts_with(thin_magic);
  std::vector<ArchiveMember> members;
  std::string_view long_names;
  std::size_t at = magic.size();
  while (at + 60 <= bytes.size()) {
    const std::string_view header = bytes.substr(at, 60);
    if (header.substr(58, 2) != "`\n") throw damaged(path);
    std::string name(header.substr(0, 16));
    name.erase(name.find_last_not_of(' ') + 1);
    std::size_t size = std::strtoull(std::string(header.substr(48, 10)).c_str(), nullptr, 10);
    at += 60;
    const bool index = name == "/" || name == "/SYM64/" || name == "__.SYMDEF", names = name == "//";
    const bool stored = !thin || index || names;
    if (stored && size > bytes.size() - at) throw damaged(path);
    std::string_view contents = stored ? bytes.substr(at, size) : std::string_view();
    if (names) {
      long_names = contents;
    } else if (!index) {
      if (name.starts_with("#1/")) {  // BSD: the name stands before the contents
        const std::size_t length = std::strtoull(name.c_str() + 3, nullptr, 10);
        if (length > contents.size()) throw damaged(path);
        name = std::string(contents.substr(0, length));
        contents.remove_prefix(length);
      } else if (name.size() > 1 && name[0] == '/') {
        const std::size_t offset = std::strtoull(name.c_str() + 1, nullptr, 10);
        if (offset >= long_names.size()) throw damaged(path);
        name = std::string(long_names.substr(offset, long_names.find('\n', offset) - offset));
        if (name.ends_with('/')) name.pop_back();
      } else if (name.ends_with('/')) {
        name.pop_back();
      }
      std::string copy(contents);
      if (thin) copy = read_file(std::filesystem::path(path).parent_path() / name);
      members.push_back({path + "(" + name + ")", std::move(copy)});
    }
    if (stored) at += size + (size & 1);
  }
  return members;
}

}  // namespace mrcc
