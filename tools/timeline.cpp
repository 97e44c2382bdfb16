// millrace timeline: runs a program and draws when its operations ran.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"
#include "program.h"
#include "timeline_model.h"

namespace millrace {
namespace {

std::string time_of(double ns) {
  if (ns < 1e4) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.1f} us", ns * 1e-3);
  return fmt::format("{:.1f} ms", ns * 1e-6);
}

void summarise(const Trace& trace, const Picture& p) {
  fmt::print("{} in {}; something ran for {}\n", counted(p.operations, "operation"), time_of(p.span_ns),
             time_of(p.busy_ns));
  fmt::print("  kernels {}, copies {}, both at once {}\n", time_of(p.kernels_ns), time_of(p.copies_ns),
             time_of(p.both_ns));
  if (p.gaps)
    fmt::print("  idle for {} in {}, the longest {}\n", time_of(p.idle_ns), counted(p.gaps, "gap"),
               time_of(p.longest_gap_ns));
  fmt::print("  longest chain of operations that wait for each other: {} in {}\n", p.chain.size(), time_of(p.chain_ns));
  for (std::size_t i = 0; i < p.hottest.size() && i < 5; ++i)
    fmt::print("  {:>10} in {} of {}\n", time_of(p.hottest[i].total_ns),
               p.hottest[i].count == 1 ? std::string("one run") : fmt::format("{} runs", p.hottest[i].count),
               p.hottest[i].name);
  if (trace.lost)
    fmt::print(stderr, "millrace: there was no room for {} more operations and calls; they are not shown\n",
               trace.lost);
  if (!trace.complete)
    fmt::print(stderr,
               "millrace: the trace is cut short, as the program didn't end by itself; shown is what there is\n");
}

}  // namespace

void add_timeline(CLI::App& app) {
  auto* command = app.add_subcommand(
      "timeline", "Runs a program and draws when its operations ran: streams, threads, waits, and figures.");
  static std::string output = "timeline.html", input;
  command->add_option("-o,--output", output, "page for a browser (.html) or trace events for Perfetto (.json)")
      ->capture_default_str();
  command->add_option("--trace", input, "draw this trace (MILLRACE_TRACE=FILE ./app) instead of running a program");
  add_program(*command);
  command->callback([command] {
    try {
      const std::vector<std::string> program = program_if_any(*command);
      if (program.empty() == input.empty()) throw CLI::ValidationError("give either a program or --trace FILE");
      if (!output.ends_with(".html") && !output.ends_with(".json"))
        throw CLI::ValidationError("the output's name must end in .html or .json");
      int status = 0;
      const Trace trace = input.empty() ? run_traced(program, &status) : read_trace(input);
      const Picture picture = make_picture(trace);
      if (output.ends_with(".json"))
        write_events(picture, output);
      else
        write_page(picture, std::filesystem::path(program.empty() ? input : program[0]).filename().string(), output);
      summarise(trace, picture);
      fmt::print("written to {}\n", output);
      constexpr int of_signal = 128;  // a shell's way
      if (status > of_signal)
        fmt::print(stderr, "millrace: the program was ended by {}\n", signal_text(status - of_signal));
      else if (status)
        fmt::print(stderr, "millrace: the program ended with status {}\n", status);
      std::exit(status ? 1 : 0);
    } catch (const CLI::Error&) {
      throw;
    } catch (const std::exception& e) {
      fmt::print(stderr, "millrace: {}\n", e.what());
      std::exit(2);
    }
  });
}

}  // namespace millrace
