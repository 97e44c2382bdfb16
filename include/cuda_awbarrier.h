// Memory barrier primitives, and cuda::barrier.
#ifndef MILLRACE_CUDA_AWBARRIER_H
#define MILLRACE_CUDA_AWBARRIER_H
#include "cuda_awbarrier_primitives.h"
#endif
