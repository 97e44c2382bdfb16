// Streams a file of any size through the device in chunks, over three streams that overlap: while one chunk is copied
// in, the kernel works on another and a third one's result comes back. Computes a histogram of the bytes and a checksum
// that depends on their order, compares both with a plain loop on the CPU, and says how long copies and kernels ran at
// once.
//
//   stream_file [FILE]       without FILE: the largest library of this machine's LLVM, or else this program itself
//
// Exit status: 0 when the results agree and copies overlapped kernels (which files under 1 MiB are too short for); 1
// when not; 2 when the file can't be read.
#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));           \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

constexpr int streams = 3;
constexpr int threads = 256;
constexpr std::size_t slice = 1024;  // bytes a thread reads
constexpr std::size_t least_for_overlap = std::size_t{1} << 20;
constexpr std::uint64_t base = 0x9E3779B97F4A7C15u;  // of the checksum: sum of (byte i + 1) * base^(n-1-i), modulo 2^64

__host__ __device__ std::uint64_t power(std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t square = base; exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return result;
}

struct Summary {
  unsigned long long checksum;
  unsigned int count[256];
};

// Each thread reads one slice; a block counts in shared memory first. The checksum of a slice, moved to its place by a
// power of the base, only has to be added: the order of the threads doesn't matter, that of the bytes does.
__global__ void summarise(const unsigned char* bytes, std::size_t n, Summary* summary) {
  __shared__ unsigned int count[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) count[i] = 0;
  __syncthreads();
  const std::size_t begin = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * slice;
  if (begin < n) {
    const std::size_t end = begin + slice < n ? begin + slice : n;
    std::uint64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum = sum * base + bytes[i] + 1;
      atomicAdd(&count[bytes[i]], 1u);
    }
    atomicAdd(&summary->checksum, static_cast<unsigned long long>(sum * power(n - end)));
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    if (count[i] != 0) atomicAdd(&summary->count[i], count[i]);
}

struct Result {
  std::uint64_t checksum = 0, bytes = 0;
  std::uint64_t count[256] = {};
  double seconds = 0;

  bool operator==(const Result& other) const {
    return checksum == other.checksum && bytes == other.bytes && std::equal(count, count + 256, other.count);
  }
};

// Time of an operation on the device, ms after the first event.
using Interval = std::pair<double, double>;

// One chunk on its way through the device.
struct Chunk {
  cudaStream_t stream;
  cudaEvent_t begin, copied, computed, done;  // before the copy in, after it, after the kernel, after the copy out
  unsigned char *host, *device;               // host: a part of the batch's pinned buffer
  Summary *host_summary, *device_summary;
  std::size_t bytes = 0;
};

// What the host reads at once: several chunks, dealt out to the streams. While the device works on one batch, the host
// reads the other.
struct Batch {
  unsigned char* host;
  Chunk chunks[2 * streams];
};

class Pipeline {
 public:
  explicit Pipeline(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {
    CHECK(cudaEventCreate(&start_));
    for (cudaStream_t& s : streams_) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (Batch& batch : batches_) {
      CHECK(cudaMallocHost(&batch.host, chunk_bytes * std::size(batch.chunks)));
      std::memset(batch.host, 0, chunk_bytes * std::size(batch.chunks));
      for (std::size_t i = 0; i < std::size(batch.chunks); ++i) {
        Chunk& c = batch.chunks[i];
        c.stream = streams_[i % streams];
        c.host = batch.host + i * chunk_bytes;
        for (cudaEvent_t* e : {&c.begin, &c.copied, &c.computed, &c.done}) CHECK(cudaEventCreate(e));
        CHECK(cudaMalloc(&c.device, chunk_bytes));
        CHECK(cudaMallocHost(&c.host_summary, sizeof(Summary)));
        CHECK(cudaMalloc(&c.device_summary, sizeof(Summary)));
      }
    }
    // Chunks alone, with nothing beside them: how long a copy and a kernel take at least.
    CHECK(cudaEventRecord(start_, streams_[0]));
    for (int i = 0; i < 3; ++i) {
      Chunk& c = batches_[0].chunks[0];
      enqueue(c, chunk_bytes);
      Interval copy, kernel;
      finish(c, copy, kernel);
      shortest_copy_ = std::min(shortest_copy_, copy.second - copy.first);
      shortest_kernel_ = std::min(shortest_kernel_, kernel.second - kernel.first);
    }
    batches_[0].chunks[0].bytes = 0;
  }

  ~Pipeline() {
    for (Batch& batch : batches_) {
      for (Chunk& c : batch.chunks) {
        for (cudaEvent_t e : {c.begin, c.copied, c.computed, c.done}) CHECK(cudaEventDestroy(e));
        CHECK(cudaFree(c.device));
        CHECK(cudaFreeHost(c.host_summary));
        CHECK(cudaFree(c.device_summary));
      }
      CHECK(cudaFreeHost(batch.host));
    }
    for (cudaStream_t s : streams_) CHECK(cudaStreamDestroy(s));
    CHECK(cudaEventDestroy(start_));
  }

  Result run(std::FILE* file) {
    Result result;
    CHECK(cudaEventRecord(start_, streams_[0]));
    const auto begin = std::chrono::steady_clock::now();
    int now = 0;
    for (;; now = 1 - now) {
      Batch& batch = batches_[now];
      collect(batch, result);
      const std::size_t n = std::fread(batch.host, 1, chunk_bytes_ * std::size(batch.chunks), file);
      if (n == 0) break;
      for (std::size_t i = 0; i * chunk_bytes_ < n; ++i)
        enqueue(batch.chunks[i], std::min(chunk_bytes_, n - i * chunk_bytes_));
    }
    collect(batches_[1 - now], result);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

  const std::vector<Interval>& copies() const { return copies_; }
  const std::vector<Interval>& kernels() const { return kernels_; }

 private:
  void enqueue(Chunk& c, std::size_t n) {
    c.bytes = n;
    CHECK(cudaEventRecord(c.begin, c.stream));
    CHECK(cudaMemcpyAsync(c.device, c.host, n, cudaMemcpyHostToDevice, c.stream));
    CHECK(cudaEventRecord(c.copied, c.stream));
    CHECK(cudaMemsetAsync(c.device_summary, 0, sizeof(Summary), c.stream));
    const std::size_t blocks = (n + threads * slice - 1) / (threads * slice);
    summarise<<<static_cast<unsigned>(blocks), threads, 0, c.stream>>>(c.device, n, c.device_summary);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(c.computed, c.stream));
    CHECK(cudaMemcpyAsync(c.host_summary, c.device_summary, sizeof(Summary), cudaMemcpyDeviceToHost, c.stream));
    CHECK(cudaEventRecord(c.done, c.stream));
  }

  void finish(Chunk& c, Interval& copy, Interval& kernel) {
    CHECK(cudaEventSynchronize(c.done));
    float begin = 0, copied = 0, computed = 0;
    CHECK(cudaEventElapsedTime(&begin, start_, c.begin));
    CHECK(cudaEventElapsedTime(&copied, start_, c.copied));
    CHECK(cudaEventElapsedTime(&computed, start_, c.computed));
    copy = {begin, copied};
    kernel = {copied, computed};
  }

  // Waits for the batch's chunks, if it has any, and adds them to the result in the file's order.
  void collect(Batch& batch, Result& result) {
    for (Chunk& c : batch.chunks) {
      if (c.bytes == 0) break;
      Interval copy, kernel;
      finish(c, copy, kernel);
      // An event tells when its stream got there, which may be before the operation behind it found a free engine. It
      // surely ran in the last part of its interval, as long as its shortest run: only that much counts.
      copies_.emplace_back(std::max(copy.first, copy.second - shortest_copy_), copy.second);
      kernels_.emplace_back(std::max(kernel.first, kernel.second - shortest_kernel_), kernel.second);
      result.checksum = result.checksum * power(c.bytes) + c.host_summary->checksum;
      for (int i = 0; i < 256; ++i) result.count[i] += c.host_summary->count[i];
      result.bytes += c.bytes;
      c.bytes = 0;
    }
  }

  std::size_t chunk_bytes_;
  cudaStream_t streams_[streams];
  Batch batches_[2];
  cudaEvent_t start_;
  double shortest_copy_ = 1e9, shortest_kernel_ = 1e9;
  std::vector<Interval> copies_, kernels_;
};

Result plain_loop(std::FILE* file) {
  Result result;
  std::vector<unsigned char> buffer(std::size_t{1} << 20);
  const auto begin = std::chrono::steady_clock::now();
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file)) {
    for (std::size_t i = 0; i < n; ++i) {
      result.checksum = result.checksum * base + buffer[i] + 1;
      ++result.count[buffer[i]];
    }
    result.bytes += n;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

// Joins intervals that touch, so that each moment counts once; returns them in order.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& i : intervals) {
    if (!result.empty() && i.first <= result.back().second)
      result.back().second = std::max(result.back().second, i.second);
    else
      result.push_back(i);
  }
  return result;
}

double length(const std::vector<Interval>& intervals) {
  double sum = 0;
  for (const Interval& i : intervals) sum += i.second - i.first;
  return sum;
}

double overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max(0.0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
    if (a[i].second < b[j].second)
      ++i;
    else
      ++j;
  }
  return sum;
}

std::string default_file() {
  namespace fs = std::filesystem;
  std::string best = "/proc/self/exe";
  std::uintmax_t size = 0;
  std::error_code ignore;
  for (const char* folder : {"/usr/lib/llvm-19/lib", "/usr/lib/x86_64-linux-gnu"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignore)) {
      const std::string name = entry.path().filename();
      if (name.rfind("libLLVM", 0) != 0 || name.find(".so") == std::string::npos || !entry.is_regular_file(ignore))
        continue;
      if (entry.file_size(ignore) > size) {
        size = entry.file_size(ignore);
        best = entry.path();
      }
    }
    if (size != 0) break;
  }
  return best;
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: %s [FILE]\n", argv[0]);
    return 2;
  }
  const std::string path = argc == 2 ? argv[1] : default_file();
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    std::fprintf(stderr, "%s is a folder; give the name of a file.\n", path.c_str());
    return 2;
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "Cannot open %s: %s.\n", path.c_str(), std::strerror(errno));
    return 2;
  }
  int devices = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&devices); e != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "There is no device to run on: %s.\n", cudaGetErrorString(e));
    return 2;
  }

  const Result expected = plain_loop(file);
  if (std::ferror(file) || std::fseek(file, 0, SEEK_SET) != 0) {
    std::fprintf(stderr, "Cannot read all of %s: %s.\n", path.c_str(), std::strerror(errno));
    return 2;
  }
  if (expected.bytes == 0) {
    std::fprintf(stderr, "%s is empty: there is nothing to stream.\n", path.c_str());
    return 2;
  }

  // At least a dozen chunks, so that there is something to overlap, of at most 1 MiB.
  const std::size_t chunk = std::clamp<std::size_t>((expected.bytes / 12 + 4095) / 4096 * 4096, 4096,
                                                    std::size_t{1} << 20);
  std::printf("%s: %.1f MB in chunks of %zu KiB over %d streams\n", path.c_str(), expected.bytes / 1e6, chunk / 1024,
              streams);
  Pipeline pipeline(chunk);
  const Result result = pipeline.run(file);
  const bool read_all = !std::ferror(file);
  std::fclose(file);
  if (!read_all) {
    std::fprintf(stderr, "Cannot read all of %s a second time.\n", path.c_str());
    return 2;
  }

  const bool equal = result == expected;
  const int most = static_cast<int>(std::max_element(expected.count, expected.count + 256) - expected.count);
  std::printf("  plain loop   checksum %016llx   %7.3f GB/s\n", static_cast<unsigned long long>(expected.checksum),
              expected.bytes / expected.seconds / 1e9);
  std::printf("  streams      checksum %016llx   %7.3f GB/s   %s\n", static_cast<unsigned long long>(result.checksum),
              result.bytes / result.seconds / 1e9,
              equal ? "same checksum, same histogram" : "DIFFERENT from the plain loop");
  std::printf("  most frequent byte: 0x%02x, %.1f %% of all\n", most, 100.0 * expected.count[most] / expected.bytes);
  const std::vector<Interval> copies = merged(pipeline.copies()), kernels = merged(pipeline.kernels());
  const double both = overlap(copies, kernels), copying = length(copies);
  std::printf("  copies ran %.2f ms, kernels %.2f ms, both at once %.2f ms (%.0f %% of the copying)\n", copying,
              length(kernels), both, copying > 0 ? 100 * both / copying : 0.0);
  if (!equal) {
    std::fprintf(stderr, "The results differ: either %s changed meanwhile, or the runtime is wrong.\n", path.c_str());
    return 1;
  }
  if (both <= 0 && expected.bytes < least_for_overlap) {
    std::printf("  (the file is too short for copies and kernels to overlap; the results are checked all the same)\n");
    return 0;
  }
  if (both <= 0) {
    std::fprintf(stderr, "No copy ran while a kernel ran: the streams did not overlap.\n");
    return 1;
  }
  return 0;
}
