// OpenCL on the CPU (PoCL) in the places of the CUDA runtime: an in-order command queue for a stream, a marker for an
// event record, a native kernel for a host function. Where it has nothing of the kind, there is no line.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdlib>
#include <string>

#include "figure.h"

namespace {

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "opencl_costs: %s failed with error %d\n", what, error);
  std::exit(1);
}
#define CHECK(call) check((call), #call)

constexpr const char* source =
    "__kernel void empty(void) {}\n"
    "__kernel void bump(__global int* p) { if (get_local_id(0) == 0) p[get_group_id(0)] += 1; }\n";

void CL_CALLBACK nop_host(void*) {}

// The device of the platform whose name says PoCL.
bool find(cl_device_id* device) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return false;
  for (cl_uint i = 0; i < count; ++i) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, nullptr);
    if (std::string(name).find("Portable Computing Language") == std::string::npos) continue;
    return clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, device, nullptr) == CL_SUCCESS;
  }
  return false;
}

}  // namespace

int main() {
  using bench::figure;
  cl_device_id device;
  if (!find(&device)) {
    std::fprintf(stderr, "opencl_costs: no PoCL platform: install pocl-opencl-icd\n");
    return 1;
  }
  cl_int error;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  const auto queue = [&] {
    cl_command_queue q = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    return q;
  };
  cl_command_queue s = queue(), s2 = queue();
  const char* text = source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  CHECK(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  cl_kernel empty = clCreateKernel(program, "empty", &error), bump = clCreateKernel(program, "bump", &error);
  check(error, "clCreateKernel");
  cl_mem d = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, nullptr, &error);
  check(error, "clCreateBuffer");
  CHECK(clSetKernelArg(bump, 0, sizeof(cl_mem), &d));
  int host[16] = {};
  const std::size_t block = 32, block128 = 128, grid4096 = 4096 * 128;
  const auto launch = [&](cl_command_queue q, cl_kernel k) {
    CHECK(clEnqueueNDRangeKernel(q, k, 1, nullptr, &block, &block, 0, nullptr, nullptr));
  };
  const auto sync = [&] {
    CHECK(clFinish(s));
    CHECK(clFinish(s2));
  };
  constexpr int n = 500;

  figure(
      "launch_enqueue", n,
      [&] {
        for (int i = 0; i < n; ++i) launch(s, empty);
      },
      sync);
  figure(
      "launch_throughput", n,
      [&] {
        for (int i = 0; i < n; ++i) launch(s, empty);
        CHECK(clFinish(s));
      },
      sync);
  figure(
      "launch_sync_roundtrip", 100,
      [&] {
        for (int i = 0; i < 100; ++i) {
          launch(s, bump);
          CHECK(clFinish(s));
        }
      },
      sync);
  figure(
      "launch_4096_blocks_throughput", 20,
      [&] {
        for (int i = 0; i < 20; ++i)
          CHECK(clEnqueueNDRangeKernel(s, bump, 1, nullptr, &grid4096, &block128, 0, nullptr, nullptr));
        CHECK(clFinish(s));
      },
      sync);
  std::vector<cl_event> events(n);
  const auto release = [&] {
    sync();
    for (cl_event& e : events)
      if (e) {
        clReleaseEvent(e);
        e = nullptr;
      }
  };
  figure(
      "event_record", n,
      [&] {
        for (int i = 0; i < n; ++i)
          CHECK(clEnqueueMarkerWithWaitList(s, 0, nullptr, &events[static_cast<std::size_t>(i)]));
      },
      release);
  cl_event done;
  CHECK(clEnqueueMarkerWithWaitList(s, 0, nullptr, &done));
  sync();
  figure(
      "event_query_done", n,
      [&] {
        for (int i = 0; i < n; ++i) {
          cl_int status;
          CHECK(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
        }
      },
      sync);
  figure(
      "event_sync_done", n,
      [&] {
        for (int i = 0; i < n; ++i) CHECK(clWaitForEvents(1, &done));
      },
      sync);
  figure(
      "stream_sync_idle", n,
      [&] {
        for (int i = 0; i < n; ++i) CHECK(clFinish(s));
      },
      sync);
  figure(
      "cross_stream_hop_throughput", n,
      [&] {
        for (int i = 0; i < n; ++i) {
          cl_command_queue a = i & 1 ? s2 : s, b = i & 1 ? s : s2;
          cl_event& e = events[static_cast<std::size_t>(i)];
          CHECK(clEnqueueNDRangeKernel(a, bump, 1, nullptr, &block, &block, 0, nullptr, &e));
          CHECK(clFlush(a));
          CHECK(clEnqueueBarrierWithWaitList(b, 1, &e, nullptr));
        }
        sync();
      },
      release);
  figure(
      "memcpy_h2d_4B_enqueue", n,
      [&] {
        for (int i = 0; i < n; ++i) CHECK(clEnqueueWriteBuffer(s, d, CL_FALSE, 0, 4, host, 0, nullptr, nullptr));
      },
      sync);
  figure(
      "memcpy_d2h_4B_roundtrip", 100,
      [&] {
        for (int i = 0; i < 100; ++i) CHECK(clEnqueueReadBuffer(s, d, CL_TRUE, 0, 4, host, 0, nullptr, nullptr));
      },
      sync);
  const int zero = 0;
  figure(
      "memset_4B_enqueue", n,
      [&] {
        for (int i = 0; i < n; ++i) CHECK(clEnqueueFillBuffer(s, d, &zero, 4, 0, 4, 0, nullptr, nullptr));
      },
      sync);
  const auto host_function = [&] {
    CHECK(clEnqueueNativeKernel(s, nop_host, nullptr, 0, 0, nullptr, nullptr, 0, nullptr, nullptr));
  };
  figure(
      "host_func_throughput", 100,
      [&] {
        for (int i = 0; i < 100; ++i) host_function();
        CHECK(clFinish(s));
      },
      sync);
  figure(
      "host_func_roundtrip", 50,
      [&] {
        for (int i = 0; i < 50; ++i) {
          host_function();
          CHECK(clFinish(s));
        }
      },
      sync);
  std::vector<cl_command_queue> queues(100);
  figure(
      "stream_create_destroy_pair", 100,
      [&] {
        for (auto& q : queues) q = queue();
        for (auto& q : queues) CHECK(clReleaseCommandQueue(q));
      },
      sync);
  figure(
      "event_create_destroy_pair", 100,
      [&] {
        for (int i = 0; i < 100; ++i) {
          events[static_cast<std::size_t>(i)] = clCreateUserEvent(context, &error);
          check(error, "clCreateUserEvent");
        }
        for (int i = 0; i < 100; ++i) {
          clReleaseEvent(events[static_cast<std::size_t>(i)]);
          events[static_cast<std::size_t>(i)] = nullptr;
        }
      },
      sync);
}
