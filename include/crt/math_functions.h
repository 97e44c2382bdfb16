// The place where CUDA's own headers keep these; some programs include them by this name.
#ifndef MILLRACE_CRT_MATH_FUNCTIONS_H
#define MILLRACE_CRT_MATH_FUNCTIONS_H
#include "../math_functions.h"
#endif
