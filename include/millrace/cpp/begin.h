// Shared by the C++ overloads. __MR_INLINE: host functions with internal linkage, so that units of both default-stream
// kinds can be linked together.
#ifndef MILLRACE_CPP_BEGIN_H
#define MILLRACE_CPP_BEGIN_H

#include "../../cuda_runtime_api.h"

// Always inlined: reports name the function that called, and these overloads are not it.
#define __MR_INLINE static __inline__ __host__ __attribute__((unused, always_inline))

/* The address that names a variable, whatever its qualifiers. */
template <class T> __MR_INLINE const void* __mr_symbol(const T& symbol) {
  return const_cast<const void*>(reinterpret_cast<const volatile void*>(&symbol));
}

/* Where the runtime puts a pointer, whatever the qualifiers of what it points to. */
template <class T> __MR_INLINE void** __mr_result(T** pointer) {
  return static_cast<void**>(static_cast<void*>(pointer));
}

#endif
