// A graph's launch under the explorer: each step is an operation that the explorer chooses.
#include <engine/graph_runner.h>

namespace mr::engine {

OpResult GraphRun::explored_step(CustomOp& op, Queue& queue, Runner& runner, bool) {
  auto& image = *static_cast<GraphImage*>(op.data[0]);
  image.retain();  // for the queue's return, which may be after the launch's end
  {
    GraphRun run(image, runner, true);
    const std::uint32_t next = run.run_step(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(op.data[1])));
    if (next != none) run.push_local(next);
    if (run.ended_ || run.work()) run.finish_elsewhere();
  }
  give_back(image, queue);
  return OpResult::done;
}

void GraphRun::describe(const CustomOp& op, observe::Front& front) noexcept {
  if (op.run == launch) front.kind = "graph";
  if (op.run != explored_step) return;
  const auto& image = *static_cast<const GraphImage*>(op.data[0]);
  const auto index = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(op.data[1]));
  const Step& step = image.steps[index];
  front.tag = image.op_->site;
  front.step = index + 1;
  front.node_tag = index < image.tags.size() ? image.tags[index] : 0;
  switch (step.kind) {
  case StepKind::kernel: {
    const simt::Grid& grid = static_cast<const KernelWork*>(step.payload)->grid;
    front.kind = "kernel";
    front.name = grid.kernel->name;
    front.blocks = grid.total_blocks;
    break;
  }
  case StepKind::copy:
  case StepKind::copy_box:
    front.kind = "copy";
    front.bytes = static_cast<const memory::Copy*>(step.payload)->bytes();
    break;
  case StepKind::fill:
    front.kind = "fill";
    front.bytes = static_cast<const memory::Fill*>(step.payload)->bytes();
    break;
  case StepKind::pattern: {
    const auto& fill = *static_cast<const PatternFill*>(step.payload);
    front.kind = "fill";
    front.bytes = fill.row * fill.height;
    break;
  }
  case StepKind::host: front.kind = "host"; break;
  default: break;
  }
}

}  // namespace mr::engine
