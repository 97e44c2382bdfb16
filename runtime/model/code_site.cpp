#include <model/code_site.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace mr::model {
namespace {

// A file, mapped while this lives.
class MappedFile {
 public:
  explicit MappedFile(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0) return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      void* at = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) {
        bytes_ = static_cast<const char*>(at);
        size_ = static_cast<std::size_t>(status.st_size);
      }
    }
    close(file);
  }
  ~MappedFile() {
    if (bytes_) munmap(const_cast<char*>(bytes_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  // `count` objects at an offset; null when they are not all inside the file.
  template <class T> const T* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    if (offset > size_ || offset % alignof(T) || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(bytes_ + offset);
  }

 private:
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// The function of the file in which the virtual address lies, copied to `name`. False when no symbol table says.
bool find_function(const MappedFile& file, std::uint64_t address, char* name, std::size_t bytes) noexcept {
  const auto* header = file.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  const auto* sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (!sections) return false;
  for (const unsigned type : {unsigned{SHT_SYMTAB}, unsigned{SHT_DYNSYM}})
    for (unsigned i = 0; i < header->e_shnum; ++i) {
      const Elf64_Shdr& table = sections[i];
      if (table.sh_type != type || table.sh_link >= header->e_shnum) continue;
      const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
      const auto* symbols = file.at<Elf64_Sym>(table.sh_offset, count);
      const Elf64_Shdr& strings = sections[table.sh_link];
      const char* names = file.at<char>(strings.sh_offset, strings.sh_size);
      if (!symbols || !names) continue;
      for (std::uint64_t k = 0; k < count; ++k) {
        const Elf64_Sym& symbol = symbols[k];
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= strings.sh_size ||
            address - symbol.st_value >= symbol.st_size)
          continue;
        std::snprintf(name, bytes, "%.*s", static_cast<int>(strings.sh_size - symbol.st_name), names + symbol.st_name);
        return true;
      }
    }
  return false;
}

}  // namespace

void describe_call_site(char* out, std::size_t bytes, std::uint64_t address) noexcept {
  Dl_info info;
  link_map* object = nullptr;
  const std::uint64_t call = address - 1;  // inside the call instruction
  if (address == 0 ||
      !dladdr1(reinterpret_cast<void*>(call), &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP)) {
    std::snprintf(out, bytes, "an unknown place");
    return;
  }
  const std::uint64_t base = object ? object->l_addr : 0;
  // The program itself has no name there; its path in argv[0] may be relative to where it was started.
  const bool program = !object || !object->l_name || !*object->l_name;
  char name[512] = "";
  if (!find_function(MappedFile(program ? "/proc/self/exe" : object->l_name), call - base, name, sizeof name) &&
      info.dli_sname)
    std::snprintf(name, sizeof name, "%s", info.dli_sname);
  int status = 0;
  char* plain = *name ? abi::__cxa_demangle(name, nullptr, nullptr, &status) : nullptr;
  const char* path = info.dli_fname ? info.dli_fname : "?";
  const char* slash = std::strrchr(path, '/');
  std::snprintf(out, bytes, "%s (%s+0x%llx)",
                plain   ? plain
                : *name ? name
                        : "a function without a name",
                slash ? slash + 1 : path, static_cast<unsigned long long>(call - base));
  std::free(plain);
}

}  // namespace mr::model
