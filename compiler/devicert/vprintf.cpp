// vprintf of device code: the format says which values the list has; they become the array that printf's lowering
// makes.
#include <cstdarg>
#include <cstdint>

#include <simt/abi.h>

namespace {

constexpr std::uint32_t most = 32;  // values of one call, as of CUDA's printf

class Values {
 public:
  void number(std::int64_t v) {
    if (count < most) array[count++] = MrPrintfArg{static_cast<std::uint64_t>(v), 0, 0};
  }
  void real(double v) {
    if (count < most) array[count++] = MrPrintfArg{__builtin_bit_cast(std::uint64_t, v), 1, 0};
  }
  MrPrintfArg array[most];
  std::uint32_t count = 0;
};

bool is_one_of(char c, const char* set) {
  for (; *set; ++set)
    if (c == *set) return true;
  return false;
}

}  // namespace

extern "C" {
int __mr_printf(const char* format, const MrPrintfArg* arguments, std::uint32_t count);

int __mr_vprintf(const char* format, std::va_list list) {
  Values values;
  for (const char* p = format; p && *p; ++p) {
    if (*p != '%') continue;
    bool wide = false, extended = false;
    for (++p; *p && is_one_of(*p, "-+ #0123456789.*'hlLjztq"); ++p) {
      if (*p == '*') values.number(va_arg(list, int));
      wide |= is_one_of(*p, "ljztq");
      extended |= *p == 'L';
    }
    if (!*p) break;
    if (is_one_of(*p, "diouxXc"))
      values.number(wide ? va_arg(list, std::int64_t) : va_arg(list, int));
    else if (is_one_of(*p, "aAeEfFgG"))
      values.real(extended ? static_cast<double>(va_arg(list, long double)) : va_arg(list, double));
    else if (is_one_of(*p, "spn"))
      values.number(reinterpret_cast<std::int64_t>(va_arg(list, const void*)));
  }
  return __mr_printf(format, values.array, values.count);
}
}
