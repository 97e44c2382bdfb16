// Rule: a block that was given back by one function is nobody's for the other; inner addresses, other kinds of memory.
#include <cuda_runtime.h>

#include <cstdio>
#define R(label, call)                                                                                                 \
  do {                                                                                                                 \
    cudaError_t r_ = (call), p_ = cudaPeekAtLastError();                                                               \
    cudaGetLastError();                                                                                                \
    std::printf("%s = %s | last %s | sync %s\n", label, cudaGetErrorName(r_), cudaGetErrorName(p_),                    \
                cudaGetErrorName(cudaDeviceSynchronize()));                                                            \
    cudaGetLastError();                                                                                                \
  } while (0)
int main() {
  void *p, *q;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaMalloc(&p, 4096);
  R("malloc free", cudaFree(p));
  R("then freeAsync", cudaFreeAsync(p, s));
  R("then free", cudaFree(p));
  cudaMalloc(&p, 4096);
  R("malloc freeAsync", cudaFreeAsync(p, s));
  R("then free", cudaFree(p));
  R("then freeAsync", cudaFreeAsync(p, s));
  cudaMallocAsync(&p, 4096, s);
  R("async free", cudaFree(p));
  R("then freeAsync", cudaFreeAsync(p, s));
  R("then free", cudaFree(p));
  cudaMallocAsync(&p, 4096, s);
  R("async freeAsync", cudaFreeAsync(p, s));
  R("then free", cudaFree(p));
  R("then freeAsync", cudaFreeAsync(p, s));
  R("other stream", cudaFreeAsync(p, t));
  cudaMallocAsync(&p, 4096, s);
  cudaStreamSynchronize(s);
  R("synced freeAsync", cudaFreeAsync(p, t));
  R("then free", cudaFree(p));
  cudaMallocAsync(&p, 4096, s);
  R("inner freeAsync", cudaFreeAsync((char*)p + 16, s));
  R("inner free", cudaFree((char*)p + 16));
  R("whole", cudaFreeAsync(p, s));
  cudaMalloc(&p, 4096);
  R("malloc inner freeAsync", cudaFreeAsync((char*)p + 16, s));
  R("malloc inner free", cudaFree((char*)p + 16));
  R("whole", cudaFree(p));
  cudaMallocHost(&p, 4096);
  R("host freeAsync", cudaFreeAsync(p, s));
  R("host free", cudaFree(p));
  R("host freeHost", cudaFreeHost(p));
  R("host twice", cudaFreeHost(p));
  cudaMallocManaged(&p, 4096);
  R("managed freeAsync", cudaFreeAsync(p, s));
  R("managed free", cudaFree(p));
  cudaMallocAsync(&p, 4096, s);
  R("async freeHost", cudaFreeHost(p));
  R("whole", cudaFreeAsync(p, s));
  cudaStreamCaptureStatus cs;
  cudaMallocAsync(&p, 4096, s);
  cudaStreamSynchronize(s);
  cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed);
  R("captured free of pool memory", cudaFreeAsync(p, t));
  R("free meanwhile", cudaFree(p));
  cudaStreamIsCapturing(t, &cs);
  std::printf("status %d\n", cs);
  cudaGraph_t g = nullptr;
  R("end", cudaStreamEndCapture(t, &g));
  std::printf("graph %d\n", g != nullptr);
  (void)q;
  return 0;
}
