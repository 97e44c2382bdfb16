// Calls of the runtime's API, for the trace: each function stands in front of the runtime's own and says when it was
// called, from where, and how long it took. A library of its own that `millrace timeline` preloads, so that programs
// that aren't looked at pay nothing.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <observe/trace.h>

namespace mr::timeline {
namespace {

template <class F> F next_function(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) found = dlsym(RTLD_DEFAULT, name);
  if (!found) {
    std::fprintf(stderr, "millrace: %s is not in any library that the program is linked with\n", name);
    std::abort();
  }
  return reinterpret_cast<F>(found);
}

// Where the newest kernel was launched: a launch comes from a stub, which the place calls behind this.
thread_local const void* configured __attribute__((tls_model("initial-exec"))) = nullptr;
// Inside a call already: what the runtime calls itself is not the program's.
thread_local bool inside __attribute__((tls_model("initial-exec"))) = false;

constexpr bool launches(const char* name) {
  const char* of = "cudaLaunchKernel";
  while (*of && *name == *of) ++of, ++name;
  return !*of && (*name == 0 || *name == '_');
}

template <const char* Name, class F> struct Front;
template <const char* Name, class... Parameters> struct Front<Name, cudaError_t(Parameters...)> {
  static cudaError_t call(Parameters... arguments) {
    static const auto next = next_function<cudaError_t (*)(Parameters...)>(Name);
    static const auto begin = next_function<decltype(&millrace_trace_begin)>("millrace_trace_begin");
    static const auto end = next_function<decltype(&millrace_trace_call)>("millrace_trace_call");
    const void* pc = __builtin_return_address(0);
    const std::uint64_t since = inside ? 0 : begin();
    if (!since) return next(arguments...);
    if (launches(Name) && configured) {
      pc = configured;
      configured = nullptr;
    }
    inside = true;
    const cudaError_t result = next(arguments...);
    inside = false;
    end(Name, since, pc);
    return result;
  }
};

}  // namespace
}  // namespace mr::timeline

#define MR_FRONT(name, exported)                                                                                       \
  namespace mr::timeline {                                                                                             \
  namespace {                                                                                                          \
  constexpr char name_of_##exported[] = #exported;                                                                     \
  }                                                                                                                    \
  extern "C" [[gnu::used, gnu::visibility("hidden")]] void* const mr_timeline_##exported = reinterpret_cast<void*>(    \
      &Front<name_of_##exported, decltype(name)>::call);                                                               \
  }                                                                                                                    \
  asm(".text\n.globl " #exported "\n.type " #exported ",@function\n" #exported ":\n jmp *mr_timeline_" #exported       \
      "(%rip)\n.size " #exported ", .-" #exported "\n");
#define MR_POINT(name) MR_FRONT(name, name)
#define MR_POINT_TWIN(name, suffix) MR_FRONT(name, name##suffix)
#define MR_NOTED(name) MR_FRONT(name, name)
#define MR_NOTED_TWIN(name, suffix) MR_FRONT(name, name##suffix)
#define MR_ALLOCATES(name) MR_FRONT(name, name)
#define MR_ALLOCATES_TWIN(name, suffix) MR_FRONT(name, name##suffix)
#define MR_FREES(name) MR_FRONT(name, name)
#define MR_FREES_IN_STREAM(name) MR_FRONT(name, name)
#define MR_FREES_IN_STREAM_TWIN(name, suffix) MR_FRONT(name, name##suffix)
#define MR_BATCH(name) MR_FRONT(name, name)
#define MR_BATCH_TWIN(name, suffix) MR_FRONT(name, name##suffix)
#include <observe/api_list.h>
// Those that take time, though no operation comes from them.
MR_POINT(cudaMalloc)
MR_POINT(cudaMallocPitch)
MR_POINT(cudaMallocArray)
MR_POINT(cudaMallocHost)
MR_POINT(cudaMallocManaged)
MR_POINT(cudaHostAlloc)
MR_POINT(cudaHostRegister)
MR_POINT(cudaStreamCreate)
MR_POINT(cudaStreamCreateWithFlags)
MR_POINT(cudaStreamCreateWithPriority)
MR_POINT(cudaEventCreate)
MR_POINT(cudaEventCreateWithFlags)
MR_POINT(cudaEventElapsedTime)
MR_POINT(cudaSetDevice)
MR_POINT(cudaStreamBeginCapture)
MR_POINT(cudaStreamEndCapture)

extern "C" [[gnu::visibility("default")]] unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                                               std::size_t shared, void* stream) {
  static const auto next = mr::timeline::next_function<unsigned (*)(dim3, dim3, std::size_t, void*)>(
      "__cudaPushCallConfiguration");
  mr::timeline::configured = __builtin_return_address(0);
  return next(grid, block, shared, stream);
}
