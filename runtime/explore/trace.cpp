#include "trace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>

#include "policy.h"

namespace mr::explore {
namespace {
constexpr std::uint64_t most_bytes = 64u << 20;  // of a sparse file; what comes later is not kept
}

bool Trace::open(const char* path) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, most_bytes) != 0) return false;
  void* at = mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) return false;
  begin_ = static_cast<char*>(at);
  return true;
}

void Trace::print(const char* format, ...) {
  if (!begin_ || used_ + 8192 > most_bytes) return;
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(begin_ + 8 + used_, 4096, format, arguments);
  va_end(arguments);
  if (length <= 0) return;
  used_ += static_cast<std::uint64_t>(length < 4095 ? length : 4095);
  std::memcpy(begin_, &used_, 8);
}

std::uint32_t Trace::site(const char* api, const std::uintptr_t* frames, unsigned count) {
  static auto& known = *new std::unordered_map<std::uint64_t, std::uint32_t>;
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(api);
  for (unsigned i = 0; i < count; ++i) hash = mix(hash, frames[i]);
  const auto [it, fresh] = known.try_emplace(hash, static_cast<std::uint32_t>(known.size() + 1));
  if (fresh) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      Dl_info info{};
      if (!dladdr(reinterpret_cast<void*>(frames[i]), &info) || !info.dli_fname) continue;
      char offset[32];
      std::snprintf(offset, sizeof offset, " %lx",
                    static_cast<unsigned long>(frames[i] - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
      text += std::string(" ") + info.dli_fname + offset;
    }
    print("P %x %s%s\n", it->second, api, text.c_str());
  }
  return it->second;
}

}  // namespace mr::explore
