// From here to std_end.h every function is host and device code, and what would throw traps in device code. Nests.
//
// Used around headers of the standard library whose templates are plain computation: `constexpr` functions are host and
// device already, the others (assignment, swap, std::function-free callables) become so here.
#pragma clang system_header
#include <bits/c++config.h>
#include <bits/functexcept.h>
#pragma push_macro("_GLIBCXX_THROW_OR_ABORT")
#ifdef __CUDA_ARCH__
#undef _GLIBCXX_THROW_OR_ABORT
#define _GLIBCXX_THROW_OR_ABORT(exception) (__builtin_trap())
#endif
#pragma clang force_cuda_host_device begin
