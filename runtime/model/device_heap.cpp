#include <model/device_heap.h>

#include <memory/space.h>
#include <model/context.h>
#include <model/device.h>
#include <simt/heap.h>

namespace mr::model {
namespace {

// Written by the first kernel that allocates, under simt's lock; read when the device is reset.
void* regions[max_devices];

}  // namespace

void* device_heap_region(simt::DeviceState* device, std::size_t* bytes) noexcept {
  if (!memory::space().ready()) return nullptr;
  settings(device->ordinal).limit(cudaLimitMallocHeapSize, bytes);
  void* region = memory::space().device_heap(device->ordinal).allocate(*bytes, memory::BlockTag::internal);
  regions[device->ordinal] = region;
  return region;
}

void close_device_heap(int device) noexcept {
  Context* context = existing_context(device);
  if (!context || !simt::heap_in_use(context->device)) return;
  simt::heap_close(context->device);
  memory::space().device_heap(device).free(regions[device]);
  regions[device] = nullptr;
}

}  // namespace mr::model
