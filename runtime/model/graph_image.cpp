// What steps carry: storing nodes' parameters in an image, and copying images.
#include <model/graph_exec.h>

#include <algorithm>
#include <utility>

#include <engine/queue.h>
#include <model/device_graph.h>
#include <model/device_launch.h>
#include <model/host_function.h>
#include <model/stream.h>
#include <observe/subscriber.h>

namespace mr::model {
namespace {

using engine::GraphImage;
using engine::Step;
using engine::StepKind;

void call_host(engine::HostOp& op, bool dead) {
  if (dead) return;
  HostFunctionScope scope;
  op.function(op.data);
}

void free_payload(void* owner) { delete static_cast<GraphPayload*>(owner); }
// Who waits for the last launch finds the user objects given up.
void settle(void* owner) { static_cast<GraphPayload*>(owner)->users.reset(); }

}  // namespace

engine::GraphImage* make_image(engine::Domain& domain, const std::shared_ptr<GraphResources>& resources) {
  auto* image = new GraphImage(domain);
  image->payload_owner = new GraphPayload{{}, resources, nullptr};
  image->free_payload = free_payload;
  image->settle = settle;
  return image;
}

void store_kernel(GraphImage& image, std::uint32_t index, const KernelData& kernel) {
  Step& step = image.steps[index];
  step.kind = StepKind::kernel;
  const engine::KernelWork& work = *kernel.work;
  auto* old = static_cast<engine::KernelWork*>(step.payload);
  if (!old || old->bytes < work.bytes || work.args_offset != old->args_offset) {
    void* block = payload_arena(image).allocate(work.args_offset == engine::KernelWork::header ? work.bytes
                                                                                               : work.bytes + 64);
    if (work.args_offset != engine::KernelWork::header)
      block = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(block) + 63) & ~std::uintptr_t{63});
    step.payload = block;
  }
  const std::uint32_t site = old ? old->grid.site : work.grid.site;
  auto* made = copy_work(work, step.payload);
  made->grid.site = site;
  // Not per launch: what compares grid ids compares grids that one thread runs in a row.
  static std::atomic<std::uint64_t> next_grid_id{1};
  made->grid.grid_id = next_grid_id.fetch_add(1, std::memory_order_relaxed);
  set_kernel_flags(step, made->grid);
  step.priority = kernel.priority;
  step.asked_priority = kernel.asked_priority;
}

void set_kernel_flags(Step& step, const simt::Grid& grid) noexcept {
  step.flags &= static_cast<std::uint8_t>(~(engine::step_resident | engine::step_launches));
  if (simt::needs_residency(grid)) step.flags |= engine::step_resident;
  if (grid.kernel->flags & MR_KERNEL_LAUNCHES) step.flags |= engine::step_launches;
}

void store_copy(GraphImage& image, std::uint32_t index, const CopyData& data) {
  Step& step = image.steps[index];
  CopyData* kept = step.payload
                       ? reinterpret_cast<CopyData*>(static_cast<char*>(step.payload) - offsetof(CopyData, copy))
                       : payload_arena(image).make<CopyData>();
  *kept = data;
  step.payload = &kept->copy;
  step.kind = data.copy.is_linear() ? StepKind::copy : StepKind::copy_box;
}

void store_fill(GraphImage& image, std::uint32_t index, const FillData& data) {
  Step& step = image.steps[index];
  FillData* kept;
  if (!step.payload)
    kept = payload_arena(image).make<FillData>();
  else if (step.kind == StepKind::fill)
    kept = reinterpret_cast<FillData*>(static_cast<char*>(step.payload) - offsetof(FillData, fill));
  else
    kept = reinterpret_cast<FillData*>(static_cast<char*>(step.payload) - offsetof(FillData, pattern));
  *kept = data;
  step.kind = data.patterned ? StepKind::pattern : StepKind::fill;
  step.payload = data.patterned ? static_cast<void*>(&kept->pattern) : static_cast<void*>(&kept->fill);
}

void store_host(GraphImage& image, std::uint32_t index, const cudaHostNodeParams& params) {
  Step& step = image.steps[index];
  if (!step.payload) {
    step.payload = payload_arena(image).make<engine::HostWork>();
    static_cast<engine::HostWork*>(step.payload)->site = 0;
  }
  auto& work = *static_cast<engine::HostWork*>(step.payload);
  work = {call_host, params.fn, params.userData, work.site};
  step.kind = StepKind::host;
}

void store_step(GraphImage& image, std::uint32_t step, const GraphNode& node) {
  switch (node.type) {
  case cudaGraphNodeTypeKernel: store_kernel(image, step, *node.kernel); break;
  case cudaGraphNodeTypeMemcpy: store_copy(image, step, *node.copy); break;
  case cudaGraphNodeTypeMemset: store_fill(image, step, *node.fill); break;
  case cudaGraphNodeTypeHost: store_host(image, step, node.host->params); break;
  case cudaGraphNodeTypeExtSemaphoreSignal:
  case cudaGraphNodeTypeExtSemaphoreWait: {
    const ExternalWork work = make_external_work(*node.external, payload_arena(image), *node.graph->context);
    store_host(image, step, {work.run, work.data});
    break;
  }
  default: break;
  }
  if (observe::subscriber) [[unlikely]] {
    const std::uint32_t tag = observe::subscriber->node_instantiated(&node);
    void* payload = image.steps[step].payload;
    image.tags.resize(image.steps.size());
    image.tags[step] = tag;
    if (node.type == cudaGraphNodeTypeKernel) static_cast<engine::KernelWork*>(payload)->grid.site = tag;
    if (node.type == cudaGraphNodeTypeHost) static_cast<engine::HostWork*>(payload)->site = tag;
  }
}

// ---- copies of images ----

// ---- steps that device code may change ----

GraphImage::Updatable* updatable_at(GraphImage& image, std::uint32_t step) noexcept {
  const auto at = std::lower_bound(
      image.updatable.begin(), image.updatable.end(), step,
      [](const GraphImage::Updatable& entry, std::uint32_t value) { return entry.step < value; });
  return at != image.updatable.end() && at->step == step ? &*at : nullptr;
}

void keep_for_host(GraphImage& image, GraphImage::Updatable& entry) {
  const Step& step = image.steps[entry.step];
  const auto& work = *static_cast<engine::KernelWork*>(step.payload);
  if (!entry.host || entry.host->bytes < work.bytes)
    entry.host = static_cast<engine::KernelWork*>(payload_arena(image).allocate(work.bytes));
  copy_work(work, entry.host);
}

void follow_host(GraphImage& image, GraphImage::Updatable& entry) noexcept {
  Step& step = image.steps[entry.step];
  copy_work(*entry.host, step.payload);
  step.flags = static_cast<std::uint8_t>(entry.off ? step.flags | engine::step_disabled
                                                   : step.flags & ~engine::step_disabled);
}

void own_image(GraphExec& exec) {
  exec.uploaded = false;
  GraphImage& old = *exec.image;
  if (old.unshared() && (!exec.launched || exec.last_queue->completed() >= exec.last_sequence)) return;
  exec.image = copy_image(exec, old);
  stand_for_nodes(exec.image, &old, DeviceNode::host_launches);
  give_up_image(exec, old);
}

void give_up_image(GraphExec& exec, GraphImage& image) noexcept {
  if (std::exchange(exec.launched, false))
    image.release_after(*exec.last_queue, exec.last_sequence);
  else
    image.release();
}

GraphImage* copy_image(const GraphExec& exec, GraphImage& old) {
  const NodesLocked hold(old);
  GraphImage* const image = make_image(old.domain, exec.resources);
  payload_of(*image).users = payload_of(old).users;
  image->executable = old.executable;
  image->launch_line = &exec;
  image->steps = old.steps;
  image->next = old.next;
  image->bodies = old.bodies;
  image->roots = old.roots;
  image->tags = old.tags;
  image->left = std::vector<std::atomic<std::uint32_t>>(old.steps.size());
  for (std::size_t i = 0; i < old.steps.size(); ++i)
    image->left[i].store(old.steps[i].needs, std::memory_order_relaxed);
  image->link.resize(old.steps.size());
  image->heavy = std::vector<std::atomic<std::uint8_t>>(old.steps.size());
  image->handles = old.handles;
  image->values = std::vector<std::atomic<std::uint32_t>>(old.values.size());
  for (std::size_t i = 0; i < old.values.size(); ++i)
    image->values[i].store(old.values[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (engine::Queue* gate : old.gates)
    image->gates.push_back(gate ? engine::take_queue(&exec.context->domain, level_of(0)) : nullptr);
  image->use_priorities = old.use_priorities;
  image->copy_ports(old);
  std::unordered_map<void*, void*> branches;
  for (Step& step : image->steps) {
    void* payload = step.payload;
    step.payload = nullptr;
    const auto index = static_cast<std::uint32_t>(&step - image->steps.data());
    const std::uint8_t flags = step.flags;
    switch (step.kind) {
    case StepKind::kernel: {
      KernelData kernel{};
      const GraphImage::Updatable* const entry = updatable_at(old, index);
      kernel.work = static_cast<engine::KernelWork*>(payload);
      kernel.priority = step.priority;
      kernel.asked_priority = step.asked_priority;
      store_kernel(*image, index, kernel);
      if (entry) [[unlikely]] {
        auto* host = static_cast<engine::KernelWork*>(payload_arena(*image).allocate(entry->host->bytes));
        image->updatable.push_back({entry->handle, index, entry->off, copy_work(*entry->host, host)});
      }
      break;
    }
    case StepKind::copy:
    case StepKind::copy_box:
      store_copy(*image, index, *reinterpret_cast<CopyData*>(static_cast<char*>(payload) - offsetof(CopyData, copy)));
      break;
    case StepKind::fill:
      store_fill(*image, index, *reinterpret_cast<FillData*>(static_cast<char*>(payload) - offsetof(FillData, fill)));
      break;
    case StepKind::pattern:
      store_fill(*image, index,
                 *reinterpret_cast<FillData*>(static_cast<char*>(payload) - offsetof(FillData, pattern)));
      break;
    case StepKind::host: {
      const auto& work = *static_cast<engine::HostWork*>(payload);
      store_host(*image, index, {work.function, work.data});
      static_cast<engine::HostWork*>(step.payload)->site = work.site;
      break;
    }
    case StepKind::branch:
    case StepKind::branch_end: {
      void*& twin = branches[payload];
      if (!twin) {
        auto* work = payload_arena(*image).make<engine::BranchWork>();
        *work = *static_cast<engine::BranchWork*>(payload);
        twin = work;
      }
      step.payload = twin;
      break;
    }
    default: step.payload = payload; break;  // slot numbers
    }
    step.flags |= flags & (engine::step_disabled | engine::step_port | engine::step_abilities);
  }
  return image;
}

}  // namespace mr::model
