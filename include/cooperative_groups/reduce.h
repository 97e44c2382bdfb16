// reduce and its asynchronous-update forms (programming guide, "Cooperative Groups", "reduce"), and the operators that
// reductions and scans take.
#ifndef MILLRACE_COOPERATIVE_GROUPS_REDUCE_H
#define MILLRACE_COOPERATIVE_GROUPS_REDUCE_H
#include "../cooperative_groups.h"
#if defined(__CUDACC__)
#include "../millrace/cg/reduce.h"
#endif
#endif
