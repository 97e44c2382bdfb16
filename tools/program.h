// What the subcommands that run a program have in common.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace millrace {

// Makes all that follows the subcommand's own options the program and its arguments, whatever they look like. Called
// last, when the options have been added.
void add_program(CLI::App& command);
// In the callback: the program and its arguments, in their order. Throws CLI::ValidationError when there is none.
std::vector<std::string> program_of(CLI::App& command);
// The same, empty when there is none.
std::vector<std::string> program_if_any(CLI::App& command);

// Path of the library NAME that a tool preloads; `whose` ("the checker's") is for the message. It stands beside the
// runtime's: ../lib of this program. Throws std::runtime_error when it is missing.
std::string tool_library(const char* name, const char* whose);

// "1 gap", "2 gaps", "2 accesses".
std::string counted(std::uint64_t count, std::string_view what);
// "signal 11 (Segmentation fault)".
std::string signal_text(int signal);

}  // namespace millrace
