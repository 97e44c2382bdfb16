// millrace explore: runs a program under many schedules that CUDA allows and says which decisions change its output.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "explore_report.h"
#include "explore_run.h"
#include "program.h"

namespace millrace {
namespace {

using nlohmann::json;

std::string ending(const Run& run) {
  if (run.timed_out) return run.nothing_ran ? "did not end: nothing could go on" : "did not end in time";
  if (WIFSIGNALED(run.status)) return "was ended by " + signal_text(WTERMSIG(run.status));
  return fmt::format("ended with status {}", WEXITSTATUS(run.status));
}

// Who waited for what in a run where nothing could go on: lines, each behind a line break.
std::string waiting_in(const Run& run) {
  std::string text;
  for (const std::string& line : describe_waiters(run)) text += "\n    " + line;
  return text;
}

// What makes a run right.
class Judge {
 public:
  std::string oracle;  // a shell command, or empty: the reference's output and status
  Run reference;

  bool wrong(const Run& run) const {
    if (run.timed_out) return true;
    if (oracle.empty()) return run.status != reference.status || run.output != reference.output;
    char name[] = "/tmp/millrace-oracle-XXXXXX";
    const int file = mkstemp(name);
    if (file < 0) throw std::runtime_error("no file for the oracle's input could be made in /tmp");
    const auto length = static_cast<ssize_t>(run.output.size());
    const bool written = write(file, run.output.data(), run.output.size()) == length;
    close(file);
    const int exit_status = WIFEXITED(run.status) ? WEXITSTATUS(run.status) : 128 + WTERMSIG(run.status);
    const int answer = std::system(
        fmt::format("MILLRACE_STATUS={}; export MILLRACE_STATUS; ( {} ) <{} >/dev/null 2>&1", exit_status, oracle, name)
            .c_str());
    unlink(name);
    if (!written) throw std::runtime_error("the oracle's input could not be written to /tmp; is the disk full?");
    return answer != 0;
  }
};

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  for (unsigned number = 1;; ++number) {
    std::string x, y;
    const bool has_x = static_cast<bool>(std::getline(left, x)), has_y = static_cast<bool>(std::getline(right, y));
    if (!has_x && !has_y) return "";
    if (has_x != has_y || x != y)
      return fmt::format("line {} of the output is{} instead of{}", number,
                         has_y ? fmt::format(" `{}`", y) : " missing", has_x ? fmt::format(" `{}`", x) : " nothing");
  }
}

class Progress {
 public:
  explicit Progress(std::uint64_t total) : total_(total), on_(isatty(2) != 0) {}
  ~Progress() { clear(); }
  void show(const char* what, std::uint64_t count) {
    if (!on_) return;
    fmt::print(stderr, "\r\033[Kmillrace: {} {} of {}", what, count, total_);
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  std::uint64_t total_;
  bool on_, shown_ = false;
};

constexpr unsigned shrink_budget = 150, shrink_budget_of_unended = 40;  // runs

struct Options {
  std::uint64_t runs = 200, seed = 1;
  unsigned jobs = 1;
  std::string shard, json_path, oracle, trace;
  double timeout_s = 60;
  bool keep_going = false;
  std::vector<std::string> program;
};

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() &&
                       word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "_-./=:,+@%") == word.npos;
    if (plain) {
      text += word;
    } else {
      text += '\'';
      for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
      text += '\'';
    }
  }
  return text;
}

json run_json(const Run& run) {
  json value = {{"seed", run.seed}, {"output", run.output}, {"stalls", run.stalls}, {"timed_out", run.timed_out}};
  if (WIFSIGNALED(run.status))
    value["signal"] = WTERMSIG(run.status);
  else
    value["status"] = WEXITSTATUS(run.status);
  return value;
}

int explore(const Options& options, bool one) {
  std::uint64_t part = 1, parts = 1;
  if (!options.shard.empty()) {
    char slash = 0;
    std::istringstream in(options.shard);
    if (!(in >> part >> slash >> parts) || slash != '/' || part < 1 || part > parts || !in.eof())
      throw CLI::ValidationError("--shard is I/N, with I from 1 to N");
  }
  // The same addresses in every run, where the system allows it.
  personality(ADDR_NO_RANDOMIZE);
  Runner runner;
  runner.command = options.program;
  runner.library = tool_library("libmillrace_explore.so", "the explorer's");
  runner.timeout_s = options.timeout_s;
  runner.show_errors = true;
  Judge judge;
  judge.oracle = options.oracle;
  const auto started = std::chrono::steady_clock::now();
  judge.reference = runner.run(0);
  const double reference_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  runner.show_errors = false;
  if (!judge.reference.started) {
    if (WIFEXITED(judge.reference.status) && WEXITSTATUS(judge.reference.status) == 127)
      throw std::runtime_error(fmt::format("{} could not be started", options.program[0]));
    throw std::runtime_error(
        fmt::format("{} was not explored: it doesn't use Millrace's libcudart as a shared library; "
                    "build it with mrcc, without -cudart static",
                    options.program[0]));
  }
  if (judge.reference.timed_out)
    throw std::runtime_error(fmt::format("the reference schedule {} (--timeout says how long a run may take){}",
                                         ending(judge.reference), waiting_in(judge.reference)));
  runner.steps = events_of(judge.reference).size();
  if (!one && options.oracle.empty() && judge.wrong(runner.run(0)))
    throw std::runtime_error("two runs of the same schedule differ in output or status, so differences say nothing: "
                             "remove what depends on time, or give an --oracle");
  // Where schedules may stop an operation in its midst depends on how long it is; the first seeds stop none.
  constexpr std::uint64_t first_that_stops = 8;
  const TemporaryFile lengths;
  std::once_flag counted;
  const auto count = [&] {
    Runner counting = runner;
    counting.measure = true;
    std::ofstream(lengths.path()) << lengths_of(counting.run(0));
  };
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t i = part - 1; i < options.runs; i += parts) seeds.push_back(options.seed + i);
  std::optional<Run> failing;
  std::uint64_t done = 0, failed = 0, stalls = 0;
  if (!options.oracle.empty() && judge.wrong(judge.reference)) {
    failing = judge.reference;
    failed = 1;
    seeds.clear();
  }
  {
    Progress progress(seeds.size());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::string error;
    Run last;
    const auto work = [&] {
      for (;;) {
        const std::size_t index = next.fetch_add(1);
        if (index >= seeds.size()) return;
        {
          const std::scoped_lock hold(mutex);
          if (!error.empty() || (failing && !options.keep_going && failing->seed < seeds[index])) return;
        }
        try {
          if (seeds[index] >= first_that_stops) std::call_once(counted, count);
          Runner mine = runner;
          if (seeds[index] >= first_that_stops) mine.lengths = lengths.path();
          Run run = mine.run(seeds[index]);
          if (run.timed_out && !run.nothing_ran) {  // it may be slow only, on a machine that is at work
            mine.timeout_s *= 2;
            run = mine.run(seeds[index]);
          }
          const bool wrong = judge.wrong(run);
          const std::scoped_lock hold(mutex);
          ++done;
          stalls += run.stalls;
          if (wrong) ++failed;
          if (one) last = run;
          if (wrong && (!failing || run.seed < failing->seed)) failing = std::move(run);
          progress.show(failed ? fmt::format("{} failing, run", failed).c_str() : "run", done);
        } catch (const std::exception& e) {
          const std::scoped_lock hold(mutex);
          error = e.what();
          return;
        }
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < options.jobs && i < seeds.size(); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (!error.empty()) throw std::runtime_error(error);
    if (!options.trace.empty()) {
      std::ofstream out(options.trace);
      out << (one ? last : failing ? *failing : judge.reference).trace;
      if (!out.flush())
        throw std::runtime_error(fmt::format("{} could not be written; check that its folder exists", options.trace));
    }
  }
  std::vector<Decision> decisions;
  std::vector<Described> described;
  if (failing && failing->seed != 0) {
    Progress progress(0);
    if (isatty(2))
      fmt::print(stderr, "millrace: seed {} fails; looking for the decisions that matter\r", failing->seed);
    // Runs that don't end take their time each; to tell them from others, a part of it will do.
    Runner shrinking = runner;
    if (failing->timed_out) shrinking.timeout_s = std::min(runner.timeout_s, std::max(4.0, reference_s * 20));
    decisions = decisions_that_matter(
        shrinking, [&](const Run& run) { return judge.wrong(run); }, judge.reference, *failing,
        failing->timed_out ? shrink_budget_of_unended : shrink_budget);
    if (isatty(2)) fmt::print(stderr, "\r\033[K");
    described = describe(*failing, decisions);
  }
  const std::string replay = failing
                                 ? fmt::format("millrace explore --seed {}{} {}", failing->seed,
                                               options.oracle.empty() ? "" : " --oracle " + quoted({options.oracle}),
                                               quoted(options.program))
                                 : "";
  json result = {{"runs", done}, {"failed", failed}, {"stalls", stalls}, {"reference", run_json(judge.reference)}};
  if (failing) {
    result["failing"] = run_json(*failing);
    if (const auto waiting = describe_waiters(*failing); !waiting.empty()) result["failing"]["waiting"] = waiting;
    result["replay"] = replay;
    json list = json::array();
    for (const Described& d : described) {
      const auto side = [](const std::string& text, const Frame& at) {
        return json{{"what", text}, {"file", at.file}, {"line", at.line}};
      };
      json value = {{"text", d.text}, {"event", side(d.first, d.first_at)}};
      if (d.decision.kind == Decision::Kind::after) value["after"] = side(d.second, d.second_at);
      list.push_back(value);
    }
    result["decisions"] = list;
  }
  if (!options.json_path.empty() && options.json_path != "-") {
    std::ofstream out(options.json_path);
    out << result.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
    if (!out.flush())
      throw std::runtime_error(fmt::format("{} could not be written; check that its folder exists", options.json_path));
  }
  if (options.json_path == "-") {
    fmt::print("{}\n", result.dump(2, ' ', false, json::error_handler_t::replace));
  } else if (failing) {
    if (one) fmt::print("{}", failing->output);
    if (failing->seed == 0) {
      fmt::print("millrace: the oracle rejects the reference schedule already: it {}\n", ending(*failing));
    } else {
      fmt::print("millrace: the output depends on the schedule: seed {} {}{}\n", failing->seed, ending(*failing),
                 waiting_in(*failing));
      const std::string difference = first_difference(judge.reference.output, failing->output);
      if (!difference.empty() && !failing->timed_out) fmt::print("  {}\n", difference);
      if (failing->status != judge.reference.status) fmt::print("  the reference {}\n", ending(judge.reference));
      if (described.empty()) {
        fmt::print("  its decisions could not be told apart; replay it as a whole\n");
      } else {
        fmt::print("\n  {} from the reference schedule, where operations run in the order of their calls:\n",
                   described.size() == 1 ? "One decision makes the difference"
                                         : fmt::format("{} decisions make the difference", described.size()));
        for (std::size_t i = 0; i < described.size(); ++i) fmt::print("  {}. {}\n", i + 1, described[i].text);
      }
      fmt::print("\n  to replay it: {}\n", replay);
      fmt::print("  what should order them: millrace check, with the program built by mrcc -mrcc-check\n");
      if (failing->stalls)
        fmt::print("  (threads that made no call for long were left to themselves {}; the replay may differ)\n",
                   millrace::counted(failing->stalls, "time"));
    }
  } else {
    if (one) fmt::print("{}", judge.reference.output);
    fmt::print("millrace: {} {}, and output and status are always {}\n", done, done == 1 ? "schedule" : "schedules",
               options.oracle.empty() ? "the reference's" : "right");
  }
  std::fflush(stdout);
  if (failing) return 1;
  if (judge.reference.status != 0 && options.oracle.empty()) {
    fmt::print(stderr, "millrace: the program {}\n", ending(judge.reference));
    return 3;
  }
  return 0;
}

}  // namespace

void add_explore(CLI::App& app) {
  auto* command = app.add_subcommand(
      "explore",
      "Runs a program under many schedules that CUDA allows, and shows one that changes its output (docs/explore.md).\n"
      "Exit status: 0 no schedule does, 1 one does, 2 wrong usage or the program couldn't be explored;\n"
      "when none does and the program fails under all of them, 3.");
  static Options options;
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  command->add_option("--runs", options.runs, "how many schedules to try")->capture_default_str();
  auto* seed = command->add_option("--seed", options.seed,
                                   "the first schedule's seed; without --runs, this schedule alone is run (again)");
  command->add_option("--jobs", options.jobs, "runs at a time")->check(CLI::Range(1u, 1024u))->capture_default_str();
  command->add_option("--shard", options.shard, "I/N: every Nth schedule, from the Ith on");
  command->add_option(
      "--oracle", options.oracle,
      "shell command that gets the program's output and $MILLRACE_STATUS, and fails when they are wrong; "
      "without it, output and status must be the reference schedule's");
  command->add_option("--timeout", options.timeout_s, "seconds that a run may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--json", options.json_path, "write the result to this file, - for standard output");
  command->add_option("--trace", options.trace, "write what the run did to this file: the failing one's, or --seed's");
  command->add_flag("--keep-going", options.keep_going, "try all schedules, and count those that fail");
  add_program(*command);
  command->callback([command, seed] {
    try {
      options.program = program_of(*command);
      const bool one = seed->count() > 0 && command->get_option("--runs")->count() == 0;
      if (one) options.runs = 1;
      std::exit(explore(options, one));
    } catch (const CLI::Error&) {
      throw;
    } catch (const std::exception& e) {
      fmt::print(stderr, "millrace: {}\n", e.what());
      std::exit(2);
    }
  });
}

}  // namespace millrace
