// cuda::std::string_view: the standard library's; its members are constexpr, so they are device code as well.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include <string_view>

#include "common.h"

namespace cuda {
namespace std {
using ::std::basic_string_view;
using ::std::string_view;
using ::std::wstring_view;
}  // namespace std
}  // namespace cuda
