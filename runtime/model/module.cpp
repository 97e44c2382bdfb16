#include <model/context.h>
#include <model/module.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <memory/space.h>
#include <model/image_file.h>
#include <model/managed_variable.h>
#include <model/memory.h>
#include <model/stream.h>
#include <observe/subscriber.h>
#include <simt/check_site.h>
#include <simt/grid.h>
#include <simt/protect.h>

namespace mr::model {
namespace {

std::mutex modules_mutex;
std::vector<Module*>& modules() {
  static auto* const instance = new std::vector<Module*>;
  return *instance;
}
std::atomic<VariableRangeHook> range_hook{nullptr};

bool processor_supports(std::uint32_t level) noexcept {
  __builtin_cpu_init();
  switch (level) {
  case 3: return __builtin_cpu_supports("x86-64-v3");
  case 4: return __builtin_cpu_supports("x86-64-v4");
  default: return true;
  }
}

// *file: the open file that the image lies in, or -1.
void* load_from_memory(const void* bytes, std::size_t length, int device, int* file) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "millrace-image-device%d", device);
  // A file of its own for each device: the dynamic loader tells images apart by inode.
  int fd = memfd_create(name, MFD_CLOEXEC);
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
  // Debuggers and profilers open what the loader's list of objects names: the name must mean the same in their process,
  // so the file stays open, at a number that is out of the program's way. (By /proc/self they would read a file of
  // their own; gdb waited for ever for one of its pipes.) Programs of very many images do without for the later ones.
  constexpr int first_number = 100;
  constexpr unsigned most_open = 256;
  if (const int high = fcntl(fd, F_DUPFD_CLOEXEC, first_number); high >= 0) {
    close(fd);
    fd = high;
  }
  // The dynamic loader knows by its path what it has loaded already, and descriptors' numbers come back: the path of
  // each image is spelled differently, by the bits of a count, "/." for a one and "/" for a zero. The kernel reads over
  // both.
  static std::atomic<unsigned> images{0};
  const unsigned number = images.fetch_add(1, std::memory_order_relaxed);
  std::string place = "/fd";
  for (unsigned bits = number; bits; bits >>= 1) place += (bits & 1) != 0 ? "/." : "/";
  place += "/" + std::to_string(fd);
  void* handle = dlopen(("/proc/" + std::to_string(getpid()) + place).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    handle = dlopen(("/proc/self" + place).c_str(), RTLD_NOW | RTLD_LOCAL);  // /proc of another pid namespace
  if (!handle) std::fprintf(stderr, "millrace: the device image could not be loaded: %s\n", dlerror());
  if (!handle || number >= most_open) {
    close(fd);
    fd = -1;
  }
  *file = fd;
  return handle;
}

}  // namespace

namespace {

bool idle(Context& context) noexcept {
  const std::scoped_lock hold(context.streams_lock);
  return std::none_of(context.streams.begin(), context.streams.end(),
                      [](Stream* stream) { return stream->queue->completed() < stream->queue->tail(); });
}

// Images of libraries that the program has closed. A library is closed at the program's end, too, with kernels running
// perhaps, so nothing is taken away at once: only when another image comes, and no device has anything to do.
std::vector<Module*>& retired() {
  static auto* const instance = new std::vector<Module*>;
  return *instance;
}
void release_retired() noexcept {
  std::vector<Module*> gone;
  {
    const std::scoped_lock hold(modules_mutex);
    if (retired().empty()) return;
    for (int device = 0; device < device_count(); ++device)
      if (Context* context = existing_context(device); context && !idle(*context)) return;
    gone.swap(retired());
  }
  for (Module* module : gone) module->release_images();
}

VariableRange variable_range(const MrImage& image, char* begin, char* end) {
  std::vector<const MrVariable*> variables;
  const auto at = [](const MrVariable* variable) { return static_cast<char*>(variable->address); };
  for (std::uint64_t i = 0; i < image.variable_count; ++i)
    if (const MrVariable* variable = image.variables + i;
        at(variable) >= begin && at(variable) < end && variable->size != 0)
      variables.push_back(variable);
  std::sort(variables.begin(), variables.end(), [&](auto* a, auto* b) { return at(a) < at(b); });
  VariableRange range{begin, end, {}};
  const MrVariable* before = nullptr;
  for (const MrVariable* variable : variables) {
    const bool same = before && (before->kind == MR_VAR_CONSTANT) == (variable->kind == MR_VAR_CONSTANT);
    if (!same) range.runs.push_back({at(variable), at(variable)});
    range.runs.back().end = at(variable) + variable->size;
    before = variable;
  }
  return range;
}

}  // namespace

void set_variable_range_hook(VariableRangeHook hook) noexcept { range_hook.store(hook, std::memory_order_release); }

void add_module(Module* module) {
  std::scoped_lock hold(modules_mutex);
  modules().push_back(module);
}

void remove_module(Module* module) noexcept {
  std::scoped_lock hold(modules_mutex);
  std::erase(modules(), module);
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
  release_retired();
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
  const void* bytes = bytes_;
  if (observe::subscriber && observe::subscriber->device_access) [[unlikely]]
    if (const void* instrumented = instrumented_image(bytes)) bytes = instrumented;
  const std::size_t length = image_length(bytes);
  if (length == 0) {
    std::fputs("millrace: this program's device image was not made by mrcc; compile its .cu files with mrcc\n", stderr);
    return fail(cudaErrorInvalidKernelImage);
  }
  int file = -1;
  void* handle = load_from_memory(bytes, length, device, &file);
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
  // Device code reads its constants there. The variables get a key of their own below; filling them needs rights.
  if (!simt::protect::share_object(image)) {
    std::fprintf(stderr,
                 "millrace: the device image's memory could not be given a protection key (%s); run with "
                 "MILLRACE_PROTECT=0\n",
                 std::strerror(errno));
    return fail(cudaErrorInvalidKernelImage);
  }
  simt::protect::RuntimeScope access;
  if (image->services) *image->services = simt::services();
  if (observe::subscriber && observe::subscriber->device_access) [[unlikely]] {
    if (void* hook = dlsym(handle, "__mr_check_hook")) {
      const auto* version = static_cast<const std::uint32_t*>(dlsym(handle, "__mr_check_version"));
      if (!version || *version != mr_check_version) {
        std::fputs("millrace: this program was instrumented by another version of mrcc -mrcc-check; compile it again\n",
                   stderr);
        observe::subscriber->image_refused();
        return fail(cudaErrorInvalidKernelImage);
      }
      *static_cast<simt::AccessEntry*>(hook) = simt::access_entry();
    }
  }
  auto* loaded = new LoadedImage;
  loaded->image = image;
  loaded->handle = handle;
  loaded->file = file;
  if (names_ == Names::of_image && !connected_) adopt(*image);
  // Before the bytes are kept: a reset must not undo it.
  connect_managed(*this, *image, home(*image));
  connected_ = true;
  if (observe::subscriber) [[unlikely]]
    observe::subscriber->image_loaded(device, *image);
  loaded->initial.assign(image->data_begin, image->data_end);
  if (VariableRangeHook hook = range_hook.load(std::memory_order_acquire)) {
    for (const auto [begin, end] :
         {std::pair{image->data_begin, image->data_end}, std::pair{image->zero_begin, image->zero_end}})
      if (begin != end) hook(device, variable_range(*image, begin, end));
  }
  bind_functions(*image, device);
  loaded_[device].store(loaded, std::memory_order_release);
  return loaded;
}

const MrImage& Module::home(const MrImage& otherwise) const noexcept {
  for (const auto& loaded : loaded_)
    if (const LoadedImage* image = loaded.load(std::memory_order_relaxed)) return *image->image;
  return otherwise;
}

void Module::bind_functions(const MrImage& image, int device) {
  std::unordered_map<std::string_view, const MrKernel*> by_name;
  for (std::uint64_t i = 0; i < image.kernel_count; ++i) by_name.emplace(image.kernels[i].name, &image.kernels[i]);
  for (Function* function : functions_)
    if (auto it = by_name.find(function->device_name); it != by_name.end())
      function->kernel[device].store(it->second, std::memory_order_release);
}

// Names are the first loaded image's, which stays until unload().
void Module::adopt(const MrImage& image) {
  for (std::uint64_t i = 0; i < image.kernel_count; ++i) {
    auto* function = new Function;
    function->host = function;
    function->device_name = image.kernels[i].name;
    function->module = this;
    add(function);
  }
  for (std::uint64_t i = 0; i < image.variable_count; ++i) {
    const MrVariable& record = image.variables[i];
    if (record.flags & MR_VAR_IS_SLOT) continue;
    auto* variable = new Variable;
    variable->host = variable;
    if (record.kind == MR_VAR_MANAGED) {
      const std::size_t bytes = (record.size + memory::page_bytes - 1) / memory::page_bytes * memory::page_bytes;
      void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED) std::abort();  // no page is touched yet: address space is exhausted
      managed_.emplace_back(at, bytes);
      variable->host = at;
    }
    variable->device_name = record.name;
    variable->module = this;
    variable->size = record.size;
    variable->constant = record.kind == MR_VAR_CONSTANT;
    add(variable);
  }
}

void Module::unload() noexcept {
  unregister();
  release_images();
}

void Module::retire() noexcept {
  unregister();
  const std::scoped_lock hold(modules_mutex);
  std::erase(modules(), this);
  retired().push_back(this);
}

void Module::release_images() noexcept {
  // Tools keep what the image says about itself.
  if (observe::subscriber || (slow_word.load(std::memory_order_relaxed) & slow_observe)) return;
  // Handles may be kept by the program, by graphs too: what they point to stays, and has no code.
  for (Function* function : functions_)
    for (auto& kernel : function->kernel) kernel.store(nullptr, std::memory_order_release);
  for (auto& slot : loaded_) {
    LoadedImage* const loaded = slot.exchange(nullptr, std::memory_order_acq_rel);
    if (!loaded) continue;
    const MrImage& image = *loaded->image;
    for (const auto [begin, end] :
         {std::pair{image.data_begin, image.data_end}, std::pair{image.zero_begin, image.zero_end}})
      for (const auto& run : variable_range(image, begin, end).runs)
        memory::space().ranges().erase(reinterpret_cast<std::uintptr_t>(run.begin));
    dlclose(loaded->handle);
    if (loaded->file >= 0) close(loaded->file);
    delete loaded;
  }
  for (const auto& [at, bytes] : managed_) munmap(at, bytes);
  managed_.clear();
}

void Module::restore(int device) noexcept {
  const LoadedImage* image = loaded(device);
  if (!image) return;
  simt::protect::RuntimeScope access;
  if (!image->initial.empty()) std::memcpy(image->image->data_begin, image->initial.data(), image->initial.size());
  // Only what was touched has pages; these go back to the machine, and read as zeros again.
  const auto zeros = static_cast<std::size_t>(image->image->zero_end - image->image->zero_begin);
  if (zeros && madvise(image->image->zero_begin, zeros, MADV_DONTNEED) != 0)
    std::memset(image->image->zero_begin, 0, zeros);
}

void Module::prepare() noexcept {
  // The host may read managed variables before it calls the runtime at all.
  if (image_length(bytes_) == 0 || !image_has_managed(bytes_) || device_count() == 0) return;
  if (!existing_context(0)) slow_word.fetch_or(slow_unused, std::memory_order_relaxed);
  cudaError_t error = cudaSuccess;
  const LoadedImage* image = load(0, &error);
  if (!image) return;
  // It may have been loaded for an earlier file of the program: this one's variables and kernels are connected now.
  const std::scoped_lock hold(mutex_);
  simt::protect::RuntimeScope access;
  for (int device = 0; device < device_count(); ++device)
    if (LoadedImage* loaded = loaded_[device].load(std::memory_order_relaxed)) {
      connect_managed(*this, *loaded->image, home(*loaded->image));
      keep_slots(*loaded->image, loaded->initial.data());
      bind_functions(*loaded->image, device);
    }
}

}  // namespace mr::model
