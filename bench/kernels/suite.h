// What the three programs of the kernel benchmark share: sizes, inputs, the clock and the output.
//
//   PROGRAM [--only NAME] [--milliseconds T]     one line "NAME SECONDS CHECKSUM" a kernel, SECONDS for one execution
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace suite {

constexpr int elements = 1 << 22, block = 256, tile = 16, radius = 8;
constexpr int side = 2048;       // stencil, transpose
constexpr int matrix = 512;      // matmul
constexpr int bodies = 4096;     // nbody
constexpr int picture = 1024;    // mandelbrot
constexpr int iterations = 256;  // mandelbrot
constexpr int rows = 1 << 18;    // spmv
constexpr int per_row = 16;      // spmv
constexpr int per_thread = 64;   // histogram

inline std::vector<float> floats(std::size_t n, unsigned seed, float low, float high) {
  std::vector<float> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = low + (high - low) * static_cast<float>(seed >> 8) / 16777216.0f;
  }
  return v;
}
inline std::vector<int> integers(std::size_t n, unsigned seed, unsigned limit) {
  std::vector<int> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<int>((seed >> 4) % limit);
  }
  return v;
}

// Runs `once` for at least the time, in batches; `result` gives what is compared. One untimed execution before, whose
// result counts (kernels that work in place change it with each).
class Runner {
 public:
  Runner(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
      if (!std::strcmp(argv[i], "--only")) only_ = argv[i + 1];
      if (!std::strcmp(argv[i], "--milliseconds")) milliseconds_ = std::atof(argv[i + 1]);
    }
  }
  bool wanted(const char* name) const { return only_.empty() || only_ == name; }
  void run(const char* name, const std::function<void()>& once, const std::function<void()>& wait,
           const std::function<double()>& result) const {
    once();
    wait();
    const double checksum = result();
    using clock = std::chrono::steady_clock;
    double best = 0;
    for (int batch = 1;; batch *= 2) {
      const auto begin = clock::now();
      for (int i = 0; i < batch; ++i) once();
      wait();
      const double spent = std::chrono::duration<double>(clock::now() - begin).count();
      best = spent / batch;
      if (spent * 1000 >= milliseconds_) break;
    }
    std::printf("%s %.9g %.9g\n", name, best, checksum);
    std::fflush(stdout);
  }

 private:
  std::string only_;
  double milliseconds_ = 50;
};

template <class T> double checksum(const std::vector<T>& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += static_cast<double>(v[i]) * static_cast<double>(i % 7 + 1);
  return sum;
}

}  // namespace suite
