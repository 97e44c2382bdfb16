// millrace info: what this machine offers, and the settings in force.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "commands.h"

namespace millrace {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "unknown";
}

bool has_flag(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return (line + " ").find(" " + flag + " ") != std::string::npos;
  return false;
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

const char* level() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  return "below x86-64-v3: programs built by mrcc can't run here";
}

}  // namespace

void add_info(CLI::App& app) {
  auto* command = app.add_subcommand("info",
                                     "Shows the processor, what protection is possible, and the settings in force.");
  static bool json = false;
  command->add_flag("--json", json, "print one JSON object");
  command->callback([] {
    struct Setting {
      const char *name, *meaning;
    };
    constexpr Setting settings[] = {
        {"MILLRACE_DEVICES", "number of virtual devices (default 1)"},
        {"MILLRACE_MEMORY", "memory of each device"},
        {"MILLRACE_WORKERS", "worker threads that run at a time (default: one per processor)"},
        {"MILLRACE_PROTECT", "0 turns protection keys off"},
        {"MILLRACE_TRACE", "file that a trace of operations is written to"},
        {"MILLRACE_REPORT", "if set, a kernel's fault is told on standard error: which kernel, address and block"},
        {"MILLRACE_LEAKS", "1 lists at exit what was allocated and never freed"},
    };
    const bool keys = has_flag("ospke");
    if (json) {
      nlohmann::json out{{"processor", processor()},
                         {"level", level()},
                         {"processors", available_processors()},
                         {"protection_keys", keys}};
      for (const Setting& s : settings)
        if (const char* value = std::getenv(s.name)) out["settings"][s.name] = value;
      fmt::print("{}\n", out.dump(2));
    } else {
      fmt::print("processor        {}\n", processor());
      fmt::print("instruction set  {}\n", level());
      fmt::print("processors       {}\n", available_processors());
      fmt::print("protection keys  {}\n",
                 keys ? "the processor has them; in use unless MILLRACE_PROTECT=0"
                      : "no: host accesses to device memory and kernel accesses to host memory are not reported");
      for (const Setting& s : settings) {
        const char* value = std::getenv(s.name);
        fmt::print("{:<16} {:<10} {}\n", s.name, value ? value : "-", s.meaning);
      }
    }
    std::exit(0);
  });
}

}  // namespace millrace
