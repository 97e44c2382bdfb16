// Warp matrix functions (programming guide, "Warp Matrix Functions"): D = A B + C on tiles that the lanes of a warp
// hold together. Half, bfloat16, tf32, 8-bit integers and double, in the shapes that the guide lists.
//
// How a tile is spread over the lanes is not specified; here lane l has the elements [l * n, (l + 1) * n) in row-major
// order. Products and sums are float's for half, bfloat16 and tf32 (one rounding for each addition, from k = 0 up).
// Not there: wmma::experimental (4-bit and 1-bit integers).
#ifndef MILLRACE_MMA_H
#define MILLRACE_MMA_H
#define __CUDA_MMA_H__  // programs ask for this name

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__CUDACC__) && defined(__cplusplus)
#include "millrace/device/mma.h"
#endif

#endif
