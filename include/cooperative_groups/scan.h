// inclusive_scan, exclusive_scan and their update forms (programming guide, "Cooperative Groups", "scan").
#ifndef MILLRACE_COOPERATIVE_GROUPS_SCAN_H
#define MILLRACE_COOPERATIVE_GROUPS_SCAN_H
#include "../cooperative_groups.h"
#if defined(__CUDACC__)
#include "../millrace/cg/scan.h"
#endif
#endif
