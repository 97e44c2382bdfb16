#include <model/device_launch.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <engine/queue.h>
#include <memory/copy.h>
#include <model/context.h>
#include <model/device.h>
#include <model/device_graph.h>
#include <model/module.h>
#include <observe/subscriber.h>
#include <simt/grid.h>

namespace mr::model {
namespace {

constexpr std::uint64_t tail_stream = 3;  // cudaStreamTailLaunch
constexpr std::uint64_t graph_streams = std::uint64_t{0xff} << 56;
constexpr unsigned max_depth = 24;  // of grids that launch grids
constexpr std::size_t arguments_at = 128;

struct Child {
  enum class Kind : std::uint8_t { kernel, copy, fill } kind = Kind::kernel;
  const MrKernel* kernel = nullptr;
  dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::vector<char> arguments;  // packed
  memory::LinearCopy copy{};
  memory::Fill fill{};
};

// One launch of a kernel that may launch.
struct Family {
  Context* context = nullptr;
  unsigned depth = 0;  // grids above this one
  std::uint64_t grid_ids = 0;
  std::uint32_t site = 0;  // of the launch by the host, for tools
  std::mutex mutex;        // guards the lists while the grid runs
  std::vector<Child> children, tails;
};

void* tagged(Family* family) noexcept { return reinterpret_cast<char*>(family) + 1; }
Family* family_of(void* launch) noexcept { return reinterpret_cast<Family*>(static_cast<char*>(launch) - 1); }

engine::OpResult run_children(engine::CustomOp& op, engine::Queue& queue, engine::Runner&, bool dead);

template <class Into> engine::CustomOp* push_family(Into& into, Family* family) {
  auto* op = into.template push<engine::CustomOp>(engine::OpKind::custom);
  op->flags = engine::op_even_if_dead;
  op->run = run_children;
  op->data[0] = family;
  return op;
}

void push_kernel(engine::Appender& into, const Child& child, Family& parent, bool tail) {
  const MrKernel& kernel = *child.kernel;
  auto* op = into.push<engine::KernelOp>(engine::OpKind::kernel, arguments_at + child.arguments.size());
  char* arguments = reinterpret_cast<char*>(op) + arguments_at;
  if (!child.arguments.empty()) std::memcpy(arguments, child.arguments.data(), child.arguments.size());
  simt::Grid& grid = op->grid;
  grid = {};
  grid.kernel = &kernel;
  grid.args = arguments;
  const unsigned extents[6] = {child.grid.x, child.grid.y, child.grid.z, child.block.x, child.block.y, child.block.z};
  for (int i = 0; i < 3; ++i) {
    grid.grid[i] = extents[i];
    grid.block[i] = extents[3 + i];
  }
  grid.dynamic_shared = child.dynamic_shared;
  grid.flags = simt::grid_in_stream;
  grid.total_blocks = std::uint64_t{child.grid.x} * child.grid.y * child.grid.z;
  grid.grid_id = into.sequence();
  if (observe::subscriber) [[unlikely]] {
    // What it touches is part of what the host launched.
    static std::atomic<std::uint64_t> next_id{1};
    grid.grid_id = simt::grid_id_of_child | next_id.fetch_add(1, std::memory_order_relaxed);
    grid.site = parent.site;
  }
  grid.device = &parent.context->device;
  Family* own = nullptr;
  if (concerns_family(kernel)) {
    own = new Family;
    own->context = parent.context;
    own->depth = parent.depth + (tail ? 0 : 1);
    own->site = parent.site;
    grid.launch = tagged(own);
  }
  if (simt::needs_residency(grid)) op->flags |= engine::op_workers_only;
  if (own) push_family(into, own);
}

void push_child(engine::Appender& into, const Child& child, Family& parent, bool tail) {
  switch (child.kind) {
  case Child::Kind::kernel: return push_kernel(into, child, parent, tail);
  case Child::Kind::copy: into.push<engine::CopyOp>(engine::OpKind::copy)->copy = child.copy; return;
  case Child::Kind::fill: into.push<engine::FillOp>(engine::OpKind::fill)->fill = child.fill; return;
  }
}

// The last operation of the children's queue.
engine::OpResult end_family(engine::CustomOp& op, engine::Queue& own, engine::Runner&, bool) {
  auto* parents = static_cast<engine::Queue*>(op.data[0]);
  engine::give_queue(&own);
  parents->finish_asynchronous();
  return engine::OpResult::done;
}

engine::OpResult run_children(engine::CustomOp& op, engine::Queue& queue, engine::Runner&, bool dead) {
  const std::unique_ptr<Family> family(static_cast<Family*>(op.data[0]));
  if (dead || (family->children.empty() && family->tails.empty())) return engine::OpResult::done;
  // Children have the launch's priority.
  const unsigned given = op.flags >> engine::op_level_shift;
  engine::Queue* own = engine::take_queue(queue.domain(), given ? given - 1 : queue.level());
  engine::Appender appender(*own);
  for (const Child& child : family->children) push_child(appender, child, *family, false);
  for (const Child& child : family->tails) push_child(appender, child, *family, true);
  auto* end = appender.push<engine::CustomOp>(engine::OpKind::custom);
  end->flags = engine::op_even_if_dead;
  end->run = end_family;
  end->data[0] = &queue;
  return engine::OpResult::asynchronous;
}

// Kernels by the address that device code has of them: their entry for one lane.
const MrKernel* kernel_at(const void* address, int device) {
  static std::mutex mutex;
  static std::unordered_map<const void*, const MrKernel*> known;
  const std::scoped_lock hold(mutex);
  if (const auto found = known.find(address); found != known.end()) return found->second;
  struct Search {
    const void* address;
    int device;
    const MrKernel* found;
  } search{address, device, nullptr};
  for_each_module(
      [](Module& module, void* data) {
        auto& s = *static_cast<Search*>(data);
        const LoadedImage* loaded = module.loaded(s.device);
        if (!loaded || s.found) return;
        for (std::uint64_t i = 0; i < loaded->image->kernel_count; ++i)
          if (reinterpret_cast<const void*>(loaded->image->kernels[i].run_lane) == s.address)
            s.found = &loaded->image->kernels[i];
      },
      &search);
  if (search.found) known.emplace(address, search.found);
  return search.found;
}

cudaError_t check(const Child& child) noexcept {
  const unsigned extents[3] = {child.grid.x, child.grid.y, child.grid.z};
  for (int i = 0; i < 3; ++i)
    if (extents[i] == 0 || extents[i] > shape::max_grid[i]) return cudaErrorInvalidConfiguration;
  const unsigned threads[3] = {child.block.x, child.block.y, child.block.z};
  for (int i = 0; i < 3; ++i)
    if (threads[i] == 0 || threads[i] > static_cast<unsigned>(shape::max_block[i]))
      return cudaErrorInvalidConfiguration;
  const std::uint64_t all = std::uint64_t{threads[0]} * threads[1] * threads[2];
  if (all > shape::max_threads_per_block) return cudaErrorInvalidConfiguration;
  if (child.kernel->max_threads && all > child.kernel->max_threads) return cudaErrorLaunchOutOfResources;
  if (std::uint64_t{child.dynamic_shared} + child.kernel->static_shared > shape::shared_per_block_opt_in)
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

int record(Family& family, Child&& child, std::uint64_t stream) {
  const std::scoped_lock hold(family.mutex);
  (stream == tail_stream ? family.tails : family.children).push_back(std::move(child));
  return cudaSuccess;
}

template <class T> int store(std::uint64_t to, T value) noexcept {
  std::construct_at(reinterpret_cast<T*>(to), value);
  return cudaSuccess;
}

// Handles of streams and events that live in device code: all work of a grid is in one order, so they are only names.
std::uint64_t new_handle() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed) << 12;
}

}  // namespace

void launch_family(const LaunchRequest& request, const MrKernel& kernel, Stream& stream) {
  auto family = std::make_unique<Family>();
  family->context = stream.context;
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::KernelOp>(engine::OpKind::kernel,
                                            kernel_op_bytes(kernel, has_clusters(request, kernel)));
  fill_kernel_op(*op, request, kernel, *stream.context);
  op->grid.grid_id = enqueue.sequence();
  op->grid.launch = tagged(family.get());
  family->site = op->site;
  if (request.has_priority) give_priority(*op, enqueue.queue(), request.priority);
  auto* children = push_family(enqueue, family.release());
  if (request.has_priority) give_priority(*children, enqueue.queue(), request.priority);
}

void launch_family_of_node(engine::Appender& appender, engine::KernelOp& op) {
  auto family = std::make_unique<Family>();
  family->context = &context_of(*op.grid.device);
  family->site = op.grid.site;
  op.grid.launch = tagged(family.get());
  push_family(appender, family.release());
}

int device_launch(const simt::Grid& parent, const void* kernel, const std::uint32_t* grid_block, void* const* arguments,
                  std::uint64_t shared_bytes, std::uint64_t stream) {
  // A kernel of a graph that others may follow before it has ended keeps what it has launched from starting.
  if (!is_family(parent.launch)) return cudaErrorNotSupported;
  Family& family = *family_of(parent.launch);
  if (stream & graph_streams) return cudaErrorInvalidValue;
  Child child;
  child.kernel = kernel_at(kernel, family.context->ordinal);
  if (!child.kernel) return cudaErrorInvalidDeviceFunction;
  child.grid = {grid_block[0], grid_block[1], grid_block[2]};
  child.block = {grid_block[3], grid_block[4], grid_block[5]};
  if (shared_bytes > shape::shared_per_block_opt_in) return cudaErrorInvalidValue;
  child.dynamic_shared = static_cast<std::uint32_t>(shared_bytes);
  if (const cudaError_t error = check(child)) return error;
  if (family.depth + 1 >= max_depth && stream != tail_stream) return cudaErrorLaunchMaxDepthExceeded;
  if (!family.context->domain.takes_launch()) return cudaErrorLaunchPendingCountExceeded;
  child.arguments.resize(child.kernel->args_size);
  for (std::uint32_t i = 0; i < child.kernel->param_count; ++i) {
    const MrParam& p = child.kernel->params[i];
    std::memcpy(child.arguments.data() + p.offset, arguments[i], p.size);
  }
  return record(family, std::move(child), stream);
}

int device_api(const simt::Grid& caller, std::uint32_t function, const std::uint64_t* a) {
  const int device = caller.device->ordinal;
  switch (function) {  // numbers: millrace/device/runtime_api.h
  case 2:              // cudaStreamCreateWithFlags: device code has none that block
    return a[1] == cudaStreamNonBlocking ? store(a[0], new_handle()) : static_cast<int>(cudaErrorInvalidValue);
  case 4:  // cudaEventCreateWithFlags: for order only
    return a[1] & cudaEventDisableTiming ? store(a[0], new_handle()) : static_cast<int>(cudaErrorInvalidValue);
  case 3:    // cudaStreamDestroy
  case 5:    // cudaEventRecord
  case 6:    // cudaEventDestroy
  case 7: {  // cudaStreamWaitEvent
    const bool named = function == 3 || function == 6 ? a[0] != 0 : true;
    return named ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }
  case 8: return store(a[0], device);
  case 9: return store(a[0], device_count());
  case 10: {
    int value = 0;
    if (!attribute(static_cast<int>(a[2]), static_cast<cudaDeviceAttr>(a[1]), &value)) return cudaErrorInvalidValue;
    return store(a[0], value);
  }
  case 11:
  case 12: {
    if (!is_family(caller.launch)) return cudaErrorNotSupported;
    Child child;
    child.kind = function == 11 ? Child::Kind::copy : Child::Kind::fill;
    if (function == 11) {
      child.copy = {reinterpret_cast<void*>(a[0]), reinterpret_cast<const void*>(a[1]), a[2]};
      return a[2] == 0 ? cudaSuccess : record(*family_of(caller.launch), std::move(child), a[4]);
    }
    child.fill = memory::linear_fill(reinterpret_cast<void*>(a[0]), static_cast<std::uint32_t>(a[1]) & 0xff, a[2]);
    return a[2] == 0 ? cudaSuccess : record(*family_of(caller.launch), std::move(child), a[3]);
  }
  case 13: return launch_from_device(caller, reinterpret_cast<GraphExec*>(a[0]), a[1]);
  case 14: return store(a[0], current_executable());
  case 18: return store(a[0], 13000);
  case 19: return update_nodes(reinterpret_cast<const cudaGraphKernelNodeUpdate*>(a[0]), a[1]);
  default: return cudaErrorNotSupported;
  }
}

}  // namespace mr::model
