// Findings: classified, folded, and written at once as JSON lines, so that a crash keeps them (docs/check.md names the
// fields). Under the checker's lock.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "shadow.h"

namespace mr::check {

struct BlockConflict;

class Report {
 public:
  void open(const char* path);
  // The process is a fork: its findings are its own.
  void begin_child();
  // Two accesses that nothing orders, or a use behind a free.
  void conflict(const Access& before, const Access& now, std::uintptr_t begin, std::uintptr_t end);
  void block_conflict(const OpRef& op, const BlockConflict& conflict);
  // A line that says why the program isn't checked.
  void cannot(const std::string& why) { write(why); }
  // At exit; or when the program dies of a signal.
  void summary(bool complete);
  bool any() const noexcept { return !findings_.empty(); }

 private:
  struct Finding {
    std::uint64_t id = 0;
    std::uint64_t count = 0;
  };
  struct Deferred {
    Access first, second;
    std::uintptr_t begin, end;
  };
  void add(const Access& first, const Access& second, std::uintptr_t begin, std::uintptr_t end);
  void write(const std::string& line);
  std::string classify(const Access& a, const Access& b) const;
  std::map<std::string, Finding> findings_;
  std::vector<Deferred> deferred_;  // allocations and frees
  std::set<OpRef> used_when_freed_;
  int file_ = -1;
  std::uint64_t ids_ = 0;  // where those of the process begin; 0: no child
};

}  // namespace mr::check
