// NVTX: names for the runtime API's objects. Without a tool these do nothing.
#ifndef MILLRACE_NVTX3_CUDART_H
#define MILLRACE_NVTX3_CUDART_H
#include "../driver_types.h"
#include "nvToolsExt.h"

#define nvtxNameCudaDeviceA(device, name) ((void)(device), (void)(name))
#define nvtxNameCudaStreamA(stream, name) ((void)(stream), (void)(name))
#define nvtxNameCudaEventA(event, name) ((void)(event), (void)(name))
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif
