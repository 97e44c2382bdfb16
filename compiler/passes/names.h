// Names that the passes give things in IR between stages. Function and variable attributes survive in bitcode (-rdc).
#pragma once
#include "llvm/ADT/StringRef.h"

namespace mrcc {

// Attribute of a kernel: the AST plugin's annotation text (see frontend/annotate.cpp).
inline constexpr llvm::StringLiteral kKernelAttr = "mr-kernel";
// Attribute of a kernel: "X:Y:Z,...", block extents for which it gets versions of its own.
inline constexpr llvm::StringLiteral kBlocksAttr = "mr-blocks";
// Attribute of a global variable: "device", "constant" or "managed".
inline constexpr llvm::StringLiteral kVariableAttr = "mr-variable";
// What follows a managed variable's name in the name of its slot; such a slot has kVariableAttr "slot" (managed.h).
inline constexpr llvm::StringLiteral kManagedSlotSuffix = ".mr.slot";
// Section that marks images with managed variables; the runtime looks for it (model/module.cpp).
inline constexpr llvm::StringLiteral kManagedSection = "mr_managed";
// Attributes of a shared-variable accessor `ptr __mr.shared.NAME()`: bytes and alignment of the variable.
inline constexpr llvm::StringLiteral kSharedSizeAttr = "mr-shared-size";
inline constexpr llvm::StringLiteral kSharedAlignAttr = "mr-shared-align";
inline constexpr llvm::StringLiteral kSharedPrefix = "__mr.shared.";
// What the AST plugin renames `extern __shared__` arrays to.
inline constexpr llvm::StringLiteral kDynamicSharedName = "__mr_dynamic_shared_base";
// Prefix of functions for the host alone that device code refers to (frontend/host_calls.cpp).
inline constexpr llvm::StringLiteral kHostOnlyPrefix = "__mr_host_only.";
// Prefix of the functions that stand for values of the running thread (context.h).
inline constexpr llvm::StringLiteral kContextPrefix = "__mr.context.";
// Attributes of a declared run_blocks function until BlockStage defines it: the body's name, its items (context.h), "1"
// when iterations store their thread into the lane.
inline constexpr llvm::StringLiteral kBodyAttr = "mr-body";
inline constexpr llvm::StringLiteral kItemsAttr = "mr-items";
inline constexpr llvm::StringLiteral kStoreLaneAttr = "mr-store-lane";
// Attribute of a declared run_blocks function of a kernel with barriers: it exists only if the body can be split. The
// value is what -mrcc-report says in front of the mode, if it is asked for.
inline constexpr llvm::StringLiteral kSplitAttr = "mr-split";
// Attribute of a kernel's body until BlockStage.
inline constexpr llvm::StringLiteral kKernelBodyAttr = "mr-kernel-body";
// Attribute of a body: pointer parameters whose alignment its accesses rely on, "INDEX:ALIGN,..." (align_check.h).
inline constexpr llvm::StringLiteral kAlignAttr = "mr-align-parameters";
// Attribute of functions that were compiled with -G (sites.h).
inline constexpr llvm::StringLiteral kSitesAttr = "mr-sites";
// Attribute of the parameters that are the start of the block's shared memory.
inline constexpr llvm::StringLiteral kSharedBaseAttr = "mr-shared-base";
// Attribute of functions that the passes made as entries: their accesses to the argument buffer need no check.
inline constexpr llvm::StringLiteral kEntryAttr = "mr-entry";
// Attribute of a kernel's body: bytes of static shared memory.
inline constexpr llvm::StringLiteral kStaticSharedAttr = "mr-static-shared";
// Prefix of the functions that give their argument, a constant that simplification isn't to know (thread_loops.h).
inline constexpr llvm::StringLiteral kHiddenPrefix = "__mr.hidden.";
// Metadata of branches that some threads take in some iterations (strided_loops.h).
inline constexpr llvm::StringLiteral kTakesPartMark = "mrcc.takes_part";
// Metadata of the load that gives an entry's scratch memory (thunks.cpp).
inline constexpr llvm::StringLiteral kScratchMark = "mrcc.scratch";

}  // namespace mrcc
