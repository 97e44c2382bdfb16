#include <simt/windows.h>

#include <sys/mman.h>

#include <mutex>
#include <new>

#include <simt/lock.h>
#include <simt/protect.h>

namespace mr::simt {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uint32_t windows_per_arena = 16;
// Guard sizes to try, in this order: under a limit on address space (ulimit -v, valgrind) smaller ones have to do.
constexpr std::uint64_t guards[] = {4 * gib, gib, gib / 16, gib / 1024};

Lock window_lock;
Window* free_windows = nullptr;
// What is left of the newest arena.
char* arena_next = nullptr;
std::uint32_t arena_left = 0;
std::uint64_t arena_guard = 0;
std::uint64_t smallest_try = 0;  // index into guards from which on the kernel agreed

std::uint64_t slot_bytes(std::uint64_t guard) { return window_frame_bytes + guard / 2 + window_bytes + guard; }

bool new_arena() noexcept {
  for (std::uint64_t i = smallest_try; i < sizeof guards / sizeof *guards; ++i) {
    void* memory = mmap(nullptr, slot_bytes(guards[i]) * windows_per_arena, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    smallest_try = i;
    arena_next = static_cast<char*>(memory);
    arena_left = windows_per_arena;
    arena_guard = guards[i];
    return true;
  }
  return false;
}

}  // namespace

Window* take_window() noexcept {
  std::lock_guard guard(window_lock);
  if (Window* window = free_windows) {
    free_windows = window->next;
    window->next = nullptr;
    return window;
  }
  if (!arena_left && !new_arena()) return nullptr;
  char* frame = arena_next;
  char* begin = frame + window_frame_bytes + arena_guard / 2;
  if (!protect::make_lane_memory(frame, window_frame_bytes) || !protect::make_lane_memory(begin, window_bytes))
    return nullptr;
  arena_next += slot_bytes(arena_guard);
  --arena_left;
  Window* window = new (std::nothrow) Window;
  if (!window) return nullptr;
  window->end = begin + window_bytes;
  window->frame = frame;
  return window;
}

void give_window(Window* window) noexcept {
  std::lock_guard guard(window_lock);
  window->next = free_windows;
  free_windows = window;
}

}  // namespace mr::simt
