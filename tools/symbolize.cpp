#include "symbolize.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace millrace {
namespace {

using nlohmann::json;

std::string symbolizer() {
  for (const char* candidate :
       {"/usr/lib/llvm-19/bin/llvm-symbolizer", "/usr/bin/llvm-symbolizer-19", "/usr/bin/llvm-symbolizer"})
    if (access(candidate, X_OK) == 0) return candidate;
  return {};
}

}  // namespace

// Asks the symbolizer about all addresses at once. A return address belongs to the call before it.
void symbolize(std::map<Address, std::vector<Frame>>& addresses) {
  const std::string program = symbolizer();
  if (program.empty() || addresses.empty()) return;
  char name[] = "/tmp/millrace-addresses-XXXXXX";
  const int fd = mkstemp(name);
  if (fd < 0) return;
  close(fd);
  {
    std::ofstream out(name);
    for (const auto& entry : addresses)
      out << '"' << entry.first.first << "\" " << fmt::format("{:#x}", entry.first.second - 1) << "\n";
  }
  const std::string command = fmt::format("{} --output-style=JSON --demangle --inlines < {} 2>/dev/null", program,
                                          name);
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  if (pipe) {
    char buffer[65536];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
    pclose(pipe);
  }
  unlink(name);
  auto at = addresses.begin();
  std::size_t begin = 0;
  while (begin < text.size() && at != addresses.end()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    const json answer = json::parse(text.substr(begin, end - begin), nullptr, false);
    begin = end + 1;
    if (answer.is_discarded()) continue;
    if (answer.contains("Symbol"))
      for (const json& s : answer["Symbol"]) {
        Frame f;
        f.function = s.value("FunctionName", "");
        f.file = s.value("FileName", "");
        f.line = s.value("Line", 0u);
        if (f.file == "??") f.file.clear();
        at->second.push_back(f);
      }
    ++at;
  }
}

bool launches_for(const Frame& f) { return f.function.find("__device_stub__") != std::string::npos; }

bool foreign(const Frame& f) {
  return f.file.empty() || f.file.find("/include/millrace/") != std::string::npos ||
         f.file.ends_with("/include/cuda_runtime.h") || f.file.starts_with("/usr/include/") ||
         f.file.starts_with("/usr/lib/") || f.file.starts_with("./") || f.file.starts_with("../") ||
         f.function.starts_with("mr::check::") || f.function.starts_with("__libc_start") ||
         f.file.find("/include/c++/") != std::string::npos || launches_for(f);
}

std::string Frame::text() const {
  if (file.empty()) return function.empty() ? "unknown place" : function;
  return fmt::format("{}:{}{}", file, line, function.empty() ? "" : " in " + function);
}

}  // namespace millrace
