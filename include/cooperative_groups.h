// Cooperative groups (programming guide, "Cooperative Groups"): groups of threads as objects, with their barriers and
// collectives. One header per kind of group below millrace/cg; reductions, scans and asynchronous copies are in
// cooperative_groups/reduce.h, scan.h and memcpy_async.h, as with nvcc.
#ifndef MILLRACE_COOPERATIVE_GROUPS_H
#define MILLRACE_COOPERATIVE_GROUPS_H
#define _COOPERATIVE_GROUPS_H_  // programs ask for this name

#if defined(__CUDACC__)
#include "cuda_runtime.h"
#include "millrace/cg/block.h"
#include "millrace/cg/cluster.h"
#include "millrace/cg/coalesced.h"
#include "millrace/cg/grid.h"
#include "millrace/cg/group.h"
#include "millrace/cg/invoke.h"
#include "millrace/cg/partition.h"
#include "millrace/cg/tile.h"
#endif

#endif
