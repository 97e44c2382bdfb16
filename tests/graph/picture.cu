// Writes the graph that tests/graph/run draws: names too long for a picture, an array's copy, a body without nodes.
#include <cstdio>
#include <cuda_runtime.h>

template <int... numbers> struct List {};
template <class T> __global__ void with_long_name(T, int* out) { *out = 1; }
#if __cplusplus >= 202002L  // a name that the C++ library can't demangle
namespace shapes {
template <class T>
concept Small = sizeof(T) < 16;
template <class T>
  requires Small<T>
__global__ void constrained(T* data) {
  *data = T(1);
}
}  // namespace shapes
#endif
template <class T> __global__ void scale(T* data, T by) { data[threadIdx.x] *= by; }

int main(int, char** argument) {
  float* data;
  int* out;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  static float host[16 * 16];
  if (cudaMalloc(&data, sizeof host) || cudaMalloc(&out, 4) || cudaMallocArray(&array, &format, 16, 16)) return 1;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  scale<float><<<2, 64, 256, stream>>>(data, 2.0f);
#if __cplusplus >= 202002L
  shapes::constrained<<<1, 1, 0, stream>>>(out);
#endif
  with_long_name<<<1, 1, 0, stream>>>(List<100000001, 100000002, 100000003, 100000004, 100000005, 100000006, 100000007,
                                           100000008, 100000009, 100000010, 100000011, 100000012, 100000013, 100000014,
                                           100000015, 100000016, 100000017, 100000018, 100000019, 100000020>{},
                                      out);
  cudaMemcpy2DToArrayAsync(array, 0, 0, host, 64, 64, 16, cudaMemcpyHostToDevice, stream);
  if (cudaStreamEndCapture(stream, &graph)) return 1;
  return cudaGraphDebugDotPrint(graph, argument[1], 0) != cudaSuccess;
}
