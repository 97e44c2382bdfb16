// <bits/stl_pair.h> of the standard library, its functions for host and device.
#ifndef MILLRACE_STD_BITS_STL_PAIR_H
#define MILLRACE_STD_BITS_STL_PAIR_H
#pragma clang system_header
#include <millrace/std_begin.h>

#include_next <bits/stl_pair.h>

#include <millrace/std_end.h>
#endif
