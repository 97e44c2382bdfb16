// The contract between compiled device code and the runtime: layouts, symbols and services.
//
// Three parties read this file: the pass plugin (compiler/passes, which mirrors the constants and emits the symbols),
// the device runtime archive (compiler/devicert, linked into every image) and the runtime's simt room (which runs
// kernels). Plain C++ without dependencies. Any change raises MR_ABI_VERSION; an image of another version is refused at
// load.
//
// How device code finds its thread. Every lane runs on a stack that the runtime owns, MR_STACK_BYTES large and aligned
// to its size. The lane's MrLane lies in the stack's lowest page, at a line that depends on the stack's number, so that
// the MrLanes of a block don't fall into one cache set (see mr_lane_of). There is no thread_local data in device code.
#pragma once
#include <cstddef>
#include <cstdint>

#define MR_ABI_VERSION 6u
#define MR_STACK_BITS 18u
#define MR_STACK_BYTES (std::uint64_t{1} << MR_STACK_BITS)
#define MR_WARP 32u
#define MR_SITE_DISTANCE 1024u

// One block in execution. Filled by the runtime before any lane runs; read by device code. 128 bytes.
struct MrBlock {
  std::uint32_t grid_dim[3];
  std::uint32_t block_dim[3];
  std::uint32_t block_idx[3];
  std::uint32_t threads;         // block_dim[0] * block_dim[1] * block_dim[2]
  char* shared;                  // start of the block's shared window: static variables at the offsets the pass chose
  std::uint32_t static_shared;   // bytes; dynamic shared memory begins at shared + dynamic_offset
  std::uint32_t dynamic_offset;  // static_shared rounded up to 16
  std::uint32_t dynamic_shared;  // bytes
  std::uint32_t cluster_dim[3];  // 1,1,1 when the launch has no clusters
  std::uint64_t grid_id;         // unique per launch
  const void* args;              // the packed argument buffer (layout: MrParam)
  void* runtime;                 // simt's own state for this block
  std::uint32_t together;        // blocks from block_idx on, in x, that run_blocks is at
};

// One lane (CUDA thread). `tid` is valid in fiber mode always; in loop mode the thunk stores it only if a function that
// was not inlined may read it, or the kernel has MR_KERNEL_SITES.
struct MrLane {
  MrBlock* block;
  std::uint32_t tid[3];
  std::uint32_t linear;      // tid[0] + tid[1]*bx + tid[2]*bx*by; warp = linear / 32, lane = linear % 32
  std::uint32_t poll_count;  // device side counts polls here before it enters the runtime
  std::uint32_t last_error;  // cudaError_t of the lane's device-side runtime calls
  void* runtime;             // simt's own state for this lane (null in loop mode)
  std::uint64_t spare[3];  // [2]: protect.S, while rights are switched; the others: compiled code (misaligned accesses)
};
static_assert(sizeof(MrLane) == 64);

// The lane of the code that runs on stack pointer `sp`. Device code has the same computation as inline assembly.
inline MrLane* mr_lane_of(std::uint64_t sp) {
  const std::uint64_t base = sp & ~(MR_STACK_BYTES - 1);
  return reinterpret_cast<MrLane*>(base + ((sp >> MR_STACK_BITS & 63u) << 6));
}

// A place in the source: where the programmer wrote it, headers of the device language looked through.
struct MrSite {
  const char* file;  // constants of the image
  std::uint32_t line, column;
};
// Where the lanes of kernels with MR_KERNEL_SITES note the place that they have reached: in the lane's page, at a line
// that nothing else uses. Meaningless for other kernels.
inline const MrSite** mr_site_of(const MrLane* lane) {
  return reinterpret_cast<const MrSite**>(reinterpret_cast<std::uint64_t>(lane) ^ MR_SITE_DISTANCE);
}

// ---- What an image exports
// -------------------------------------------------------------------------------------------

// One kernel parameter in the packed argument buffer.
struct MrParam {
  std::uint32_t offset, size, align;
};

enum MrKernelFlags : std::uint32_t {
  MR_KERNEL_MAY_SPIN = 1u << 0,      // has a loop whose end may depend on others: fibers, polled
  MR_KERNEL_BARRIER = 1u << 1,       // reaches a barrier or warp operation (lanes must coexist)
  MR_KERNEL_GRID_SYNC = 1u << 2,     // reaches a grid-wide barrier
  MR_KERNEL_CLUSTER_SYNC = 1u << 3,  // reaches a cluster-wide barrier or distributed shared memory
  MR_KERNEL_PRINTF = 1u << 4,
  MR_KERNEL_PDL = 1u << 5,       // calls cudaGridDependencySynchronize or cudaTriggerProgrammaticLaunchCompletion
  MR_KERNEL_LAUNCHES = 1u << 6,  // may launch kernels or call the device-side runtime API
  MR_KERNEL_SITES = 1u << 7,     // compiled with -G: lanes note where they are (mr_site_of), and tid also in loop mode
  MR_KERNEL_GRAPHS = 1u << 8,    // may launch graphs: a kernel of graphs only
  MR_KERNEL_PARENT = 1u << 9,    // may launch kernels
  MR_KERNEL_CHECKED = 1u << 10,  // tells what it touches (-mrcc-check)
  MR_KERNEL_UPDATES = 1u << 11,  // may change nodes of graphs
};

// Runs blocks first .. first+count-1 (linear index, x fastest) of the grid described by *block, one after the other,
// all lanes of each, on this stack. Reads block->grid_dim, block_dim, shared, args; writes block->block_idx, together.
using MrRunBlocks = void (*)(MrBlock* block, std::uint64_t first, std::uint64_t count);
// Runs the kernel's body once, as the lane of this stack.
using MrRunLane = void (*)(const void* args);

struct MrKernel {
  const char* name;        // mangled
  MrRunBlocks run_blocks;  // null when the kernel can't run in loop or split mode
  MrRunLane run_lane;      // always there
  const MrParam* params;
  std::uint32_t param_count;
  std::uint32_t args_size;      // bytes of the packed buffer
  std::uint32_t static_shared;  // bytes
  std::uint32_t flags;          // MrKernelFlags
  std::uint32_t max_threads;    // __launch_bounds__, 0 = none given
  std::uint32_t min_blocks;
  std::uint32_t max_cluster;     // third argument of __launch_bounds__, 0 = none
  std::uint32_t cluster_dim[3];  // __cluster_dims__, 0 = none
  const char* file;              // where the kernel is defined; may be null
  std::uint32_t line;
  std::uint32_t registers;      // an estimate for cudaFuncGetAttributes
  std::uint32_t local_bytes;    // stack bytes per lane, an estimate
  std::uint32_t scratch_bytes;  // of stack per thread that run_blocks needs (split mode); at the end of this record
};

enum MrVariableKind : std::uint32_t { MR_VAR_DEVICE = 0, MR_VAR_CONSTANT = 1, MR_VAR_MANAGED = 2 };

// A managed variable has two records of the same name: the variable itself, which holds the initial value, and
// (MR_VAR_IS_SLOT) the pointer through which device code finds it, which the runtime sets when it loads the image.
enum MrVariableFlags : std::uint32_t { MR_VAR_IS_SLOT = 1u << 0 };

struct MrVariable {
  const char* name;  // mangled
  void* address;
  std::uint64_t size;
  std::uint32_t kind;   // MrVariableKind
  std::uint32_t flags;  // MrVariableFlags
};

struct MrServices;

// The single symbol `__mr_image` of an image. All device and constant variables lie in two ranges of whole pages, so
// that these can be registered, protected and restored: [data_begin, data_end) those that have initial values,
// [zero_begin, zero_end) those that begin as zeros, which take no room in the file. A range without variables is two
// null pointers.
struct MrImage {
  std::uint32_t abi_version;
  std::uint32_t cpu_level;  // 3 = x86-64-v3, 4 = x86-64-v4, 0xffff = native to the building machine (see cpu)
  const char* cpu;          // the -march string, for messages
  const MrKernel* kernels;
  std::uint64_t kernel_count;
  const MrVariable* variables;
  std::uint64_t variable_count;
  char* data_begin;
  char* data_end;
  char* zero_begin;
  char* zero_end;
  const MrServices** services;  // the runtime stores its table here before anything of the image runs
};

// ---- Services: what device code asks of the runtime
// -------------------------------------------------------------------

// One printf argument after C's default promotions; integers sign- or zero-extended to 64 bits.
struct MrPrintfArg {
  std::uint64_t bits;
  std::uint32_t is_double, reserved;
};

enum MrShuffle : std::uint32_t { MR_SHFL_IDX = 0, MR_SHFL_UP = 1, MR_SHFL_DOWN = 2, MR_SHFL_XOR = 3 };
enum MrReduce : std::uint32_t {
  MR_RED_ADD = 0,
  MR_RED_MIN_U = 1,
  MR_RED_MAX_U = 2,
  MR_RED_MIN_S = 3,
  MR_RED_MAX_S = 4,
  MR_RED_AND = 5,
  MR_RED_OR = 6,
  MR_RED_XOR = 7
};
enum MrMatch : std::uint32_t { MR_MATCH_ANY = 0, MR_MATCH_ALL = 1 };
enum MrBarrierReduce : std::uint32_t { MR_BAR_COUNT = 0, MR_BAR_AND = 1, MR_BAR_OR = 2 };

// X(return type, name, (parameters), (arguments)). Device code declares each as extern "C" `__mr_NAME`; the device
// runtime archive defines it as a tail call through the image's services table.
//
// Lane-collective (all lanes named by the mask, or of the block, must call it; the runtime switches fibers):
//   barrier, barrier_reduce, barrier_named, warp_sync, shuffle, ballot, match, reduce, grid_sync, cluster_*
// Single-lane: everything else. `poll` is called from may-spin loops and may switch to another lane, block or
// operation.
#define MR_SERVICES(X)                                                                                                 \
  X(void, barrier, (void), ())                                                                                         \
  X(int, barrier_reduce, (std::uint32_t op, int predicate), (op, predicate))                                           \
  X(void, barrier_named, (std::uint32_t id, std::uint32_t threads), (id, threads))                                     \
  X(void, barrier_named_arrive, (std::uint32_t id, std::uint32_t threads), (id, threads))                              \
  X(void, warp_sync, (std::uint32_t mask), (mask))                                                                     \
  X(std::uint64_t, shuffle,                                                                                            \
    (std::uint32_t mask, std::uint32_t mode, std::uint64_t value, std::uint32_t operand, std::uint32_t width,          \
     int* in_range),                                                                                                   \
    (mask, mode, value, operand, width, in_range))                                                                     \
  X(std::uint32_t, ballot, (std::uint32_t mask, int predicate), (mask, predicate))                                     \
  X(std::uint32_t, match, (std::uint32_t mask, std::uint32_t op, std::uint64_t value, int* all_equal),                 \
    (mask, op, value, all_equal))                                                                                      \
  X(std::uint32_t, reduce, (std::uint32_t mask, std::uint32_t op, std::uint32_t value), (mask, op, value))             \
  X(std::uint32_t, activemask, (void), ())                                                                             \
  X(void, poll, (void), ())                                                                                            \
  X(void, nanosleep, (std::uint32_t nanoseconds), (nanoseconds))                                                       \
  X(std::uint64_t, globaltimer, (void), ())                                                                            \
  X(int, printf, (const char* format, const MrPrintfArg* arguments, std::uint32_t count), (format, arguments, count))  \
  X(void, assert_fail, (const char* expression, const char* file, std::uint32_t line, const char* function),           \
    (expression, file, line, function))                                                                                \
  X(void, trap, (void), ())                                                                                            \
  X(void*, heap_malloc, (std::uint64_t bytes), (bytes))                                                                \
  X(void, heap_free, (void* pointer), (pointer))                                                                       \
  X(void, grid_sync, (void), ())                                                                                       \
  X(std::uint32_t, grid_is_cooperative, (void), ())                                                                    \
  X(void, cluster_arrive, (void), ())                                                                                  \
  X(void, cluster_wait, (void), ())                                                                                    \
  X(void*, cluster_map_shared, (void* pointer, std::uint32_t rank), (pointer, rank))                                   \
  X(std::uint32_t, cluster_rank_of_shared, (const void* pointer), (pointer))                                           \
  X(void, pdl_trigger, (void), ())                                                                                     \
  X(void, pdl_wait, (void), ())                                                                                        \
  X(void, graph_set_conditional, (std::uint64_t handle, std::uint32_t value), (handle, value))                         \
  X(void, texture_fetch,                                                                                               \
    (std::uint64_t texture, std::uint32_t dimensions, const float* coordinates, int layer, float level, void* result), \
    (texture, dimensions, coordinates, layer, level, result))                                                          \
  X(void, surface_access,                                                                                              \
    (std::uint64_t surface, std::uint32_t is_store, int x_bytes, int y, int z, void* value, std::uint32_t bytes,       \
     std::uint32_t boundary_mode),                                                                                     \
    (surface, is_store, x_bytes, y, z, value, bytes, boundary_mode))                                                   \
  X(int, device_launch,                                                                                                \
    (const void* kernel, const std::uint32_t* grid_block, void* const* arguments, std::uint64_t shared_bytes,          \
     std::uint64_t stream),                                                                                            \
    (kernel, grid_block, arguments, shared_bytes, stream))                                                             \
  X(int, device_api, (std::uint32_t function, const std::uint64_t* arguments), (function, arguments))                  \
  X(void, misaligned, (const void* address, std::uint32_t alignment), (address, alignment))                            \
  X(void, trap_because, (const char* sentence), (sentence))

struct MrServices {
  std::uint32_t abi_version, reserved;
#define MR_SERVICE_MEMBER(result, name, parameters, arguments) result(*name) parameters;
  MR_SERVICES(MR_SERVICE_MEMBER)
#undef MR_SERVICE_MEMBER
};

// ---- Intrinsics that the pass lowers (declared by the device headers, never defined)
// ----------------------------------
//
//   threadIdx, blockIdx, blockDim, gridDim   extern const device variables of type uint3/dim3; every use is replaced
//   warpSize                                 a constant 32 in the headers
//   printf(const char*, ...)                 calls become __mr_printf with packed arguments
//   unsigned __mr_tid(int dim) …             not there: read the variables above
//   MrLane* __mr_lane()                      inline assembly in the headers
//   void* __mr_dynamic_shared(void)          start of dynamic shared memory; extern __shared__ arrays become this
//   void* __mr_static_shared(void)           start of the block's shared window
