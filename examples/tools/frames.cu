// Frames go up on one stream and are blurred on another, in two buffers that take turns. Each blur waits for its
// frame's upload. What nobody thought of: the upload of frame 2 goes where frame 0 lies, and doesn't wait for the blur
// of it. On a GPU this comes out right until a blur takes longer than an upload - on a busy day, in production.
//
// examples/tools/run looks at it with `millrace check` (which two operations, and what would order them),
// `millrace explore` (a schedule that gives a wrong picture) and `millrace timeline` (what ran when). -DREPAIRED is
// right.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr int frames = 6, pixels = 4096;

__global__ void blur(const unsigned char* frame, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int left = i > 0 ? i - 1 : i, right = i < pixels - 1 ? i + 1 : i;
  out[i] = static_cast<unsigned char>((frame[left] + 2 * frame[i] + frame[right]) / 4);
}

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "frames: %s\n", cudaGetErrorString(error));
  std::exit(2);
}

int main() {
  unsigned char *camera, *buffer[2], *blurred, *result;
  must(cudaMallocHost(&camera, frames * pixels));
  must(cudaMallocHost(&result, frames * pixels));
  must(cudaMalloc(&buffer[0], pixels));
  must(cudaMalloc(&buffer[1], pixels));
  must(cudaMalloc(&blurred, frames * pixels));
  for (int f = 0; f < frames; ++f)
    for (int i = 0; i < pixels; ++i) camera[f * pixels + i] = static_cast<unsigned char>(40 * f);

  cudaStream_t upload, work;
  cudaEvent_t uploaded[2], used[2];
  must(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
  for (int b = 0; b < 2; ++b) {
    must(cudaEventCreateWithFlags(&uploaded[b], cudaEventDisableTiming));
    must(cudaEventCreateWithFlags(&used[b], cudaEventDisableTiming));
  }

  for (int f = 0; f < frames; ++f) {
    const int b = f % 2;
#ifdef REPAIRED
    must(cudaStreamWaitEvent(upload, used[b], 0));  // the blur of frame f - 2; nothing for the first two
#endif
    must(cudaMemcpyAsync(buffer[b], camera + f * pixels, pixels, cudaMemcpyHostToDevice, upload));
    must(cudaEventRecord(uploaded[b], upload));
    must(cudaStreamWaitEvent(work, uploaded[b], 0));
    blur<<<pixels / 256, 256, 0, work>>>(buffer[b], blurred + f * pixels);
    must(cudaGetLastError());
    must(cudaEventRecord(used[b], work));
  }
  must(cudaMemcpyAsync(result, blurred, frames * pixels, cudaMemcpyDeviceToHost, work));
  must(cudaStreamSynchronize(work));

  int wrong = 0;
  for (int f = 0; f < frames; ++f)
    if (result[f * pixels + pixels / 2] != 40 * f) ++wrong;
  std::printf("%d of %d frames are wrong\n", wrong, frames);
  return wrong ? 1 : 0;
}
