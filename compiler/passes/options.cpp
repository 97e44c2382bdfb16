#include "options.h"

#include "llvm/Support/CommandLine.h"

namespace mrcc {
namespace {
using namespace llvm;

cl::opt<Stage> stage_option("mrcc-stage", cl::desc("which half of Millrace's device pipeline runs"),
                            cl::init(Stage::all),
                            cl::values(clEnumValN(Stage::all, "all", "both, one translation unit is an image"),
                                       clEnumValN(Stage::unit, "unit", "a translation unit of relocatable device code"),
                                       clEnumValN(Stage::image, "image", "linked relocatable device code"),
                                       clEnumValN(Stage::host, "host", "host code, for what works around LLVM alone")));
cl::opt<Mode> mode_option("mrcc-mode", cl::desc("how kernels run"), cl::init(Mode::automatic),
                          cl::values(clEnumValN(Mode::automatic, "auto", "the best mode that each kernel allows"),
                                     clEnumValN(Mode::loop, "loop", "a loop over threads where legal"),
                                     clEnumValN(Mode::fibers, "fibers", "every thread a fiber")));
cl::opt<bool> align_option("mrcc-align-checks", cl::desc("report misaligned accesses"), cl::init(true));
cl::opt<bool> check_option("mrcc-check", cl::desc("instrument device code for millrace check"), cl::init(false));
cl::opt<bool> sites_option("mrcc-sites", cl::desc("lanes note which line they have reached"), cl::init(false));
cl::opt<bool> report_option("mrcc-report", cl::desc("print each kernel's mode and why"), cl::init(false));
cl::opt<std::string> march_option("mrcc-march", cl::desc("-march string recorded in the image"), cl::init("x86-64-v3"));
}  // namespace

Options options() {
  return {stage_option, mode_option, align_option, check_option, sites_option, report_option, march_option};
}

}  // namespace mrcc
