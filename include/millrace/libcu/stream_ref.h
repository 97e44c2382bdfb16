// cuda::stream_ref (libcu++): a stream that somebody else owns. Errors are exceptions of std::runtime_error.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include <stdexcept>

#include "../../cuda_runtime_api.h"
#include "common.h"

namespace cuda {

class stream_ref {
 public:
  using value_type = ::cudaStream_t;

  stream_ref() = default;  // the default stream
  constexpr stream_ref(value_type stream) noexcept : stream_(stream) {}
  stream_ref(int) = delete;
  stream_ref(decltype(nullptr)) = delete;

  constexpr value_type get() const noexcept { return stream_; }
  // All work in the stream has completed.
  bool ready() const {
    const ::cudaError_t error = ::cudaStreamQuery(stream_);
    if (error == ::cudaErrorNotReady) return false;
    check(error);
    return true;
  }
  void wait() const { check(::cudaStreamSynchronize(stream_)); }
  void sync() const { wait(); }

  friend constexpr bool operator==(const stream_ref& a, const stream_ref& b) noexcept { return a.stream_ == b.stream_; }
  friend constexpr bool operator!=(const stream_ref& a, const stream_ref& b) noexcept { return a.stream_ != b.stream_; }

 private:
  static void check(::cudaError_t error) {
    if (error != ::cudaSuccess) throw ::std::runtime_error(::cudaGetErrorString(error));
  }
  value_type stream_ = nullptr;
};

}  // namespace cuda
