// millrace check: runs a program under the checker and says which conflicting operations nothing orders.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "check_findings.h"
#include "commands.h"
#include "program.h"
#include "suppressions.h"

extern char** environ;

namespace millrace {
namespace {

using nlohmann::json;

// Runs the program to its end; returns its wait status.
int run_checked(const std::vector<std::string>& command, const std::string& file, bool api_only, double patience) {
  setenv("MILLRACE_CHECK", file.c_str(), 1);
  setenv("MILLRACE_CHECK_PATIENCE", std::to_string(patience).c_str(), 1);
  if (api_only) setenv("MILLRACE_CHECK_API_ONLY", "1", 1);
  std::string preload = tool_library("libmillrace_check.so", "the checker's");
  if (const char* other = std::getenv("LD_PRELOAD"); other && *other) preload += std::string(":") + other;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ);
  if (error) throw std::runtime_error(fmt::format("{} could not be started: {}", command[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

void print_side(const char* mark, const Side& side) {
  const std::string where = side.frames.empty() ? "" : side.frames.front().text();
  std::string what = side.what;
  if (what == "a host function" && !side.frames.empty()) what = "host function " + side.frames.back().function;
  fmt::print("  {}  {} {} in {}{}\n", mark, what, side.access, side.place,
             side.stream.empty() ? ""
                                 : fmt::format(", made at {}:{}", side.stream.front().file, side.stream.front().line));
  if (!side.device.file.empty())
    fmt::print("       at {}:{} in {}\n", side.device.file, side.device.line, side.device.function);
  for (std::size_t i = 0; i < side.frames.size(); ++i)
    fmt::print("       {} {}\n", i == 0 ? (side.device.file.empty() ? "at" : "launched at") : "from",
               side.frames[i].text());
  if (!side.via.empty()) fmt::print("       by {} at {}\n", side.via_api, side.via.front().text());
}

void print_finding(const Finding& f, std::size_t number) {
  fmt::print("\n{}. {}\n", number, f.kind);
  print_side("A", f.a);
  print_side("B", f.b);
  std::string buffer = fmt::format("bytes {} to {} of {} bytes of {}", f.begin, f.end, f.buffer_bytes, f.memory);
  if (!f.buffer_name.empty()) buffer += " " + f.buffer_name;
  if (!f.buffer.empty()) buffer += fmt::format(", from {} at {}", f.buffer_api, f.buffer.front().text());
  fmt::print("  memory: {}\n", buffer);
  fmt::print("  unordered: {}\n", f.why);
  if (!f.common.empty())
    fmt::print("  both come behind: {} at {}\n", f.common_kernel.empty() ? f.common_api : "kernel " + f.common_kernel,
               f.common.front().text());
  fmt::print("  to order them: {}\n", f.edge);
  if (f.count > 1) fmt::print("  seen {} times\n", f.count);
}

json frame_json(const std::vector<Frame>& frames) {
  json list = json::array();
  for (const Frame& f : frames) list.push_back({{"file", f.file}, {"line", f.line}, {"function", f.function}});
  return list;
}
json side_json(const Side& s) {
  json value = {{"what", s.what}, {"access", s.access}, {"stream", s.place}, {"stack", frame_json(s.frames)}};
  if (!s.stream.empty()) value["stream_made"] = frame_json(s.stream);
  if (!s.device.file.empty()) value["device"] = frame_json({s.device})[0];
  if (!s.via.empty()) value["via"] = {{"api", s.via_api}, {"stack", frame_json(s.via)}};
  return value;
}
json result_json(const CheckResult& r, int status) {
  json findings = json::array();
  for (const Finding& f : r.findings) {
    json value = {{"kind", f.kind},
                  {"a", side_json(f.a)},
                  {"b", side_json(f.b)},
                  {"buffer",
                   {{"memory", f.memory},
                    {"name", f.buffer_name},
                    {"bytes", f.buffer_bytes},
                    {"begin", f.begin},
                    {"end", f.end},
                    {"api", f.buffer_api},
                    {"stack", frame_json(f.buffer)}}},
                  {"why", f.why},
                  {"edge", f.edge},
                  {"count", f.count}};
    if (!f.common.empty()) value["common"] = {{"api", f.common_api}, {"stack", frame_json(f.common)}};
    findings.push_back(value);
  }
  return {{"findings", findings},
          {"suppressed", r.suppressed},
          {"complete", r.complete},
          {"status", status},
          {"checked",
           {{"operations", r.operations},
            {"accesses", r.accesses},
            {"bytes", r.bytes},
            {"operations_that_did_not_end", r.unfinished},
            {"kernels_without_instrumentation", r.unchecked_kernels}}}};
}

}  // namespace

void add_check(CLI::App& app) {
  auto* command = app.add_subcommand(
      "check", "Runs a program and reports conflicting operations that nothing orders (docs/check.md).\n"
               "Build it with mrcc -mrcc-check, so that kernels and host code say what they touch.\n"
               "Exit status: 0 nothing found, 1 something found, 2 wrong usage or the program couldn't be checked;\n"
               "when nothing was found and the program failed, 3.");
  static std::string suppressions, json_path;
  static bool api_only = false;
  static double patience = 10;
  command->add_option("--json", json_path, "write the findings to this file, - for standard output");
  command->add_option(
      "--suppressions", suppressions,
      "file of findings not to report: lines KIND:TEXT, TEXT being part of a function's or file's name");
  command->add_flag("--api-only", api_only, "look at copies, sets and frees only, not into kernels and host code");
  command
      ->add_option("--patience", patience,
                   "seconds to wait at the program's end for operations that have not run, when none ends meanwhile")
      ->check(CLI::NonNegativeNumber);
  add_program(*command);
  command->callback([command] {
    std::string file;
    try {
      const std::vector<std::string> program = program_of(*command);
      const auto suppressed = suppressions.empty() ? std::vector<Suppression>{} : read_suppressions(suppressions);
      char name[] = "/tmp/millrace-check-XXXXXX";
      const int fd = mkstemp(name);
      if (fd < 0)
        throw std::runtime_error(
            fmt::format("no file for the findings could be made in /tmp: {}", std::strerror(errno)));
      close(fd);
      file = name;
      const int status = run_checked(program, file, api_only, patience);
      CheckResult result = read_findings(file);
      unlink(file.c_str());
      if (!result.other_version.empty())
        throw std::runtime_error(
            fmt::format("{} was not checked: it uses another version's {} than this checker knows; "
                        "compile it again with this version's mrcc -mrcc-check",
                        program[0], result.other_version));
      if (!result.started) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
          throw std::runtime_error(fmt::format("{} could not be started", program[0]));
        throw std::runtime_error(
            fmt::format("{} was not checked: it doesn't use Millrace's libcudart as a shared library; build it with "
                        "mrcc -mrcc-check, without -cudart static",
                        program[0]));
      }
      std::erase_if(result.findings, [&](const Finding& f) {
        for (const Suppression& s : suppressed)
          if (s.covers(f)) return ++result.suppressed, true;
        return false;
      });
      const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      std::fflush(stdout);
      if (json_path == "-") {
        fmt::print("{}\n", result_json(result, exit_status).dump(2));
      } else {
        for (std::size_t i = 0; i < result.findings.size(); ++i) print_finding(result.findings[i], i + 1);
        if (!result.complete)
          fmt::print("\nmillrace: the program did not come to its end, so this is what was found until then\n");
        fmt::print("\nmillrace: {} found{}; {}\n",
                   result.findings.empty() ? "nothing" : counted(result.findings.size(), "mistake"),
                   result.suppressed ? fmt::format(" ({} suppressed)", result.suppressed) : "",
                   result.complete ? fmt::format("checked {}, {}, {}", counted(result.operations, "operation"),
                                                 counted(result.accesses, "access"), counted(result.bytes, "byte"))
                                   : "how much was checked is counted at a program's end");
        if (result.unchecked_kernels && !api_only)
          fmt::print("millrace: {} of kernels without instrumentation, whose accesses nobody saw; build all files with "
                     "mrcc -mrcc-check\n",
                     result.unchecked_kernels == 1 ? "1 launch was"
                                                   : fmt::format("{} launches were", result.unchecked_kernels));
        if (result.unfinished)
          fmt::print(
              "millrace: when the program ended, {} had not ended, and no more did within {:g} seconds (--patience): "
              "what the program does with them is not in this report; a kernel may spin for ever\n",
              counted(result.unfinished, "operation"), patience);
        if (!json_path.empty()) {
          std::ofstream out(json_path);
          out << result_json(result, exit_status).dump(2) << "\n";
          if (!out)
            throw std::runtime_error(fmt::format("{} could not be written; check that its folder exists", json_path));
        }
      }
      std::fflush(stdout);
      if (WIFSIGNALED(status))
        fmt::print(stderr, "millrace: the program was ended by {}{}\n", signal_text(WTERMSIG(status)),
                   result.findings.empty() ? "" : "; what is above was found before");
      else if (exit_status)
        fmt::print(stderr, "millrace: the program ended with status {}\n", exit_status);
      std::exit(!result.findings.empty() ? 1 : status ? 3 : 0);
    } catch (const CLI::Error&) {
      throw;
    } catch (const std::exception& e) {
      if (!file.empty()) unlink(file.c_str());
      fmt::print(stderr, "millrace: {}\n", e.what());
      std::exit(2);
    }
  });
}

}  // namespace millrace
