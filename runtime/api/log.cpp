// The error log (CUDA Runtime API, "Error Log Management Functions"). Logged are failures of API calls, except
// cudaErrorNotReady, and what killed a device's context.
#include <cstdio>
#include <cstring>

#include <api/export.h>
#include <model/log.h>

using namespace mr;

namespace {

// An iterator that stands before everything that is kept.
cudaLogIterator oldest() { return model::log_end() - ~cudaLogIterator{0} / 2; }

}  // namespace

MR_API cudaLogsRegisterCallback(cudaLogsCallback_t function, void* data, cudaLogsCallbackHandle* handle) {
  if (!function) return api::result(cudaErrorInvalidValue);
  const cudaLogsCallbackHandle made = model::add_log_callback(function, data);
  if (handle) *handle = made;
  return cudaSuccess;
}

MR_API cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  return api::result(model::remove_log_callback(handle) ? cudaSuccess : cudaErrorInvalidValue);
}

MR_API cudaLogsCurrent(cudaLogIterator* iterator, unsigned flags) {
  if (!iterator || flags) return api::result(cudaErrorInvalidValue);
  *iterator = model::log_end();
  return cudaSuccess;
}

// A null iterator means everything that is kept.
MR_API cudaLogsDumpToFile(cudaLogIterator* iterator, const char* path, unsigned flags) {
  if (!path || flags) return api::result(cudaErrorInvalidValue);
  std::FILE* file = std::fopen(path, "we");
  if (!file) return api::result(cudaErrorInvalidValue);
  cudaLogIterator from = iterator ? *iterator : oldest();
  const std::string text = model::log_text(&from);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return api::result(cudaErrorOperatingSystem);
  if (iterator) *iterator = from;
  return cudaSuccess;
}

// *size: room in the buffer, then the bytes written without the terminating zero.
MR_API cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, std::size_t* size, unsigned flags) {
  if (!buffer || !size || *size == 0 || flags) return api::result(cudaErrorInvalidValue);
  cudaLogIterator from = iterator ? *iterator : oldest();
  const cudaLogIterator first = from;
  const std::string text = model::log_text(&from, *size - 1);
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  // Not one line fits.
  if (text.empty() && from != first && model::any_log(first)) return api::result(cudaErrorInvalidValue);
  if (iterator) *iterator = from;
  return cudaSuccess;
}
