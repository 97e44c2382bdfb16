// What a .cu file knows before its first line: mrcc includes this header in front of everything, in both passes.
//
// The device language (programming guide, "C++ Language Extensions") is declared here and below device/. Everything is
// ordinary code for the processor; what the pass plugin lowers or the runtime serves is in device/services.h.
//
// The order matters: device overloads of C library functions come before the C and C++ headers that bring the host's
// into namespace std.
#pragma once
#pragma clang system_header

// clang-format off
#include "../host_defines.h"
#include "device/services.h"
#include "device/libc.h"
#include "device/math.h"
#include "device/builtins.h"
#include "device/sync.h"
#include "device/warp.h"
#include "device/warp_removed.h"
#include "device/atomics.h"
#include "device/integer.h"
#include "device/simd.h"
#include "device/cast.h"
#include "device/memory.h"
#include "device/standard.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <new>
#include <utility>

#include "../cuda_runtime.h"
#include "device/launch.h"
#include "device/runtime_api.h"
#include "device/texture.h"
#include "device/surface.h"
// clang-format on
