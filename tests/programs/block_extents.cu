// Kernels have versions for the block extents that a unit's launches are seen to use: whichever runs, the block is what
// the launch brought. Loops that all threads go around together change places with the loop over threads: sums keep
// their order.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#include "check.h"

constexpr int most = 256;

template <int> __global__ void rows(int* out) {
  __shared__ int s[most];
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  s[t] = 3 * t + 1000 * blockDim.x;
  if (threadIdx.x == 0) s[t] += 7;
  if (threadIdx.x == blockDim.x - 1) s[t] += 11;
  __syncthreads();
  out[blockIdx.x * threads + t] = s[threads - 1 - t] + 100000 * blockDim.y + 10000000 * blockDim.z;
}

static int* out;
static void expect(const char* how, dim3 block) {
  OK(cudaDeviceSynchronize());
  const int x = block.x, y = block.y, z = block.z, threads = x * y * z;
  int bad = 0;
  for (int i = 0; i < 2 * threads; ++i) {
    const int t = threads - 1 - i % threads, s = 3 * t + 1000 * x + (t % x == 0) * 7 + (t % x == x - 1) * 11;
    bad += out[i] != s + 100000 * y + 10000000 * z;
  }
  if (bad) std::printf("%s: %d of %d threads\n", how, bad, 2 * threads);
  CHECK(bad == 0);
}

// Every thread adds up the same elements, and neighbouring ones, as often as the kernel's argument says.
__global__ void sums(float* result, const float* in, int times, int stop) {
  __shared__ float tile[most];
  const int threads = blockDim.x * blockDim.y, t = threadIdx.x + blockDim.x * threadIdx.y;
  float same = 0, near = 1;
  for (int base = 0; base < times; ++base) {
    tile[t] = in[base * threads + t];
    __syncthreads();
    for (int k = 0; k < stop; ++k) {
      same += tile[k] * (t - k);
      near += in[k + t];
    }
    __syncthreads();
  }
  result[t] = same * 4096 + near;
}
__global__ void counts(int* bins, const int* in, int each) {
  __shared__ int mine[16];
  const int t = threadIdx.x;
  if (t < 16) mine[t] = 0;
  __syncthreads();
  for (int k = 0; k < each; ++k) atomicAdd(&mine[in[k * blockDim.x + t] & 15], k + 1);
  __syncthreads();
  if (t < 16) bins[t] = mine[t];
}

// What a shuffle gave is used after some of those who brought it have left.
__global__ void leavers(long long* result) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  const long long given = __shfl_down_sync(~0u, 7ll * t + 1, 5);
  s[t] = t;
  __syncthreads();
  if (s[63 - t] % 32 < 4) return;
  __syncthreads();
  const long long sum = given + s[t ^ 1];
  __syncthreads();
  s[t] = 0;
  result[t] = sum;
}

int main() {
  OK(cudaMallocManaged(&out, 2 * most * sizeof(int)));
  rows<0><<<2, 64>>>(out);
  expect("a number", 64);
  rows<0><<<2, dim3(16, 8)>>>(out);
  expect("dim3", dim3(16, 8));
  const dim3 fixed(16, 8);
  rows<0><<<2, fixed>>>(out);
  expect("const dim3", fixed);
  dim3 changed(16, 8);
  changed.y = 3;
  changed.z = 2;
  rows<0><<<2, changed>>>(out);
  expect("changed", changed);
  volatile unsigned width = 33;
  rows<0><<<2, dim3(width, 2)>>>(out);
  expect("unknown", dim3(33, 2));
  void* arguments[] = {&out};
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(rows<0>), dim3(2), dim3(16, 8), arguments, 0, nullptr));
  expect("cudaLaunchKernel", dim3(16, 8));

  // Nothing in this file launches it with other extents; a graph does.
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  rows<1><<<2, dim3(16, 8), 0, stream>>>(out);
  OK(cudaStreamEndCapture(stream, &graph));
  std::size_t one = 1;
  OK(cudaGraphGetNodes(graph, &node, &one));
  for (const dim3 block : {dim3(16, 8), dim3(33, 2), dim3(5, 2, 3), dim3(1)}) {
    cudaKernelNodeParams launch;
    OK(cudaGraphKernelNodeGetParams(node, &launch));
    launch.blockDim = block;
    OK(cudaGraphKernelNodeSetParams(node, &launch));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    expect("a graph", block);
    OK(cudaGraphExecDestroy(exec));
  }

  float *in, *result;
  OK(cudaMallocManaged(&in, 4 * most * sizeof(float)));
  OK(cudaMallocManaged(&result, most * sizeof(float)));
  for (int i = 0; i < 4 * most; ++i) in[i] = static_cast<float>(i * 5 % 7 - 3);
  for (const int stop : {0, 1, 64}) {
    for (const bool known : {true, false}) {
      if (known)
        sums<<<1, dim3(16, 4)>>>(result, in, 3, stop);
      else
        sums<<<1, dim3(width - 2, 3)>>>(result, in, 3, stop);
      OK(cudaDeviceSynchronize());
      const int threads = known ? 64 : 93;
      int bad = 0;
      for (int t = 0; t < threads; ++t) {
        int same = 0, near = 1;
        for (int base = 0; base < 3; ++base)
          for (int k = 0; k < stop; ++k) {
            same += static_cast<int>(in[base * threads + k]) * (t - k);
            near += static_cast<int>(in[k + t]);
          }
        bad += result[t] != static_cast<float>(same * 4096 + near);
      }
      if (bad)
        std::printf("sums to %d, %s extents: %d of %d threads\n", stop, known ? "known" : "unknown", bad, threads);
      CHECK(bad == 0);
    }
  }

  long long* after;
  OK(cudaMallocManaged(&after, 64 * sizeof(long long)));
  for (int t = 0; t < 64; ++t) after[t] = -1;
  leavers<<<1, 64>>>(after);
  OK(cudaDeviceSynchronize());
  for (int t = 0; t < 64; ++t) {
    const int given = 7 * (t % 32 + 5 < 32 ? t + 5 : t) + 1;
    CHECK(after[t] == (t % 32 > 27 ? -1 : given + (t ^ 1)));
  }

  int *numbers, *bins;
  OK(cudaMallocManaged(&numbers, 1280 * sizeof(int)));
  OK(cudaMallocManaged(&bins, 16 * sizeof(int)));
  for (int i = 0; i < 1280; ++i) numbers[i] = i * i;
  counts<<<1, 128>>>(bins, numbers, 10);
  OK(cudaDeviceSynchronize());
  std::vector<int> wanted(16);
  for (int i = 0; i < 1280; ++i) wanted[numbers[i] & 15] += i / 128 + 1;
  for (int i = 0; i < 16; ++i) CHECK(bins[i] == wanted[i]);
  return report();
}
