// What the files that stand in front of the runtime's functions share.
#pragma once
#include <mutex>

#include "next.h"
#include "state.h"

#define MR_API extern "C" [[gnu::visibility("default")]]

// Defines NAME and its twin for per-thread default streams, NAME_SUFFIX: both call the function whose body follows,
// with `next`, the runtime's function, and `per_thread`. PARAMETERS and ARGUMENTS are in parentheses.
#define MR_TWINS(name, suffix, PARAMETERS, ARGUMENTS)                                                                  \
  namespace {                                                                                                          \
  struct Do_##name {                                                                                                   \
    decltype(&::name) next;                                                                                            \
    bool per_thread;                                                                                                   \
    cudaError_t operator() PARAMETERS const;                                                                           \
  };                                                                                                                   \
  }                                                                                                                    \
  MR_API cudaError_t name PARAMETERS {                                                                                 \
    static const auto next = mr::check::next_function<decltype(&::name)>(#name);                                       \
    if (!mr::check::watching()) return next ARGUMENTS;                                                                 \
    mr::check::self().call_pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));                         \
    return Do_##name{next, false} ARGUMENTS;                                                                           \
  }                                                                                                                    \
  MR_API cudaError_t name##suffix PARAMETERS {                                                                         \
    static const auto next = mr::check::next_function<decltype(&::name)>(#name #suffix);                               \
    if (!mr::check::watching()) return next ARGUMENTS;                                                                 \
    mr::check::self().call_pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));                         \
    return Do_##name{next, true} ARGUMENTS;                                                                            \
  }                                                                                                                    \
  cudaError_t Do_##name::operator() PARAMETERS const

// The same for a function without a twin.
#define MR_ONE(name, PARAMETERS, ARGUMENTS)                                                                            \
  namespace {                                                                                                          \
  struct Do_##name {                                                                                                   \
    decltype(&::name) next;                                                                                            \
    cudaError_t operator() PARAMETERS const;                                                                           \
  };                                                                                                                   \
  }                                                                                                                    \
  MR_API cudaError_t name PARAMETERS {                                                                                 \
    static const auto next = mr::check::next_function<decltype(&::name)>(#name);                                       \
    if (!mr::check::watching()) return next ARGUMENTS;                                                                 \
    mr::check::self().call_pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));                         \
    return Do_##name{next} ARGUMENTS;                                                                                  \
  }                                                                                                                    \
  cudaError_t Do_##name::operator() PARAMETERS const

#define MR_REAL(name) mr::check::next_function<decltype(&::name)>(#name)

namespace mr::check {

// The stream is being captured: the call becomes a node.
bool capturing(cudaStream_t handle, bool per_thread);
Touch linear(const void* p, std::size_t bytes, std::uint32_t kind);
Touch rows(const void* p, std::size_t pitch, std::size_t width, std::size_t height, std::uint32_t kind);
// Both sides of a three-dimensional copy, arrays among them.
std::vector<Touch> box(const cudaMemcpy3DParms& params);
std::vector<Touch> box(const cudaMemsetParams& params);
// True for memory that the checker knows as host memory, or doesn't know.
bool host_memory(const void* p);
bool managed_memory(const void* p);
bool known_memory(const void* p);

// A host function in the checker's wrapper, and what was wrapped.
struct WrappedFunction {
  cudaHostFn_t function;
  void* data;
  OpRef op;
};
void run_wrapped(void* data);
void wrap(cudaHostNodeParams& params);
void unwrap(cudaHostNodeParams& params);
// A copy of the parameters with the host function in the checker's wrapper.
cudaGraphNodeParams wrapped_params(const cudaGraphNodeParams& params);
// The kernel's mangled name, or nothing.
std::string kernel_name(const void* function);
// What stands for the semaphore. Under the lock.
std::shared_ptr<Event> event_of(cudaExternalSemaphore_t semaphore);
// Where a symbol's variable is, or null.
char* symbol_address(const void* symbol, std::size_t bytes);

}  // namespace mr::check
