#include <model/context.h>
#include <model/module.h>

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include <model/managed_variable.h>
#include <model/memory.h>
#include <simt/grid.h>

namespace mr::model {
namespace {

std::mutex modules_mutex;
std::vector<Module*>& modules() {
  static auto* const instance = new std::vector<Module*>;
  return *instance;
}
std::atomic<VariableRangeHook> range_hook{nullptr};

// Length of an ELF file in memory: its section headers come last. 0 if it isn't one.
std::size_t elf_length(const void* bytes) noexcept {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64)
    return 0;
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

bool processor_supports(std::uint32_t level) noexcept {
  __builtin_cpu_init();
  switch (level) {
  case 3: return __builtin_cpu_supports("x86-64-v3");
  case 4: return __builtin_cpu_supports("x86-64-v4");
  default: return true;
  }
}

void* load_from_memory(const void* bytes, std::size_t length, int device) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "millrace-image-device%d", device);
  // A file of its own for each device: the dynamic loader tells images apart by inode.
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) {
    std::fprintf(stderr, "millrace: the device image could not be loaded: memfd_create failed: %s\n",
                 std::strerror(errno));
    return nullptr;
  }
  const char* p = static_cast<const char*>(bytes);
  for (std::size_t done = 0; done < length;) {
    const ssize_t n = write(fd, p + done, length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      std::fprintf(stderr, "millrace: the device image could not be loaded: writing %zu bytes failed: %s\n", length,
                   std::strerror(errno));
      close(fd);
      return nullptr;
    }
    done += static_cast<std::size_t>(n);
  }
  // The dynamic loader knows by its path what it has loaded already, and descriptors' numbers come back: the path of
  // each image is spelled differently, by the bits of a count, "/." for a one and "/" for a zero. The kernel reads over
  // both.
  static std::atomic<unsigned> images{0};
  std::string path = "/proc/self/fd";
  for (unsigned bits = images.fetch_add(1, std::memory_order_relaxed); bits; bits >>= 1)
    path += (bits & 1) != 0 ? "/." : "/";
  path += "/" + std::to_string(fd);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) std::fprintf(stderr, "millrace: the device image could not be loaded: %s\n", dlerror());
  close(fd);
  return handle;
}

}  // namespace

void set_variable_range_hook(VariableRangeHook hook) noexcept { range_hook.store(hook, std::memory_order_release); }

void add_module(Module* module) {
  std::scoped_lock hold(modules_mutex);
  modules().push_back(module);
}

void for_each_module(void (*visit)(Module&, void*), void* data) {
  std::scoped_lock hold(modules_mutex);
  for (Module* module : modules()) visit(*module, data);
}

const LoadedImage* Module::load(int device, cudaError_t* error) noexcept {
  if (const LoadedImage* image = loaded(device)) return image;
  // The context first: it prepares what an image's variables are entered into. Attributes may be asked before anything
  // else is used.
  (void)context_of(device);
  initialise_memory();  // variables are registered there
  std::scoped_lock hold(mutex_);
  if (const LoadedImage* image = loaded_[device].load(std::memory_order_relaxed)) return image;
  if (failed_[device] != cudaSuccess) {
    *error = failed_[device];
    return nullptr;
  }
  const auto fail = [&](cudaError_t e) -> const LoadedImage* {
    failed_[device] = *error = e;
    return nullptr;
  };
  const std::size_t length = elf_length(bytes_);
  if (length == 0) {
    std::fputs("millrace: this program's device image was not made by mrcc; compile its .cu files with mrcc\n", stderr);
    return fail(cudaErrorInvalidKernelImage);
  }
  void* handle = load_from_memory(bytes_, length, device);
  if (!handle) return fail(cudaErrorInvalidKernelImage);
  const auto* image = static_cast<const MrImage*>(dlsym(handle, "__mr_image"));
  if (!image || image->abi_version != MR_ABI_VERSION) {
    std::fprintf(stderr,
                 "millrace: this program's device image was made by another version of mrcc (image %u, runtime %u); "
                 "compile it again\n",
                 image ? image->abi_version : 0, MR_ABI_VERSION);
    return fail(cudaErrorInvalidKernelImage);
  }
  if (!processor_supports(image->cpu_level)) {
    std::fprintf(
        stderr,
        "millrace: this program's kernels were compiled for %s, which this processor does not support; compile with "
        "mrcc -mrcc-march=x86-64-v3\n",
        image->cpu ? image->cpu : "another processor");
    return fail(cudaErrorNoKernelImageForDevice);
  }
  if (image->services) *image->services = simt::services();
  auto* loaded = new LoadedImage;
  loaded->image = image;
  loaded->handle = handle;
  // Before the bytes are kept: a reset must not undo it.
  connect_managed(*this, *image, !connected_);
  connected_ = true;
  loaded->initial.assign(image->data_begin, image->data_end);
  if (VariableRangeHook hook = range_hook.load(std::memory_order_acquire); hook && image->data_begin != image->data_end)
    hook(device, image->data_begin, image->data_end);
  std::unordered_map<std::string_view, const MrKernel*> by_name;
  for (std::uint64_t i = 0; i < image->kernel_count; ++i) by_name.emplace(image->kernels[i].name, &image->kernels[i]);
  for (Function* function : functions_)
    if (auto it = by_name.find(function->device_name); it != by_name.end())
      function->kernel[device].store(it->second, std::memory_order_release);
  loaded_[device].store(loaded, std::memory_order_release);
  return loaded;
}

void Module::restore(int device) noexcept {
  const LoadedImage* image = loaded(device);
  if (!image || image->initial.empty()) return;
  std::memcpy(image->image->data_begin, image->initial.data(), image->initial.size());
  restore_managed(*this, *image->image);
}

void Module::prepare() noexcept {
  // The host may read managed variables before it calls the runtime at all.
  if (elf_length(bytes_) == 0 || !image_has_managed(bytes_) || device_count() == 0) return;
  cudaError_t error = cudaSuccess;
  load(0, &error);
}

}  // namespace mr::model
