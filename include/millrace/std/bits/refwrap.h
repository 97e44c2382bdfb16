// <bits/refwrap.h> of the standard library, its functions for host and device.
#ifndef MILLRACE_STD_BITS_REFWRAP_H
#define MILLRACE_STD_BITS_REFWRAP_H
#pragma clang system_header
#include <millrace/std_begin.h>

#include_next <bits/refwrap.h>

#include <millrace/std_end.h>
#endif
