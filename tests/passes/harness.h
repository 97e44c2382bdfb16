// Loads a device image, lends it a services table, and runs its kernels' entries on a stack such as the runtime
// provides.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <simt/abi.h>

namespace harness {

// Aborts with a message when the image can't be loaded or lacks what is asked for.
class Image {
 public:
  explicit Image(const std::string& path);
  const MrImage& image() const { return *image_; }
  const MrKernel& kernel(const std::string& name) const;
  const MrVariable& variable(const std::string& name) const;

 private:
  const MrImage* image_;
};

struct Shape {
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;
};
// Runs every lane of every block to its end, one after the other, through run_lane: only for kernels whose lanes don't
// meet.
void run_lanes(const MrKernel& kernel, const Shape& shape, const void* args);
// The same through run_blocks, blocks in ranges of `range`.
void run_blocks(const MrKernel& kernel, const Shape& shape, const void* args, std::uint64_t range = 1u << 30);
// Calls `body` on the device stack.
void on_device_stack(void (*body)(void*), void* argument);

// What services saw.
struct Seen {
  unsigned polls = 0, barriers = 0;
  std::vector<std::string> printed;  // "format|bits:is_double|..."
  std::string assertion;
  std::uint32_t assert_tid[3];
  unsigned misaligned = 0;
  void (*on_poll)() = nullptr;
};
extern Seen seen;

int failures();
void check(bool good, const std::string& what);

}  // namespace harness
