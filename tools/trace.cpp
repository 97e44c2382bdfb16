#include "trace.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>

#include "program.h"

namespace millrace {
namespace {

using trace_format::Block;
using trace_format::block_bytes;
using trace_format::Header;
using trace_format::header_bytes;
using trace_format::Text;

// A kernel's name without its parameters.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0) return name;
  std::string result = text.get();
  int depth = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == '<') ++depth;
    if (result[i] == '>') --depth;
    if (result[i] == '(' && depth == 0 && i > 0) {
      result.resize(i);
      break;
    }
  }
  if (const auto at = result.rfind(' ', result.find('<')); at != std::string::npos) result.erase(0, at + 1);
  return result;
}

// Site texts as source lines, of the program's own code.
void find_places(Trace& trace) {
  std::set<std::uint32_t> sites;
  for (const Span& s : trace.spans)
    if (s.site && s.site < trace.texts.size()) sites.insert(s.site);
  std::map<Address, std::vector<Frame>> addresses;
  std::map<std::uint32_t, Address> address_of;
  for (const std::uint32_t site : sites) {
    const std::string& text = trace.texts[site];
    const std::size_t tab = text.find('\t');
    std::uint64_t offset = 0;
    if (tab == std::string::npos ||
        std::from_chars(text.data() + tab + 1, text.data() + text.size(), offset, 16).ec != std::errc())
      continue;
    addresses[address_of[site] = {text.substr(0, tab), offset}];
  }
  symbolize(addresses);
  for (const auto& [site, address] : address_of) {
    const auto& frames = addresses[address];
    for (const Frame& f : frames)
      if (!foreign(f)) {
        trace.places[site] = f.text();
        break;
      }
    if (!trace.places.contains(site) && !frames.empty() && !frames[0].function.empty())
      trace.places[site] = frames[0].function;
  }
}

void read_texts(Trace& trace, const char* at, const char* end) {
  while (end - at >= static_cast<std::ptrdiff_t>(sizeof(Text))) {
    Text head;
    std::memcpy(&head, at, sizeof head);
    if (head.length > static_cast<std::size_t>(end - at) - sizeof head) return;
    const std::string text(at + sizeof head, head.length);
    trace.texts.push_back(demangled(text));
    if (head.queue) trace.names[head.queue].push_back({head.since, text});
    at += (sizeof head + head.length + 7) & ~std::size_t{7};
  }
}

template <class Record> std::size_t records(const Block& block) {
  return std::min<std::size_t>(block.used, (block_bytes - header_bytes) / sizeof(Record));
}

// A block's operations, where they are in Trace::operations.
struct Tagged {
  std::size_t first = 0, count = 0;
};

void add_run(Trace& trace, const std::vector<Tagged>& tagged, const trace_format::Run& run, std::uint32_t thread) {
  std::size_t index = trace.operations.size();
  if (run.tag) {
    const std::size_t block = (run.tag - 1) / trace_format::operations_per_block;
    const std::size_t place = (run.tag - 1) % trace_format::operations_per_block;
    if (block >= tagged.size() || place >= tagged[block].count) return;  // cut off
    index = tagged[block].first + place;
  } else {
    trace.operations.emplace_back();
  }
  Operation& op = trace.operations[index];
  op.ended = std::max(op.ended, run.ended);
  if (run.began <= op.began) return;
  op.began = run.began;
  op.thread = thread;
  op.kind = run.kind;
  op.name = run.name;
  op.bytes = run.bytes;
  op.on = run.on;
  op.until = run.until;
  op.grid[0] = run.grid_x;
  std::copy(std::begin(run.grid_yz), std::end(run.grid_yz), op.grid + 1);
  std::copy(std::begin(run.block), std::end(run.block), op.block);
}

// Where the blocks are in the file, by their numbers.
std::map<std::uint32_t, std::uint32_t> places_of_blocks(std::istream& file) {
  struct Found {
    std::uint32_t place, used;
  };
  std::map<std::uint32_t, Found> found;
  for (std::uint32_t place = 0; place < trace_format::most_blocks; ++place) {
    Block block;
    file.seekg(static_cast<std::streamoff>(place) * block_bytes);
    if (!file.read(reinterpret_cast<char*>(&block), sizeof block)) break;
    if (block.magic != trace_format::magic) continue;  // room that was not used
    const std::uint32_t number = block.number ? block.number : place;
    if (number >= trace_format::most_blocks) continue;
    const auto [it, fresh] = found.try_emplace(number, Found{place, block.used});
    const bool mapped = block.number != 0;
    if (!fresh && (mapped ? block.used >= it->second.used : block.used > it->second.used))
      it->second = {place, block.used};
  }
  std::map<std::uint32_t, std::uint32_t> places;
  for (const auto& [number, f] : found) places[number] = f.place;
  return places;
}

}  // namespace

const std::string& Trace::name_of(std::uint64_t queue, std::uint64_t when) const {
  static const std::string none;
  const auto known = names.find(queue);
  if (known == names.end()) return none;
  const std::string* best = &none;
  for (const Name& n : known->second)
    if (n.since <= when) best = &n.name;
  return *best;
}

Trace read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("the trace {} could not be opened: {}", path, std::strerror(errno)));
  Trace trace;
  const auto data = std::make_unique<std::uint64_t[]>(block_bytes / 8);
  char* const bytes = reinterpret_cast<char*>(data.get());
  bool first = true;
  Header::Moment first_moment{};
  double ns_per_tick = 1;
  // Nanoseconds; 0 stays what did not happen.
  const auto time_of = [&](std::uint64_t ticks) -> std::uint64_t {
    if (ticks == 0) return 0;
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - first_moment.ticks)) * ns_per_tick;
    constexpr double most = 1e18;  // of a file that is damaged
    return first_moment.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(std::clamp(since, -most, most)));
  };
  std::vector<Tagged> tagged;                                     // by the number of their block
  std::vector<std::pair<trace_format::Run, std::uint32_t>> runs;  // with their threads
  for (const auto& [number, place] : places_of_blocks(file)) {
    std::memset(bytes, 0, block_bytes);
    file.clear();
    file.seekg(static_cast<std::streamoff>(place) * block_bytes);
    file.read(bytes, block_bytes);
    Block block;
    std::memcpy(&block, bytes, sizeof block);
    if (first && (block.magic != trace_format::magic || block.kind != trace_format::block_header)) break;
    const char* body = bytes + header_bytes;
    if (first) {
      Header header;
      std::memcpy(&header, body, sizeof header);
      first_moment = header.first;
      ns_per_tick = header.last.ticks > header.first.ticks
                        ? static_cast<double>(header.last.ns - header.first.ns) /
                              static_cast<double>(header.last.ticks - header.first.ticks)
                        : 1.0;
      trace.pid = header.pid;
      trace.lost = header.lost;
      trace.complete = header.complete != 0;
      first = false;
    }
    switch (block.kind) {
    case trace_format::block_operations: {
      const auto* all = reinterpret_cast<const trace_format::Operation*>(body);
      tagged.resize(number + std::size_t{1});
      tagged[number] = {trace.operations.size(), records<trace_format::Operation>(block)};
      for (std::size_t i = 0; i < tagged[number].count; ++i) {
        Operation op;
        static_cast<trace_format::Operation&>(op) = all[i];
        op.by = block.thread;
        trace.operations.push_back(op);
      }
      break;
    }
    case trace_format::block_runs: {
      const auto* all = reinterpret_cast<const trace_format::Run*>(body);
      for (std::size_t i = 0; i < records<trace_format::Run>(block); ++i) runs.push_back({all[i], block.thread});
      break;
    }
    case trace_format::block_spans: {
      const auto* all = reinterpret_cast<const trace_format::Span*>(body);
      for (std::size_t i = 0; i < records<trace_format::Span>(block); ++i)
        trace.spans.push_back({all[i], block.thread});
      break;
    }
    case trace_format::block_texts:
      read_texts(trace, body, body + std::min<std::size_t>(block.used, block_bytes - header_bytes));
      break;
    default: break;
    }
  }
  if (first) throw std::runtime_error(fmt::format("{} is no trace that a program wrote with MILLRACE_TRACE", path));
  for (const auto& [run, thread] : runs) add_run(trace, tagged, run, thread);
  for (Operation& op : trace.operations) {
    if (op.name >= trace.texts.size()) op.name = 0;
    op.enqueued = time_of(op.enqueued);
    op.began = time_of(op.began);
    op.ended = time_of(op.ended);
  }
  std::erase_if(trace.spans, [](const Span& s) { return s.end < s.begin; });
  for (Span& s : trace.spans) {
    if (s.name >= trace.texts.size()) s.name = 0;
    s.begin = time_of(s.begin);
    s.end = time_of(s.end);
  }
  for (auto& [queue, names] : trace.names)
    for (Trace::Name& n : names) n.since = time_of(n.since);
  const auto since = [](const Operation& op) { return op.enqueued ? op.enqueued : op.began; };
  std::sort(trace.operations.begin(), trace.operations.end(), [&](const Operation& a, const Operation& b) {
    return since(a) != since(b) ? since(a) < since(b) : a.sequence < b.sequence;
  });
  std::sort(trace.spans.begin(), trace.spans.end(), [](const Span& a, const Span& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  find_places(trace);
  return trace;
}

Trace run_traced(const std::vector<std::string>& command, int* status) {
  const std::string library = tool_library("libmillrace_timeline.so", "the timeline's");
  const char* folder = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/millrace-trace-XXXXXX", folder && *folder ? folder : "/tmp");
  const int fd = mkstemp(path.data());
  if (fd < 0)
    throw std::runtime_error(fmt::format("no temporary file could be made as {}: {}", path, std::strerror(errno)));
  close(fd);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("the program could not be started: {}", std::strerror(errno)));
  if (child == 0) {
    setenv("MILLRACE_TRACE", path.c_str(), 1);
    const char* others = std::getenv("LD_PRELOAD");
    setenv("LD_PRELOAD", others && *others ? (library + ":" + others).c_str() : library.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    fmt::print(stderr, "millrace: {} could not be run: {}\n", command[0], std::strerror(errno));
    _exit(127);
  }
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {}
  *status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  Trace trace;
  try {
    trace = read_trace(path);
  } catch (...) {}
  unlink(path.c_str());
  if (*status == 127 && trace.operations.empty()) throw std::runtime_error("there is nothing to draw");
  const std::filesystem::path place = std::filesystem::path(path).parent_path();
  std::error_code unknown;
  constexpr std::uintmax_t least = 1 << 20;  // the file begins with as much
  if (const auto room = std::filesystem::space(place, unknown);
      trace.operations.empty() && !unknown && room.available < least)
    throw std::runtime_error(
        fmt::format("there was no room for the trace in {}; set TMPDIR to another folder", place.string()));
  if (trace.operations.empty())
    throw std::runtime_error(fmt::format("{} wrote no trace: it enqueued no work, or does not use the shared libcudart "
                                         "of mrcc (-cudart static can't be followed)",
                                         command[0]));
  return trace;
}

}  // namespace millrace
