// The device heap: 4 KiB pages. Requests up to 2 KiB come from pages that are split into equal cells, larger ones are
// runs of pages. All bookkeeping lies outside the region, where a kernel's stray writes don't reach it.
#include <simt/heap.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include <simt/executor.h>
#include <simt/hooks.h>
#include <simt/lock.h>

namespace mr::simt {
namespace {

constexpr std::size_t page_bytes = 4096, smallest_cell = 16, most_cells = page_bytes / smallest_cell;
constexpr std::uint32_t none = ~std::uint32_t{0};
// Four sizes between powers of two: at most a quarter is wasted.
constexpr std::uint16_t cell_sizes[] = {16,  32,  48,  64,  80,  96,  112, 128, 160,  192,  224,
                                        256, 320, 384, 448, 512, 640, 768, 896, 1024, 1360, 2048};
constexpr int class_count = sizeof cell_sizes / sizeof *cell_sizes;

enum class Kind : std::uint8_t { free, cells, run, run_inside };

struct Page {
  Kind kind;
  std::uint8_t size_class;
  std::uint16_t used;                    // cells in use
  std::uint32_t pages;                   // of the run that begins here
  std::uint32_t previous, next;          // pages of the class with free cells
  std::uint64_t cells[most_cells / 64];  // a bit for each cell in use
};

int class_of(std::size_t bytes) noexcept {
  for (int i = 0; i < class_count; ++i)
    if (bytes <= cell_sizes[i]) return i;
  return -1;
}

struct Heap {
  Lock lock;
  char* base = nullptr;
  std::uint32_t page_count = 0;
  std::uint32_t hint = 0;  // no free page lies below
  std::unique_ptr<Page[]> pages;
  std::uint32_t partial[class_count];  // first page with free cells

  void* allocate(std::size_t bytes) noexcept {
    const int size_class = class_of(bytes);
    return size_class < 0 ? allocate_run(bytes) : allocate_cell(size_class);
  }

  // The first of `count` consecutive free pages, or none.
  std::uint32_t find_run(std::uint32_t count) noexcept {
    while (hint < page_count && pages[hint].kind != Kind::free) ++hint;
    std::uint32_t length = 0;
    for (std::uint32_t i = hint; i < page_count; ++i) {
      if (pages[i].kind != Kind::free) {
        // Runs are skipped as a whole.
        if (pages[i].kind == Kind::run) i += pages[i].pages - 1;
        length = 0;
      } else if (++length == count) {
        return i + 1 - count;
      }
    }
    return none;
  }

  void* allocate_run(std::size_t bytes) noexcept {
    if (bytes > std::size_t{page_count} * page_bytes) return nullptr;
    const auto count = static_cast<std::uint32_t>((bytes + page_bytes - 1) / page_bytes);
    const std::uint32_t first = find_run(count);
    if (first == none) return nullptr;
    pages[first].kind = Kind::run;
    pages[first].pages = count;
    for (std::uint32_t i = 1; i < count; ++i) pages[first + i].kind = Kind::run_inside;
    return base + std::size_t{first} * page_bytes;
  }

  void* allocate_cell(int size_class) noexcept {
    std::uint32_t index = partial[size_class];
    if (index == none) {
      index = find_run(1);
      if (index == none) return nullptr;
      Page& fresh = pages[index];
      fresh = Page{};
      fresh.kind = Kind::cells;
      fresh.size_class = static_cast<std::uint8_t>(size_class);
      fresh.previous = fresh.next = none;
      partial[size_class] = index;
    }
    Page& page = pages[index];
    unsigned cell = 0;
    for (unsigned word = 0; word < most_cells / 64; ++word)
      if (~page.cells[word]) {
        cell = word * 64 + static_cast<unsigned>(std::countr_one(page.cells[word]));
        break;
      }
    page.cells[cell / 64] |= std::uint64_t{1} << cell % 64;
    if (++page.used == page_bytes / cell_sizes[size_class]) unlink(index);
    return base + std::size_t{index} * page_bytes + std::size_t{cell} * cell_sizes[size_class];
  }

  void unlink(std::uint32_t index) noexcept {
    Page& page = pages[index];
    if (page.previous != none)
      pages[page.previous].next = page.next;
    else
      partial[page.size_class] = page.next;
    if (page.next != none) pages[page.next].previous = page.previous;
    page.previous = page.next = none;
  }
  void link(std::uint32_t index) noexcept {
    Page& page = pages[index];
    page.previous = none;
    page.next = partial[page.size_class];
    if (page.next != none) pages[page.next].previous = index;
    partial[page.size_class] = index;
  }

  void free_page(std::uint32_t index) noexcept {
    pages[index].kind = Kind::free;
    if (index < hint) hint = index;
  }

  // False when `pointer` is not the start of an allocation.
  bool release(char* pointer) noexcept {
    if (pointer < base || pointer >= base + std::size_t{page_count} * page_bytes) return false;
    const auto offset = static_cast<std::size_t>(pointer - base);
    const auto index = static_cast<std::uint32_t>(offset / page_bytes);
    Page& page = pages[index];
    if (page.kind == Kind::run) {
      if (offset % page_bytes) return false;
      for (std::uint32_t i = page.pages; i-- > 0;) free_page(index + i);
      return true;
    }
    if (page.kind != Kind::cells) return false;
    const std::size_t size = cell_sizes[page.size_class], cell = offset % page_bytes / size;
    if (offset % page_bytes % size || !(page.cells[cell / 64] >> cell % 64 & 1)) return false;
    page.cells[cell / 64] &= ~(std::uint64_t{1} << cell % 64);
    const std::size_t all = page_bytes / size;
    if (page.used-- == all) link(index);
    if (page.used == 0) {
      unlink(index);
      free_page(index);
    }
    return true;
  }
};

}  // namespace

bool heap_in_use(const DeviceState& device) noexcept {
  // A const atomic_ref is C++26; nothing is written.
  return std::atomic_ref<void*>(const_cast<DeviceState&>(device).heap).load(std::memory_order_relaxed);
}

bool heap_open(DeviceState& device, void* region, std::size_t bytes) noexcept {
  Heap* heap = new (std::nothrow) Heap;
  if (!heap) return false;
  heap->page_count = static_cast<std::uint32_t>(bytes / page_bytes);
  heap->base = static_cast<char*>(region);
  heap->pages.reset(new (std::nothrow) Page[heap->page_count]{});
  if (!heap->pages) {
    delete heap;
    return false;
  }
  for (std::uint32_t& first : heap->partial) first = none;
  // Release: pairs with heap_of.
  std::atomic_ref<void*>(device.heap).store(heap, std::memory_order_release);
  return true;
}

void heap_close(DeviceState& device) noexcept {
  delete static_cast<Heap*>(device.heap);
  device.heap = nullptr;
}

namespace {

Lock create_lock;

// The device's heap, made on first use; null without memory.
Heap* heap_of(DeviceState& device) noexcept {
  std::atomic_ref<void*> slot(device.heap);
  if (void* heap = slot.load(std::memory_order_acquire)) return static_cast<Heap*>(heap);
  std::lock_guard guard(create_lock);
  if (void* heap = slot.load(std::memory_order_relaxed)) return static_cast<Heap*>(heap);
  std::size_t size = 0;
  void* region = hooks().heap_region ? hooks().heap_region(&device, &size) : nullptr;
  if (!region || !heap_open(device, region, size)) return nullptr;
  return static_cast<Heap*>(slot.load(std::memory_order_relaxed));
}

}  // namespace

void* device_malloc(Executor& e, std::uint64_t bytes) noexcept {
  if (bytes == 0) return nullptr;
  e.uninterruptible = e.uninterruptible + 1;
  Heap* heap = heap_of(*e.grid->device);
  if (!heap) {
    e.uninterruptible = e.uninterruptible - 1;
    return nullptr;
  }
  heap->lock.lock();
  void* result = heap->allocate(bytes);
  heap->lock.unlock();
  e.uninterruptible = e.uninterruptible - 1;
  return result;
}

void device_free(Executor& e, void* pointer) noexcept {
  if (!pointer) return;
  Heap* heap = static_cast<Heap*>(std::atomic_ref<void*>(e.grid->device->heap).load(std::memory_order_acquire));
  bool freed = false;
  if (heap) {
    e.uninterruptible = e.uninterruptible + 1;
    heap->lock.lock();
    freed = heap->release(static_cast<char*>(pointer));
    heap->lock.unlock();
    e.uninterruptible = e.uninterruptible - 1;
  }
  if (freed) return;
  e.raw.note = "free() in device code was given a pointer that malloc() in device code had not returned, or that was "
               "freed already.";
  abandon(&e, Fault::trap, reinterpret_cast<std::uint64_t>(pointer));
}

}  // namespace mr::simt
