#include "harness.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace harness {

Seen seen;

namespace {
int failed = 0;

char* stack_base() {
  static char* base = [] {
    char* p = static_cast<char*>(
        mmap(nullptr, 3 * MR_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(p) + MR_STACK_BYTES - 1) & ~(MR_STACK_BYTES - 1));
  }();
  return base;
}
MrLane* lane() { return mr_lane_of(reinterpret_cast<std::uint64_t>(stack_base()) + 4096); }

MrServices table() {
  MrServices s{};
  s.abi_version = MR_ABI_VERSION;
  s.poll = [] {
    ++seen.polls;
    if (seen.on_poll) seen.on_poll();
  };
  s.barrier = [] { ++seen.barriers; };
  s.warp_sync = [](std::uint32_t) {};
  s.nanosleep = [](std::uint32_t) {};
  s.globaltimer = [] { return std::uint64_t{42}; };
  s.heap_malloc = [](std::uint64_t n) { return std::malloc(n); };
  s.heap_free = [](void* p) { std::free(p); };
  s.misaligned = [](const void*, std::uint32_t) { ++seen.misaligned; };
  s.printf = [](const char* format, const MrPrintfArg* a, std::uint32_t n) {
    std::string line = format;
    for (std::uint32_t i = 0; i < n; ++i)
      line += "|" + std::to_string(a[i].bits) + ":" + std::to_string(a[i].is_double);
    seen.printed.push_back(line);
    return static_cast<int>(n);
  };
  s.assert_fail = [](const char* expression, const char*, std::uint32_t, const char*) {
    seen.assertion = expression;
    std::memcpy(seen.assert_tid, lane()->tid, sizeof seen.assert_tid);
  };
  return s;
}
const MrServices services = table();

MrBlock make_block(const MrKernel& kernel, const Shape& shape, const void* args, char* shared) {
  MrBlock b{};
  std::memcpy(b.grid_dim, shape.grid, sizeof b.grid_dim);
  std::memcpy(b.block_dim, shape.block, sizeof b.block_dim);
  b.threads = shape.block[0] * shape.block[1] * shape.block[2];
  b.shared = shared;
  b.static_shared = kernel.static_shared;
  b.dynamic_offset = (kernel.static_shared + 15) / 16 * 16;
  b.dynamic_shared = shape.dynamic_shared;
  b.args = args;
  return b;
}
alignas(256) char shared_window[256 << 10];
}  // namespace

Image::Image(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) std::fprintf(stderr, "%s\n", dlerror()), std::abort();
  image_ = static_cast<const MrImage*>(dlsym(handle, "__mr_image"));
  if (!image_) std::fprintf(stderr, "%s exports no __mr_image\n", path.c_str()), std::abort();
  *image_->services = &services;
  // Managed variables: their own storage serves.
  for (std::uint64_t i = 0; i < image_->variable_count; ++i)
    if (const MrVariable& slot = image_->variables[i]; slot.flags & MR_VAR_IS_SLOT)
      *static_cast<void**>(slot.address) = variable(slot.name).address;
}

const MrKernel& Image::kernel(const std::string& name) const {
  for (std::uint64_t i = 0; i < image_->kernel_count; ++i)
    if (name == image_->kernels[i].name) return image_->kernels[i];
  std::fprintf(stderr, "no kernel %s\n", name.c_str());
  std::abort();
}

const MrVariable& Image::variable(const std::string& name) const {
  for (std::uint64_t i = 0; i < image_->variable_count; ++i)
    if (name == image_->variables[i].name && !(image_->variables[i].flags & MR_VAR_IS_SLOT))
      return image_->variables[i];
  std::fprintf(stderr, "no variable %s\n", name.c_str());
  std::abort();
}

void on_device_stack(void (*body)(void*), void* argument) {
  char* top = stack_base() + MR_STACK_BYTES - 64;
  asm volatile("mov %%rsp, %%r12\n\t"
               "mov %[top], %%rsp\n\t"
               "call *%[body]\n\t"
               "mov %%r12, %%rsp\n\t"
               : "+D"(argument), [body] "+a"(body), [top] "+S"(top)
               :
               : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
                 "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

void run_lanes(const MrKernel& kernel, const Shape& shape, const void* args) {
  MrBlock block = make_block(kernel, shape, args, shared_window);
  struct Call {
    const MrKernel* kernel;
    const void* args;
  } call{&kernel, args};
  for (block.block_idx[2] = 0; block.block_idx[2] < shape.grid[2]; ++block.block_idx[2])
    for (block.block_idx[1] = 0; block.block_idx[1] < shape.grid[1]; ++block.block_idx[1])
      for (block.block_idx[0] = 0; block.block_idx[0] < shape.grid[0]; ++block.block_idx[0])
        for (std::uint32_t t = 0; t < block.threads; ++t) {
          MrLane* l = lane();
          l->block = &block;
          l->tid[0] = t % shape.block[0];
          l->tid[1] = t / shape.block[0] % shape.block[1];
          l->tid[2] = t / shape.block[0] / shape.block[1];
          l->linear = t;
          on_device_stack([](void* p) { static_cast<Call*>(p)->kernel->run_lane(static_cast<Call*>(p)->args); }, &call);
        }
}

void run_blocks(const MrKernel& kernel, const Shape& shape, const void* args, std::uint64_t range) {
  MrBlock block = make_block(kernel, shape, args, shared_window);
  struct Call {
    const MrKernel* kernel;
    MrBlock* block;
    std::uint64_t first, count;
  } call{&kernel, &block, 0, 0};
  std::memset(lane()->tid, 0xee, sizeof lane()->tid);
  lane()->block = &block;
  const std::uint64_t total = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  for (; call.first < total; call.first += call.count) {
    call.count = std::min(range, total - call.first);
    on_device_stack(
        [](void* p) {
          auto* c = static_cast<Call*>(p);
          c->kernel->run_blocks(c->block, c->first, c->count);
        },
        &call);
  }
}

int failures() { return failed; }
void check(bool good, const std::string& what) {
  std::printf("%s %s\n", good ? "ok  " : "FAIL", what.c_str());
  if (!good) ++failed;
}

}  // namespace harness
