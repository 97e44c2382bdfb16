// Instrumentation for `millrace check` (mrcc -mrcc-check): device code says what it touches.
//
// Each load, store, atomic operation and memory intrinsic that may reach memory of other threads calls
// `__mr_check_access(address, bytes, site)` first; fences, grid barriers and the calls of programmatic launches call it
// with no address, behind them. A site is a constant in the image (simt/check_site.h). Without a checker the call
// returns after one test (compiler/devicert/check.cpp).
#pragma once
#include <simt/check_site.h>

namespace llvm {
class Module;
}  // namespace llvm

namespace mrcc {
// Kernel bodies and functions after simplification, before the thread loops are made around the bodies.
void insert_access_checks(llvm::Module& module);
}  // namespace mrcc
