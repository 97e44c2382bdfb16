// What the instruction gate measures (see run): each figure is one asynchronous primitive called `rounds` times, from a
// thread that nothing interrupts, with the stream's head held by a host function, so that only the enqueueing is
// counted and no worker has a reason to wake. Callgrind dumps its counters after each figure under the figure's name.
#include <cuda_runtime.h>
#include <valgrind/callgrind.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "gate: %s gave %s\n", #call, cudaGetErrorName(error_));                                     \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

__global__ void empty() {}
__global__ void arguments(int* p, double x, long n, float4 v) {
  if (n < 0) *p = static_cast<int>(x + v.x);
}

// A door that the stream's host function waits at.
class Door {
 public:
  void hold(cudaStream_t stream) {
    open_ = inside_ = false;
    CHECK(cudaLaunchHostFunc(stream, wait, this));
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return inside_; });
  }
  void open(cudaStream_t stream) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
    CHECK(cudaStreamSynchronize(stream));
  }

 private:
  static void wait(void* self) {
    Door& door = *static_cast<Door*>(self);
    std::unique_lock<std::mutex> lock(door.mutex_);
    door.inside_ = true;
    door.changed_.notify_all();
    door.changed_.wait(lock, [&door] { return door.open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, inside_ = false;
};

void nothing(void*) {}

int main() {
  constexpr int rounds = 256;
  cudaStream_t stream;
  cudaEvent_t event, timed;
  int *device, *pinned;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&timed));
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(&pinned, 4096));
  Door door;

  // The first pass warms everything (code, memory of operations); the second is dumped. What comes before each goes to
  // a dump that nobody reads: with one profile per thread, zeroing the counters has no effect.
  // `begin` and `end` are around each pass and not counted.
  const auto passes = [&](const char* name, bool held, auto&& body, int count, auto&& end, auto&& begin) {
    for (int pass = 0; pass < 2; ++pass) {
      begin();
      if (held) door.hold(stream);
      CALLGRIND_DUMP_STATS_AT("between");
      for (int i = 0; i < count; ++i) body();
      CALLGRIND_DUMP_STATS_AT(pass == 1 ? name : "between");
      end();
      if (held) door.open(stream);
    }
  };
  const auto nothing_more = [] {};
  const auto figure = [&](const char* name, bool held, auto&& body) {
    passes(name, held, body, rounds, nothing_more, nothing_more);
  };
  // Of something that has `rounds` parts, the figure being one part's.
  const auto figure_once = [&](const char* name, auto&& body) {
    passes(name, false, body, 1, nothing_more, nothing_more);
  };
  figure("launch_enqueue", true, [&] { empty<<<1, 32, 0, stream>>>(); });
  figure("launch_with_arguments_enqueue", true, [&] { arguments<<<1, 32, 0, stream>>>(device, 1.0, 2L, float4{}); });
  CHECK(cudaGetLastError());
  figure("event_record", true, [&] { CHECK(cudaEventRecord(event, stream)); });
  figure("event_record_timed", true, [&] { CHECK(cudaEventRecord(timed, stream)); });
  figure("memcpy_h2d_4B_enqueue", true,
         [&] { CHECK(cudaMemcpyAsync(device, pinned, 4, cudaMemcpyHostToDevice, stream)); });
  figure("memset_4B_enqueue", true, [&] { CHECK(cudaMemsetAsync(device, 0, 4, stream)); });
  figure("host_func_enqueue", true, [&] { CHECK(cudaLaunchHostFunc(stream, nothing, nullptr)); });
  figure("event_query_done", false, [&] { CHECK(cudaEventQuery(event)); });
  figure("event_sync_done", false, [&] { CHECK(cudaEventSynchronize(event)); });
  figure("stream_query_idle", false, [&] { CHECK(cudaStreamQuery(stream)); });
  figure("stream_sync_idle", false, [&] { CHECK(cudaStreamSynchronize(stream)); });

  // Behind an event of another stream, which is held as well.
  cudaStream_t other;
  Door others;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  passes(
      "stream_wait_event", true, [&] { CHECK(cudaStreamWaitEvent(stream, event, 0)); }, rounds,
      [&] { others.open(other); },
      [&] {
        others.hold(other);
        CHECK(cudaEventRecord(event, other));
      });

  figure("malloc_free_async_pair", false, [&] {
    void* block;
    CHECK(cudaMallocAsync(&block, 1024, stream));
    CHECK(cudaFreeAsync(block, stream));
  });
  figure("malloc_free_pair", false, [&] {
    void* block;
    CHECK(cudaMalloc(&block, 1024));
    CHECK(cudaFree(block));
  });
  figure("event_create_destroy_pair", false, [&] {
    cudaEvent_t made;
    CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    CHECK(cudaEventDestroy(made));
  });
  figure("stream_create_destroy_pair", false, [&] {
    cudaStream_t made;
    CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    CHECK(cudaStreamDestroy(made));
  });
  cudaPointerAttributes attributes;
  figure("pointer_attributes", false, [&] { CHECK(cudaPointerGetAttributes(&attributes, device + 7)); });

  // What the calling thread runs itself while it waits, the engine's own instructions and the kernel's.
  figure("launch_sync_roundtrip", false, [&] {
    empty<<<1, 32, 0, stream>>>();
    CHECK(cudaStreamSynchronize(stream));
  });
  figure("memcpy_d2h_4B_roundtrip", false, [&] {
    CHECK(cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
  });

  // Graphs: a line of `rounds` kernels.
  cudaGraph_t graph = nullptr;
  const auto begin_capture = [&] {
    if (graph) CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
  };
  const auto end_capture = [&] { CHECK(cudaStreamEndCapture(other, &graph)); };
  passes("capture_per_node", false, [&] { empty<<<1, 32, 0, other>>>(); }, rounds, end_capture, begin_capture);
  cudaGraphExec_t exec;
  figure_once("instantiate_per_node", [&] {
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphExecDestroy(exec));
  });
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  figure("graph_launch", true, [&] { CHECK(cudaGraphLaunch(exec, stream)); });
  figure("graph_line_256_roundtrip", false, [&] {
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
  });
  std::printf("%d\n", rounds);
  return 0;
}
