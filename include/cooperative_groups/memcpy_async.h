// memcpy_async, wait and wait_prior (programming guide, "Cooperative Groups", "memcpy_async").
#ifndef MILLRACE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define MILLRACE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#include "../cooperative_groups.h"
#if defined(__CUDACC__)
#include "../millrace/cg/memcpy_async.h"
#endif
#endif
