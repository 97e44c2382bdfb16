// Command line options of the plugin (clang: `-mllvm -mrcc-...`; the plugin must then also be loaded with -fplugin=,
// because clang reads -mllvm before it loads pass plugins).
#pragma once
#include <string>

namespace mrcc {

enum class Stage {
  all,    // a translation unit that becomes an image by itself
  unit,   // -rdc: a translation unit whose bitcode is linked with others later
  image,  // -rdc: the linked bitcode
  host,   // host code
};
enum class Mode {
  automatic,
  loop,    // run_blocks for every kernel that may have it
  fibers,  // no run_blocks
};

struct Options {
  Stage stage;
  Mode mode;
  bool align_checks;  // misaligned accesses are reported
  bool check;         // device code says what it touches (check.h)
  bool sites;         // device code notes the line it has reached (sites.h)
  bool report;        // per kernel: mode and why, on stderr
  std::string march;  // recorded in the image
};
Options options();

}  // namespace mrcc
