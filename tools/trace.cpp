#include "trace.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace millrace {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

std::string Trace::name_of(const std::string& queue, std::uint64_t when) const {
  std::string best = "internal queue";
  for (const Name& n : names)
    if (n.queue == queue && n.since <= when) best = n.name;
  return best;
}

Trace read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("the trace {} could not be opened", path));
  Trace trace;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    try {
      const auto j = nlohmann::json::parse(line);
      if (j.contains("format")) {
        trace.total = j.value("operations", std::uint64_t{0});
      } else if (j.contains("since")) {
        trace.names.push_back({j.at("queue"), j.at("name"), j.at("since")});
      } else {
        Operation op;
        op.id = j.at("op");
        op.queue = j.at("queue");
        op.sequence = j.at("sequence");
        op.enqueued = j.at("enqueued");
        op.began = j.at("began");
        op.ended = j.at("ended");
        op.thread = j.value("thread", 0u);
        op.kind = j.value("kind", "");
        op.name = demangled(j.value("name", ""));
        op.bytes = j.value("bytes", std::uint64_t{0});
        for (int i = 0; i < 3 && j.contains("grid"); ++i) {
          op.grid[i] = j.at("grid").at(static_cast<std::size_t>(i));
          op.block[i] = j.at("block").at(static_cast<std::size_t>(i));
        }
        op.on = j.value("on", "");
        op.until = j.value("until", std::uint64_t{0});
        trace.operations.push_back(std::move(op));
      }
    } catch (const nlohmann::json::exception& e) {
      throw std::runtime_error(fmt::format("line {} of the trace {} is not as expected: {}", number, path, e.what()));
    }
  }
  return trace;
}

Trace run_traced(const std::vector<std::string>& command, int* status) {
  char path[] = "/tmp/millrace-trace-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0)
    throw std::runtime_error(fmt::format("no temporary file could be made in /tmp: {}", std::strerror(errno)));
  close(fd);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("the program could not be started: {}", std::strerror(errno)));
  if (child == 0) {
    setenv("MILLRACE_TRACE", path, 1);
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
  } catch (...) {
    unlink(path);
    throw;
  }
  unlink(path);
  if (trace.operations.empty() && trace.total == 0)
    throw std::runtime_error(fmt::format(
        "{} wrote no trace: it made no CUDA call that enqueues work, ended abnormally, or was not built with mrcc",
        command[0]));
  return trace;
}

}  // namespace millrace
