// millrace graph FILE.dot [-o OUT.svg]: draws what cudaGraphDebugDotPrint wrote, with Graphviz.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
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
  std::ranges::transform(format, format.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (format != ".svg" && format != ".png" && format != ".pdf") {
    fmt::print(stderr,
               "millrace graph: the format follows from the output's extension: name a .svg, .png or .pdf, not {}\n",
               output.string());
    return 2;
  }
  if (std::error_code none; fs::equivalent(input, output, none)) {
    fmt::print(stderr, "millrace graph: {} would be written over; name another output with -o\n", input.string());
    return 2;
  }
  // Beside the output first: what dot gives up, or finds no graph in, leaves an older picture as it was.
  const std::string type = "-T" + format.substr(1), in = input.string(), out = output.string(), made = out + ".new";
  const char* const arguments[] = {"dot", type.c_str(), in.c_str(), "-o", made.c_str(), nullptr};
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
  std::error_code failed;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fs::remove(made, failed);
    fmt::print(stderr, "millrace graph: dot could not draw {} (see above)\n", in);
    return 1;
  }
  if (fs::file_size(made, failed) == 0 || failed) {
    fs::remove(made, failed);
    fmt::print(stderr, "millrace graph: there is no graph in {}\n", in);
    return 1;
  }
  fs::rename(made, output, failed);
  if (failed) {
    fmt::print(stderr, "millrace graph: {} could not be written: {}\n", out, failed.message());
    fs::remove(made, failed);
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
  CLI::App* command = app.add_subcommand("graph", "Draws a graph that cudaGraphDebugDotPrint wrote.\nExit status: 0 "
                                                  "drawn, 1 it could not be drawn, 2 wrong usage.");
  command->add_option("file", options->input, "the .dot file")->required();
  command->add_option("-o,--output", options->output,
                      "the picture: .svg, .png or .pdf (default: the .dot file's name with .svg)");
  command->callback([options] { std::exit(draw(options->input, options->output)); });
}

}  // namespace millrace
