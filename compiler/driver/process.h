// Running tools: child processes with captured or inherited diagnostics, and the folder of temporary files.
//
// Nothing here outlives mrcc: children get SIGTERM when mrcc is interrupted, and the temporary folder is removed on
// every way out, also by SIGINT, SIGTERM and SIGHUP. Not thread-safe; mrcc has one thread.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mrcc {

using Argv = std::vector<std::string>;

// Quotes an argument for a shell when it needs that, so that printed commands can be pasted.
std::string shell_quote(std::string_view argument);

// A running tool. Its standard error goes to a file when `capture` was asked for, else to mrcc's own.
class Child {
 public:
  // Starts argv[0] (a path, or a name to be found in PATH). A tool that can't be started reports exit status 127.
  static Child start(const Argv& argv, const std::filesystem::path& capture = {});
  // Exit status as a shell sees it: 128 + signal for a killed tool. May be called again.
  int wait();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int status_ = -1;  // valid once done_
  bool done_ = true;
};

// A private folder under $TMPDIR (or /tmp), made at the first use and removed at exit.
class TemporaryFolder {
 public:
  // A new path in the folder that ends with `suffix`; nothing is created there.
  static std::filesystem::path name(std::string_view stem, std::string_view suffix);
  // Keeps everything in `folder` instead, and removes nothing (--keep).
  static void keep_in(const std::filesystem::path& folder);
};

// A whole file as a string; throws Failure with a sentence when it can't be read.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Makes SIGINT, SIGTERM and SIGHUP remove temporary files and pass on to the children. Call once at start.
void install_cleanup();

}  // namespace mrcc
