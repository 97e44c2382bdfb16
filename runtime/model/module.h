// A registered device image: where its bytes are, and its loaded copy on each device.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <driver_types.h>
#include <model/function.h>
#include <simt/abi.h>

namespace mr::model {

// One image as one device sees it. Its variables are that device's own.
struct LoadedImage {
  const MrImage* image = nullptr;
  void* handle = nullptr;
  int file = -1;              // kept open for debuggers, see load_from_memory; -1: none
  std::vector<char> initial;  // bytes of [data_begin, data_end) as loaded, for cudaDeviceReset
};

// Thread-safe. Registered by static constructors of the program (or a dlopened library) before any of its kernels is
// launched.
class Module {
 public:
  // Who names the kernels and variables: the program's constructors, or nobody but the image's own tables.
  enum class Names { registered, of_image };

  explicit Module(const void* bytes, Names names = Names::registered) : bytes_(bytes), names_(names) {}
  // Loads the image on a device unless it is loaded. On failure returns null, sets *error and says on standard error
  // why, once.
  const LoadedImage* load(int device, cudaError_t* error) noexcept;
  const LoadedImage* loaded(int device) const noexcept { return loaded_[device].load(std::memory_order_acquire); }
  // Gives all device variables of a device their initial values again (cudaDeviceReset).
  void restore(int device) noexcept;
  // All that a file of the program has of the image is registered: managed variables get their initial values.
  void prepare() noexcept;
  // Functions and variables are forgotten.
  void unregister() noexcept;
  // unregister(), and the image is taken out of memory on all devices. Nothing of it may be running or queued.
  void unload() noexcept;
  // The library that registered it is being closed: unregister(), and the rest of unload() when another image is loaded
  // and all devices are idle.
  void retire() noexcept;
  // The second half of unload().
  void release_images() noexcept;

  void add(Function* function);
  void add(Variable* variable);
  const std::vector<Function*>& functions() const noexcept { return functions_; }
  const std::vector<Variable*>& variables() const noexcept { return variables_; }

 private:
  void adopt(const MrImage& image);
  // The image of the first device that has one, or the other. Under mutex_.
  const MrImage& home(const MrImage& otherwise) const noexcept;
  // The registered functions find their kernels in the image.
  void bind_functions(const MrImage& image, int device);

  const void* const bytes_;
  const Names names_;
  std::mutex mutex_;        // loading
  bool connected_ = false;  // managed variables have been set up, under mutex_
  std::atomic<LoadedImage*> loaded_[max_devices] = {};
  cudaError_t failed_[max_devices] = {};
  std::vector<Function*> functions_;
  std::vector<Variable*> variables_;
  // Names::of_image: what stands for the host's variables of managed memory, to be unmapped.
  std::vector<std::pair<void*, std::size_t>> managed_;
};

// All registered modules; the callback runs under a lock.
void for_each_module(void (*visit)(Module& module, void* data), void* data);
void add_module(Module* module);
void remove_module(Module* module) noexcept;
// Where device variables of a loaded image lie: the pages, and the bytes of neighbours of one kind, device or constant.
struct VariableRange {
  char *begin, *end;
  struct Run {
    char *begin, *end;
  };
  std::vector<Run> runs;
};
// Called for each range of a loaded image (memory room registration, protection keys).
using VariableRangeHook = void (*)(int device, const VariableRange& range);
void set_variable_range_hook(VariableRangeHook hook) noexcept;

}  // namespace mr::model
