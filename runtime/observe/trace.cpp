#include <observe/trace.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include <observe/recorder.h>
#include <observe/spans.h>
#include <observe/subscriber.h>

namespace mr::observe {

bool tracing = false;
const Subscriber* subscriber = nullptr;

namespace {

using namespace trace_format;

Recorder* recorder = nullptr;

template <class Record> constexpr std::uint32_t per_block = (block_bytes - header_bytes) / sizeof(Record);

// What a thread keeps to itself.
struct Local {
  std::uint32_t thread = 0;
  Block* operations = nullptr;
  std::uint32_t number = 0;  // of that block
  Block* spans = nullptr;
  Block* runs = nullptr;
  Run* run = nullptr;            // the newest
  std::uint64_t last_ended = 0;  // of the newest that this thread ended
  std::uint64_t called = 0;      // when the call of the API that it is in began; 0 where that isn't recorded
  // Texts and sites by the address of what they say, the newest that fell on each place.
  struct Known {
    const void* of = nullptr;
    std::uint32_t text = 0;
  };
  static constexpr unsigned bits = 8;
  Known texts[1u << bits], sites[1u << bits];
  static std::size_t place(const void* p) noexcept {
    return reinterpret_cast<std::uintptr_t>(p) * 0x9e3779b97f4a7c15u >> (64 - bits);
  }
  std::uint32_t text(const char* t) {
    Known& k = texts[place(t)];
    if (k.of != t) k = {t, recorder->text(t)};
    return k.text;
  }
  std::uint32_t site(const void* pc) {
    if (!pc) return 0;
    Known& k = sites[place(pc)];
    if (k.of != pc) k = {pc, recorder->site(pc)};
    return k.text;
  }
};
thread_local Local* known_local __attribute__((tls_model("initial-exec"))) = nullptr;
Local& local() {
  if (!known_local) [[unlikely]] {
    known_local = new Local;  // for as long as the process: threads that trace are few
    known_local->thread = static_cast<std::uint32_t>(gettid());
  }
  return *known_local;
}

// A place behind what the thread has in a block; counted by keep(). Null when there is no more room.
template <class Record> Record* place_in(Block*& block, BlockKind kind, std::uint32_t& number) noexcept {
  if (!block || block->used == per_block<Record>) [[unlikely]] {
    Block* next = recorder->new_block(kind, block, number);
    if (!next) return recorder->lose(), nullptr;
    block = next;
  }
  return reinterpret_cast<Record*>(block + 1) + block->used;
}
void keep(Block& block) noexcept {
  std::atomic_ref<std::uint32_t>(block.used).store(block.used + 1, std::memory_order_release);
}

// What is known of an operation while it runs is kept at once: a crash may come.
Run* new_run(Local& l, std::uint32_t tag) noexcept {
  if (l.run && tag && l.run->tag == tag) return l.run;
  std::uint32_t number;
  Run* run = place_in<Run>(l.runs, block_runs, number);
  if (!run) return l.run = nullptr;
  run->began = run->ended = 0;  // the block was used before
  run->kind = unknown_operation;
  run->tag = tag;
  keep(*l.runs);
  return l.run = run;
}

void describe(Run& r, Local& l, const Detail& d) noexcept {
  r.kind = static_cast<std::uint16_t>(d.kind);
  r.name = d.name ? l.text(d.name) : 0;
  r.bytes = d.bytes;
  r.grid_x = d.grid[0];
  for (int i = 0; i < 2; ++i) r.grid_yz[i] = static_cast<std::uint16_t>(d.grid[i + 1]);
  for (int i = 0; i < 3; ++i) r.block[i] = static_cast<std::uint16_t>(d.block[i]);
  r.on = reinterpret_cast<std::uintptr_t>(d.on);
  r.until = d.sequence;
}

}  // namespace

void start_if_asked() noexcept {
  const char* path = std::getenv("MILLRACE_TRACE");
  if (!path || !*path || recorder || subscriber) return;
  recorder = Recorder::open(path);
  if (!recorder) return;
  unsetenv("MILLRACE_TRACE");  // children would write to the same file
  std::atexit([] { recorder->complete(); });
  pthread_atfork(nullptr, nullptr, [] {
    tracing = false;
    recorder = nullptr;
  });
  tracing = true;
}

bool recording() noexcept { return recorder != nullptr; }

std::uint32_t enqueued(const void* queue, std::uint64_t sequence) noexcept {
  if (subscriber) return subscriber->enqueued(queue, sequence);
  if (!recorder) return 0;
  Local& l = local();
  auto* r = place_in<Operation>(l.operations, block_operations, l.number);
  if (!r) return 0;
  *r = {reinterpret_cast<std::uintptr_t>(queue), sequence, l.called ? l.called : trace_now()};
  const std::uint32_t tag = l.number * operations_per_block + l.operations->used + 1;
  keep(*l.operations);
  return tag;
}

void began(std::uint32_t site, const Detail& detail, bool follows) noexcept {
  if (subscriber || !recorder) return;
  Local& l = local();
  Run* r = new_run(l, site);
  if (!r) return;
  describe(*r, l, detail);
  r->began = follows && l.last_ended ? l.last_ended : trace_now();
}

void ended(std::uint32_t site) noexcept {
  if (subscriber) return subscriber->ended(site);
  if (!recorder) return;
  Local& l = local();
  l.last_ended = trace_now();
  if (Run* r = new_run(l, site)) r->ended = l.last_ended;
}

void node_ran(const void* queue, std::uint64_t sequence, std::uint64_t began, const Detail& detail) noexcept {
  if (!recorder) return;
  Local& l = local();
  Run* r = new_run(l, 0);
  if (!r) return;
  describe(*r, l, detail);
  r->on = reinterpret_cast<std::uintptr_t>(queue);
  r->until = sequence;
  r->began = began;
  r->ended = trace_now();
}

void name_queue(const void* queue, const char* name) noexcept {
  if (recorder) recorder->name_queue(queue, trace_now(), name);
}

void add_span(const Span& span, const char* name, const void* pc) noexcept {
  if (!recorder) return;
  Local& l = local();
  std::uint32_t number;
  Span* s = place_in<Span>(l.spans, block_spans, number);
  if (!s) return;
  *s = span;
  s->name = span.kind == call ? l.text(name) : recorder->text(name);
  s->site = l.site(pc);
  keep(*l.spans);
}

}  // namespace mr::observe

extern "C" [[gnu::visibility("default")]] int millrace_attach(const mr::observe::Subscriber* tool, unsigned version) {
  if (version != mr::observe::subscriber_version) return -1;
  mr::observe::subscriber = tool;
  mr::observe::tracing = tool != nullptr;
  return 0;
}

extern "C" [[gnu::visibility("default")]] std::uint64_t millrace_trace_begin() noexcept {
  // Calls before the first context is made belong to the picture too.
  static const bool once = (mr::observe::start_if_asked(), true);
  (void)once;
  if (!mr::observe::recording()) return 0;
  return mr::observe::local().called = mr::observe::trace_now();
}

extern "C" [[gnu::visibility("default")]] void millrace_trace_call(const char* name, std::uint64_t began,
                                                                   const void* pc) noexcept {
  if (!began) return;
  mr::observe::add_span({began, mr::observe::trace_now(), 0, 0, mr::trace_format::call, 0}, name, pc);
  mr::observe::local().called = 0;
}
