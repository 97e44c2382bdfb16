// Kernels of a graph that others may follow before they have ended (programming guide, "Programmatic Dependent Launch",
// use in CUDA graphs). For a kernel P with a programmatic edge to C:
//
//   P's branch queue:    P; "P has ended" (opens the gates); on with P's successors
//   a branch queue each: gate; on with the moment's successors: C
//
// What follows C waits for P too (graph_flatten.cpp), so that the launch is over when all is.
#include <algorithm>

#include <engine/graph_runner.h>

namespace mr::engine {
namespace {

PortWork& port_at(void* launch) noexcept { return *reinterpret_cast<PortWork*>(static_cast<char*>(launch) - 2); }

OpResult wait_at_gate(CustomOp& op, Queue&, Runner&, bool) {
  auto* gate = static_cast<PortWork::Gate*>(op.data[0]);
  int nothing = 0;
  return gate->stage.compare_exchange_strong(nothing, 1, std::memory_order_acq_rel) ? OpResult::asynchronous
                                                                                    : OpResult::done;
}
OpResult has_ended(CustomOp& op, Queue&, Runner&, bool) {
  auto* port = static_cast<PortWork*>(op.data[0]);
  port->ended.store(true, std::memory_order_release);
  port->open(PortWork::begun);
  port->open(PortWork::triggered);
  return OpResult::done;
}

}  // namespace

void PortWork::open(Moment moment) noexcept {
  Gate& gate = gates[moment];
  if (at[moment] != no_step && gate.stage.exchange(2, std::memory_order_acq_rel) == 1)
    gate.queue->finish_asynchronous();
}

void port_triggered(void* launch) noexcept {
  PortWork& port = port_at(launch);
  if (port.triggers.fetch_add(1, std::memory_order_acq_rel) + 1 == port.blocks) port.open(PortWork::triggered);
}
void port_begun(void* launch) noexcept { port_at(launch).open(PortWork::begun); }
bool port_ready(void* launch) noexcept {
  const PortWork& port = port_at(launch);
  return std::all_of(port.primaries.begin(), port.primaries.end(), [&](std::uint32_t primary) {
    return port.image->ports[primary].ended.load(std::memory_order_acquire);
  });
}

PortWork& GraphImage::port_of(std::uint32_t step) noexcept {
  return *std::lower_bound(ports.begin(), ports.end(), step,
                           [](const PortWork& port, std::uint32_t value) { return port.step < value; });
}
void GraphImage::copy_ports(const GraphImage& from) {
  ports = std::vector<PortWork>(from.ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].step = from.ports[i].step;
    std::copy(from.ports[i].at, from.ports[i].at + PortWork::moments, ports[i].at);
    ports[i].primaries = from.ports[i].primaries;
    ports[i].image = this;
  }
}

PortWork& GraphRun::open_port(std::uint32_t index) noexcept {
  PortWork& port = image_.port_of(index);
  port.triggers.store(0, std::memory_order_relaxed);
  port.ended.store(false, std::memory_order_relaxed);
  port.blocks = static_cast<const KernelWork*>(steps_[index].payload)->grid.total_blocks;
  for (unsigned moment = 0; moment < PortWork::moments; ++moment) {
    if (port.at[moment] == PortWork::no_step) continue;
    PortWork::Gate& gate = port.gates[moment];
    gate.stage.store(0, std::memory_order_relaxed);
    Queue& queue = branch_queue(level_of(steps_[index]));
    gate.queue = &queue;
    Appender appender(queue);
    auto* op = appender.push<CustomOp>(OpKind::custom);
    op->flags = op_even_if_dead | op_prompt;
    op->run = wait_at_gate;
    op->data[0] = &gate;
    push_continuation(appender, port.at[moment]);
  }
  return port;
}

void GraphRun::push_port_end(Appender& appender, PortWork& port) noexcept {
  auto* op = appender.push<CustomOp>(OpKind::custom);
  op->flags = op_even_if_dead | op_prompt;
  op->run = has_ended;
  op->data[0] = &port;
}

void GraphRun::pass_ports(std::uint32_t index) noexcept {
  PortWork& port = image_.port_of(index);
  port.ended.store(true, std::memory_order_release);
  for (const std::uint32_t moment : port.at) {
    if (moment == PortWork::no_step) continue;
    const std::uint32_t step = behind(moment);
    if (step != none) push_local(step);
  }
}

}  // namespace mr::engine
