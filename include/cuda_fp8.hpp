// Included by programs that name it; everything is in the header.
#include "cuda_fp8.h"
