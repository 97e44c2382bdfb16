// Services of the runtime that device code calls: the device side's view of runtime/simt/abi.h (MR_SERVICES), with the
// same names and types. The device runtime archive, linked into every image, defines them.
//
// Lane-collective services carry `convergent`: the optimizer may not make them depend on additional conditions.
#pragma once
#pragma clang system_header

// Functions of these headers: device code only, or both sides. Internal linkage, so nothing of them is exported by an
// image or clashes with a program's own functions.
#define __MR_D static __inline__ __attribute__((device, always_inline, unused))
#define __MR_HD static __inline__ __attribute__((host, device, always_inline, unused))
// Larger bodies, where inlining is left to the optimizer.
#define __MR_D_BIG static __inline__ __attribute__((device, unused))
#define __MR_HD_BIG static __inline__ __attribute__((host, device, unused))

#define __MR_SERVICE __attribute__((device, nothrow))
#define __MR_COLLECTIVE __attribute__((device, nothrow, convergent))

extern "C" {
__MR_COLLECTIVE void __mr_barrier(void);
__MR_COLLECTIVE int __mr_barrier_reduce(unsigned op, int predicate);
__MR_COLLECTIVE void __mr_barrier_named(unsigned id, unsigned threads);
__MR_COLLECTIVE void __mr_barrier_named_arrive(unsigned id, unsigned threads);
__MR_COLLECTIVE void __mr_warp_sync(unsigned mask);
__MR_COLLECTIVE unsigned long __mr_shuffle(unsigned mask, unsigned mode, unsigned long value, unsigned operand,
                                           unsigned width, int* in_range);
__MR_COLLECTIVE unsigned __mr_ballot(unsigned mask, int predicate);
__MR_COLLECTIVE unsigned __mr_match(unsigned mask, unsigned op, unsigned long value, int* all_equal);
__MR_COLLECTIVE unsigned __mr_reduce(unsigned mask, unsigned op, unsigned value);
__MR_COLLECTIVE unsigned __mr_activemask(void);
__MR_COLLECTIVE void __mr_grid_sync(void);
__MR_COLLECTIVE void __mr_cluster_arrive(void);
__MR_COLLECTIVE void __mr_cluster_wait(void);

__MR_SERVICE void __mr_poll(void);
__MR_SERVICE void __mr_nanosleep(unsigned nanoseconds);
__MR_SERVICE unsigned long __mr_globaltimer(void);
__MR_SERVICE void __mr_assert_fail(const char* expression, const char* file, unsigned line, const char* function);
__MR_SERVICE void __mr_trap(void);
__MR_SERVICE void* __mr_heap_malloc(unsigned long bytes);
__MR_SERVICE void __mr_heap_free(void* pointer);
__MR_SERVICE unsigned __mr_grid_is_cooperative(void);
__MR_SERVICE void* __mr_cluster_map_shared(void* pointer, unsigned rank);
__MR_SERVICE unsigned __mr_cluster_rank_of_shared(const void* pointer);
__MR_SERVICE void __mr_pdl_trigger(void);
__MR_SERVICE void __mr_pdl_wait(void);
__MR_SERVICE void __mr_graph_set_conditional(unsigned long handle, unsigned value);
__MR_SERVICE void __mr_texture_fetch(unsigned long texture, unsigned dimensions, const float* coordinates, int layer,
                                     float level, void* result);
__MR_SERVICE void __mr_surface_access(unsigned long surface, unsigned is_store, int x_bytes, int y, int z, void* value,
                                      unsigned bytes, unsigned boundary_mode);
__MR_SERVICE int __mr_device_api(unsigned function, const unsigned long* arguments);
// The same for what concerns graphs.
__MR_SERVICE int __mr_graph_launch(unsigned function, const unsigned long* arguments);
__MR_SERVICE int __mr_graph_update(unsigned function, const unsigned long* arguments);
__MR_SERVICE int __mr_graph_api(unsigned function, const unsigned long* arguments);

// Lowered by the pass plugin.
__MR_SERVICE void* __mr_dynamic_shared(void);
__MR_SERVICE void* __mr_static_shared(void);

// Defined by the device runtime archive alone, without the runtime.
__MR_SERVICE unsigned __mr_atomic_inc(unsigned* address, unsigned limit);
__MR_SERVICE unsigned __mr_atomic_dec(unsigned* address, unsigned limit);
__MR_SERVICE int __mr_last_error(int clear);
__MR_SERVICE int __mr_vprintf(const char* format, __builtin_va_list values);
__MR_SERVICE const char* __mr_error_name(int error);
__MR_SERVICE const char* __mr_error_string(int error);
__MR_SERVICE unsigned __mr_is_constant(const void* pointer);
}
