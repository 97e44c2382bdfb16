// Who is told when a queue has completed an operation (Queue::add_waiter).
#pragma once
#include <atomic>
#include <cstdint>

namespace mr::engine {

class GraphImage;
class Queue;

// One of three: another queue (parked), a host thread (word), or a graph, for which that is the end of its last launch
// (it gives up a reference then). Lies with whom it stands for; nobody touches it once he has been told.
struct Waiter {
  std::uint64_t sequence = 0;
  Queue* queue = nullptr;
  GraphImage* image = nullptr;
  std::atomic<std::uint32_t>* word = nullptr;
  Waiter* next = nullptr;
};

}  // namespace mr::engine
