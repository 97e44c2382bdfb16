// Every cudaError: its name and a sentence for cudaGetErrorString. X(name without the cuda prefix, sentence), in order
// of value.
#pragma once

#define MR_ERRORS(X)                                                                                                   \
  X(Success, "The call succeeded; for queries: the work is complete.")                                                 \
  X(ErrorInvalidValue, "An argument has a value that this call doesn't accept: a null pointer, an unknown flag, or a " \
                       "number out of range.")                                                                         \
  X(ErrorMemoryAllocation, "There is not enough memory left for this allocation.")                                     \
  X(ErrorInitializationError,                                                                                          \
    "The runtime can't be used here: it could not be initialised, or this process is a fork of one that uses it.")     \
  X(ErrorCudartUnloading, "The runtime is being torn down because the process is ending; no more calls are possible.") \
  X(ErrorProfilerDisabled, "The profiler is not active for this run.")                                                 \
  X(ErrorProfilerNotInitialized,                                                                                       \
    "The profiler was used before it was initialised; initialisation is no longer needed, so this code is obsolete.")  \
  X(ErrorProfilerAlreadyStarted, "The profiler runs already; this code is obsolete.")                                  \
  X(ErrorProfilerAlreadyStopped, "The profiler is stopped already; this code is obsolete.")                            \
  X(ErrorInvalidConfiguration,                                                                                         \
    "The launch asks for a grid, a block, or an amount of memory or features that the device can't give.")             \
  X(ErrorInvalidPitchValue, "A pitch is too small for the width, or larger than the device's limit.")                  \
  X(ErrorInvalidSymbol, "The name or address is not that of a device variable known to the program.")                  \
  X(ErrorInvalidHostPointer, "A host pointer is not one that this call can use; this code is obsolete.")               \
  X(ErrorInvalidDevicePointer, "A device pointer is not one that this call can use; this code is obsolete.")           \
  X(ErrorInvalidTexture, "The texture is not valid.")                                                                  \
  X(ErrorInvalidTextureBinding, "The texture is not bound to memory.")                                                 \
  X(ErrorInvalidChannelDescriptor, "The channel format is not one that arrays and textures can have.")                 \
  X(ErrorInvalidMemcpyDirection, "The kind of copy is not one of the known directions.")                               \
  X(ErrorAddressOfConstant,                                                                                            \
    "The address of a constant variable was taken where that was not possible; this code is obsolete.")                \
  X(ErrorTextureFetchFailed, "A texture fetch failed; this code is obsolete.")                                         \
  X(ErrorTextureNotBound, "A texture was used before it was bound; this code is obsolete.")                            \
  X(ErrorSynchronizationError, "A synchronisation failed; this code is obsolete.")                                     \
  X(ErrorInvalidFilterSetting, "This element type can't be sampled with linear filtering.")                            \
  X(ErrorInvalidNormSetting, "This element type can't be read as a normalised float.")                                 \
  X(ErrorMixedDeviceExecution, "Device and emulated code were mixed; this code is obsolete.")                          \
  X(ErrorNotYetImplemented, "This operation is not implemented yet; this code is obsolete.")                           \
  X(ErrorMemoryValueTooLarge, "An emulated device pointer is too large; this code is obsolete.")                       \
  X(ErrorStubLibrary, "The program runs with the stub of the driver library, which only serves for linking.")          \
  X(ErrorInsufficientDriver, "The driver is older than the runtime needs.")                                            \
  X(ErrorCallRequiresNewerDriver, "This call needs a newer driver.")                                                   \
  X(ErrorInvalidSurface, "The surface is not valid.")                                                                  \
  X(ErrorDuplicateVariableName, "Two device variables of the program have the same name.")                             \
  X(ErrorDuplicateTextureName, "Two textures of the program have the same name.")                                      \
  X(ErrorDuplicateSurfaceName, "Two surfaces of the program have the same name.")                                      \
  X(ErrorDevicesUnavailable,                                                                                           \
    "The device can't take work at the moment: it is in use, prohibited, or was lost after an error.")                 \
  X(ErrorIncompatibleDriverContext, "The current context was made in a way that the runtime can't use.")               \
  X(ErrorMissingConfiguration, "A kernel's stub was called without a launch configuration.")                           \
  X(ErrorPriorLaunchFailure, "An earlier launch failed; this code is obsolete.")                                       \
  X(ErrorLaunchMaxDepthExceeded, "A kernel launched from device code would exceed the depth of nested launches.")      \
  X(ErrorLaunchFileScopedTex,                                                                                          \
    "The kernel uses textures of file scope, which kernels launched from device code can't.")                          \
  X(ErrorLaunchFileScopedSurf,                                                                                         \
    "The kernel uses surfaces of file scope, which kernels launched from device code can't.")                          \
  X(ErrorSyncDepthExceeded, "Device code waited for its children at a greater depth than the limit allows.")           \
  X(ErrorLaunchPendingCountExceeded, "Device code has more launches pending than the limit allows.")                   \
  X(ErrorInvalidDeviceFunction, "The function is not a kernel of this program, or has no code for this device.")       \
  X(ErrorNoDevice, "There is no device; MILLRACE_DEVICES sets how many there are.")                                    \
  X(ErrorInvalidDevice, "The ordinal is not that of a device, or the device can't do this.")                           \
  X(ErrorDeviceNotLicensed, "The device has no licence for this.")                                                     \
  X(ErrorSoftwareValidityNotEstablished, "The software could not be validated.")                                       \
  X(ErrorStartupFailure, "The runtime failed inside while starting.")                                                  \
  X(ErrorInvalidKernelImage, "The device image is damaged or was not made by this compiler.")                          \
  X(ErrorDeviceUninitialized, "There is no current context to work in, or it was destroyed.")                          \
  X(ErrorMapBufferObjectFailed, "A graphics buffer could not be mapped.")                                              \
  X(ErrorUnmapBufferObjectFailed, "A graphics buffer could not be unmapped.")                                          \
  X(ErrorArrayIsMapped, "The array is mapped and can't be destroyed or changed now.")                                  \
  X(ErrorAlreadyMapped, "The resource is mapped already.")                                                             \
  X(ErrorNoKernelImageForDevice, "The program has no image that this processor can run.")                              \
  X(ErrorAlreadyAcquired, "The resource has been acquired already.")                                                   \
  X(ErrorNotMapped, "The resource is not mapped.")                                                                     \
  X(ErrorNotMappedAsArray, "The resource is mapped, but not as an array.")                                             \
  X(ErrorNotMappedAsPointer, "The resource is mapped, but not as a pointer.")                                          \
  X(ErrorECCUncorrectable, "Memory has lost data that could not be corrected.")                                        \
  X(ErrorUnsupportedLimit, "This device doesn't have that limit.")                                                     \
  X(ErrorDeviceAlreadyInUse, "The device is in use by another thread, which excludes this one.")                       \
  X(ErrorPeerAccessUnsupported, "The two devices can't access each other's memory.")                                   \
  X(ErrorInvalidPtx, "The intermediate code could not be compiled.")                                                   \
  X(ErrorInvalidGraphicsContext, "The graphics context is not valid.")                                                 \
  X(ErrorNvlinkUncorrectable, "The link between devices has lost data that could not be corrected.")                   \
  X(ErrorJitCompilerNotFound, "There is no compiler for intermediate code.")                                           \
  X(ErrorUnsupportedPtxVersion, "The intermediate code is of a version that is not supported.")                        \
  X(ErrorJitCompilationDisabled, "Compiling intermediate code is turned off.")                                         \
  X(ErrorUnsupportedExecAffinity, "The device doesn't support this execution affinity.")                               \
  X(ErrorUnsupportedDevSideSync, "Device code waits for its children with a call that this device doesn't support.")   \
  X(ErrorContained, "A hardware error was contained; the process has to be restarted.")                                \
  X(ErrorInvalidSource, "The device code's source is not valid.")                                                      \
  X(ErrorFileNotFound, "The file was not found.")                                                                      \
  X(ErrorSharedObjectSymbolNotFound, "A shared library lacks a symbol that is needed.")                                \
  X(ErrorSharedObjectInitFailed, "A shared library could not be initialised.")                                         \
  X(ErrorOperatingSystem, "A call to the operating system failed.")                                                    \
  X(ErrorInvalidResourceHandle,                                                                                        \
    "The handle is not that of a living stream, event, or other object that this call can use here.")                  \
  X(ErrorIllegalState, "The object is not in a state in which this call makes sense.")                                 \
  X(ErrorLossyQuery, "The answer would lose information; the call refuses to give it.")                                \
  X(ErrorSymbolNotFound, "The named symbol was not found.")                                                            \
  X(ErrorNotReady, "The work is not complete yet; ask again or wait.")                                                 \
  X(ErrorIllegalAddress, "A kernel accessed memory that it may not; the process has to be started anew.")              \
  X(ErrorLaunchOutOfResources, "The launch needs more registers, shared memory or threads than a multiprocessor has.") \
  X(ErrorLaunchTimeout, "A kernel ran longer than is allowed; the process has to be started anew.")                    \
  X(ErrorLaunchIncompatibleTexturing, "The kernel was built with a texturing mode that doesn't fit.")                  \
  X(ErrorPeerAccessAlreadyEnabled, "Access to that peer is enabled already.")                                          \
  X(ErrorPeerAccessNotEnabled, "Access to that peer is not enabled.")                                                  \
  X(ErrorSetOnActiveProcess, "This can only be set before the device is first used.")                                  \
  X(ErrorContextIsDestroyed, "The context that the call refers to has been destroyed.")                                \
  X(ErrorAssert, "An assertion in a kernel failed; the process has to be started anew.")                               \
  X(ErrorTooManyPeers, "No more peers can be enabled.")                                                                \
  X(ErrorHostMemoryAlreadyRegistered, "The host memory, or a part of it, is registered already.")                      \
  X(ErrorHostMemoryNotRegistered, "The host memory is not registered.")                                                \
  X(ErrorHardwareStackError, "A kernel's stack overflowed or was damaged; the process has to be started anew.")        \
  X(ErrorIllegalInstruction,                                                                                           \
    "A kernel reached an instruction that can't be executed; the process has to be started anew.")                     \
  X(ErrorMisalignedAddress,                                                                                            \
    "A kernel accessed memory at an address that isn't aligned for the access; the process has to be started anew.")   \
  X(ErrorInvalidAddressSpace, "A kernel used an address in a memory space that the instruction can't access; the "     \
                              "process has to be started anew.")                                                       \
  X(ErrorInvalidPc, "A kernel jumped to an address that holds no code; the process has to be started anew.")           \
  X(ErrorLaunchFailure, "A kernel failed while running; the process has to be started anew.")                          \
  X(ErrorCooperativeLaunchTooLarge, "A cooperative launch has more blocks than can be resident at once.")              \
  X(ErrorTensorMemoryLeak, "A kernel ended without freeing its tensor memory.")                                        \
  X(ErrorNotPermitted, "This call is not permitted here, for example inside a host function.")                         \
  X(ErrorNotSupported, "This call, or this use of it, is not supported.")                                              \
  X(ErrorSystemNotReady, "A system service that the device needs is not running yet.")                                 \
  X(ErrorSystemDriverMismatch, "The parts of the driver have different versions.")                                     \
  X(ErrorCompatNotSupportedOnDevice, "This device doesn't support running with an older driver.")                      \
  X(ErrorMpsConnectionFailed, "The multi-process service can't be reached.")                                           \
  X(ErrorMpsRpcFailure, "A call to the multi-process service failed.")                                                 \
  X(ErrorMpsServerNotReady, "The multi-process service is not ready; try again.")                                      \
  X(ErrorMpsMaxClientsReached, "The multi-process service has as many clients as it can.")                             \
  X(ErrorMpsMaxConnectionsReached, "The multi-process service has as many connections as the device allows.")          \
  X(ErrorMpsClientTerminated, "The multi-process service ended this client.")                                          \
  X(ErrorCdpNotSupported, "Kernels can't be launched from device code here.")                                          \
  X(ErrorCdpVersionMismatch, "The program mixes versions of launching from device code.")                              \
  X(ErrorStreamCaptureUnsupported, "A stream that is being captured can't do this.")                                   \
  X(ErrorStreamCaptureInvalidated, "The capture was invalidated by an earlier error; end it and begin anew.")          \
  X(ErrorStreamCaptureMerge, "Two separate captures would be merged into one.")                                        \
  X(ErrorStreamCaptureUnmatched, "This stream did not begin the capture that it is asked to end.")                     \
  X(ErrorStreamCaptureUnjoined,                                                                                        \
    "Streams that were drawn into the capture have not been joined to its first stream again.")                        \
  X(ErrorStreamCaptureIsolation, "A dependency would cross the border of the capture.")                                \
  X(ErrorStreamCaptureImplicit, "The call would make the capture depend on the legacy default stream.")                \
  X(ErrorCapturedEvent, "The event was recorded in a capture and says nothing about real work.")                       \
  X(ErrorStreamCaptureWrongThread, "The capture was begun by another thread in a mode that ties it to that thread.")   \
  X(ErrorTimeout, "The time allowed for waiting has passed.")                                                          \
  X(ErrorGraphExecUpdateFailure,                                                                                       \
    "The executable graph can't be updated with this graph, because they differ in more than may change.")             \
  X(ErrorExternalDevice, "A device outside of this process's control reported an error.")                              \
  X(ErrorInvalidClusterSize, "The clusters of this launch are too large or don't divide the grid.")                    \
  X(ErrorFunctionNotLoaded, "The function has not been loaded yet.")                                                   \
  X(ErrorInvalidResourceType, "The resource is of another type than this call needs.")                                 \
  X(ErrorInvalidResourceConfiguration, "The resources asked for are not enough, or don't fit together.")               \
  X(ErrorUnknown, "Something failed inside for an unknown reason.")                                                    \
  X(ErrorApiFailureBase, "The first of the codes that the driver's own errors were given once; this code is "          \
                         "obsolete.")
