#include <engine/graph_launch.h>

#include <mutex>

#include <engine/queue.h>

namespace mr::engine {

struct Chain {
  Environment* parent;
  unsigned level;
  Queue* queue = nullptr;  // taken when it is first needed
  // Graphs to run, the next one last; each with a reference.
  std::vector<GraphImage*> next;
};

class Environment {
 public:
  explicit Environment(Chain* of) noexcept : chain(of) {}
  explicit Environment(Queue& host) noexcept : queue(&host) {}
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  Chain* const chain = nullptr;  // null: the environment of a launch by the host
  Queue* const queue = nullptr;  // whose front operation is that launch
  std::atomic<std::uint32_t> open{1};
  SpinLock lock;  // guards what follows while the graph runs
  std::uint32_t fired = 0;
  std::vector<GraphImage*> tails;
};

namespace {

// Runs `image` in the chain. Takes over a reference. The chain is whoever's completes it from here on.
void run_next(Chain& chain, GraphImage& image) noexcept {
  if (!chain.queue) chain.queue = take_queue(&image.domain, chain.level);
  image.begin_device_launch(*new Environment(&chain));
  {
    Appender appender(*chain.queue);
    push_graph(appender, image, 0);
  }
}

}  // namespace

void GraphImage::begin_device_launch(Environment& environment) noexcept {
  pending_.store(launched, std::memory_order_relaxed);  // a wish to run again is fulfilled
  environment_.store(&environment, std::memory_order_release);
}

Environment* GraphImage::end_of_nodes() noexcept {
  Environment* const environment = environment_.load(std::memory_order_acquire);
  if (!environment) return nullptr;
  environment_.store(nullptr, std::memory_order_relaxed);
  // Now it may be launched again, unless it is to run again behind itself. Release: the next launch begins after all
  // that was done in this one.
  std::uint8_t now = launched;
  pending_.compare_exchange_strong(now, idle, std::memory_order_acq_rel);
  return environment;
}

Environment& GraphImage::environment() noexcept {
  std::scoped_lock hold(lock_);
  Environment* environment = environment_.load(std::memory_order_relaxed);
  if (!environment) {
    environment = new Environment(new Chain{new Environment(*queue_), queue_->level(), nullptr, {}});
    environment_.store(environment, std::memory_order_release);
  }
  return *environment;
}

bool launch_from_device(GraphImage& launcher, GraphImage& image, bool itself, DeviceLaunch how) noexcept {
  if ((itself && how != DeviceLaunch::tail) || !image.domain.takes_launch()) return false;
  std::uint8_t before = GraphImage::idle, now = GraphImage::launched;
  if (&launcher == &image) {
    before = GraphImage::launched;
    now = GraphImage::again;
  }
  std::uint8_t expected = before;
  if (!image.pending_.compare_exchange_strong(expected, now, std::memory_order_acq_rel)) return false;
  Environment& own = launcher.environment();
  Environment& into = how == DeviceLaunch::sibling ? *own.chain->parent : own;
  {
    std::scoped_lock hold(into.lock);
    const bool tail = how == DeviceLaunch::tail;
    if (tail ? into.tails.size() == most_tails : into.fired == most_fired) {
      image.pending_.store(before, std::memory_order_release);
      return false;
    }
    image.retain();
    if (tail) {
      into.tails.push_back(&image);
      return true;
    }
    ++into.fired;
  }
  into.open.fetch_add(1, std::memory_order_relaxed);  // this launch is counted in it
  run_next(*new Chain{&into, launcher.queue_->level(), nullptr, {}}, image);
  return true;
}

bool runs_in_chain(const Environment& environment, const Queue& queue) noexcept {
  return environment.chain->queue == &queue;
}

void leave_environment(Environment* environment) noexcept {
  while (environment->open.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Chain* const chain = environment->chain;
    if (!chain) {
      Queue& host = *environment->queue;
      delete environment;
      return host.finish_asynchronous();
    }
    chain->next.insert(chain->next.end(), environment->tails.rbegin(), environment->tails.rend());
    Environment* const parent = chain->parent;
    delete environment;
    if (!chain->next.empty()) {
      GraphImage& next = *chain->next.back();
      chain->next.pop_back();
      return run_next(*chain, next);
    }
    if (chain->queue) give_queue(chain->queue);
    delete chain;
    environment = parent;
  }
}

}  // namespace mr::engine
