#include "program.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace millrace {

// No positional option: it would take the program's words and leave its options behind, in another order.
void add_program(CLI::App& command) {
  command.prefix_command();
  command.footer(fmt::format("millrace {} [OPTIONS] PROGRAM [ARGUMENTS...]", command.get_name()));
}

std::vector<std::string> program_if_any(CLI::App& command) {
  std::vector<std::string> program = command.remaining();
  if (!program.empty() && program.front() == "--") program.erase(program.begin());
  return program;
}

std::vector<std::string> program_of(CLI::App& command) {
  std::vector<std::string> program = program_if_any(command);
  if (program.empty()) throw CLI::ValidationError(fmt::format("name the program to {}", command.get_name()));
  return program;
}

std::string tool_library(const char* name, const char* whose) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path path = self.parent_path().parent_path() / "lib" / name;
  if (!fs::exists(path))
    throw std::runtime_error(
        fmt::format("{} library {} is missing: build or install Millrace again", whose, path.string()));
  return path;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : what.ends_with('s') ? "es" : "s");
}

std::string signal_text(int signal) { return fmt::format("signal {} ({})", signal, strsignal(signal)); }

}  // namespace millrace
