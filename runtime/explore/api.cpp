// The runtime's functions, each in front of the runtime's own: the caller is noted, the runtime is called, and then
// others may run. The exported names jump to instances of one template, which has the right parameters by itself.
#include <cuda_runtime_api.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "controller.h"
#include "next.h"

namespace mr::explore {

std::uint32_t note_site(Thread& t, const char* api, void* caller) {
  const Inside inside(t);
  constexpr int most = 16;
  constexpr unsigned kept = 6;
  void* pcs[most];
  const int count = backtrace(pcs, most);
  std::uintptr_t frames[kept];
  unsigned used = 0;
  int first = 0;
  while (first < count && pcs[first] != caller) ++first;
  if (first == count) frames[used++] = reinterpret_cast<std::uintptr_t>(caller);
  for (int i = first; i < count && used < kept; ++i) frames[used++] = reinterpret_cast<std::uintptr_t>(pcs[i]);
  const std::scoped_lock hold(controller->lock);
  return controller->trace.site(api, frames, used);
}

namespace {

enum class Kind : std::uint8_t { point, noted, batch, allocates, frees, frees_in_stream };

// Notes the call's site.
void enter(Thread& t, const char* api, void* caller) {
  controller->stop_stepping(t);
  t.site = note_site(t, api, caller);
  ++t.calls;
}

void leave(Thread& t, cudaError_t result) {
  if (result == cudaErrorNotReady)
    controller->poll(t);
  else
    controller->point(t, mix(std::uint64_t{t.id} << 40 | t.calls, 0));
  controller->step(t, 'h');
}

// Copies of a batch have no order among each other.
template <class F>
cudaError_t call_batch(F next, Thread& t, void* const* to, const void* const* from, const std::size_t* sizes,
                       std::size_t count, cudaMemcpyAttributes* attributes, std::size_t* indexes, std::size_t used,
                       cudaStream_t stream) {
  const Key key = mix(std::uint64_t{t.id} << 40 | t.calls, 2);
  bool backwards = false;
  if (to && from && sizes && used == 1) {
    const std::scoped_lock hold(controller->lock);
    backwards = controller->policy.backwards(key);
    if (backwards) controller->trace.print("B %lx 1\n", key);
  }
  const Inside inside(t);
  if (!backwards) return next(to, from, sizes, count, attributes, indexes, used, stream);
  std::vector<void*> all_to(to, to + count);
  std::vector<const void*> all_from(from, from + count);
  std::vector<std::size_t> all_sizes(sizes, sizes + count);
  std::reverse(all_to.begin(), all_to.end());
  std::reverse(all_from.begin(), all_from.end());
  std::reverse(all_sizes.begin(), all_sizes.end());
  return next(all_to.data(), all_from.data(), all_sizes.data(), count, attributes, indexes, used, stream);
}

// Stream-ordered memory is overwritten where its allocation and its free take effect, so that what is written too early
// is lost, and a late reader finds something else than what was there.
constexpr int overwritten = 0xa5;
std::unordered_map<void*, std::size_t>& stream_ordered() {  // under the controller's lock
  static auto* all = new std::unordered_map<void*, std::size_t>;
  return *all;
}
std::size_t forget_allocation(void* p) {
  const std::scoped_lock hold(controller->lock);
  const auto it = stream_ordered().find(p);
  if (it == stream_ordered().end()) return 0;
  const std::size_t bytes = it->second;
  stream_ordered().erase(it);
  return bytes;
}
void overwrite(const char* api, void* p, std::size_t bytes, cudaStream_t stream) {
  static const auto capturing = next_function<decltype(&::cudaStreamIsCapturing)>("cudaStreamIsCapturing");
  static const auto set = next_function<decltype(&::cudaMemsetAsync)>("cudaMemsetAsync");
  static const auto set_in_own = next_function<decltype(&::cudaMemsetAsync)>("cudaMemsetAsync_ptsz");
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const bool own = std::string_view(api).ends_with("_ptsz");
  if (stream && (capturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone)) return;
  if (bytes) (own ? set_in_own : set)(p, overwritten, bytes, stream);
}
template <class... Others>
void note_allocation(const char* api, cudaError_t result, void** p, std::size_t bytes, Others... others) {
  if (result != cudaSuccess || !p || !*p) return;
  {
    const std::scoped_lock hold(controller->lock);
    stream_ordered()[*p] = bytes;
  }
  overwrite(api, *p, bytes, std::get<sizeof...(Others) - 1>(std::tuple(others...)));
}
void overwrite_freed(const char* api, void* p, cudaStream_t stream) { overwrite(api, p, forget_allocation(p), stream); }
void overwrite_now(void* p) {
  const char* keys = std::getenv("MILLRACE_PROTECT");
  const std::size_t bytes = forget_allocation(p);
  if (bytes && keys && std::string_view(keys) == "0") std::memset(p, overwritten, bytes);
}

template <const char* Name, Kind K, class F> struct Front;
template <const char* Name, Kind K, class... Parameters> struct Front<Name, K, cudaError_t(Parameters...)> {
  static cudaError_t call(Parameters... arguments) {
    static const auto next = next_function<cudaError_t (*)(Parameters...)>(Name);
    Thread* const t = under_control();
    if (!t) return next(arguments...);
    enter(*t, Name, __builtin_return_address(0));
    cudaError_t result;
    if constexpr (K == Kind::batch) {
      result = call_batch(next, *t, arguments...);
    } else {
      const Inside inside(*t);
      if constexpr (K == Kind::frees_in_stream) overwrite_freed(Name, arguments...);
      if constexpr (K == Kind::frees) overwrite_now(arguments...);
      result = next(arguments...);
      if constexpr (K == Kind::allocates) note_allocation(Name, result, arguments...);
    }
    if constexpr (K != Kind::noted) leave(*t, result);
    return result;
  }
};

}  // namespace
}  // namespace mr::explore

#define MR_FRONT(name, exported, kind)                                                                                 \
  namespace mr::explore {                                                                                              \
  namespace {                                                                                                          \
  constexpr char name_of_##exported[] = #exported;                                                                     \
  }                                                                                                                    \
  extern "C" [[gnu::used, gnu::visibility("hidden")]] void* const mr_explore_##exported = reinterpret_cast<void*>(     \
      &Front<name_of_##exported, kind, decltype(name)>::call);                                                         \
  }                                                                                                                    \
  asm(".text\n.globl " #exported "\n.type " #exported ",@function\n" #exported ":\n jmp *mr_explore_" #exported        \
      "(%rip)\n.size " #exported ", .-" #exported "\n");
#define MR_POINT(name) MR_FRONT(name, name, Kind::point)
#define MR_POINT_TWIN(name, suffix) MR_FRONT(name, name##suffix, Kind::point)
#define MR_NOTED(name) MR_FRONT(name, name, Kind::noted)
#define MR_NOTED_TWIN(name, suffix) MR_FRONT(name, name##suffix, Kind::noted)
#define MR_ALLOCATES(name) MR_FRONT(name, name, Kind::allocates)
#define MR_ALLOCATES_TWIN(name, suffix) MR_FRONT(name, name##suffix, Kind::allocates)
#define MR_FREES(name) MR_FRONT(name, name, Kind::frees)
#define MR_FREES_IN_STREAM(name) MR_FRONT(name, name, Kind::frees_in_stream)
#define MR_FREES_IN_STREAM_TWIN(name, suffix) MR_FRONT(name, name##suffix, Kind::frees_in_stream)
#define MR_BATCH(name) MR_FRONT(name, name, Kind::batch)
#define MR_BATCH_TWIN(name, suffix) MR_FRONT(name, name##suffix, Kind::batch)
#include <observe/api_list.h>
