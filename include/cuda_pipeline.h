// The pipeline interface of C functions, and cuda::pipeline.
#ifndef MILLRACE_CUDA_PIPELINE_H
#define MILLRACE_CUDA_PIPELINE_H
#include "cuda_pipeline_primitives.h"
#if defined(__CUDACC__)
#include "millrace/libcu/pipeline.h"
#endif
#endif
