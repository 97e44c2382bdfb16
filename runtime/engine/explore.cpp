#include <engine/explore.h>

#include <algorithm>
#include <vector>

#include <engine/drain.h>
#include <engine/graph_runner.h>
#include <engine/queue.h>
#include <observe/explorer.h>
#include <simt/protect.h>

namespace mr::engine {

// Has access to the queue's hand-over state.
struct Explored {
  static void unlist(Queue& queue) noexcept { queue.listed_.store(false, std::memory_order_seq_cst); }
};

namespace {

thread_local bool in_blocks = false;  // the thread runs device code

struct InBlocks {
  InBlocks() { in_blocks = true; }
  ~InBlocks() { in_blocks = false; }
};

void report(Domain& domain, simt::Fault fault, const simt::Grid& grid) noexcept {
  if (fault != simt::Fault::none && fault != simt::Fault::interrupted) domain.on_fault(domain, fault, grid);
}

std::uint64_t cluster_blocks(const simt::Grid& grid) noexcept {
  return grid.cluster ? std::uint64_t{grid.cluster[0]} * grid.cluster[1] * grid.cluster[2] : 1;
}

void run_finite(Domain& domain, const simt::Grid& grid, GraphImage* image) noexcept {
  const std::uint64_t order = observe::explorer->block_order();
  const std::uint64_t units = grid.total_blocks / cluster_blocks(grid);
  const std::uint64_t count = std::min<std::uint64_t>(units, order & 0xff);
  const auto run = [&](std::uint64_t first, std::uint64_t blocks) {
    const ImageScope scope(image);
    const simt::Fault fault = [&] {
      const InBlocks in;
      return simt::run_blocks(grid, first, blocks);
    }();
    report(domain, fault, grid);
    return fault == simt::Fault::none;
  };
  if (count <= 1) {
    run(0, grid.total_blocks);
    return;
  }
  const std::uint64_t unit = cluster_blocks(grid);
  const auto run_slice = [&](std::uint64_t slice) {
    const std::uint64_t begin = slice * units / count, end = (slice + 1) * units / count;
    return run(begin * unit, (end - begin) * unit);
  };
  if ((order >> 8 & 0xff) == 3) {
    observe::explorer->at_once(
        static_cast<unsigned>(count),
        [](void* data, unsigned slice) { (*static_cast<decltype(run_slice)*>(data))(slice); },
        const_cast<void*>(static_cast<const void*>(&run_slice)));
    return;
  }
  std::vector<std::uint64_t> slices(count);
  for (std::uint64_t i = 0; i < count; ++i) slices[i] = i;
  if ((order >> 8 & 0xff) == 1) std::reverse(slices.begin(), slices.end());
  if ((order >> 8 & 0xff) == 2) {
    std::uint64_t state = order;
    for (std::uint64_t i = count; i > 1; --i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(slices[i - 1], slices[(state >> 33) % i]);
    }
  }
  bool first = true;
  for (const std::uint64_t slice : slices) {
    if (!first) observe::explorer->pause(true);
    first = false;
    if (!run_slice(slice)) return;
  }
}

// Blocks that may wait for others: as fibers of this thread, which pauses between their rounds.
void run_resident(Domain& domain, simt::Grid& grid, GraphImage* image) noexcept {
  constexpr std::size_t enough = 16;  // blocks at a time while they get on
  constexpr unsigned patient_rounds = 4;
  const ImageScope scope(image);
  simt::grid_open(grid);
  std::vector<simt::Resident*> living;
  std::uint64_t next = 0;
  const std::uint64_t unit = cluster_blocks(grid);
  bool stuck = false, failed = false;
  unsigned rounds = 0;  // since a block began or ended
  for (;;) {
    while (next < grid.total_blocks && !failed &&
           (living.size() < enough || stuck || (grid.flags & simt::grid_cooperative) != 0)) {
      const std::uint64_t count = std::min(unit, grid.total_blocks - next);
      simt::Resident* resident = simt::start(grid, next, count);
      if (!resident) {
        report(domain, simt::Fault::stack_error, grid);
        failed = true;
        break;
      }
      living.push_back(resident);
      stuck = false;
      rounds = 0;
      next += count;
      if (next == grid.total_blocks && (grid.flags & simt::grid_tells_begin) != 0 && domain.on_begun)
        domain.on_begun(domain, grid);
    }
    if (living.empty()) break;
    bool progress = false;
    for (std::size_t i = 0; i < living.size();) {
      const simt::StepResult result = [&] {
        const InBlocks in;
        return simt::step(living[i]);
      }();
      progress |= result.step != simt::Step::yielded || result.progress;
      if (result.step == simt::Step::faulted) {
        report(domain, result.fault, grid);
        failed = true;
      }
      if (result.step == simt::Step::yielded) {
        ++i;
        continue;
      }
      living.erase(living.begin() + static_cast<std::ptrdiff_t>(i));
      rounds = 0;
    }
    // Blocks that meet at their barriers while they wait for other blocks get on, and nowhere.
    stuck = !progress || ++rounds >= patient_rounds;
    if (!living.empty()) observe::explorer->pause(progress);
  }
  simt::grid_close(grid);
}

void as_worker(void (*body)(void*), void* data) {
  become_worker();
  const simt::protect::RuntimeScope rights;
  body(data);
}

Queue& queue_of(const void* queue) noexcept { return *static_cast<Queue*>(const_cast<void*>(queue)); }

bool front(void* handle, observe::Front& front) {
  Queue& queue = queue_of(handle);
  front = {"other", nullptr, 0, 0, 0, 0, 0, nullptr};
  if (!queue.has_work()) return false;
  const Op& op = *queue.front();
  front.tag = op.site;
  switch (op.kind) {
  case OpKind::kernel:
    front.kind = "kernel";
    front.name = static_cast<const KernelOp&>(op).grid.kernel->name;
    front.blocks = static_cast<const KernelOp&>(op).grid.total_blocks;
    break;
  case OpKind::copy:
    front.kind = "copy";
    front.bytes = static_cast<const CopyOp&>(op).copy.bytes;
    break;
  case OpKind::copy_box:
    front.kind = "copy";
    front.bytes = static_cast<const CopyBoxOp&>(op).copy.bytes();
    break;
  case OpKind::fill:
    front.kind = "fill";
    front.bytes = static_cast<const FillOp&>(op).fill.bytes();
    break;
  case OpKind::host: front.kind = "host"; break;
  case OpKind::wait:
    front.kind = "wait";
    front.on = static_cast<const WaitOp&>(op).on;
    break;
  case OpKind::custom: GraphRun::describe(static_cast<const CustomOp&>(op), front); break;
  case OpKind::stamp:
  case OpKind::jump: break;
  }
  return true;
}

void run_front(void* handle) {
  Queue& queue = queue_of(handle);
  Explored::unlist(queue);
  if (!queue.try_claim(true)) return;  // whoever has it lists it again if something is left
  thread_local Runner runner;
  runner.worker = true;
  runner.depth = 1000;  // a wait never runs what it waits for: the explorer decides
  Drain result = Drain::empty;
  if (queue.has_work()) {
    Op* op = queue.front();
    if (op->kind == OpKind::kernel && !queue.domain()->dead()) {
      simt::Grid& grid = static_cast<KernelOp*>(op)->grid;
      if (grid.flags & simt::grid_in_stream) grid.site = op->site;
      if (simt::protect::active()) {
        const auto* args = static_cast<const char*>(grid.args);
        const auto* record = reinterpret_cast<const char*>(op);
        if (args >= record && args < record + std::size_t{op->lines} * 64) grid.flags |= simt::grid_args_readable;
      }
      run_explored(*queue.domain(), grid, (op->flags & op_workers_only) != 0, queue.image());
      queue.complete_front(op);
      result = Drain::reached;
    } else {
      result = drain(queue, runner, queue.completed() + 1);
    }
  }
  if (runner.in_host_function) runner.leave_host_function();
  settle(queue, runner, result);
}

bool reached(const void* queue, std::uint64_t sequence) { return queue_of(queue).completed() >= sequence; }

constexpr observe::ExploredEngine engine_table = {as_worker, front, run_front, reached};

}  // namespace

void explored_ready(Queue& queue) noexcept {
  observe::explorer->ready(&queue);
  if (!in_blocks) return;
  in_blocks = false;
  observe::explorer->pause(true);
  in_blocks = true;
}

void run_explored(Domain& domain, simt::Grid& grid, bool resident, GraphImage* image) noexcept {
  if (resident)
    run_resident(domain, grid, image);
  else
    run_finite(domain, grid, image);
}

}  // namespace mr::engine

extern "C" [[gnu::visibility("default")]] const mr::observe::ExploredEngine* millrace_explore(
    const mr::observe::Explorer* tool, unsigned version) {
  if (version != mr::observe::explorer_version) return nullptr;
  mr::observe::explorer = tool;
  return &mr::engine::engine_table;
}
