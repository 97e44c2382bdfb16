// What the standard library's inline functions call when they report an error: in device code a trap, as an exception
// cannot leave a kernel.
#pragma once
#pragma clang system_header

#include "services.h"

namespace std {
#define __MR_THROWS(name, ...)                                                                                         \
  __attribute__((device, noreturn, cold)) static inline void name(__VA_ARGS__) {                                       \
    __mr_trap();                                                                                                       \
    __builtin_trap();                                                                                                  \
  }
__MR_THROWS(__throw_logic_error, const char*)
__MR_THROWS(__throw_domain_error, const char*)
__MR_THROWS(__throw_invalid_argument, const char*)
__MR_THROWS(__throw_length_error, const char*)
__MR_THROWS(__throw_out_of_range, const char*)
__MR_THROWS(__throw_out_of_range_fmt, const char*, ...)
__MR_THROWS(__throw_runtime_error, const char*)
__MR_THROWS(__throw_range_error, const char*)
__MR_THROWS(__throw_overflow_error, const char*)
__MR_THROWS(__throw_underflow_error, const char*)
__MR_THROWS(__throw_bad_alloc, void)
__MR_THROWS(__throw_bad_function_call, void)
#undef __MR_THROWS
}  // namespace std
