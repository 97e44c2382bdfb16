// API reference, "Device Management", "Peer Device Memory Access", "Version Management", "Error Log Management
// Functions". All calls are thread-safe; the current device is the calling thread's own. Ordinals out of range give
// cudaErrorInvalidDevice, null outputs cudaErrorInvalidValue.
#ifndef MILLRACE_API_DEVICE_H
#define MILLRACE_API_DEVICE_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Resets destroy everything the process has on the current device and clear its sticky error. */
__MR_API cudaDeviceReset(void);
/* Waits for all work of the current device; returns its asynchronous error, if any. */
__MR_API cudaDeviceSynchronize(void);
__MR_API cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
__MR_API cudaDeviceGetLimit(size_t* pValue, enum cudaLimit limit);
__MR_API cudaDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, const struct cudaChannelFormatDesc* fmtDesc,
                                              int device);
__MR_API cudaDeviceGetCacheConfig(enum cudaFuncCache* pCacheConfig);
__MR_API cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);
__MR_API cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* pConfig);
__MR_API cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
/* greatestPriority <= leastPriority: numerically lower is more urgent. */
__MR_API cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority);
__MR_API cudaDeviceGetByPCIBusId(int* device, const char* pciBusId);
__MR_API cudaDeviceGetPCIBusId(char* pciBusId, int len, int device);
__MR_API cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callbackFunc, void* userData,
                                             cudaAsyncCallbackHandle_t* callback);
__MR_API cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t callback);
__MR_API cudaGetDeviceCount(int* count);
__MR_API cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device);
__MR_API cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device);
__MR_API cudaDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const enum cudaAtomicOperation* operations,
                                             unsigned int count, int device);
__MR_API cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device);
__MR_API cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);
__MR_API cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device);
__MR_API cudaDeviceGetNvSciSyncAttributes(void* nvSciSyncAttrList, int device, int flags);
__MR_API cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice);
__MR_API cudaDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const enum cudaAtomicOperation* operations,
                                            unsigned int count, int srcDevice, int dstDevice);
__MR_API cudaChooseDevice(int* device, const struct cudaDeviceProp* prop);
__MR_API cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
__MR_API cudaSetDevice(int device);
__MR_API cudaGetDevice(int* device);
__MR_API cudaSetValidDevices(int* device_arr, int len);
__MR_API cudaSetDeviceFlags(unsigned int flags);
__MR_API cudaGetDeviceFlags(unsigned int* flags);
__MR_API cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                            enum cudaFlushGPUDirectRDMAWritesScope scope);
__MR_API cudaCtxResetPersistingL2Cache(void);

/* Peer access, from the current device to peerDevice. */
__MR_API cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice);
__MR_API cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
__MR_API cudaDeviceDisablePeerAccess(int peerDevice);

/* Versions: 1000 * major + 10 * minor. */
__MR_API cudaDriverGetVersion(int* driverVersion);
__MR_API cudaRuntimeGetVersion(int* runtimeVersion);
__MR_API cudaGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                 enum cudaDriverEntryPointQueryResult* driverStatus __MR_DEFAULT(NULL));
__MR_API cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr, unsigned int cudaVersion,
                                          unsigned long long flags,
                                          enum cudaDriverEntryPointQueryResult* driverStatus __MR_DEFAULT(NULL));
__MR_API cudaGetExportTable(const void** ppExportTable, const cudaUUID_t* pExportTableId);

/* Log messages. */
__MR_API cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void* userData,
                                  cudaLogsCallbackHandle* callback_out);
__MR_API cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback);
__MR_API cudaLogsCurrent(cudaLogIterator* iterator_out, unsigned int flags);
__MR_API cudaLogsDumpToFile(cudaLogIterator* iterator, const char* pathToFile, unsigned int flags);
__MR_API cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, size_t* size, unsigned int flags);

#if defined(__cplusplus)
}
#endif

#endif
