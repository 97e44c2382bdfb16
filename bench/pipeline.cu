// Copies overlap kernels and each other: a chunked pipeline - host to device, kernel, device to host, over several
// streams - against its longest single stage. Build and run:
//   build/bin/mrcc -O2 bench/pipeline.cu -o pipeline && ./pipeline [MEGABYTES]
// Prints the time of each stage alone over all chunks, of the stages one after the other, and of the pipeline; the last
// figure, pipeline over longest stage, is to be at most 1.25 on two cores. A kernel of one block is used, so that a
// stage takes one core, and it is made to take as long as both copies: then two cores can hold the pipeline to the
// longest stage's time.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "pipeline: %s: %s\n", #call, cudaGetErrorString(error_));                                   \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

__global__ void work(float* data, int n, int rounds) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float x = data[i];
    for (int k = 0; k < rounds; ++k) x = x * 0.999f + 0.5f;
    data[i] = x;
  }
}

namespace {

constexpr int chunks = 32, streams = 4;

double median_ms(const std::function<void()>& body) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    CHECK(cudaDeviceSynchronize());
    if (i) times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t megabytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64;
  const std::size_t total = megabytes << 20, bytes = total / chunks;
  const int n = static_cast<int>(bytes / sizeof(float));
  char *in, *out, *device;
  CHECK(cudaMallocHost(&in, total));
  CHECK(cudaMallocHost(&out, total));
  CHECK(cudaMalloc(&device, total));
  std::memset(in, 1, total);
  std::memset(out, 0, total);
  CHECK(cudaMemset(device, 0, total));
  cudaStream_t stream[streams];
  for (cudaStream_t& s : stream) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  int rounds = 1;
  const auto to_device = [&](int chunk, cudaStream_t s) {
    CHECK(cudaMemcpyAsync(device + bytes * chunk, in + bytes * chunk, bytes, cudaMemcpyHostToDevice, s));
  };
  const auto kernel = [&](int chunk, cudaStream_t s) {
    work<<<1, 256, 0, s>>>(reinterpret_cast<float*>(device + bytes * chunk), n, rounds);
    CHECK(cudaGetLastError());
  };
  const auto to_host = [&](int chunk, cudaStream_t s) {
    CHECK(cudaMemcpyAsync(out + bytes * chunk, device + bytes * chunk, bytes, cudaMemcpyDeviceToHost, s));
  };
  const auto alone = [&](const auto& stage) {
    return median_ms([&] {
      for (int chunk = 0; chunk < chunks; ++chunk) stage(chunk, stream[0]);
    });
  };
  const double in_ms = alone(to_device), out_ms = alone(to_host);
  // Twice, since the cost of a round is not the same for few and for many.
  for (int i = 0; i < 2; ++i) rounds = std::max(1, static_cast<int>(rounds * (in_ms + out_ms) / alone(kernel)));
  const double kernel_ms = alone(kernel);
  const double serial_ms = median_ms([&] {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      to_device(chunk, stream[0]);
      kernel(chunk, stream[0]);
      to_host(chunk, stream[0]);
    }
  });
  const double pipeline_ms = median_ms([&] {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      cudaStream_t s = stream[chunk % streams];
      to_device(chunk, s);
      kernel(chunk, s);
      to_host(chunk, s);
    }
  });
  const double longest = std::max({in_ms, kernel_ms, out_ms});
  std::printf("%zu MiB in %d chunks over %d streams, ms\n", megabytes, chunks, streams);
  std::printf("%-32s %10.2f\n", "host to device alone", in_ms);
  std::printf("%-32s %10.2f\n", "kernels alone", kernel_ms);
  std::printf("%-32s %10.2f\n", "device to host alone", out_ms);
  std::printf("%-32s %10.2f\n", "one after the other", serial_ms);
  std::printf("%-32s %10.2f\n", "pipeline", pipeline_ms);
  std::printf("%-32s %10.2f\n", "pipeline over longest stage", pipeline_ms / longest);
  return 0;
}
