// The kernels in OpenCL C (PoCL): the same text, through an OpenCL platform whose name has "Portable" in it, else the
// first. argv[1] is kernels.inc.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <fstream>
#include <sstream>

#include "suite.h"

namespace {
using namespace suite;

constexpr const char* prelude =
    "#define KERNEL __kernel void\n#define GLOBAL __global\n#define CONST_GLOBAL __global const\n#define LOCAL "
    "__local\n"
    "#define unsigned uint\n"
    "#define TX ((int)get_local_id(0))\n#define TY ((int)get_local_id(1))\n#define BX ((int)get_group_id(0))\n"
    "#define BY ((int)get_group_id(1))\n#define DX ((int)get_local_size(0))\n#define DY ((int)get_local_size(1))\n"
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n#define LOCAL_ADD(p, v) atomic_add(p, v)\n#define GLOBAL_ADD(p, v) "
    "atomic_add(p, v)\n";

struct Device {
  cl_device_id id{};
  cl_context context{};
  cl_command_queue queue{};
  cl_program program{};
};
Device device;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "kernels_opencl: %s\n", why.c_str());
  std::exit(1);
}
void check(cl_int error, const char* call) {
  if (error != CL_SUCCESS) stop(std::string(call) + " failed with " + std::to_string(error));
}

void open(const char* file) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS || count == 0) stop("there is no OpenCL platform");
  cl_platform_id chosen = platforms[0];
  for (cl_uint i = 0; i < count; ++i) {
    char name[256] = {};
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    if (std::strstr(name, "Portable")) chosen = platforms[i];
  }
  cl_int error;
  check(clGetDeviceIDs(chosen, CL_DEVICE_TYPE_ALL, 1, &device.id, nullptr), "clGetDeviceIDs");
  device.context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  device.queue = clCreateCommandQueue(device.context, device.id, 0, &error);
  check(error, "clCreateCommandQueue");
  std::stringstream text;
  text << prelude << std::ifstream(file).rdbuf();
  const std::string source = text.str();
  const char* at = source.c_str();
  device.program = clCreateProgramWithSource(device.context, 1, &at, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  if (clBuildProgram(device.program, 1, &device.id, "", nullptr, nullptr) != CL_SUCCESS) {
    std::string log(1 << 16, '\0');
    clGetProgramBuildInfo(device.program, device.id, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    stop(log);
  }
}

template <class T> struct Buffer {
  cl_mem p;
  std::size_t n;
  explicit Buffer(std::size_t count) : Buffer(std::vector<T>(count)) {}
  explicit Buffer(const std::vector<T>& v) : n(v.size()) {
    cl_int error;
    p = clCreateBuffer(device.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * sizeof(T),
                       const_cast<T*>(v.data()), &error);
    check(error, "clCreateBuffer");
  }
  ~Buffer() { clReleaseMemObject(p); }
  std::vector<T> get() const {
    std::vector<T> v(n);
    check(clEnqueueReadBuffer(device.queue, p, CL_TRUE, 0, n * sizeof(T), v.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return v;
  }
};
void wait() { clFinish(device.queue); }

template <class T> void set_one(cl_kernel k, cl_uint i, const T& v) {
  check(clSetKernelArg(k, i, sizeof v, &v), "clSetKernelArg");
}
template <class T> void set_one(cl_kernel k, cl_uint i, const Buffer<T>& v) { set_one(k, i, v.p); }

struct Shape {
  std::size_t groups[2], local[2];
};
template <class... Args> std::function<void()> kernel(const char* name, Shape s, const Args&... args) {
  cl_int error;
  cl_kernel k = clCreateKernel(device.program, name, &error);
  check(error, "clCreateKernel");
  cl_uint i = 0;
  (set_one(k, i++, args), ...);
  return [=] {
    const std::size_t global[2] = {s.groups[0] * s.local[0], s.groups[1] * s.local[1]};
    check(clEnqueueNDRangeKernel(device.queue, k, 2, nullptr, global, s.local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  };
}
Shape line(std::size_t groups) { return {{groups, 1}, {block, 1}}; }
Shape square(std::size_t edge) { return {{edge / tile, edge / tile}, {tile, tile}}; }
}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) stop("name kernels.inc");
  open(argv[1]);
  const Runner r(argc - 1, argv + 1);
  const std::size_t blocks = elements / block;
  const auto run = [&](const char* name, const std::function<void()>& once, const auto& out) {
    r.run(name, once, wait, [&] { return checksum(out.get()); });
  };
  if (r.wanted("saxpy")) {
    Buffer<float> x(floats(elements, 1, 0, 1)), y(floats(elements, 2, 0, 1));
    run("saxpy", kernel("saxpy", line(blocks), x, y, 0.5f, elements), y);
  }
  if (r.wanted("triad")) {
    Buffer<float> b(floats(elements, 1, 0, 1)), c(floats(elements, 2, 0, 1)), a(elements);
    run("triad", kernel("triad", line(blocks), b, c, a, 0.5f, elements), a);
  }
  if (r.wanted("stencil")) {
    Buffer<float> in(floats((side + 2) * (side + 2), 3, 0, 1)), out((side + 2) * (side + 2));
    run("stencil", kernel("stencil", square(side), in, out, side), out);
  }
  if (r.wanted("matmul")) {
    Buffer<float> a(floats(matrix * matrix, 4, 0, 1)), b(floats(matrix * matrix, 5, 0, 1)), c(matrix * matrix);
    run("matmul", kernel("matmul", square(matrix), a, b, c, matrix), c);
  }
  if (r.wanted("block_reduce")) {
    Buffer<float> x(floats(elements, 6, 0, 1)), sums(blocks);
    run("block_reduce", kernel("block_reduce", line(blocks), x, sums), sums);
  }
  if (r.wanted("warp_reduce")) {
    Buffer<float> x(floats(elements, 6, 0, 1)), sums(elements / 32);
    run("warp_reduce", kernel("warp_reduce", line(blocks), x, sums), sums);
  }
  if (r.wanted("scan")) {
    Buffer<int> in(integers(elements, 7, 100)), out(elements);
    run("scan", kernel("scan", line(blocks), in, out), out);
  }
  if (r.wanted("histogram")) {
    Buffer<int> in(integers(elements, 8, 1 << 20)), bins(256);
    run("histogram", kernel("histogram", line(blocks / per_thread), in, bins, per_thread), bins);
  }
  if (r.wanted("transpose")) {
    Buffer<float> in(floats(side * side, 9, 0, 1)), out(side * side);
    run("transpose", kernel("transpose", square(side), in, out, side), out);
  }
  if (r.wanted("bitonic")) {
    Buffer<int> data(integers(elements / 4, 10, 1 << 30));
    run("bitonic", kernel("bitonic", line(blocks / 4), data), data);
  }
  if (r.wanted("nbody")) {
    Buffer<float> x(floats(bodies, 11, -1, 1)), y(floats(bodies, 12, -1, 1)), m(floats(bodies, 13, 0, 1)), ax(bodies),
        ay(bodies);
    r.run("nbody", kernel("nbody", line(bodies / block), x, y, m, ax, ay, bodies), wait,
          [&] { return checksum(ax.get()) + checksum(ay.get()); });
  }
  if (r.wanted("black_scholes")) {
    Buffer<float> s(floats(elements / 4, 14, 5, 30)), k(floats(elements / 4, 15, 1, 100)),
        t(floats(elements / 4, 16, 0.25f, 10)), c(elements / 4);
    run("black_scholes", kernel("black_scholes", line(blocks / 4), s, k, t, c, elements / 4), c);
  }
  if (r.wanted("mandelbrot")) {
    Buffer<int> out(picture * picture);
    run("mandelbrot",
        kernel("mandelbrot", Shape{{picture / 32, picture / 8}, {32, 8}}, out, picture, picture, iterations), out);
  }
  if (r.wanted("spmv")) {
    std::vector<int> first(rows + 1);
    for (int i = 0; i <= rows; ++i) first[i] = i * per_row;
    Buffer<int> f(first), column(integers(rows * per_row, 17, rows));
    Buffer<float> value(floats(rows * per_row, 18, 0, 1)), x(floats(rows, 19, 0, 1)), y(rows);
    run("spmv", kernel("spmv", line(rows / block), f, column, value, x, y, rows), y);
  }
  if (r.wanted("convolution")) {
    Buffer<float> in(floats((side + 2 * radius) * side, 20, 0, 1)), weight(floats(2 * radius + 1, 21, 0, 1)),
        out(side * side);
    run("convolution", kernel("convolution", Shape{{side / block, side}, {block, 1}}, in, weight, out, side), out);
  }
  return 0;
}
