// millrace: tools for CUDA programs built with mrcc.
#include <CLI/CLI.hpp>

#include "commands.h"

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
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) ? 2 : 0;  // wrong usage, or --help
  }
  return 0;
}
