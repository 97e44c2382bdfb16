// millrace graph FILE.dot [-o OUT.svg]: draws what cudaGraphDebugDotPrint wrote, with Graphviz.
#include <llvm/Demangle/Demangle.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "commands.h"

extern char** environ;

namespace millrace {
namespace {

namespace fs = std::filesystem;

// The name of a kernel as the picture shows it; empty if it is no name.
std::string demangled(const std::string& name) {
  char* plain = llvm::itaniumDemangle(name, false);
  std::string text = plain ? plain : "";
  std::free(plain);
  constexpr std::size_t most = 160, tail = 40;  // as the runtime shortens names
  if (text.size() > most) text.replace(most - tail - 3, text.size() - (most - 3), "...");
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Labels whose names the runtime couldn't demangle begin with the whole name instead: their tooltips have it mangled.
// Empty when there are none.
std::string with_names(const fs::path& input) {
  std::ifstream file(input);
  std::string text, line;
  bool any = false;
  while (std::getline(file, line)) {
    const std::string_view label = "label=\"", tooltip = "\", tooltip=\"_Z";
    const std::size_t begin = line.find(label), end = line.find("\\n", begin), name = line.rfind(tooltip);
    if (name != std::string::npos && begin < end && end < name) {
      const std::size_t at = name + tooltip.size() - 2;
      const std::string plain = demangled(line.substr(at, line.find('"', at) - at));
      if (!plain.empty()) {
        line.replace(begin + label.size(), end - begin - label.size(), plain);
        any = true;
      }
    }
    text += line + "\n";
  }
  return any ? text : "";
}

// A file that dot can read, without a name of its own; -1 if there can't be one.
int file_of(const std::string& text) {
  const int file = memfd_create("graph.dot", 0);
  for (std::size_t at = 0; file >= 0 && at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0) return close(file), -1;
    at += static_cast<std::size_t>(written);
  }
  return file;
}

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
  const std::string named = with_names(input);
  const int file = named.empty() ? -1 : file_of(named);
  const std::string from = file < 0 ? in : fmt::format("/proc/self/fd/{}", file);
  const char* const arguments[] = {"dot", type.c_str(), from.c_str(), "-o", made.c_str(), nullptr};
  pid_t child;
  const int error = posix_spawnp(&child, "dot", nullptr, nullptr, const_cast<char**>(arguments), environ);
  if (file >= 0) close(file);
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
