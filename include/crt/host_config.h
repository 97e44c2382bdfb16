// A name under which some programs include what tells about the host compiler; nothing of it is needed here.
#ifndef MILLRACE_CRT_HOST_CONFIG_H
#define MILLRACE_CRT_HOST_CONFIG_H
#include "../host_defines.h"
#endif
