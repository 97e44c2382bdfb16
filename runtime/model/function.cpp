#include <model/function.h>

#include <mutex>

#include <model/managed_variable.h>
#include <model/module.h>

namespace mr::model {
namespace {

// Open addressing, keys never removed (a dead key keeps a null value): readers need no lock. Grown by publishing a
// larger table; the old one is leaked, since readers may be in it - the sizes add up to less than the newest.
template <class Value> class AddressTable {
  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<Value*> value{nullptr};
  };
  struct Table {
    explicit Table(std::size_t n) : mask(n - 1), entries(new Entry[n]) {}
    std::size_t mask;
    Entry* entries;
  };

 public:
  Value* find(const void* key) const noexcept {
    const Table* table = table_.load(std::memory_order_acquire);
    if (!table) return nullptr;
    for (std::size_t i = hash(key) & table->mask;; i = (i + 1) & table->mask) {
      const void* k = table->entries[i].key.load(std::memory_order_acquire);  // publishes value
      if (k == key) return table->entries[i].value.load(std::memory_order_acquire);
      if (!k) return nullptr;
    }
  }
  void set(const void* key, Value* value) {
    std::scoped_lock hold(mutex_);
    Table* table = table_.load(std::memory_order_relaxed);
    if (!table || used_ * 2 >= table->mask + 1) {
      auto* larger = new Table(table ? (table->mask + 1) * 2 : 64);
      if (table) {
        for (std::size_t i = 0; i <= table->mask; ++i)
          if (const void* k = table->entries[i].key.load(std::memory_order_relaxed))
            put(*larger, k, table->entries[i].value.load(std::memory_order_relaxed));
      }
      table_.store(larger, std::memory_order_release);
      table = larger;
    }
    if (put(*table, key, value)) ++used_;
  }

 private:
  static std::size_t hash(const void* p) noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(p) >> 4) * 0x9e3779b97f4a7c15ull >> 32);
  }
  static bool put(Table& table, const void* key, Value* value) noexcept {
    for (std::size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
      const void* k = table.entries[i].key.load(std::memory_order_relaxed);
      if (k && k != key) continue;
      table.entries[i].value.store(value, std::memory_order_release);
      table.entries[i].key.store(key, std::memory_order_release);
      return !k;
    }
  }
  std::atomic<Table*> table_{nullptr};
  std::mutex mutex_;
  std::size_t used_ = 0;
};

AddressTable<Function>& functions() {
  static AddressTable<Function>* const instance = new AddressTable<Function>;
  return *instance;
}
AddressTable<Variable>& variables() {
  static AddressTable<Variable>* const instance = new AddressTable<Variable>;
  return *instance;
}

template <class Object> const LoadedImage* load_for(Object& object, int device, cudaError_t* error) noexcept {
  return object.module->load(device, error);
}

}  // namespace

Function* find_function(const void* host) noexcept { return functions().find(host); }
Variable* find_variable(const void* host) noexcept { return variables().find(host); }

void Module::add(Function* function) {
  functions_.push_back(function);
  model::functions().set(function->host, function);
  model::functions().set(function, function);
}
void Module::add(Variable* variable) {
  variables_.push_back(variable);
  model::variables().set(variable->host, variable);
}
void Module::unregister() noexcept {
  forget_managed_variables(*this);
  for (Function* f : functions_)
    if (find_function(f->host) == f) {
      model::functions().set(f->host, nullptr);
      model::functions().set(f, nullptr);
    }
  for (Variable* v : variables_)
    if (find_variable(v->host) == v) model::variables().set(v->host, nullptr);
}

const MrKernel* kernel_on(Function& function, int device, cudaError_t* error) noexcept {
  if (const MrKernel* kernel = function.kernel[device].load(std::memory_order_acquire)) return kernel;
  if (!load_for(function, device, error)) return nullptr;
  if (const MrKernel* kernel = function.kernel[device].load(std::memory_order_acquire)) return kernel;
  *error = cudaErrorInvalidDeviceFunction;
  return nullptr;
}

void* variable_on(Variable& variable, int device, cudaError_t* error) noexcept {
  const LoadedImage* loaded = load_for(variable, device, error);
  if (!loaded) return nullptr;
  if (variable.managed) return const_cast<void*>(variable.host);
  const std::string_view name = variable.device_name;
  for (std::uint64_t i = 0; i < loaded->image->variable_count; ++i)
    if (name == loaded->image->variables[i].name) return loaded->image->variables[i].address;
  *error = cudaErrorInvalidSymbol;
  return nullptr;
}

}  // namespace mr::model
