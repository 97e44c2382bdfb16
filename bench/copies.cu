// How long copies take beside memcpy of the same blocks, in turn within one run: every direction, pageable and pinned,
// 4 KiB to 256 MiB.
//   mrcc -O2 bench/copies.cu -o copies && MILLRACE_PROTECT=0 ./copies [LARGEST_MIB [FACTOR]]
// (memcpy of device memory by a host thread is what protection keys forbid.) Prints medians: memcpy in microseconds and
// GB/s, and over it cudaMemcpy, and cudaMemcpyAsync with a wait for its stream. Sizes grow by FACTOR (4).
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

static double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int main(int count, char** arguments) {
  const std::size_t most = (count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 256) << 20;
  const std::size_t factor = count > 2 ? std::max(std::strtoul(arguments[2], nullptr, 10), 2ul) : 4;
  char *device, *other, *pinned;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (cudaMalloc(&device, most) != cudaSuccess || cudaMalloc(&other, most) != cudaSuccess ||
      cudaMallocHost(&pinned, most) != cudaSuccess) {
    std::fprintf(stderr, "copies: no memory for blocks of %zu MiB; give a smaller size\n", most >> 20);
    return 1;
  }
  char* const pageable = static_cast<char*>(std::malloc(most));
  for (char* block : {device, other, pinned, pageable}) std::memset(block, 1, most);

  const struct {
    const char* name;
    char *dst, *src;
    cudaMemcpyKind kind;
  } forms[] = {{"H2D pageable", device, pageable, cudaMemcpyHostToDevice},
               {"D2H pageable", pageable, device, cudaMemcpyDeviceToHost},
               {"H2D pinned", device, pinned, cudaMemcpyHostToDevice},
               {"D2H pinned", pinned, device, cudaMemcpyDeviceToHost},
               {"D2D", other, device, cudaMemcpyDeviceToDevice}};
  std::printf("%-13s %8s %10s %7s %7s %7s\n", "what", "KiB", "memcpy us", "GB/s", "copy", "async");
  for (const auto& form : forms) {
    for (std::size_t bytes = std::size_t{4} << 10; bytes <= most; bytes *= factor) {
      const std::size_t rounds = std::clamp<std::size_t>((std::size_t{512} << 20) / bytes, 5, 101);
      std::vector<double> plain, ours, async;
      for (std::size_t round = 0; round <= rounds; ++round) {
        const auto first = Clock::now();
        std::memcpy(form.dst, form.src, bytes);
        const double plain_us = since(first);
        const auto second = Clock::now();
        cudaMemcpy(form.dst, form.src, bytes, form.kind);
        if (form.kind == cudaMemcpyDeviceToDevice) cudaDeviceSynchronize();
        const double our_us = since(second);
        const auto third = Clock::now();
        cudaMemcpyAsync(form.dst, form.src, bytes, form.kind, stream);
        cudaStreamSynchronize(stream);
        const double async_us = since(third);
        if (round == 0) continue;  // the caches and the page tables
        plain.push_back(plain_us);
        ours.push_back(our_us);
        async.push_back(async_us);
      }
      const double base = median(plain);
      std::printf("%-13s %8zu %10.2f %7.2f %7.2f %7.2f\n", form.name, bytes >> 10, base,
                  static_cast<double>(bytes) / base / 1e3, median(ours) / base, median(async) / base);
    }
  }
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::fprintf(stderr, "copies: %s\n", cudaGetErrorString(error));
    return 1;
  }
  return 0;
}
