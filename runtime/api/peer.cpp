// Peer access (CUDA Runtime API, "Peer Device Memory Access") and atomics between processors.
//
// Any two devices can be peers: their memory lies in one process. Until access is enabled, a kernel of one may not use
// the other's memory.
#include <api/export.h>
#include <model/device.h>

using namespace mr;

namespace {

bool exists(int device) noexcept { return device >= 0 && device < model::device_count(); }

// What atomics work on memory that two processors share: all that exist, since both are the same processor.
cudaError_t atomics(unsigned* capabilities, const cudaAtomicOperation* operations, unsigned count) {
  constexpr unsigned sizes = cudaAtomicCapabilityScalar32 | cudaAtomicCapabilityScalar64;
  constexpr unsigned integer = sizes | cudaAtomicCapabilitySigned | cudaAtomicCapabilityUnsigned |
                               cudaAtomicCapabilityReduction;
  for (unsigned i = 0; i < count; ++i) {
    switch (operations[i]) {
    case cudaAtomicOperationIntegerAdd:
    case cudaAtomicOperationIntegerMin:
    case cudaAtomicOperationIntegerMax: capabilities[i] = integer; break;
    case cudaAtomicOperationIntegerIncrement:
    case cudaAtomicOperationIntegerDecrement:
      capabilities[i] = cudaAtomicCapabilityScalar32 | cudaAtomicCapabilityUnsigned | cudaAtomicCapabilityReduction;
      break;
    case cudaAtomicOperationAnd:
    case cudaAtomicOperationOr:
    case cudaAtomicOperationXOR:
    case cudaAtomicOperationFloatAdd: capabilities[i] = sizes | cudaAtomicCapabilityReduction; break;
    case cudaAtomicOperationExchange:
    case cudaAtomicOperationCAS: capabilities[i] = sizes; break;
    case cudaAtomicOperationFloatMin:
    case cudaAtomicOperationFloatMax: capabilities[i] = 0; break;
    default: return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

}  // namespace

MR_API cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return api::result(cudaErrorInvalidValue);
  if (!exists(device) || !exists(peer)) return api::result(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}

MR_API cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!exists(peer)) return api::result(cudaErrorInvalidDevice);
  if (flags) return api::result(cudaErrorInvalidValue);
  const int device = model::current_device();
  if (peer == device) return api::result(cudaErrorPeerAccessUnsupported);
  return api::result(model::settings(device).set_peer(peer, true) ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

MR_API cudaDeviceDisablePeerAccess(int peer) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!exists(peer)) return api::result(cudaErrorInvalidDevice);
  return api::result(model::settings(model::current_device()).set_peer(peer, false) ? cudaSuccess
                                                                                    : cudaErrorPeerAccessNotEnabled);
}

MR_API cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr which, int from, int to) {
  if (!value) return api::result(cudaErrorInvalidValue);
  if (!exists(from) || !exists(to) || from == to) return api::result(cudaErrorInvalidDevice);
  switch (which) {
  case cudaDevP2PAttrPerformanceRank:
  case cudaDevP2PAttrOnlyPartialNativeAtomicSupported: *value = 0; return cudaSuccess;
  case cudaDevP2PAttrAccessSupported:
  case cudaDevP2PAttrNativeAtomicSupported:
  case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; return cudaSuccess;
  }
  return api::result(cudaErrorInvalidValue);
}

MR_API cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations, unsigned count,
                                          int from, int to) {
  if (!capabilities || !operations || !count) return api::result(cudaErrorInvalidValue);
  if (!exists(from) || !exists(to) || from == to) return api::result(cudaErrorInvalidDevice);
  return api::result(atomics(capabilities, operations, count));
}

MR_API cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                                           unsigned count, int device) {
  if (!capabilities || !operations || !count) return api::result(cudaErrorInvalidValue);
  if (!exists(device)) return api::result(cudaErrorInvalidDevice);
  return api::result(atomics(capabilities, operations, count));
}
