#include <model/managed_variable.h>

#include <cstring>
#include <string_view>

#include <memory/space.h>
#include <model/image_file.h>
#include <model/module.h>

namespace mr::model {

using memory::space;

namespace {

constexpr std::string_view managed_section = "mr_managed";  // compiler/passes/names.h

bool is_slot(const MrVariable& record) noexcept {
  return record.kind == MR_VAR_MANAGED && (record.flags & MR_VAR_IS_SLOT);
}
bool is_value(const MrVariable& record) noexcept {
  return record.kind == MR_VAR_MANAGED && !(record.flags & MR_VAR_IS_SLOT);
}

Variable* host_variable(Module& module, const char* name) noexcept {
  for (Variable* variable : module.variables())
    if (std::strcmp(variable->device_name, name) == 0) return variable;
  return nullptr;
}

void* value_in(const MrImage& image, const char* name) noexcept {
  for (std::uint64_t i = 0; i < image.variable_count; ++i)
    if (is_value(image.variables[i]) && std::strcmp(image.variables[i].name, name) == 0)
      return image.variables[i].address;
  return nullptr;
}

// Device code may use the variable: it lies among the host's own, so its pages as a whole get the key of shared memory.
void share_pages(const void* address, std::size_t bytes) noexcept {
  const int key = space().shared_key();
  if (key < 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(address) / memory::page_bytes * memory::page_bytes;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(address) + bytes + memory::page_bytes - 1) /
                             memory::page_bytes * memory::page_bytes;
  memory::set_access(reinterpret_cast<void*>(begin), end - begin, key);
}

}  // namespace

bool image_has_managed(const void* image) noexcept { return image_has_section(image, managed_section); }

void connect_managed(Module& module, const MrImage& image, const MrImage& home) noexcept {
  for (std::uint64_t i = 0; i < image.variable_count; ++i) {
    const MrVariable& record = image.variables[i];
    if (!is_slot(record) && !is_value(record)) continue;
    Variable* variable = host_variable(module, record.name);
    void* const host = variable ? const_cast<void*>(variable->host) : value_in(home, record.name);
    if (is_slot(record)) {
      std::memcpy(record.address, &host, sizeof host);
      continue;
    }
    if (!variable || variable->managed) continue;
    variable->managed = true;
    std::memcpy(host, record.address, record.size);
    const auto begin = reinterpret_cast<std::uintptr_t>(host);
    space().ranges().insert(
        {begin, begin + record.size, nullptr, 0, static_cast<std::uint8_t>(memory::Kind::managed_variable), 0});
    share_pages(host, record.size);
  }
}

void keep_slots(const MrImage& image, char* initial) noexcept {
  for (std::uint64_t i = 0; i < image.variable_count; ++i) {
    const MrVariable& record = image.variables[i];
    if (!is_slot(record)) continue;
    const auto* const slot = static_cast<const char*>(record.address);
    std::memcpy(initial + (slot - image.data_begin), slot, sizeof(void*));
  }
}

void forget_managed_variables(Module& module) noexcept {
  for (Variable* variable : module.variables())
    if (variable->managed) space().ranges().erase(reinterpret_cast<std::uintptr_t>(variable->host));
}

}  // namespace mr::model
