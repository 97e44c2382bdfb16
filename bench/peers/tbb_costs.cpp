// oneTBB in the places of a stream and of a graph: a task for a kernel of one block, parallel_for for a grid, a chain
// of continuations for what runs in order, the flow graph for graphs. Where it has nothing of the kind, there is no
// line.
#include <oneapi/tbb.h>

#include <atomic>
#include <deque>
#include <memory>

#include "figure.h"

namespace {

namespace flow = oneapi::tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

std::atomic<int> sink{0};
void empty_block() { sink.store(0, std::memory_order_relaxed); }

// lanes x length nodes between a root and a join.
struct Shape {
  flow::graph graph;
  std::deque<Node> nodes;
  Shape(int lanes, int length) {
    const auto node = [&]() -> Node& {
      return nodes.emplace_back(graph, [](const flow::continue_msg&) { empty_block(); });
    };
    Node& root = node();
    std::vector<Node*> ends;
    for (int l = 0; l < lanes; ++l) {
      Node* previous = &root;
      for (int i = 0; i < length; ++i) {
        Node& next = node();
        flow::make_edge(*previous, next);
        previous = &next;
      }
      ends.push_back(previous);
    }
    if (lanes == 1) return;
    Node& join = node();
    for (Node* end : ends) flow::make_edge(*end, join);
  }
  void launch() { nodes.front().try_put({}); }
  void wait() { graph.wait_for_all(); }
};

}  // namespace

int main() {
  using bench::figure;
  constexpr int n = 500;
  oneapi::tbb::task_group group;
  const auto wait = [&] { group.wait(); };
  const auto nothing = [] {};
  figure(
      "launch_enqueue", n,
      [&] {
        for (int i = 0; i < n; ++i) group.run(empty_block);
      },
      wait);
  figure(
      "launch_throughput", n,
      [&] {
        for (int i = 0; i < n; ++i) group.run(empty_block);
        group.wait();
      },
      nothing);
  figure(
      "launch_sync_roundtrip", 100,
      [&] {
        for (int i = 0; i < 100; ++i) {
          group.run(empty_block);
          group.wait();
        }
      },
      nothing);
  std::vector<int> cells(4096);
  figure(
      "launch_4096_blocks_throughput", 20,
      [&] {
        for (int i = 0; i < 20; ++i)
          oneapi::tbb::parallel_for(0, 4096, [&](int block) {
            for (int lane = 0; lane < 128; ++lane)
              if (lane == 0) {
                volatile int& cell = cells[static_cast<std::size_t>(block)];
                cell = cell + 1;
              }
          });
      },
      nothing);
  for (const int length : {1, 10, 100, 1000}) {
    Shape line(1, length - 1);
    char name[64];
    std::snprintf(name, sizeof name, "graph_line_%d_enqueue", length);
    figure(name, 1, [&] { line.launch(); }, [&] { line.wait(); });
    std::snprintf(name, sizeof name, "graph_line_%d_per_node", length);
    figure(
        name, length,
        [&] {
          line.launch();
          line.wait();
        },
        nothing);
  }
  figure("instantiate_per_node", 1000, [] { Shape line(1, 999); }, nothing);
  Shape fan(500, 1), lanes(8, 100);
  figure(
      "graph_fan_500_per_node", 500,
      [&] {
        fan.launch();
        fan.wait();
      },
      nothing);
  figure(
      "graph_8_lanes_x_100_per_node", 800,
      [&] {
        lanes.launch();
        lanes.wait();
      },
      nothing);
}
