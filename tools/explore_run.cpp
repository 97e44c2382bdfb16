#include "explore_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace millrace {
namespace {

std::string trace_of(const TemporaryFile& file) {
  std::ifstream in(file.path(), std::ios::binary);
  std::uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  if (!in || length > (64u << 20)) return {};
  std::string text(length, 0);
  in.read(text.data(), static_cast<std::streamsize>(length));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// Waits for the process, at most `seconds`; kills it then. They are counted in short waits, so that the time for which
// both processes are stopped (by job control, a debugger, a suspended machine) is none of the run's.
int wait_for(pid_t child, double seconds, bool& timed_out) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (handle >= 0) {
    pollfd ended{handle, POLLIN, 0};
    constexpr int slice_ms = 50;
    int answer = 0;
    for (double left_ms = seconds * 1000; answer <= 0 && left_ms > 0;) {
      answer = poll(&ended, 1, std::max(1, std::min(slice_ms, static_cast<int>(left_ms))));
      if (answer == 0) left_ms -= slice_ms;
    }
    if (answer <= 0) {
      timed_out = true;
      kill(child, SIGKILL);
    }
    close(handle);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

template <class Take> void lines_of(const Run& run, char kind, Take take) {
  std::size_t begin = 0;
  while (begin < run.trace.size()) {
    std::size_t end = run.trace.find('\n', begin);
    if (end == std::string::npos) return;  // cut short
    if (run.trace[begin] == kind) {
      std::istringstream line(run.trace.substr(begin + 1, end - begin - 1));
      line >> std::hex;
      take(line);
    }
    begin = end + 1;
  }
}

std::vector<Decision> decisions_of(const Run& run, char letter, Decision::Kind kind) {
  std::vector<Decision> decisions;
  lines_of(run, letter, [&](std::istream& line) {
    Decision d;
    d.kind = kind;
    line >> d.key >> d.value;
    decisions.push_back(d);
  });
  return decisions;
}

}  // namespace

TemporaryFile::TemporaryFile() {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder && *folder ? folder : "/tmp") + "/millrace-explore-XXXXXX";
  const int file = mkstemp(path_.data());
  if (file < 0) throw std::runtime_error(fmt::format("no file could be made at {}: {}", path_, std::strerror(errno)));
  close(file);
}
TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }
std::string TemporaryFile::text() const {
  std::ifstream in(path_, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<Event> events_of(const Run& run) {
  std::vector<Event> events;
  lines_of(run, 'E', [&](std::istream& line) {
    Event e;
    line >> e.key >> e.what >> e.site >> e.via >> e.task >> e.slice >> e.name;
    if (e.name == "-") e.name.clear();
    events.push_back(e);
  });
  return events;
}

std::vector<Decision> block_orders_of(const Run& run) { return decisions_of(run, 'B', Decision::Kind::blocks); }
std::vector<Decision> tears_of(const Run& run) { return decisions_of(run, 'T', Decision::Kind::tear); }

std::string lengths_of(const Run& run) {
  std::string text;
  for (const Decision& d : decisions_of(run, 'L', Decision::Kind::tear))
    text += fmt::format("{:x} {:x}\n", d.key, d.value);
  return text;
}

std::vector<Site> sites_of(const Run& run) {
  std::vector<Site> sites(1);
  lines_of(run, 'P', [&](std::istream& line) {
    std::uint32_t number = 0;
    Site site;
    line >> number >> site.api;
    std::string module;
    for (std::uint64_t offset; line >> module >> offset;) site.frames.emplace_back(module, offset);
    if (number >= sites.size()) sites.resize(number + 1);
    sites[number] = site;
  });
  return sites;
}

std::vector<Waiter> waiters_of(const Run& run) {
  std::vector<Waiter> waiters;  // told again where the program is ended later
  lines_of(run, 'W', [&](std::istream& line) {
    Waiter w;
    line >> w.what >> w.task >> w.site;
    if (w.what == 'h')
      line >> w.on >> w.of;
    else
      line >> w.via >> w.on >> w.name;
    if (w.name == "-") w.name.clear();
    std::erase_if(waiters, [&](const Waiter& o) { return o.task == w.task && (o.what == 'h') == (w.what == 'h'); });
    waiters.push_back(w);
  });
  return waiters;
}

Run Runner::run(std::uint64_t seed, const std::vector<Decision>* decisions) const {
  Run result;
  result.seed = seed;
  const TemporaryFile trace, output, choices;
  std::vector<std::string> environment;
  std::string preload = library;
  for (char** entry = environ; *entry; ++entry) {
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) == 0) {
      if ((*entry)[11]) preload += std::string(":") + (*entry + 11);
    } else if (std::strncmp(*entry, "MILLRACE_EXPLORE", 16) != 0) {
      environment.emplace_back(*entry);
    }
  }
  environment.push_back("LD_PRELOAD=" + preload);
  environment.push_back("MILLRACE_EXPLORE=" + trace.path());
  environment.push_back(fmt::format("MILLRACE_EXPLORE_SEED={}", seed));
  environment.push_back(fmt::format("MILLRACE_EXPLORE_STEPS={}", steps));
  if (measure) environment.push_back("MILLRACE_EXPLORE_MEASURE=1");
  if (!lengths.empty()) environment.push_back("MILLRACE_EXPLORE_LENGTHS=" + lengths);
  // A thread can't be stopped in the midst of device code while its rights keep the explorer's handler out.
  if (!std::getenv("MILLRACE_PROTECT")) environment.push_back("MILLRACE_PROTECT=0");
  if (decisions) {
    std::ofstream out(choices.path());
    for (const Decision& d : *decisions)
      out << fmt::format("{} {:x} {:x}\n", "ABT"[static_cast<int>(d.kind)], d.key, d.value);
    environment.push_back("MILLRACE_EXPLORE_DECISIONS=" + choices.path());
  }
  std::vector<char*> argv, envp;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : environment) envp.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.path().c_str(), O_WRONLY | O_TRUNC, 0);
  if (!show_errors) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error) throw std::runtime_error(fmt::format("{} could not be started: {}", command[0], std::strerror(error)));
  result.status = wait_for(child, timeout_s, result.timed_out);
  result.output = output.text();
  result.trace = trace_of(trace);
  result.started = !result.trace.empty();
  lines_of(result, 'S', [&](std::istream&) { ++result.stalls; });
  lines_of(result, 'D', [&](std::istream& line) {
    unsigned ended = 0;
    line >> ended;
    result.nothing_ran = true;
    result.timed_out |= ended != 0;
  });
  return result;
}

}  // namespace millrace
