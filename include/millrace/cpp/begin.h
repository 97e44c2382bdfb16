// Shared by the C++ overloads. __MR_INLINE: host functions with internal linkage, so that units of both default-stream
// kinds can be linked together.
#ifndef MILLRACE_CPP_BEGIN_H
#define MILLRACE_CPP_BEGIN_H

#include "../../cuda_runtime_api.h"

// Always inlined: reports name the function that called, and these overloads are not it.
#define __MR_INLINE static __inline__ __host__ __attribute__((unused, always_inline))

#endif
