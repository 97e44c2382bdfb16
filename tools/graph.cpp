// millrace graph FILE.dot [-o OUT.svg]: draws what cudaGraphDebugDotPrint wrote, with Graphviz.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "commands.h"

extern char** environ;

namespace millrace {
namespace {

namespace fs = std::filesystem;

// The exit status to end with.
int draw(const fs::path& input, fs::path output) {
  if (!fs::is_regular_file(input)) {
    fmt::print(stderr,
               "millrace graph: {} is not a file; give it what cudaGraphDebugDotPrint(graph, path, flags) wrote\n",
               input.string());
    return 2;
  }
  if (output.empty()) output = fs::path(input).replace_extension(".svg");
  std::string format = output.extension().string();
  if (format.size() < 2) {
    fmt::print(stderr, "millrace graph: the output {} has no extension; it says the format: .svg, .png or .pdf\n",
               output.string());
    return 2;
  }
  format.erase(0, 1);
  const std::string type = "-T" + format, in = input.string(), out = output.string();
  const char* const arguments[] = {"dot", type.c_str(), in.c_str(), "-o", out.c_str(), nullptr};
  pid_t child;
  const int error = posix_spawnp(&child, "dot", nullptr, nullptr, const_cast<char**>(arguments), environ);
  if (error == ENOENT) {
    fmt::print(stderr, "millrace graph: Graphviz's program dot was not found; install it (apt-get install graphviz)\n");
    return 2;
  }
  if (error) {
    fmt::print(stderr, "millrace graph: dot could not be started: {}\n", std::strerror(error));
    return 1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fmt::print(stderr, "millrace graph: dot could not draw {} (see above)\n", in);
    return 1;
  }
  fmt::print("{}\n", out);
  return 0;
}

}  // namespace

void add_graph(CLI::App& app) {
  struct Options {
    std::string input, output;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("graph", "Draws a graph that cudaGraphDebugDotPrint wrote.");
  command->add_option("file", options->input, "the .dot file")->required();
  command->add_option("-o,--output", options->output,
                      "the picture: .svg, .png or .pdf (default: the .dot file's name with .svg)");
  command->callback([options] { std::exit(draw(options->input, options->output)); });
}

}  // namespace millrace
