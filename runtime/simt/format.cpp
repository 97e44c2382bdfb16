#include <simt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mr::simt {
namespace {

constexpr int longest_spec = 64;  // of one conversion; longer ones are no conversions

enum class Size { c, s, i, l };  // of an integer argument

std::uint64_t sized(std::uint64_t bits, Size size, bool is_signed) noexcept {
  switch (size) {
  case Size::c:
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int8_t>(bits)) : static_cast<std::uint8_t>(bits);
  case Size::s:
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int16_t>(bits)) : static_cast<std::uint16_t>(bits);
  case Size::i:
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int32_t>(bits)) : static_cast<std::uint32_t>(bits);
  default: return bits;
  }
}

}  // namespace

Text::~Text() {
  if (data_ != inline_) std::free(data_);
}

bool Text::room(std::size_t bytes) noexcept {
  if (bytes <= capacity_ - size_) return true;
  const std::size_t capacity = std::max(2 * capacity_, size_ + bytes);
  char* data = static_cast<char*>(std::malloc(capacity));
  if (!data) {
    failed_ = true;
    return false;
  }
  std::memcpy(data, data_, size_);
  if (data_ != inline_) std::free(data_);
  data_ = data;
  capacity_ = capacity;
  return true;
}

void Text::append(const char* text, std::size_t bytes) noexcept {
  if (!room(bytes)) return;
  std::memcpy(data_ + size_, text, bytes);
  size_ += bytes;
}

template <class... A> void Text::print(const char* spec, A... arguments) noexcept {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-security"
  const int needed = std::snprintf(data_ + size_, capacity_ - size_, spec, arguments...);
  if (needed < 0) return;
  const auto bytes = static_cast<std::size_t>(needed);
  if (bytes >= capacity_ - size_) {
    if (!room(bytes + 1)) return;
    std::snprintf(data_ + size_, capacity_ - size_, spec, arguments...);
  }
#pragma clang diagnostic pop
  size_ += bytes;
}

void format_device_text(Text& text, const char* format, const MrPrintfArg* arguments, std::uint32_t count) noexcept {
  count = std::min(count, most_printf_arguments);
  std::uint32_t used = 0;
  const char* p = format;
  while (*p) {
    const char* plain = p;
    while (*p && *p != '%') ++p;
    if (p != plain) text.append(plain, static_cast<std::size_t>(p - plain));
    if (!*p) break;
    const char* const begin = p++;
    if (*p == '%') {
      text.append('%');
      ++p;
      continue;
    }
    // Flags, width and precision are copied to `spec`, with * replaced by its argument; the size is replaced by ours.
    const std::uint32_t used_before = used;
    char spec[longest_spec + 32];
    int n = 0;
    spec[n++] = '%';
    bool known = true;
    auto star = [&] {
      if (used >= count)
        known = false;
      else
        n += std::snprintf(spec + n, 16, "%d", static_cast<int>(arguments[used++].bits));
      ++p;
    };
    while (*p && std::strchr("-+ #0", *p) && n < longest_spec) spec[n++] = *p++;
    if (*p == '*')
      star();
    else
      while (*p >= '0' && *p <= '9' && n < longest_spec) spec[n++] = *p++;
    if (*p == '.' && n < longest_spec) {
      spec[n++] = *p++;
      if (*p == '*')
        star();
      else
        while (*p >= '0' && *p <= '9' && n < longest_spec) spec[n++] = *p++;
    }
    Size size = Size::i;
    for (;; ++p) {
      if (*p == 'h')
        size = size == Size::s ? Size::c : Size::s;
      else if (*p == 'l' || *p == 'j' || *p == 'z' || *p == 't' || *p == 'L')
        size = Size::l;
      else
        break;
    }
    const char conversion = *p;
    known = known && conversion && std::strchr("diuoxXcpeEfFgGaAs", conversion) && used < count;
    if (!known) {
      used = used_before;
      if (conversion) ++p;
      text.append(begin, static_cast<std::size_t>(p - begin));
      continue;
    }
    ++p;
    const std::uint64_t bits = arguments[used++].bits;
    switch (conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      spec[n++] = 'l';
      spec[n++] = 'l';
      spec[n++] = conversion;
      spec[n] = 0;
      text.print(spec, static_cast<long long>(sized(bits, size, conversion == 'd' || conversion == 'i')));
      break;
    case 'c':
      spec[n++] = conversion;
      spec[n] = 0;
      text.print(spec, static_cast<int>(bits));
      break;
    case 'p':
      spec[n++] = conversion;
      spec[n] = 0;
      text.print(spec, reinterpret_cast<const void*>(bits));
      break;
    case 's':
      spec[n++] = conversion;
      spec[n] = 0;
      text.print(spec, reinterpret_cast<const char*>(bits));
      break;
    default: {
      double value;
      std::memcpy(&value, &bits, sizeof value);
      spec[n++] = conversion;
      spec[n] = 0;
      text.print(spec, value);
    }
    }
  }
}

}  // namespace mr::simt
