// What the subcommands that run a program have in common.
#pragma once
#include <string>
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

}  // namespace millrace
