#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "failure.h"

extern char** environ;

namespace mrcc {
namespace {

namespace fs = std::filesystem;

// What the signal handler may look at: plain words only. A slot is 0 or a running child's pid.
std::array<std::atomic<pid_t>, 64> running;

struct Folder {
  fs::path path;
  bool keep = false;
  pid_t owner = getpid();
  int next = 0;
  std::set<std::string> used;
  ~Folder() { remove(); }
  void remove() {
    if (path.empty() || keep || owner != getpid()) return;
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};
Folder& folder() {
  static Folder f;
  return f;
}

void track(pid_t pid) {
  for (auto& slot : running) {
    pid_t none = 0;
    if (slot.compare_exchange_strong(none, pid)) return;
  }
}
void untrack(pid_t pid) {
  for (auto& slot : running)
    if (slot.load() == pid) slot.store(0);
}

// Waiting for the children is left to the normal path: SIGTERM ends them, wait() returns, and main leaves with
// interrupted() set. Here only what a handler may do.
std::atomic<int> interrupted_by{0};

extern "C" void on_signal(int number) {
  interrupted_by.store(number);
  for (auto& slot : running)
    if (const pid_t pid = slot.load()) kill(pid, SIGTERM);
}

void leave_if_interrupted() {
  if (const int number = interrupted_by.load()) {
    folder().remove();
    signal(number, SIG_DFL);
    raise(number);
  }
}

}  // namespace

void install_cleanup() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::string shell_quote(std::string_view argument) {
  static constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (!argument.empty() && argument.find_first_not_of(safe) == std::string_view::npos) return std::string(argument);
  std::string quoted = "'";
  for (char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Child Child::start(const Argv& argv, const fs::path& capture) {
  leave_if_interrupted();
  std::vector<char*> pointers;
  for (const auto& a : argv) pointers.push_back(const_cast<char*>(a.c_str()));
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!capture.empty())
    posix_spawn_file_actions_addopen(&actions, 2, capture.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  Child child;
  const int error = posix_spawnp(&child.pid_, argv[0].c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error) {
    throw Failure("the tool " + argv[0] + " can't be started (" + std::strerror(error) +
                  "): check that it is installed and executable");
  }
  child.done_ = false;
  track(child.pid_);
  return child;
}

int Child::wait() {
  while (!done_) {
    int status = 0;
    if (waitpid(pid_, &status, 0) < 0) {
      if (errno == EINTR) continue;
      status = 127 << 8;
    }
    done_ = true;
    untrack(pid_);
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  leave_if_interrupted();
  return status_;
}

fs::path TemporaryFolder::name(std::string_view stem, std::string_view suffix) {
  Folder& f = folder();
  if (f.path.empty()) {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && *base ? base : "/tmp") + "/mrcc-XXXXXX";
    if (!mkdtemp(pattern.data()))
      throw Failure("no temporary folder can be made as " + pattern + " (" + std::strerror(errno) +
                    "): set TMPDIR to a folder that you may write to");
    f.path = pattern;
  }
  // Names that a person can guess (--keep, and members of archives), a number only for a second file of the same name.
  std::string file = std::string(stem) + std::string(suffix);
  while (!f.used.insert(file).second) file = std::string(stem) + "-" + std::to_string(f.next++) + std::string(suffix);
  return f.path / file;
}

void TemporaryFolder::keep_in(const fs::path& where) {
  std::error_code error;
  fs::create_directories(where, error);
  if (error) throw Failure("the folder " + where.string() + " for kept files can't be made: " + error.message());
  folder().path = where;
  folder().keep = true;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  if (in) out << in.rdbuf();
  if (!in) {
    std::error_code error;
    if (fs::is_regular_file(path, error) && fs::file_size(path, error) == 0) return {};
    throw Failure("the file " + path.string() + " can't be read: check that it exists and that you may read it");
  }
  return std::move(out).str();
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Failure("the file " + path.string() + " can't be written: check the folder's permissions and space");
}

}  // namespace mrcc
