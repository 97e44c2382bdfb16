// The place where CUDA's own headers keep these; some programs include them by this name.
#ifndef MILLRACE_CRT_DEVICE_FUNCTIONS_H
#define MILLRACE_CRT_DEVICE_FUNCTIONS_H
#include "../device_functions.h"
#endif
