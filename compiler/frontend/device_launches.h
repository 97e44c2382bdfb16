// Kernel launches in device code (programming guide, "CUDA Dynamic Parallelism"). clang's CUDA front end has no place
// for them: a kernel can't be named in device code, and <<<>>> means the host's calls. So a translation unit that has
// such launches is rewritten before it is lexed, in files of its own and files that it includes by relative names or
// -I:
//
//   device pass  every launch  k<<<C>>>(A)  becomes  k(A), __mr_launch_go(__mr_launch_config(C))  and kernels are
//                declared as host and device functions, so that overloads, template arguments, conversions and default
//                arguments are the language's own. The host's launches are never generated here. The passes turn the
//                pair of calls into a launch (passes/launches.cpp).
//   host pass    the body of a device function that launches is a trap: it is never generated here either.
//
// In every unit, braces in a launch's configuration, k<<<{8, 8}, {16, 16}>>>(A), become dim3{...}, for which clang has
// no grammar either.
//
// Lines keep their numbers. Not seen: a launch whose `<<<` or `(` comes from a macro.
#pragma once

namespace clang {
class CompilerInstance;
}

// Before the main file is lexed. True when the unit has such launches.
bool rewrite_device_launches(clang::CompilerInstance& compiler);
// In the device pass of such a unit, after a precompiled header has been read: what __global__ means from here on.
void redefine_global(clang::CompilerInstance& compiler);
