// Instrumentation for `millrace check` (mrcc -mrcc-check): device code says what it touches.
//
// Each load, store, atomic operation and memory intrinsic that may reach memory of other threads calls
// `__mr_check_access(address, bytes, site)` first; fences, grid barriers and the calls of programmatic launches call it
// with no address, behind them. A site is a constant in the image (simt/check_site.h). Without a checker the call
// returns after one test (compiler/devicert/check.cpp).
//
// Shared memory is the block's own and is left out. What loops touch becomes one call in front of the loop where the
// addresses advance evenly: `__mr_check_range(address, bytes, stride, count, expected, exact, site)`, count rows of
// bytes. Reads through a row of indices become `__mr_check_gather`, which goes through the row. That is done in bodies,
// again when the thread loops are around them (before and behind their being divided), and once more when all is
// simplified, which leaves most of those without calls, so that they are vectorised as without checks.
#pragma once
#include "llvm/IR/PassManager.h"

#include <simt/check_site.h>

namespace mrcc {
// A call that says what is touched. It touches nothing itself.
bool is_access_check(const llvm::Instruction& i);
// Kernel bodies and functions after simplification, before the thread loops are made around the bodies.
void insert_access_checks(llvm::Module& module);
// Merges the calls of each basic block where they touch neighbouring bytes, and moves them out of loops. Returns true
// if anything was changed.
bool merge_access_checks(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
}  // namespace mrcc
