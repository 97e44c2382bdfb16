// The macros of device/services.h for plain host code that includes cuda_fp16.h or cuda_bf16.h.
#pragma once
#ifndef __MR_HD
#define __MR_HD static inline __attribute__((unused))
#define __MR_HD_BIG static inline __attribute__((unused))
#endif
