// A seeded generator of memory calls against a reference model: contents, attributes and errors, on one, two and eight
// devices, by one thread and by three at once. The seed is printed when something differs; MILLRACE_SEED=N repeats it,
// and MILLRACE_SEEDS=M goes on with M seeds from there.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int most_devices = 8;
// Before the runtime is first used.
const bool prepared = setenv("MILLRACE_DEVICES", "8", 1) == 0 && setenv("MILLRACE_MEMORY", "1G", 1) == 0;

enum Kind { device, ordered, pinned, managed, registered, pageable, kinds };

struct Block {
  Kind kind;
  int owner;  // the device that was current
  std::vector<unsigned char> bytes;
};

// One thread's calls: its own streams, one for each device, and its own blocks.
class Generator {
 public:
  Generator(unsigned seed, int devices) : random_(seed), devices_(devices) {
    for (int d = 0; d < devices_; ++d) {
      choose(d);
      expect(cudaSuccess, cudaStreamCreateWithFlags(&streams_[d], cudaStreamNonBlocking));
    }
  }
  ~Generator() {
    while (!blocks_.empty()) release(blocks_.begin());
    for (int d = 0; d < devices_; ++d) {
      choose(d);
      expect(cudaSuccess, cudaStreamDestroy(streams_[d]));
    }
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  void step() {
    const unsigned what = below(16);
    choose(static_cast<int>(below(static_cast<unsigned>(devices_))));
    if (blocks_.size() < 6 || what == 0)
      allocate();
    else if (what == 1 && blocks_.size() > 12)
      release(pick());
    else if (what < 7)
      copy();
    else if (what < 10)
      copy_box();
    else if (what < 12)
      fill();
    else if (what == 12)
      ask();
    else if (what == 13)
      misuse();
    else
      compare(pick());
  }

 private:
  using Blocks = std::map<unsigned char*, Block>;

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  Blocks::iterator pick() { return std::next(blocks_.begin(), below(blocks_.size())); }
  static void expect(cudaError_t wanted, cudaError_t gave) {
    EXPECT_EQ(gave, wanted);
    if (gave != cudaSuccess) cudaGetLastError();
  }
  void choose(int d) {
    current_ = d;
    expect(cudaSuccess, cudaSetDevice(d));
  }
  cudaStream_t stream() const { return streams_[current_]; }
  // The model has one time line: what streams do is over before the next call.
  void settle() const { expect(cudaSuccess, cudaStreamSynchronize(stream())); }

  void allocate() {
    const Kind kind = static_cast<Kind>(below(kinds));
    const std::size_t bytes = 1 + below(below(8) ? 5000 : 300000);
    void* p = nullptr;
    switch (kind) {
    case device: expect(cudaSuccess, cudaMalloc(&p, bytes)); break;
    case ordered: expect(cudaSuccess, cudaMallocAsync(&p, bytes, stream())); break;
    case pinned: expect(cudaSuccess, cudaHostAlloc(&p, bytes, below(8))); break;
    case managed: expect(cudaSuccess, cudaMallocManaged(&p, bytes, cudaMemAttachGlobal)); break;
    default:
      p = std::malloc(bytes);
      std::memset(p, 0, bytes);
      if (kind == registered) expect(cudaSuccess, cudaHostRegister(p, bytes, cudaHostRegisterDefault));
    }
    ASSERT_NE(p, nullptr);
    settle();
    const auto value = static_cast<unsigned char>(random_());
    if (kind == pageable)
      std::memset(p, value, bytes);
    else
      expect(cudaSuccess, cudaMemsetAsync(p, value, bytes, stream()));
    settle();
    auto* start = static_cast<unsigned char*>(p);
    // Apart from every other block of this thread.
    const auto after = blocks_.lower_bound(start);
    if (after != blocks_.end()) EXPECT_LE(start + bytes, after->first);
    if (after != blocks_.begin()) EXPECT_LE(std::prev(after)->first + std::prev(after)->second.bytes.size(), start);
    blocks_[start] = {kind, current_, std::vector<unsigned char>(bytes, value)};
  }

  void release(Blocks::iterator at) {
    compare(at);
    unsigned char* const p = at->first;
    switch (at->second.kind) {
    case device: expect(cudaSuccess, cudaFree(p)); break;
    case managed:
      expect(cudaErrorInvalidValue, cudaFreeHost(p));
      expect(cudaSuccess, cudaFree(p));
      break;
    case ordered:
      choose(at->second.owner);
      expect(cudaSuccess, below(2) ? cudaFreeAsync(p, stream()) : cudaFree(p));
      settle();
      break;
    case pinned:
      expect(cudaErrorInvalidValue, cudaFree(p));
      expect(cudaSuccess, cudaFreeHost(p));
      break;
    default:
      if (at->second.kind == registered) {
        expect(cudaSuccess, cudaHostUnregister(p));
        expect(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(p));
      }
      std::free(p);
    }
    blocks_.erase(at);
  }

  // A direction that is right for both sides.
  cudaMemcpyKind direction(const Block& to, const Block& from) {
    if (below(2)) return cudaMemcpyDefault;
    const bool to_host = to.kind == pageable, from_host = from.kind == pageable;
    if (to_host) return from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return from_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
  }

  void copy() {
    const auto to = pick(), from = pick();
    if (to == from) return;
    const std::size_t bytes = below(std::min(to->second.bytes.size(), from->second.bytes.size()) + 1);
    const std::size_t at = below(to->second.bytes.size() - bytes + 1);
    const std::size_t source = below(from->second.bytes.size() - bytes + 1);
    unsigned char *const dst = to->first + at, *const src = from->first + source;
    const bool both_on_devices = to->second.kind != pageable && from->second.kind != pageable;
    switch (below(3)) {
    case 0: expect(cudaSuccess, cudaMemcpy(dst, src, bytes, direction(to->second, from->second))); break;
    case 1:
      if (both_on_devices) {
        expect(cudaSuccess, cudaMemcpyPeerAsync(dst, to->second.owner, src, from->second.owner, bytes, stream()));
        break;
      }
      [[fallthrough]];
    default: expect(cudaSuccess, cudaMemcpyAsync(dst, src, bytes, direction(to->second, from->second), stream()));
    }
    // Without a stream, copies on the device only are ordered in the default stream.
    expect(cudaSuccess, cudaStreamSynchronize(cudaStreamLegacy));
    settle();
    std::copy_n(from->second.bytes.begin() + static_cast<std::ptrdiff_t>(source), bytes,
                to->second.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void copy_box() {
    const auto to = pick(), from = pick();
    if (to == from) return;
    const std::size_t width = 1 + below(90), rows = 1 + below(20);
    const std::size_t to_pitch = width + below(40), from_pitch = width + below(40);
    const bool fits = (rows - 1) * to_pitch + width <= to->second.bytes.size() &&
                      (rows - 1) * from_pitch + width <= from->second.bytes.size();
    // What lies behind pageable memory is no business of the runtime's.
    if (!fits && (to->second.kind == pageable || from->second.kind == pageable)) return;
    expect(fits ? cudaSuccess : cudaErrorInvalidValue,
           cudaMemcpy2DAsync(to->first, to_pitch, from->first, from_pitch, width, rows,
                             direction(to->second, from->second), stream()));
    settle();
    for (std::size_t r = 0; fits && r < rows; ++r)
      std::copy_n(from->second.bytes.begin() + static_cast<std::ptrdiff_t>(r * from_pitch), width,
                  to->second.bytes.begin() + static_cast<std::ptrdiff_t>(r * to_pitch));
  }

  void fill() {
    const auto at = pick();
    if (at->second.kind == pageable) return;
    const std::size_t bytes = below(at->second.bytes.size() + 1), start = below(at->second.bytes.size() - bytes + 1);
    const auto value = static_cast<unsigned char>(random_());
    // Another device's memory can be copied, but not set.
    const bool others = at->second.owner != current_ && (at->second.kind == device || at->second.kind == ordered);
    expect(others && bytes ? cudaErrorInvalidValue : cudaSuccess,
           cudaMemsetAsync(at->first + start, value, bytes, stream()));
    settle();
    if (others) return;
    std::fill_n(at->second.bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes, value);
  }

  void ask() {
    const auto at = pick();
    unsigned char* const inner = at->first + below(at->second.bytes.size());
    cudaPointerAttributes a;
    expect(cudaSuccess, cudaPointerGetAttributes(&a, inner));
    constexpr cudaMemoryType types[] = {cudaMemoryTypeDevice,  cudaMemoryTypeDevice, cudaMemoryTypeHost,
                                        cudaMemoryTypeManaged, cudaMemoryTypeHost,   cudaMemoryTypeUnregistered};
    EXPECT_EQ(a.type, types[at->second.kind]);
    EXPECT_EQ(a.device, at->second.kind == pageable ? -2 : at->second.owner);
    EXPECT_EQ(a.devicePointer, at->second.kind == pageable ? nullptr : inner);
    EXPECT_EQ(a.hostPointer, at->second.kind == device || at->second.kind == ordered ? nullptr : inner);
  }

  void misuse() {
    const auto at = pick();
    const std::size_t size = at->second.bytes.size();
    const bool ours = at->second.kind != pageable;
    std::vector<unsigned char> host(size + 1);
    switch (below(5)) {
    case 0: expect(cudaErrorInvalidValue, cudaMemset(at->first + 1, 0, ours ? size : 1)); break;
    case 1:
      if (ours) expect(cudaErrorInvalidValue, cudaMemcpy(host.data(), at->first, size + 1, cudaMemcpyDefault));
      break;
    case 2: expect(cudaErrorInvalidValue, cudaFree(host.data())); break;
    case 3: expect(cudaErrorInvalidValue, cudaMemcpy(host.data(), at->first, size, cudaMemcpyHostToDevice)); break;
    default:
      expect(cudaErrorInvalidMemcpyDirection,
             cudaMemcpy(at->first, host.data(), size, static_cast<cudaMemcpyKind>(17)));
    }
  }

  void compare(Blocks::iterator at) {
    std::vector<unsigned char> back(at->second.bytes.size());
    expect(cudaSuccess, cudaMemcpyAsync(back.data(), at->first, back.size(), cudaMemcpyDefault, stream()));
    settle();
    EXPECT_TRUE(back == at->second.bytes);
  }

  std::mt19937 random_;
  int devices_, current_ = 0;
  cudaStream_t streams_[most_devices] = {};
  Blocks blocks_;
};

void run(unsigned seed, int devices, int steps) {
  Generator generator(seed, devices);
  for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) generator.step();
}

unsigned number(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 0)) : otherwise;
}
unsigned first_seed() { return number("MILLRACE_SEED", 1); }

class MemoryCalls : public testing::TestWithParam<int> {};

TEST_P(MemoryCalls, AgreeWithAModel) {
  ASSERT_TRUE(prepared);
  for (unsigned seed = first_seed(), end = seed + number("MILLRACE_SEEDS", 4); seed < end && !HasFailure(); ++seed) {
    SCOPED_TRACE("MILLRACE_SEED=" + std::to_string(seed));
    run(seed, GetParam(), 1500);
  }
}

TEST_P(MemoryCalls, OfThreeThreadsAgreeWithAModel) {
  const unsigned seed = first_seed();
  SCOPED_TRACE("MILLRACE_SEED=" + std::to_string(seed));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) threads.emplace_back(run, seed + 100 + i, GetParam(), 1500);
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryCalls, testing::Values(1, 2, 8));

}  // namespace
