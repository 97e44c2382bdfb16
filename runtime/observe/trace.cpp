#include <observe/subscriber.h>
#include <observe/trace.h>

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace mr::observe {

bool tracing = false;
const Subscriber* subscriber = nullptr;

namespace {

struct Record {
  const void* queue;
  std::uint64_t sequence, enqueued_ns;
  // Written by the thread that executes the operation, one after the other; read at exit.
  std::uint64_t began_ns, ended_ns;
  std::uint32_t thread;
  Detail detail;
};

constexpr std::uint32_t block_records = 1u << 12, most_blocks = 1u << 12;

struct Trace {
  std::string path;
  std::atomic<Record*> blocks[most_blocks] = {};
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint32_t> threads{0};
  std::mutex names_mutex;
  struct Name {
    const void* queue;
    std::uint64_t since_ns;
    std::string name;
  };
  std::vector<Name> names;
};
Trace* trace = nullptr;

std::uint64_t now() noexcept {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<std::uint64_t>(ts.tv_sec) * 1000000000u + static_cast<std::uint64_t>(ts.tv_nsec);
}

Record* record_of(std::uint32_t site) noexcept {
  Record* block = trace->blocks[(site - 1) / block_records].load(std::memory_order_acquire);
  return block ? block + (site - 1) % block_records : nullptr;
}

std::uint32_t this_thread() noexcept {
  thread_local const std::uint32_t number = trace->threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

void put_string(std::FILE* file, const char* text) {
  std::fputc('"', file);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') std::fputc('\\', file);
    if (static_cast<unsigned char>(*text) >= 0x20) std::fputc(*text, file);
  }
  std::fputc('"', file);
}

void write_at_exit() {
  std::FILE* file = std::fopen(trace->path.c_str(), "w");
  if (!file) {
    std::fprintf(stderr, "millrace: the trace could not be written to %s; check that its folder exists\n",
                 trace->path.c_str());
    return;
  }
  const std::uint64_t count = trace->count.load(std::memory_order_acquire);
  constexpr std::uint64_t most = std::uint64_t{block_records} * most_blocks;
  std::fprintf(file, "{\"format\":\"millrace-trace\",\"version\":1,\"pid\":%d,\"operations\":%llu,\"kept\":%llu}\n",
               getpid(), static_cast<unsigned long long>(count),
               static_cast<unsigned long long>(count < most ? count : most));
  {
    std::scoped_lock hold(trace->names_mutex);
    for (const Trace::Name& name : trace->names) {
      std::fprintf(file, "{\"queue\":\"%p\",\"since\":%llu,\"name\":", name.queue,
                   static_cast<unsigned long long>(name.since_ns));
      put_string(file, name.name.c_str());
      std::fputs("}\n", file);
    }
  }
  for (std::uint64_t i = 0; i < count && i < most; ++i) {
    const Record* r = record_of(static_cast<std::uint32_t>(i + 1));
    if (!r || !r->queue) continue;
    const Detail& d = r->detail;
    std::fprintf(file,
                 "{\"op\":%llu,\"queue\":\"%p\",\"sequence\":%llu,\"enqueued\":%llu,\"began\":%llu,\"ended\":%llu,"
                 "\"thread\":%u,\"kind\":\"%s\"",
                 static_cast<unsigned long long>(i) + 1, r->queue, static_cast<unsigned long long>(r->sequence),
                 static_cast<unsigned long long>(r->enqueued_ns), static_cast<unsigned long long>(r->began_ns),
                 static_cast<unsigned long long>(r->ended_ns), r->thread, d.kind);
    if (d.name) {
      std::fputs(",\"name\":", file);
      put_string(file, d.name);
      std::fprintf(file, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", d.grid[0], d.grid[1], d.grid[2], d.block[0],
                   d.block[1], d.block[2]);
    }
    if (d.bytes) std::fprintf(file, ",\"bytes\":%llu", static_cast<unsigned long long>(d.bytes));
    if (d.on) std::fprintf(file, ",\"on\":\"%p\",\"until\":%llu", d.on, static_cast<unsigned long long>(d.sequence));
    std::fputs("}\n", file);
  }
  std::fclose(file);
}

}  // namespace

void start_if_asked() noexcept {
  const char* path = std::getenv("MILLRACE_TRACE");
  if (!path || !*path || trace || subscriber) return;
  trace = new Trace;
  trace->path = path;
  std::atexit(write_at_exit);
  tracing = true;
}

std::uint32_t enqueued(const void* queue, std::uint64_t sequence) noexcept {
  if (subscriber) return subscriber->enqueued(queue, sequence);
  const std::uint64_t index = trace->count.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t block = index / block_records;
  if (block >= most_blocks) return 0;
  Record* records = trace->blocks[block].load(std::memory_order_acquire);
  if (!records) {
    auto* fresh = new (std::nothrow) Record[block_records]();
    if (!fresh) return 0;
    if (trace->blocks[block].compare_exchange_strong(records, fresh, std::memory_order_acq_rel))
      records = fresh;
    else
      delete[] fresh;
  }
  Record& r = records[index % block_records];
  r.queue = queue;
  r.sequence = sequence;
  r.enqueued_ns = now();
  return static_cast<std::uint32_t>(index + 1);
}

void began(std::uint32_t site, const Detail& detail) noexcept {
  if (subscriber) return;
  Record& r = *record_of(site);
  r.detail = detail;
  r.thread = this_thread();
  r.began_ns = now();
}

void ended(std::uint32_t site) noexcept {
  if (subscriber)
    subscriber->ended(site);
  else
    record_of(site)->ended_ns = now();
}

void name_queue(const void* queue, const char* name) noexcept {
  if (!tracing || subscriber) return;
  std::scoped_lock hold(trace->names_mutex);
  trace->names.push_back({queue, now(), name});
}

}  // namespace mr::observe

extern "C" [[gnu::visibility("default")]] int millrace_attach(const mr::observe::Subscriber* tool, unsigned version) {
  if (version != mr::observe::subscriber_version) return -1;
  mr::observe::subscriber = tool;
  mr::observe::tracing = tool != nullptr;
  return 0;
}
