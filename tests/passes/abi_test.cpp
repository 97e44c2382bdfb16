#include <cstdio>

#include "abi_types.h"
#include "harness.h"

namespace {
using namespace harness;

struct Packer {
  const MrKernel& kernel;
  std::vector<unsigned char> buffer;
  unsigned next = 0;
  explicit Packer(const MrKernel& k) : kernel(k), buffer(k.args_size + 64) {}
  unsigned char* address() {
    auto p = reinterpret_cast<std::uintptr_t>(buffer.data());
    return reinterpret_cast<unsigned char*>((p + 31) / 32 * 32);
  }
  void put(const void* value, std::size_t size, std::size_t align) {
    const MrParam& p = kernel.params[next++];
    check_quietly(p.size == size && p.align == align && p.offset % align == 0, kernel.name);
    std::memcpy(address() + p.offset, value, size);
  }
  template <class T> void put(const T& value) { put(&value, sizeof value, alignof(T)); }
  static void check_quietly(bool good, const char* name) {
    if (!good) check(false, std::string(name) + ": parameter layout");
  }
};
struct Out {
  unsigned char *values, *first_bytes;
  int* others;
};

template <class T> void test(const Image& image, const std::string& name, bool blocks) {
  const MrKernel& k = image.kernel("abi_" + name);
  constexpr std::size_t n = sizeof(T);
  static unsigned char in[7 * 1024], out[7 * 1024], first[64];
  for (std::size_t i = 0; i < 7 * n; ++i) in[i] = static_cast<unsigned char>(17 * i + 3 + i / 5);
  // Not every bit pattern of an empty class or a null pointer is kept: there is nothing to keep.
  const bool nothing = std::is_empty_v<T> || std::is_null_pointer_v<T>;
  if (nothing) std::memset(in, 0, sizeof in);
  std::memset(out, 0, sizeof out);
  std::memset(first, 0xcc, sizeof first);
  int others[4] = {};
  Packer p(k);
  auto one = [&](unsigned i) { p.put(in + i * n, n, alignof(T)); };
  p.put<char>(-5);
  one(0);
  p.put(7.5f);
  one(1);
  p.put(true);
  one(2);
  one(3);
  p.put<short>(-321);
  one(4);
  one(5);
  one(6);
  p.put(Out{out, first, others});
  Shape s;
  s.grid[0] = 2;
  s.block[0] = 4;
  if (blocks)
    run_blocks(k, s, p.address());
  else
    run_lanes(k, s, p.address());
  bool good = others[0] == -5 && others[1] == 7 && others[2] == 1 && others[3] == -321;
  if (!nothing) good = good && std::memcmp(in, out, 7 * n) == 0;
  for (unsigned i = 0; i < 8 && !nothing; ++i) good = good && first[i] == in[0];
  check(good, name + (blocks ? " in run_blocks" : " in run_lane"));
}

void run(const Image& image, bool blocks) {
#define TEST(name, T) test<T>(image, #name, blocks);
  ABI_TYPES(TEST)
#undef TEST
  const auto go = [&](const char* name, Packer& p, unsigned threads) {
    Shape s;
    s.block[0] = threads;
    blocks ? run_blocks(image.kernel(name), s, p.address()) : run_lanes(image.kernel(name), s, p.address());
  };
  {
    Packer p(image.kernel("abi_bool"));
    int out[3] = {9, 9, 9}, *to = out;
    p.put(true);
    p.put(false);
    p.put(true);
    p.put(to);
    go("abi_bool", p, 1);
    check(out[0] == 1 && out[1] == 0 && out[2] == 1, "bool");
  }
  for (const char* name : {"abi_grid_constant", "abi_indexed"}) {
    Packer p(image.kernel(name));
    types::Big big;
    for (long i = 0; i < 20; ++i) big.v[i] = i * i;
    long out[20] = {}, *to = out;
    p.put(big);
    p.put(to);
    go(name, p, 20);
    bool good = true;
    for (long i = 0; i < 20; ++i)
      good = good && out[i] == (name == std::string("abi_indexed") ? (19 - i) * (19 - i) : i * i);
    check(good, name);
  }
  {
    const char* name = "_Z4callI7FunctorEvT_Pi";
    Packer p(image.kernel(name));
    int out[8] = {}, *to = out, base = 100;
    struct Functor {
      int k;
      int* p;
    } f{3, &base};
    p.put(f);
    p.put(to);
    go(name, p, 8);
    check(out[7] == 121 && out[0] == 100, "functor template");
  }
}
}  // namespace

int main(int, char** argv) {
  Image image(argv[1]);
  run(image, false);
  if (image.kernel("abi_i8").run_blocks) run(image, true);

  return failures() != 0;
}
