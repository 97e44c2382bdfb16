// Make rules written while compiling (-MD, -MMD): where they go, and the headers that only the device pass includes.
#pragma once
#include <string>

#include "options.h"

namespace mrcc {

// The files that the first rule of a make file depends on, as written there: blanks in names stay escaped.
Argv prerequisites(std::string_view rules);

class DependencyFile {
 public:
  // For compiling `input` to `output`. When the output is an intermediate file of a link, the rule is for INPUT.o and
  // goes to INPUT.d in the current folder, as nvcc has it.
  DependencyFile(const Options& options, const std::string& input, const std::string& output);

  // What the host pass (or the only one) is to write, and the device pass. Empty without -MD and -MMD.
  const Argv& host_flags() const { return host_flags_; }
  const Argv& device_flags() const { return device_flags_; }
  // After both passes: adds to the host pass's rule what only the device pass included.
  void merge() const;

 private:
  std::string host_file_, device_file_;
  Argv host_flags_, device_flags_;
  bool phony_ = false;  // -MP
};

}  // namespace mrcc
