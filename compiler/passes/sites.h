// Code compiled with -G (option -mrcc-sites) notes in its lane which source line it has reached (MrSite, mr_site_of in
// simt/abi.h), before everything that may fault or wait: memory accesses, calls of services. Fault reports name the
// line, and the runtime checks who meets whom at barriers.
#pragma once
namespace llvm {
class Function;
class Module;
}  // namespace llvm
namespace mrcc {
// Marks the functions of a unit that is compiled with -G; the mark survives in bitcode (-rdc).
void mark_for_sites(llvm::Module& module);
bool has_sites(const llvm::Function& function);
// Inserts the notes into marked functions. Before the signatures are extended; calls of always-inlined functions of the
// headers are gone by then.
void insert_sites(llvm::Module& module);
}  // namespace mrcc
