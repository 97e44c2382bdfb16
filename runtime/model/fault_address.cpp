#include <model/fault_address.h>

#include <cstdint>
#include <cstdio>

#include <memory/space.h>
#include <model/code_site.h>

namespace mr::model {

using memory::Block;
using memory::Heap;
using memory::Kind;
using memory::Pointer;
using memory::space;

namespace {

constexpr std::uintptr_t null_page = 65536;

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// " allocated by main (app+0x1234)"; nothing where the call isn't known.
void describe_origin(const Block& block, char* text, std::size_t bytes) {
  text[0] = 0;
  if (!block.site) return;
  char site[512];
  describe_call_site(site, sizeof site, block.site);
  std::snprintf(text, bytes, " allocated by %s", site);
}

// The live block of least distance so far.
struct Nearest {
  std::uintptr_t address;
  Block block;
  std::uintptr_t distance = ~std::uintptr_t{0};
  bool behind = false;  // the address is behind the block

  void look_at(Heap& heap) {
    heap.each_live([this](const Block& b) {
      const std::uintptr_t begin = number(b.base), end = begin + b.size;
      const std::uintptr_t away = address < begin ? begin - address : address - end;
      if (address < begin || address >= end) {
        if (away >= distance) return;
        distance = away;
        behind = address >= end;
        block = b;
      }
    });
  }
};

}  // namespace

void describe_fault_address(const void* address, char* text, std::size_t bytes) {
  text[0] = 0;
  const std::uintptr_t at = number(address);
  if (at < null_page) {
    std::snprintf(text, bytes, "The pointer was null.");
    return;
  }
  if (!space().ready()) return;
  const Pointer found = space().find(address);
  char origin[600];
  if (found.block.base && found.block.live && at - number(found.block.base) < found.block.size) {
    describe_origin(found.block, origin, sizeof origin);
    std::snprintf(text, bytes, "That is byte %llu of %zu%s.",
                  static_cast<unsigned long long>(at - number(found.block.base)), found.block.size, origin);
    return;
  }
  if (found.kind == Kind::pageable) {
    std::snprintf(text, bytes, "No device has memory there; kernels can't use the host's own.");
    return;
  }
  Nearest nearest{at, {}};
  if (found.kind == Kind::device && found.device >= 0) nearest.look_at(space().device_heap(found.device));
  if (found.kind == Kind::managed) nearest.look_at(space().managed_heap());
  if (found.kind == Kind::pinned) nearest.look_at(space().pinned_heap());
  if (!nearest.block.base) {
    std::snprintf(text, bytes, "Nothing is allocated there.");
    return;
  }
  describe_origin(nearest.block, origin, sizeof origin);
  std::snprintf(text, bytes, "It is %llu bytes %s the nearest allocation, %zu bytes%s.",
                static_cast<unsigned long long>(nearest.distance), nearest.behind ? "behind the end of" : "before",
                nearest.block.size, origin);
}

}  // namespace mr::model
