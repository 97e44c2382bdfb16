// <bits/move.h> of the standard library, its functions for host and device.
#ifndef MILLRACE_STD_BITS_MOVE_H
#define MILLRACE_STD_BITS_MOVE_H
#pragma clang system_header
#include <millrace/std_begin.h>

#include_next <bits/move.h>

#include <millrace/std_end.h>
#endif
