// DEFECT: two boxes of pitched memory share one row of each slice.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  cudaPitchedPtr box;
  cudaExtent extent = make_cudaExtent(64, 8, 4);
  CHECK(cudaMalloc3D(&box, extent));
  CHECK(cudaMemset3D(box, 1, extent));
  CHECK(cudaDeviceSynchronize());
  auto s = nonblocking(), t = nonblocking();
  cudaPitchedPtr lower = make_cudaPitchedPtr((char*)box.ptr, box.pitch, 64, 8);
#ifdef FIXED
  cudaPitchedPtr upper = make_cudaPitchedPtr((char*)box.ptr + box.pitch * 4, box.pitch, 64, 8);
#else
  cudaPitchedPtr upper = make_cudaPitchedPtr((char*)box.ptr + box.pitch * 3, box.pitch, 64, 8);
#endif
  CHECK(cudaMemset3DAsync(lower, 2, make_cudaExtent(64, 4, 4), s));  // RACE-A
  CHECK(cudaMemset3DAsync(upper, 3, make_cudaExtent(64, 4, 4), t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  char out[64];
  CHECK(cudaMemcpy(out, (char*)box.ptr + box.pitch * 3, 64, cudaMemcpyDeviceToHost));
  return finish(out[0] ==
#ifdef FIXED
                2
#else
                3
#endif
  );
}
