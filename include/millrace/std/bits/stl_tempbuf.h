// The standard library's buffers of std::stable_sort and its like, which use what C++17 deprecates: clang would warn of
// it at every use of these algorithms in a program.
#ifndef MILLRACE_STD_STL_TEMPBUF_H
#define MILLRACE_STD_STL_TEMPBUF_H
#pragma clang system_header
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#include_next <bits/stl_tempbuf.h>

#pragma clang diagnostic pop
#endif
