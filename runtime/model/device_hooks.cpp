#include <model/device_hooks.h>

#include <model/device_heap.h>
#include <model/device_launch.h>
#include <model/fault_address.h>
#include <model/graph.h>
#include <model/memory_array.h>
#include <model/programmatic.h>
#include <observe/subscriber.h>
#include <simt/grid.h>

namespace mr::model {

void install_device_hooks() noexcept {
  simt::Hooks hooks{};
  hooks.heap_region = device_heap_region;
  hooks.texture_fetch = texture_fetch;
  hooks.surface_access = surface_access;
  hooks.graph_set_conditional = set_conditional;
  hooks.pdl_trigger = programmatic_trigger;
  hooks.pdl_ready = programmatic_ready;
  hooks.device_launch = device_launch;
  hooks.device_api = device_api;
  hooks.describe_address = describe_fault_address;
  simt::set_hooks(hooks);
  if (observe::subscriber && observe::subscriber->device_access) {
    simt::set_access_hook(observe::subscriber->device_access);
    memory::set_element_hook(simt::note_element);
  }
}

}  // namespace mr::model
