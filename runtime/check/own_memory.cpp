// The checker's own allocations. A program may have a malloc or operator new of its own, which is instrumented like all
// of its code and may count, log or wait: what the checker allocates must neither come there nor be seen there. So the
// library's operators new and delete are hidden (-fvisibility-global-new-delete in CMakeLists.txt) and take memory from
// the C library; strings are instantiated here, not in libstdc++, whose operators are the program's.
#include <cstdlib>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {
void* checked(void* p) {
  if (!p) std::abort();  // what was found has been written
  return p;
}
}  // namespace

void* operator new(std::size_t n) { return checked(__libc_malloc(n)); }
void* operator new[](std::size_t n) { return checked(__libc_malloc(n)); }
void* operator new(std::size_t n, std::align_val_t a) {
  return checked(__libc_memalign(static_cast<std::size_t>(a), n));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return checked(__libc_memalign(static_cast<std::size_t>(a), n));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return __libc_malloc(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return __libc_malloc(n); }
void operator delete(void* p) noexcept { __libc_free(p); }
void operator delete[](void* p) noexcept { __libc_free(p); }
void operator delete(void* p, std::size_t) noexcept { __libc_free(p); }
void operator delete[](void* p, std::size_t) noexcept { __libc_free(p); }
void operator delete(void* p, std::align_val_t) noexcept { __libc_free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { __libc_free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { __libc_free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { __libc_free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { __libc_free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { __libc_free(p); }
