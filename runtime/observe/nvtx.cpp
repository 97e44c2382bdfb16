// What include/nvtx3 calls when the program is linked with the runtime: ranges become lanes of the trace. Without a
// trace every function gives what a program gets that no tool has attached to.
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <observe/spans.h>
#include <observe/trace.h>

namespace mr::observe {
namespace {

constexpr int no_tracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

struct Open {
  std::string name;
  std::uint64_t begin = 0;
};
thread_local std::vector<Open> pushed;

std::mutex started_mutex;
std::unordered_map<std::uint64_t, Open>& started() {  // under the mutex
  static auto* all = new std::unordered_map<std::uint64_t, Open>;
  return *all;
}

// Wide characters beyond ASCII are not shown.
std::string text_of(const void* text, int wide) {
  if (!text) return {};
  if (!wide) return static_cast<const char*>(text);
  std::string out;
  for (const auto* c = static_cast<const wchar_t*>(text); *c; ++c) out += *c < 0x80 ? static_cast<char>(*c) : '?';
  return out;
}

bool on() noexcept { return millrace_trace_begin() != 0; }

}  // namespace
}  // namespace mr::observe

using namespace mr::observe;
#define MR_NVTX extern "C" [[gnu::visibility("default")]]

MR_NVTX int __mr_nvtx_push(const void* text, int wide) {
  if (!on()) return no_tracking;
  pushed.push_back({text_of(text, wide), trace_now()});
  return static_cast<int>(pushed.size()) - 1;
}
MR_NVTX int __mr_nvtx_pop() {
  if (!on() || pushed.empty()) return no_tracking;
  const Open open = std::move(pushed.back());
  pushed.pop_back();
  const auto depth = static_cast<std::uint32_t>(pushed.size());
  add_span({open.begin, trace_now(), 0, 0, mr::trace_format::range, depth}, open.name.c_str(), nullptr);
  return static_cast<int>(depth);
}
MR_NVTX std::uint64_t __mr_nvtx_start(const void* text, int wide) {
  if (!on()) return 0;
  static std::uint64_t last = 0;
  const std::scoped_lock hold(started_mutex);
  started()[++last] = {text_of(text, wide), trace_now()};
  return last;
}
MR_NVTX void __mr_nvtx_end(std::uint64_t id) {
  if (!on()) return;
  Open open;
  {
    const std::scoped_lock hold(started_mutex);
    const auto at = started().find(id);
    if (at == started().end()) return;
    open = std::move(at->second);
    started().erase(at);
  }
  add_span({open.begin, trace_now(), 0, 0, mr::trace_format::free_range, 0}, open.name.c_str(), nullptr);
}
MR_NVTX void __mr_nvtx_mark(const void* text, int wide) {
  if (!on()) return;
  const std::uint64_t now = trace_now();
  add_span({now, now, 0, 0, mr::trace_format::range, static_cast<std::uint32_t>(pushed.size())},
           text_of(text, wide).c_str(), nullptr);
}
// A registered string: kept for as long as the process.
MR_NVTX const char* __mr_nvtx_string(const void* text, int wide) {
  return on() ? (new std::string(text_of(text, wide)))->c_str() : nullptr;
}
