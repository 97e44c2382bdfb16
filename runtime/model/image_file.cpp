#include <model/image_file.h>

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include <simt/check_site.h>

namespace mr::model {
namespace {

constexpr std::string_view image_symbol = "__mr_image";  // simt/abi.h

struct Sections {
  const char* bytes;
  Elf64_Ehdr header;

  explicit Sections(const void* file) : bytes(static_cast<const char*>(file)) {
    std::memcpy(&header, file, sizeof header);
  }
  Elf64_Shdr at(unsigned index) const noexcept {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + std::size_t{index} * header.e_shentsize, sizeof section);
    return section;
  }
};

bool is_elf(const void* bytes) noexcept { return std::strncmp(static_cast<const char*>(bytes), ELFMAG, SELFMAG) == 0; }

// Does the file export `name`? Every offset is checked against the file's length.
bool exports(const void* file, std::size_t length, std::string_view name) noexcept {
  const Sections sections(file);
  for (unsigned i = 0; i < sections.header.e_shnum; ++i) {
    const Elf64_Shdr symbols = sections.at(i);
    if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= sections.header.e_shnum) continue;
    const Elf64_Shdr names = sections.at(symbols.sh_link);
    const auto inside = [&](const Elf64_Shdr& s) { return s.sh_offset <= length && s.sh_size <= length - s.sh_offset; };
    if (!inside(symbols) || !inside(names)) return false;
    const std::string_view text(sections.bytes + names.sh_offset, names.sh_size);
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, sections.bytes + symbols.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
      const std::string_view rest = text.substr(symbol.st_name);
      if (rest.size() > name.size() && rest.starts_with(name) && rest[name.size()] == 0) return true;
    }
  }
  return false;
}

// PTX begins with a directive or a comment.
bool looks_like_ptx(const char* text, std::size_t limit) noexcept {
  std::size_t i = 0;
  while (i < limit && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
  if (i + 2 > limit || text[i] == 0) return false;
  if (text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*')) return true;
  constexpr std::string_view directive = ".version";
  for (std::size_t k = 0; k < directive.size(); ++k)
    if (i + k >= limit || text[i + k] != directive[k]) return false;
  return true;
}

}  // namespace

std::size_t image_length(const void* bytes) noexcept {
  if (!is_elf(bytes)) return 0;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return 0;
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

const void* instrumented_image(const void* bytes) noexcept {
  const std::size_t length = image_length(bytes);
  if (length == 0) return nullptr;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (!(header.e_flags & mr_instrumented_follows)) return nullptr;
  const std::size_t begin = (length + mr_instrumented_align - 1) / mr_instrumented_align * mr_instrumented_align;
  return static_cast<const char*>(bytes) + begin;
}

std::size_t image_extent(const void* bytes, std::size_t limit) noexcept {
  const std::size_t length = image_length(bytes);
  const void* const second = instrumented_image(bytes);
  if (!second) return length;
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(second) - static_cast<const char*>(bytes));
  if (begin > limit || limit - begin < sizeof(Elf64_Ehdr)) return std::min(begin, limit);
  return std::min(begin + image_length(second), limit);
}

ImageKind kind_of_image(const void* bytes, std::size_t limit) noexcept {
  const auto* text = static_cast<const char*>(bytes);
  if (limit < 4) return ImageKind::none;
  if (!is_elf(bytes)) return looks_like_ptx(text, limit) ? ImageKind::text : ImageKind::none;
  if (limit < sizeof(Elf64_Ehdr)) return ImageKind::none;
  const std::size_t length = image_length(bytes);
  if (length == 0) return ImageKind::foreign;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > length || length > limit) return ImageKind::none;
  return exports(bytes, length, image_symbol) ? ImageKind::ours : ImageKind::foreign;
}

bool image_has_section(const void* bytes, std::string_view name) noexcept {
  if (!is_elf(bytes)) return false;
  const Sections sections(bytes);
  if (sections.header.e_shstrndx >= sections.header.e_shnum) return false;
  const char* const names = sections.bytes + sections.at(sections.header.e_shstrndx).sh_offset;
  for (unsigned i = 0; i < sections.header.e_shnum; ++i)
    if (names + sections.at(i).sh_name == name) return true;
  return false;
}

}  // namespace mr::model
