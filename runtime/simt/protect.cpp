#include <simt/protect.h>

#include <cpuid.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <simt/context.h>
#include <simt/executor.h>
#include <simt/windows.h>

extern "C" {
void mr_simt_run_device(void* function, const void* a, std::uint64_t b, std::uint64_t c);
void mr_simt_resume_with_rights();
void mr_simt_fault_entry(int, siginfo_t*, void*);
void mr_simt_interrupt_entry(int, siginfo_t*, void*);
extern char mr_simt_switching_entries[];
// glibc 2.35 and later.
[[gnu::weak, gnu::visibility("default")]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak, gnu::visibility("default")]] extern const unsigned int __rseq_size;
// Read by protect.S. The entries' functions: entry n is word 1 + n.
[[gnu::visibility("hidden")]] std::uint64_t mr_simt_direct_services[65] = {};
[[gnu::visibility("hidden")]] std::uint32_t mr_simt_device_rights = 0;
[[gnu::visibility("hidden")]] mr::simt::protect::Handler mr_simt_fault_handler = nullptr;
[[gnu::visibility("hidden")]] mr::simt::protect::Handler mr_simt_interrupt_handler = nullptr;
}

namespace mr::simt::protect {

namespace detail {
bool in_use = false;
}

namespace {

constexpr std::uint32_t all_rights = 0;
constexpr int segv_pkuerr = 4;  // SEGV_PKUERR
int the_device_key = -1, the_shared_key = -1, the_launch_key = -1;
std::uint32_t host_rights = 0;  // of the thread that loaded the library; others inherit them
const char* reason = "the library has not been set up";

std::uint32_t read_rights() noexcept {
  std::uint32_t rights, zero;
  asm volatile("rdpkru" : "=a"(rights), "=d"(zero) : "c"(0));
  return rights;
}
void write_rights(std::uint32_t rights) noexcept { asm volatile("wrpkru" ::"a"(rights), "c"(0), "d"(0) : "memory"); }

constexpr std::uint32_t denied(int key) noexcept { return 3u << 2 * key; }
constexpr std::uint32_t read_only(int key) noexcept { return 2u << 2 * key; }

bool processor_has_keys() noexcept {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 4 & 1);  // OSPKE: the kernel has switched them on
}

void use_keys() noexcept {
  // Device code: nothing but the three keys. Host threads: not the device key.
  mr_simt_device_rights = (~0u & ~denied(the_device_key) & ~denied(the_shared_key) & ~denied(the_launch_key)) |
                          read_only(the_launch_key);
  host_rights = (read_rights() | denied(the_device_key)) & ~denied(the_shared_key) & ~denied(the_launch_key);
  write_rights(host_rights);
  detail::in_use = true;
  reason = nullptr;
}

// Runs when the library is loaded, usually before the process has other threads: they inherit this thread's rights to
// shared memory. (Threads that exist already get them at their first access, see grant_after_fault.)
[[gnu::constructor]] void set_up() noexcept {
#if defined(MR_SIMT_ASAN) || defined(MR_SIMT_TSAN)
  reason = "a sanitizer's instrumentation needs host memory everywhere";
  return;
#endif
  const char* wanted = std::getenv("MILLRACE_PROTECT");
  if (wanted && std::strcmp(wanted, "0") == 0) {
    reason = "MILLRACE_PROTECT is 0";
    return;
  }
  if (!processor_has_keys()) {
    reason = "the processor or the kernel has no protection keys";
    return;
  }
  the_device_key = static_cast<int>(syscall(SYS_pkey_alloc, 0, 0));
  the_shared_key = static_cast<int>(syscall(SYS_pkey_alloc, 0, 0));
  the_launch_key = static_cast<int>(syscall(SYS_pkey_alloc, 0, 0));
  if (the_launch_key < 0) {
    for (int* key : {&the_device_key, &the_shared_key}) {
      if (*key >= 0) syscall(SYS_pkey_free, *key);
      *key = -1;
    }
    reason = "the process has no protection keys left";
    return;
  }
  use_keys();
}

bool set_access(void* begin, std::size_t bytes, int access, int key) noexcept {
  return syscall(SYS_pkey_mprotect, begin, bytes, access, key) == 0;
}

// The place of PKRU in the extended state of a signal frame; null when the frame has none.
std::uint32_t* rights_in(ucontext_t& context) noexcept {
  constexpr unsigned pkru_component = 9, magic_offset = 464, header_offset = 512;
  constexpr std::uint32_t magic = 0x46505853;  // FP_XSTATE_MAGIC1
  char* state = reinterpret_cast<char*>(context.uc_mcontext.fpregs);
  unsigned size, offset, c, d;
  std::uint32_t found;
  if (!state) return nullptr;
  std::memcpy(&found, state + magic_offset, sizeof found);
  if (found != magic || !__get_cpuid_count(13, pkru_component, &size, &offset, &c, &d) || size == 0) return nullptr;
  std::uint64_t present;
  std::memcpy(&present, state + header_offset, sizeof present);
  present |= std::uint64_t{1} << pkru_component;
  std::memcpy(state + header_offset, &present, sizeof present);
  return reinterpret_cast<std::uint32_t*>(state + offset);
}

}  // namespace

int device_key() noexcept { return the_device_key; }
int shared_key() noexcept { return the_shared_key; }
const char* inactive_reason() noexcept { return reason; }

bool make_lane_memory(void* begin, std::size_t bytes) noexcept {
  if (active() && the_device_key >= 0) return set_access(begin, bytes, PROT_READ | PROT_WRITE, the_device_key);
  return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
}

void* make_signal_stack(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // Kernels before 6.12 write the frame with the interrupted code's rights.
  if (active() && the_shared_key >= 0) set_access(memory, bytes, PROT_READ | PROT_WRITE, the_shared_key);
  return memory;
}

void* map_launch_memory(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (the_launch_key >= 0) set_access(memory, bytes, PROT_READ | PROT_WRITE, the_launch_key);
  return memory;
}

bool share_object(const void* address) noexcept {
  if (!active() || the_shared_key < 0) return true;
  struct Search {
    std::uintptr_t address;
    bool ok = false;
  } search{reinterpret_cast<std::uintptr_t>(address)};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        Search& s = *static_cast<Search*>(argument);
        bool here = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          here |= p.p_type == PT_LOAD && s.address - (info->dlpi_addr + p.p_vaddr) < p.p_memsz;
        }
        if (!here) return 0;
        s.ok = true;
        auto tag = [&](const auto& p, int access) {
          const std::uintptr_t begin = (info->dlpi_addr + p.p_vaddr) & ~std::uintptr_t{4095};
          const std::uintptr_t end = (info->dlpi_addr + p.p_vaddr + p.p_memsz + 4095) & ~std::uintptr_t{4095};
          s.ok &= set_access(reinterpret_cast<void*>(begin), end - begin, access, the_shared_key);
        };
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          if (p.p_type != PT_LOAD) continue;
          tag(p, (p.p_flags & PF_R ? PROT_READ : 0) | (p.p_flags & PF_W ? PROT_WRITE : 0) |
                     (p.p_flags & PF_X ? PROT_EXEC : 0));
        }
        // What the loader made read-only after relocation stays so.
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) tag(info->dlpi_phdr[i], PROT_READ);
        return 1;
      },
      &search);
  return search.ok;
}

void RuntimeScope::enter() noexcept {
  previous_ = read_rights();
  if (previous_ != all_rights) write_rights(all_rights);
}
void RuntimeScope::leave() noexcept {
  if (previous_ != all_rights) write_rights(previous_);
}
void UserScope::enter() noexcept {
  previous_ = read_rights();
  write_rights(host_rights);
}
void UserScope::leave() noexcept { write_rights(previous_); }

std::uint64_t call_loop(Executor* e, MrRunBlocks thunk, std::uint64_t first, std::uint64_t count) noexcept {
  struct Call {
    MrRunBlocks thunk;
    MrBlock* block;
  } call{thunk, e->loop_block};
  constexpr auto run = +[](const Call* c, std::uint64_t from, std::uint64_t n) {
    mr_simt_run_device(reinterpret_cast<void*>(c->thunk), c->block, from, n);
  };
  return mr_simt_call(&e->host_context, e->loop_top, reinterpret_cast<void*>(run), &call, first, count);
}

void call_lane(MrRunLane body, const void* args) noexcept {
  mr_simt_run_device(reinterpret_cast<void*>(body), args, 0, 0);
}

const void* readable_arguments(Window& window, const Grid& grid) noexcept {
  if (grid.flags & grid_args_readable) return grid.args;
  constexpr std::size_t offset = 256;  // behind the MrBlock
  const std::uint32_t bytes = grid.kernel->args_size;
  if (!grid.args || bytes == 0 || bytes > window_frame_bytes - offset) return grid.args;
  return std::memcpy(window.frame + offset, grid.args, bytes);
}

// The kernel writes the number of the processor into the thread's restartable-sequences area (rseq(2)), which glibc has
// registered, whenever it has moved the thread; a thread that may not write there at that moment gets SIGSEGV. Kernels
// since 6.18 look past the keys. sched_getcpu() goes on without it.
void prepare_thread() noexcept {
  constexpr std::uint32_t signature = 0x53053053;
  constexpr int unregister = 1;
  if (the_device_key < 0 || !&__rseq_offset || !&__rseq_size || __rseq_size == 0) return;
  char* const area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  // glibc says how much of the area is used; it was registered with its own length, at least 32.
  for (const unsigned length : {32u, __rseq_size, (__rseq_size + 31u) & ~31u})
    if (syscall(SYS_rseq, area, length, unregister, signature) == 0) return;
}

std::uint64_t service_call_site(const MrLane& lane, const void* return_address) noexcept {
  // protect.S keeps it there.
  return active() ? lane.spare[2] : reinterpret_cast<std::uint64_t>(return_address);
}

namespace {

// protect.S has 64 entries; the last one is for access_entry.
constexpr std::size_t most_entries = 64, access_slot = most_entries - 1;
constexpr std::size_t entries = (sizeof(MrServices) - offsetof(MrServices, barrier)) / sizeof(void*);
static_assert(entries <= access_slot && offsetof(MrServices, barrier) == sizeof(void*));
static_assert(sizeof mr_simt_direct_services == (1 + most_entries) * sizeof(void*));

std::uint64_t switching_entry(std::size_t slot) noexcept {
  return reinterpret_cast<std::uint64_t>(mr_simt_switching_entries + 16 * slot);
}

}  // namespace

const MrServices* switching_table(const MrServices& direct) noexcept {
  // On a page of its own, which device code may read.
  static const MrServices* const table = [&]() -> const MrServices* {
    static_assert(sizeof(MrServices) <= 4096);
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return nullptr;
    std::memcpy(mr_simt_direct_services, &direct, sizeof direct);
    auto* words = static_cast<std::uint64_t*>(page);
    std::memcpy(page, &direct, offsetof(MrServices, barrier));
    for (std::size_t i = 0; i < entries; ++i) words[1 + i] = switching_entry(i);
    if (the_shared_key >= 0) set_access(page, 4096, PROT_READ, the_shared_key);
    return static_cast<const MrServices*>(page);
  }();
  return table ? table : &direct;
}

AccessEntry switching_access_entry(AccessEntry direct) noexcept {
  mr_simt_direct_services[1 + access_slot] = reinterpret_cast<std::uint64_t>(direct);
  return reinterpret_cast<AccessEntry>(switching_entry(access_slot));
}

Handler fault_entry(Handler handler) noexcept {
  mr_simt_fault_handler = handler;
  return active() ? &mr_simt_fault_entry : handler;
}
Handler interrupt_entry(Handler handler) noexcept {
  mr_simt_interrupt_handler = handler;
  return active() ? &mr_simt_interrupt_entry : handler;
}
std::uint64_t resume_address() noexcept {
  return reinterpret_cast<std::uint64_t>(active() ? &mr_simt_resume_with_rights : &mr_simt_resume);
}

bool grant_after_fault(const siginfo_t& info, ucontext_t& context, bool on_device_stack) noexcept {
  if (!active() || info.si_code != segv_pkuerr) return false;
  const int key = static_cast<int>(info.si_pkey);
  // Device code can read with all three keys, host threads with all but the device's: who can't began with the
  // kernel's initial rights.
  if (key != the_shared_key && key != the_launch_key && !(on_device_stack && key == the_device_key)) return false;
  std::uint32_t* rights = rights_in(context);
  if (!rights || !(*rights & denied(key) & ~read_only(key))) return false;
  *rights &= ~denied(key);
  return true;
}

void pretend_for_test(bool emulated) noexcept {
  static const char* const real_reason = reason;
  detail::in_use = emulated;
  mr_simt_device_rights = ~0u << 4;
  reason = emulated ? nullptr : real_reason;
}

}  // namespace mr::simt::protect

extern "C" [[gnu::visibility("default")]] void* millrace_shared_pages(std::uint64_t bytes) noexcept {
  const std::size_t length = (bytes + 4095) & ~std::size_t{4095};
  void* const pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  using namespace mr::simt::protect;
  if (shared_key() >= 0 && pkey_mprotect(pages, length, PROT_READ | PROT_WRITE, shared_key()) != 0) {
    munmap(pages, length);
    return nullptr;
  }
  return pages;
}
