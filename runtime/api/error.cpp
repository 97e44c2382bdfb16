// Errors (CUDA Runtime API, "Error Handling"): the calling thread's slot, names and sentences.
#include <cstdio>

#include <api/error_table.h>
#include <api/export.h>
#include <model/log.h>

using namespace mr;

namespace {

// What the thread's newest failed call returned, until cudaGetLastError takes it. Successful calls and
// cudaErrorNotReady leave it alone; a context's sticky error gets here only through calls that return it. initial-exec:
// one instruction to reach; eight bytes of static TLS are always to be had, for dlopened libraries too.
__attribute__((tls_model("initial-exec"))) thread_local cudaError_t slot = cudaSuccess;

}  // namespace

namespace mr::api {

cudaError_t last_error() noexcept { return slot; }

cudaError_t take_last_error() noexcept {
  const cudaError_t error = slot;
  slot = cudaSuccess;
  return error;
}

cudaError_t set_last_error(cudaError_t error) noexcept {
  if (error == cudaErrorNotReady) return error;
  slot = error;
  char message[160];
  std::snprintf(message, sizeof message, "A call failed: %s (%s)", cudaGetErrorString(error), cudaGetErrorName(error));
  model::log_message(cudaLogLevelError, message);
  return error;
}

}  // namespace mr::api

MR_API cudaGetLastError() { return api::take_last_error(); }
MR_API cudaPeekAtLastError() { return api::last_error(); }

#define MR_EXPORT_TEXT extern "C" __attribute__((visibility("default"))) const char*

MR_EXPORT_TEXT cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define MR_NAME(name, sentence)                                                                                        \
  case cuda##name: return "cuda" #name;
    MR_ERRORS(MR_NAME)
#undef MR_NAME
  }
  return "unrecognized error code";
}

MR_EXPORT_TEXT cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define MR_SENTENCE(name, sentence)                                                                                    \
  case cuda##name: return sentence;
    MR_ERRORS(MR_SENTENCE)
#undef MR_SENTENCE
  }
  return "unrecognized error code";
}
