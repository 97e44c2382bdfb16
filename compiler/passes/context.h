// What a running thread knows about itself - indices, extents, shared memory - as SSA values.
//
// Early lowering turns every use of threadIdx and kin into a call of a placeholder function, one per Item.
// extend_signatures() then gives each function that needs items (itself or through its direct callees) a trailing
// parameter per item, so that the items are plain values after inlining: loop induction variables in run_blocks, loads
// from MrLane and MrBlock in run_lane. A function whose address is taken keeps a shim under its name that fetches the
// items from the lane of the running stack.
#pragma once
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class Module;
class Value;
}  // namespace llvm

namespace mrcc {

enum Item : unsigned {
  tid_x,
  tid_y,
  tid_z,  // threadIdx
  block_x,
  block_y,
  block_z,  // blockIdx
  bdim_x,
  bdim_y,
  bdim_z,  // blockDim
  gdim_x,
  gdim_y,
  gdim_z,                 // gridDim
  shared_base,            // MrBlock::shared
  dynamic_base,           // MrBlock::shared + MrBlock::dynamic_offset
  block_pointer,          // MrBlock*
  misaligned_bits,        // address of a 32-bit word that collects the low bits of misaligned addresses (align_check.h)
  misaligned_parameters,  // such a word for addresses based on pointer parameters; null where those are known to be
                          // aligned
  item_count
};
using ItemSet = std::uint32_t;  // bit per Item
inline constexpr ItemSet kAlignmentItems = 1u << misaligned_bits | 1u << misaligned_parameters;

// The placeholder's value at the builder's position.
llvm::Value* placeholder(llvm::IRBuilderBase& builder, llvm::Module& module, Item item);
// The item a function stands for; item_count if none.
Item placeholder_item(const llvm::Function& function);
llvm::Type* item_type(llvm::LLVMContext& context, Item item);

// The MrLane of the running stack (see mr_lane_of in simt/abi.h): a pure value.
llvm::Value* lane_pointer(llvm::IRBuilderBase& builder);
// One item from memory, given the block and (for thread items) the lane.
llvm::Value* load_item(llvm::IRBuilderBase& builder, Item item, llvm::Value* lane, llvm::Value* block);
llvm::Value* load_block_pointer(llvm::IRBuilderBase& builder, llvm::Value* lane);
// Stores thread items (and the linear index derived from them) into the lane, for code that reads MrLane.
void store_thread_items(llvm::IRBuilderBase& builder, llvm::Value* lane, llvm::ArrayRef<llvm::Value*> tid,
                        llvm::ArrayRef<llvm::Value*> block_dim);

// The word in which functions that aren't kernel bodies collect the low bits of misaligned addresses.
llvm::Value* lane_misaligned_bits(llvm::IRBuilderBase& builder, llvm::Value* lane);

struct Extended {
  llvm::Function* body;  // the function with its trailing parameters
  ItemSet items;         // in Item order
};
// Extends every function of the module that needs items, and kernels by `for_kernels` as well. Returns kernels' bodies
// by kernel; the kernels themselves become empty declarations of their old type for the caller to replace.
llvm::DenseMap<llvm::Function*, Extended> extend_signatures(llvm::Module& module, ItemSet for_kernels);

}  // namespace mrcc
