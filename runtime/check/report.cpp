#include "report.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "state.h"
#include <simt/check_site.h>

namespace mr::check {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : name;
  if (result.ends_with(".body")) result.resize(result.size() - 5);  // of an extern "C" kernel: what the entries call
  std::free(text);
  // The name alone: parameters say little and fill the line.
  if (const auto at = result.find('('); at != std::string::npos && at > 0) result.resize(at);
  if (const auto at = result.rfind(' ', result.find('<')); at != std::string::npos) result.erase(0, at + 1);
  return result;
}

// Frames as module and offset, for a symbolizer.
std::string frames_of(const Call& call) {
  std::string out = "[";
  if (call)
    for (const std::uintptr_t pc : call->frames) {
      Dl_info info{};
      if (!dladdr(reinterpret_cast<void*>(pc), &info) || !info.dli_fname) continue;
      if (out.size() > 1) out += ",";
      out += "[" + quoted(info.dli_fname) + "," +
             std::to_string(pc - reinterpret_cast<std::uintptr_t>(info.dli_fbase)) + "]";
    }
  return out + "]";
}

const char* access_word(std::uint32_t kind) {
  if (kind & frees) return "frees";
  if (kind & allocates) return "allocates";
  if (kind & atomic) return kind & writes ? "updates atomically" : "reads atomically";
  if ((kind & (reads | writes)) == (reads | writes)) return "updates";
  return kind & writes ? "writes" : "reads";
}

std::string what_of(const Access& a) {
  const Op& op = *a.op;
  if (op.role == Role::host) return a.where && a.where->api[0] ? a.where->api : "the host";
  if (op.role == Role::host_function || op.role == Role::node_host_function) return "a host function";
  if (op.kernel && !op.kernel->name.empty()) return "kernel " + demangled(op.kernel->name);
  if (op.call && !op.call->kernel.empty()) return "kernel " + demangled(op.call->kernel);
  return op.call ? op.call->api : "an operation";
}

bool host_side(const Op& op) { return op.role == Role::host; }
bool node_side(const Op& op) { return op.role == Role::node || op.role == Role::node_host_function; }
bool function_side(const Op& op) { return op.role == Role::host_function; }

std::string place_of(const Op& op) {
  if (op.role == Role::host) return "a host thread";
  std::string text;
  if (op.launch) text = "graph launch " + std::to_string(op.launch) + " in ";
  return text + (op.stream ? op.stream->name : "no stream");
}

std::string side(const Access& a) {
  std::string out = "{\"what\":" + quoted(what_of(a)) + ",\"access\":" + quoted(access_word(a.kind)) +
                    ",\"place\":" + quoted(place_of(*a.op));
  if (a.op->call && a.op->call->api[0]) out += ",\"api\":" + quoted(a.op->call->api);
  out += ",\"frames\":" + frames_of(a.where ? a.where : a.op->call);
  if (a.op->stream && a.op->stream->call) out += ",\"stream\":{\"frames\":" + frames_of(a.op->stream->call) + "}";
  if (a.op->via) {
    out += ",\"via\":{\"api\":" + quoted(a.op->via->api) + ",\"frames\":" + frames_of(a.op->via) + "}";
  }
  if (a.site && a.site->line)
    out += ",\"device\":{\"file\":" + quoted(a.site->file) + ",\"line\":" + std::to_string(a.site->line) +
           ",\"function\":" + quoted(demangled(a.site->function)) + "}";
  return out + "}";
}

std::string buffer(std::uintptr_t begin, std::uintptr_t end) {
  std::uintptr_t base = 0;
  const Allocation* a = checker->allocation_of(begin, &base);
  if (!a)
    return "{\"memory\":\"ordinary host memory\",\"bytes\":" + std::to_string(end - begin) +
           ",\"begin\":0,\"end\":" + std::to_string(end - begin) + "}";
  static constexpr const char* kinds[] = {"device memory",     "pinned memory",         "managed memory",
                                          "registered memory", "stream-ordered memory", "device variable"};
  std::string out = "{\"memory\":" + quoted(kinds[static_cast<int>(a->memory)]) +
                    ",\"bytes\":" + std::to_string(a->end - base) + ",\"begin\":" + std::to_string(begin - base) +
                    ",\"end\":" + std::to_string(end - base);
  if (!a->name.empty()) out += ",\"name\":" + quoted(a->name);
  if (a->call) out += ",\"api\":" + quoted(a->call->api) + ",\"frames\":" + frames_of(a->call);
  return out + "}";
}

std::string key_of(const Access& a) {
  std::string key = std::to_string(static_cast<int>(a.op->role)) + ":";
  const Call& call = a.where ? a.where : a.op->call;
  if (call && !call->frames.empty())
    for (std::size_t i = 0; i < call->frames.size() && i < 4; ++i) key += std::to_string(call->frames[i]) + ",";
  if (a.op->via && !a.op->via->frames.empty()) key += "/" + std::to_string(a.op->via->frames[0]);
  return key;
}

std::string stream_name(const Op& op) { return op.stream ? op.stream->name : "its stream"; }

std::string reason(const Access& a, const Access& b, const std::string& kind) {
  if (kind == "never-recorded-event")
    return place_of(*b.op) +
           " waited for an event that had no record at that time; such a wait has no effect, and a later record does "
           "not change it";
  if (kind == "stale-event")
    return place_of(*b.op) + " waited for an event whose record in force does not cover the first operation: it was "
                             "taken too early, or a later record of the same event replaced the one that did";
  if (kind == "default-stream-assumption" && host_side(*b.op))
    return "what the host thread waited for is behind the default stream's work only, which orders nothing with "
           "non-blocking streams";
  if (kind == "default-stream-assumption")
    return "one of the streams is the default stream, which orders nothing with non-blocking streams, and per-thread "
           "default streams nothing with each other";
  if (a.op->launch && a.op->launch == b.op->launch) return "no path of edges leads from one node to the other";
  if (host_side(*b.op) && !host_side(*a.op))
    return "the host thread has not waited for " + place_of(*a.op) + " since the operation was enqueued";
  if (host_side(*a.op))
    return "the operation was enqueued before the host's access, and the host has not waited for it";
  if (a.op->stream == b.op->stream && a.op->stream && !function_side(*a.op))
    return "both belong to the same call, whose parts have no order among themselves, or the second one may begin "
           "early";
  return place_of(*b.op) + " does not wait for " + place_of(*a.op);
}

std::string edge(const Access& a, const Access& b, const std::string& kind) {
  const std::string x = what_of(a), y = what_of(b);
  if (kind == "intra-grid")
    return "make two launches of it, write to another buffer than is read, use atomics, or make the launch cooperative "
           "and call grid.sync() between the accesses";
  if (b.kind & frees)
    return "record an event behind " + x + " in " + stream_name(*a.op) + " and wait for it before the memory is freed";
  if (a.kind & frees) return "free the memory behind " + y;
  if (a.op->launch && a.op->launch == b.op->launch)
    return "add an edge from the first node to the second (cudaGraphAddDependencies; in a capture: an event record "
           "behind the first, and a wait before the second)";
  if (host_side(*b.op) && !host_side(*a.op))
    return "call cudaStreamSynchronize for " + stream_name(*a.op) +
           ", or cudaEventSynchronize for an event recorded behind " + x + ", before the host's access";
  if (host_side(*a.op))
    return "wait for " + stream_name(*b.op) + " (cudaStreamSynchronize, or an event behind " + y +
           ") before the host touches the memory";
  if (a.op->stream == b.op->stream && a.op->stream && !a.op->launch && !function_side(*a.op))
    return "make two calls of it; in a programmatic launch, call cudaGridDependencySynchronize() before the access";
  return "record an event behind " + x + " in " + stream_name(*a.op) + " (cudaEventRecord), and make " +
         stream_name(*b.op) + " wait for it before " + y + " (cudaStreamWaitEvent)";
}

bool waits_for(const Stream& stream, const Op& a, std::uint64_t before) {
  for (const WaitOf& wait : stream.waits)
    if (wait.recorded && wait.number < before && wait.record.stream == a.stream) return true;
  return false;
}

// Somebody recorded an event behind the operation before `before`, as allocators do when memory is given back.
bool recorded_behind(const Op& a, std::uint64_t before) {
  for (const std::uint64_t number : a.stream->records)
    if (number > a.number && number < before) return true;
  return false;
}

// The kind of event mistake behind the pair, or null.
const char* event_mistake(const Op& a, const Op& b) {
  const std::deque<WaitOf>* waits = host_side(b) ? b.waits.get() : b.stream ? &b.stream->waits : nullptr;
  if (!a.stream || !waits) return nullptr;
  for (auto wait = waits->rbegin(); wait != waits->rend(); ++wait) {
    if (wait->number > b.number) continue;
    const Event& event = *wait->event;
    if (!wait->recorded) {
      if (event.records.empty() || Order::covers(event.records.front().frontier[real], a))
        return "never-recorded-event";
      continue;
    }
    const RecordOf& in_force = wait->record;
    if (Order::covers(in_force.frontier[real], a)) continue;
    for (const RecordOf& other : event.records)
      if (other.number < in_force.number && Order::covers(other.frontier[real], a)) return "stale-event";
    if (in_force.stream != a.stream) {
      if (b.stream && in_force.stream != b.stream && in_force.number < b.number &&
          Order::covers(checker->order.newest(*in_force.stream, real), a))
        return "stale-event";
    } else if (a.number > in_force.number && a.number < wait->number) {
      bool again = false;
      for (const std::uint64_t number : a.stream->records) again |= number > a.number && number < b.number;
      if (!again) return "stale-event";
    }
  }
  return nullptr;
}

}  // namespace

void Report::open(const char* path) {
  file_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  write("{\"started\":true}");
}

void Report::begin_child() {
  constexpr std::uint64_t most = 100000;  // findings of one process
  ids_ = static_cast<std::uint64_t>(getpid()) * most;
  findings_.clear();
  deferred_.clear();
}

void Report::write(const std::string& line) {
  if (file_ < 0) return;
  const std::string text = line + "\n";
  if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    static bool said = false;
    if (!said) std::fputs("millrace: the findings could not be written; is the disk full?\n", stderr);
    said = true;
  }
}

std::string Report::classify(const Access& a, const Access& b) const {
  const Op &x = *a.op, &y = *b.op;
  if ((a.kind | b.kind) & (frees | allocates)) return "pool";
  if (function_side(x) || function_side(y)) return "unordered-callback";
  if (node_side(x) && node_side(y)) return "graph-graph";
  if ((node_side(x) && host_side(y)) || (node_side(y) && host_side(x))) return "graph-host";
  if (host_side(x) || host_side(y)) {
    if (host_side(y)) {
      if (Order::ordered(x, y, wished)) return "default-stream-assumption";
      if (const char* mistake = event_mistake(x, y)) return mistake;
    }
    const Access& host = host_side(x) ? a : b;
    const Access& other = host_side(x) ? b : a;
    return host.kind & writes && !(other.kind & writes) ? "host-stream" : "stream-host";
  }
  if (x.device != y.device) return "peer";
  if (Order::ordered(x, y, wished) || Order::ordered(y, x, wished)) return "default-stream-assumption";
  if (x.stream == y.stream) return "stream-stream";
  if (const char* mistake = event_mistake(x, y)) return mistake;
  return "stream-stream";
}

void Report::conflict(const Access& first, const Access& second, std::uintptr_t begin, std::uintptr_t end) {
  // Of memory that is freed without an order, its uses say more than its allocation. They may be yet to come.
  if (((first.kind & frees) && (second.kind & allocates)) || ((second.kind & frees) && (first.kind & allocates))) {
    if (deferred_.size() < 4096) deferred_.push_back({first, second, begin, end});
    return;
  }
  if (first.kind & frees) used_when_freed_.insert(first.op);
  if (second.kind & frees) used_when_freed_.insert(second.op);
  add(first, second, begin, end);
}

void Report::add(const Access& first, const Access& second, std::uintptr_t begin, std::uintptr_t end) {
  const bool swap = first.op->number > second.op->number ||
                    (first.op->number == second.op->number && first.op->role == Role::host);
  const Access &a = swap ? second : first, &b = swap ? first : second;
  std::string kind = classify(a, b);
  if (kind == "stream-stream" && a.op->stream != b.op->stream && !a.op->launch && !b.op->launch) {
    // A new owner: the later operation overwrites the memory and never looks at what was there, and its stream has
    // nothing to do with the earlier one's.
    std::uintptr_t base = 0;
    const Allocation* memory = checker->allocation_of(begin, &base);
    const auto extent = [&](const Op& op) {
      for (const KernelRecord::Extent& e : op.kernel->extents)
        if (e.memory == base) return e;
      return KernelRecord::Extent{base, ~std::uintptr_t{0}, 0, false};
    };
    if (memory && memory->memory == Memory::device && b.op->kernel && a.op->kernel && b.kind == writes &&
        (!(a.kind & writes) || recorded_behind(*a.op, b.op->number)) &&
        !waits_for(*b.op->stream, *a.op, b.op->number)) {
      const auto ea = extent(*a.op), eb = extent(*b.op);
      if (!eb.read && ea.low == eb.low && ea.high == eb.high) kind = "lifetime";
    }
  }
  const std::string key = kind + "|" + key_of(a) + "|" + key_of(b);
  auto& finding = findings_[key];
  if (++finding.count > 1) return;
  finding.id = ids_ + findings_.size();
  std::string line = "{\"finding\":" + std::to_string(finding.id) + ",\"kind\":" + quoted(kind) + ",\"a\":" + side(a) +
                     ",\"b\":" + side(b) + ",\"buffer\":" + buffer(begin, end) +
                     ",\"why\":" + quoted(reason(a, b, kind)) + ",\"edge\":" + quoted(edge(a, b, kind));
  if (const Call common = checker->order.common(*a.op, *b.op))
    line += ",\"common\":{\"api\":" + quoted(common->api) + ",\"kernel\":" + quoted(demangled(common->kernel)) +
            ",\"frames\":" + frames_of(common) + "}";
  write(line + "}");
}

void Report::block_conflict(const OpRef& op, const BlockConflict& c) {
  const Access a{op, c.kind_a, c.a, nullptr}, b{op, c.kind_b, c.b, nullptr};
  const std::string key = "intra-grid|" + key_of(a) + std::to_string(reinterpret_cast<std::uintptr_t>(c.a)) + "|" +
                          std::to_string(reinterpret_cast<std::uintptr_t>(c.b));
  auto& finding = findings_[key];
  if (++finding.count > 1) return;
  finding.id = ids_ + findings_.size();
  std::string why = "blocks of one grid have no order among themselves";
  const auto block = [](std::uint64_t number) {
    return number == unknown_block ? std::string("another one") : "block " + std::to_string(number);
  };
  if (c.block_a != c.block_b)
    why = block(std::min(c.block_a, c.block_b)) + " and " + block(std::max(c.block_a, c.block_b)) +
          " of one grid have no order between them";
  write("{\"finding\":" + std::to_string(finding.id) + ",\"kind\":\"intra-grid\",\"a\":" + side(a) +
        ",\"b\":" + side(b) + ",\"buffer\":" + buffer(c.begin, c.end) + ",\"why\":" + quoted(why) +
        ",\"edge\":" + quoted(edge(a, b, "intra-grid")) + "}");
}

void Report::summary(bool complete) {
  for (const Deferred& d : deferred_)
    if (!used_when_freed_.contains((d.first.kind & frees ? d.first : d.second).op))
      add(d.first, d.second, d.begin, d.end);
  deferred_.clear();
  std::string line = "{\"summary\":true,\"complete\":" + std::string(complete ? "true" : "false") +
                     ",\"child\":" + (ids_ ? "true" : "false") +
                     ",\"operations\":" + std::to_string(checker->operations.load()) +
                     ",\"accesses\":" + std::to_string(checker->accesses.load()) +
                     ",\"bytes\":" + std::to_string(checker->bytes.load()) +
                     ",\"unfinished\":" + std::to_string(checker->unfinished) +
                     ",\"unchecked_kernels\":" + std::to_string(checker->unchecked_kernels.load()) + ",\"counts\":{";
  bool first = true;
  for (const auto& [key, finding] : findings_) {
    line += (first ? "" : ",") + quoted(std::to_string(finding.id)) + ":" + std::to_string(finding.count);
    first = false;
  }
  write(line + "}}");
}

}  // namespace mr::check
