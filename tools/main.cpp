// millrace: tools for CUDA programs built with mrcc.
#include <CLI/CLI.hpp>

#include <string_view>
#include <vector>

#include "commands.h"

namespace {
// `millrace check --api-only -- PROGRAM`: the mark in front of the program means nothing more to the subcommands, which
// leave alone all that follows their own options. One behind the program is the program's.
std::vector<char*> without_mark(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  bool value = false;  // the word may be the value of the option before it
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (!word.starts_with('-') && !value) break;  // the program
    value = word.starts_with('-') && word != "--api-only" && word != "--keep-going" && word.find('=') == word.npos;
  }
  return words;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tools for CUDA programs built with mrcc."};
  app.require_subcommand(1);
  app.set_version_flag("--version", "millrace 0.1.0");
  millrace::add_check(app);
  millrace::add_explore(app);
  millrace::add_graph(app);
  millrace::add_info(app);
  millrace::add_timeline(app);
  try {
    std::vector<char*> words = without_mark(argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& e) {
    return app.exit(e) ? 2 : 0;  // wrong usage, or --help
  }
  return 0;
}
