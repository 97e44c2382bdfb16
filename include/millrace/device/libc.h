// The part of the C library that device code may call. Declared before any C header is read: a `using ::memcpy` of
// <cstring> then makes the device function visible in std too.
#pragma once
#pragma clang system_header

#include "services.h"

// The pass plugin packs the arguments of each call for the runtime.
extern "C" __attribute__((device)) int printf(const char* format, ...);
__MR_D int vprintf(const char* format, __builtin_va_list values) { return __mr_vprintf(format, values); }

extern "C" __attribute__((device, noreturn, nothrow)) inline void __assert_fail(const char* expression,
                                                                                const char* file, unsigned line,
                                                                                const char* function) {
  __mr_assert_fail(expression, file, line, function);
  __builtin_trap();
}

__MR_D void* malloc(__SIZE_TYPE__ bytes) { return __mr_heap_malloc(bytes); }
__MR_D void free(void* pointer) { __mr_heap_free(pointer); }
__MR_D void* memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) { return __builtin_memcpy(to, from, bytes); }
__MR_D void* memmove(void* to, const void* from, __SIZE_TYPE__ bytes) { return __builtin_memmove(to, from, bytes); }
__MR_D void* memset(void* to, int byte, __SIZE_TYPE__ bytes) { return __builtin_memset(to, byte, bytes); }
__MR_D_BIG int memcmp(const void* a, const void* b, __SIZE_TYPE__ bytes) {
  const unsigned char *p = (const unsigned char*)a, *q = (const unsigned char*)b;
  for (; bytes != 0; --bytes, ++p, ++q)
    if (*p != *q) return *p < *q ? -1 : 1;
  return 0;
}
__MR_D_BIG __SIZE_TYPE__ strlen(const char* s) {
  __SIZE_TYPE__ n = 0;
  while (s[n] != 0) ++n;
  return n;
}
__MR_D_BIG int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return (int)(unsigned char)*a - (int)(unsigned char)*b;
}
__MR_D_BIG int strncmp(const char* a, const char* b, __SIZE_TYPE__ n) {
  for (; n != 0 && *a != 0 && *a == *b; --n) ++a, ++b;
  return n == 0 ? 0 : (int)(unsigned char)*a - (int)(unsigned char)*b;
}
__MR_D_BIG char* strcpy(char* to, const char* from) {
  char* p = to;
  while ((*p++ = *from++) != 0) {}
  return to;
}

// The block's clock is the processor's time-stamp counter.
__MR_D long long clock64() { return (long long)__builtin_readcyclecounter(); }
__MR_D long clock() { return (long)__builtin_readcyclecounter(); }

__MR_D void __trap() { __mr_trap(); }
__MR_D void __brkpt() { __mr_trap(); }
__MR_D void __nanosleep(unsigned nanoseconds) { __mr_nanosleep(nanoseconds); }
__MR_D void __prof_trigger(int) {}

// new and delete: clang's <new> defines them for device code in terms of malloc and free above. Without memory new
// returns null, as on the device.
