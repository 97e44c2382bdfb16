// Host functions and stream callbacks (specification 2.5.4): operations that run on runtime threads.
#pragma once
#include <cuda_runtime_api.h>
#include <model/stream.h>
#include <simt/protect.h>

namespace mr::model {

// Set while the calling thread executes a host function or callback: most API calls then return cudaErrorNotPermitted.
extern constinit thread_local bool inside_host_function;
inline bool in_host_function() noexcept { return inside_host_function; }

// Runs function(data) in stream order. Not called at all once the context has died.
void enqueue_host_function(Stream& stream, cudaHostFn_t function, void* data) noexcept;
// Runs callback(stream, status, data) in stream order; behind a failure too, with the context's error as status.
void enqueue_callback(Stream& stream, cudaStream_t handle, cudaStreamCallback_t callback, void* data) noexcept;

// Marks the calling thread as executing a host function for the scope (graph host nodes use it too), and gives it a
// host thread's rights: the user's code may not touch device memory there either.
class HostFunctionScope {
 public:
  HostFunctionScope() noexcept;
  ~HostFunctionScope() noexcept;

 private:
  simt::protect::UserScope rights_;
};

}  // namespace mr::model
