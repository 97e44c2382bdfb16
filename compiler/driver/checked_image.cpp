#include "checked_image.h"

#include <elf.h>

#include <cstring>

#include <simt/check_site.h>

namespace mrcc {

Options without_checks(const Options& options) {
  Options plain = options;
  plain.check = false;
  plain.line_info = true;
  return plain;
}

std::string with_instrumented(std::string plain, std::string_view instrumented) {
  Elf64_Ehdr header;
  std::memcpy(&header, plain.data(), sizeof header);
  header.e_flags |= mr_instrumented_follows;
  std::memcpy(plain.data(), &header, sizeof header);
  plain.resize((plain.size() + mr_instrumented_align - 1) / mr_instrumented_align * mr_instrumented_align);
  return plain.append(instrumented);
}

}  // namespace mrcc
