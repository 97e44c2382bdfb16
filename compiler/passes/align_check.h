// Misaligned accesses. A GPU faults on them, x86 doesn't: the low bits of each address whose alignment isn't evident
// are collected in a word of the running thread - no branch at the access, so that loops stay vectorisable - and the
// entries report it
// (__mr_misaligned) when the body has ended. What a kernel did after the access doesn't matter: its context is lost.
//
// Most addresses are a kernel parameter plus a multiple of the alignment. Their checks run only when
// misaligned_parameters isn't null: run_blocks looks at the parameters once and inlines the body with null when they
// are aligned.
#pragma once
namespace llvm {
class Function;
class Module;
}  // namespace llvm
namespace mrcc {
// For a simplified module whose kernel bodies have the two alignment items as their last parameters. Bodies get
// kAlignAttr; other functions collect in the lane (MrLane::spare).
void insert_alignment_checks(llvm::Module& module);
}  // namespace mrcc
