// The place where CUDA's own headers keep host_defines.h; some programs include it by this name.
#ifndef MILLRACE_CRT_HOST_DEFINES_H
#define MILLRACE_CRT_HOST_DEFINES_H
#include "../host_defines.h"
#endif
