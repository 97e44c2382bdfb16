// The name of NVTX before it had folders of its own; what it declares is there.
#ifndef MILLRACE_NVTOOLSEXT_H
#define MILLRACE_NVTOOLSEXT_H
#include "nvtx3/nvToolsExt.h"
#endif
