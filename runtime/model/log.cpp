#include <model/log.h>

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace mr::model {
namespace {

constexpr std::size_t most_messages = 100;

struct Callback {
  cudaLogsCallback_t function;
  void* data;
};

struct Log {
  std::mutex mutex;  // the messages
  std::deque<std::string> lines;
  cudaLogIterator end = 0;
  // The callbacks, and that one runs at a time; a callback may take its own registration back.
  std::recursive_mutex callbacks_mutex;
  std::vector<std::unique_ptr<Callback>> callbacks;
};

// Never destroyed: static destructors of user code may fail, too.
Log& the_log() {
  static auto* const instance = new Log;
  return *instance;
}

thread_local bool calling_back = false;

std::string line_of(cudaLogLevel level, const char* message) {
  timeval now;
  gettimeofday(&now, nullptr);
  tm parts;
  localtime_r(&now.tv_sec, &parts);
  char head[64];
  std::snprintf(head, sizeof head, "[%02d:%02d:%02d.%03d][%d][CUDA][%c] ", parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(now.tv_usec / 1000), static_cast<int>(gettid()),
                level == cudaLogLevelError ? 'E' : 'W');
  return head + std::string(message) + "\n";
}

}  // namespace

void log_message(cudaLogLevel level, const char* message) noexcept {
  Log& log = the_log();
  {
    const std::scoped_lock hold(log.mutex);
    log.lines.push_back(line_of(level, message));
    if (log.lines.size() > most_messages) log.lines.pop_front();
    ++log.end;
  }
  if (calling_back) return;
  const std::scoped_lock hold(log.callbacks_mutex);
  if (log.callbacks.empty()) return;
  calling_back = true;
  std::string text = message;
  for (std::size_t i = 0; i < log.callbacks.size(); ++i) {
    const Callback callback = *log.callbacks[i];
    callback.function(callback.data, level, text.data(), text.size());
  }
  calling_back = false;
}

cudaLogsCallbackHandle add_log_callback(cudaLogsCallback_t function, void* data) {
  Log& log = the_log();
  const std::scoped_lock hold(log.callbacks_mutex);
  log.callbacks.push_back(std::make_unique<Callback>(Callback{function, data}));
  return reinterpret_cast<cudaLogsCallbackHandle>(log.callbacks.back().get());
}

bool remove_log_callback(cudaLogsCallbackHandle handle) noexcept {
  Log& log = the_log();
  const std::scoped_lock hold(log.callbacks_mutex);
  return std::erase_if(log.callbacks, [&](const std::unique_ptr<Callback>& callback) {
           return reinterpret_cast<cudaLogsCallbackHandle>(callback.get()) == handle;
         }) != 0;
}

cudaLogIterator log_end() noexcept {
  Log& log = the_log();
  const std::scoped_lock hold(log.mutex);
  return log.end;
}

bool any_log(cudaLogIterator from) noexcept {
  Log& log = the_log();
  const std::scoped_lock hold(log.mutex);
  return log.end != from && !log.lines.empty();
}

std::string log_text(cudaLogIterator* from, std::size_t limit) {
  Log& log = the_log();
  const std::scoped_lock hold(log.mutex);
  // Numbers wrap around: what counts is how far back the iterator is.
  std::size_t count = std::min<std::size_t>(log.end - *from, log.lines.size());
  *from = log.end;
  std::size_t bytes = 0, taken = 0;
  while (taken < count && bytes + log.lines[log.lines.size() - 1 - taken].size() <= limit)
    bytes += log.lines[log.lines.size() - 1 - taken++].size();
  std::string text;
  text.reserve(bytes);
  for (std::size_t i = log.lines.size() - taken; i < log.lines.size(); ++i) text += log.lines[i];
  return text;
}

}  // namespace mr::model
