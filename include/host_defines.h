// Qualifiers of the CUDA C++ language (programming guide, "C++ Language Extensions") for the host compiler and for both
// passes of mrcc.
//
// Outside CUDA translation units (no __CUDACC__) the execution and memory space qualifiers are empty, so that a header
// shared with plain host code compiles.
//
// Inside, spaces that clang's CUDA front end knows are its attributes. What it would drop or misread is kept as an
// `annotate` attribute for mrcc's AST plugin (compiler/frontend), which reads exactly these:
//
//   on a __global__ function
//     "mr_launch_bounds", max_threads [, min_blocks [, max_cluster_blocks]]   __launch_bounds__(...)
//     "mr_cluster_dims", x [, y [, z]]                                        __cluster_dims__(...)
//     "mr_maxnreg", registers                                                 __maxnreg__(n)
//   on a parameter of a __global__ function
//     "mr_grid_constant"                                                      __grid_constant__
//   on a variable
//     "mr_managed"   (always together with attribute device)                  __managed__
//
// The numbers are constant expressions and may depend on template parameters. An argument that the user left out is
// absent, not zero.
#ifndef MILLRACE_HOST_DEFINES_H
#define MILLRACE_HOST_DEFINES_H
#define __HOST_DEFINES_H__  // programs ask for this name

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __no_return__ __attribute__((noreturn))
#define __thread__ __thread
#define __import__
#define __export__

#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
/* clang's CUDA mode has __noinline__ as a keyword; libstdc++ spells the GNU attribute with this name, so a macro would
   break it in plain host code. */

#if defined(__CUDACC__)

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
/* The pragma lets `alignas` follow (compiler/frontend/qualifier.cpp). */
#define __shared__ __attribute__((shared)) _Pragma("millrace qualifier")
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((annotate("mr_managed")))
#define __launch_bounds__(...) __attribute__((annotate("mr_launch_bounds", __VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("mr_cluster_dims", __VA_ARGS__)))
#define __maxnreg__(n) __attribute__((annotate("mr_maxnreg", n)))
#define __grid_constant__ __attribute__((annotate("mr_grid_constant")))
#define __nv_pure__ __attribute__((const))
#define __assume(condition) __builtin_assume(condition)

#else

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(n)
#define __grid_constant__
#define __nv_pure__

#endif

#endif
