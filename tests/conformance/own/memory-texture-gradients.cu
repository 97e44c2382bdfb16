// Rule: which level of a mipmapped texture one step of a gradient chooses, in 256ths: an octagonal length of ten bits,
// and a logarithm of eight.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) {                                                                                           \
      std::printf("unexpected at line %d: %s\n", __LINE__, cudaGetErrorName(r_));                                      \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

struct Steps {
  float2 dx, dy;
};
__global__ void levels(cudaTextureObject_t texture, const Steps* steps, float* level, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) level[i] = tex2DGrad<float>(texture, 0.5f, 0.5f, steps[i].dx, steps[i].dy);
}

static unsigned long long state = 17;
static float draw() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<float>(state >> 40) / 16777216.0f;
}

static cudaTextureObject_t texture;
static std::vector<Steps> chosen;
static void add(float ax, float ay, float bx, float by) {
  chosen.push_back({{ax / 256, ay / 256}, {bx / 256, by / 256}});
}
static void show(const char* what) {
  Steps* steps;
  float* level;
  const int n = static_cast<int>(chosen.size());
  MUST(cudaMallocManaged(&steps, n * sizeof(Steps)));
  MUST(cudaMallocManaged(&level, n * sizeof(float)));
  for (int i = 0; i < n; ++i) steps[i] = chosen[i];
  levels<<<(n + 127) / 128, 128>>>(texture, steps, level, n);
  MUST(cudaDeviceSynchronize());
  std::printf("%s\n", what);
  for (int i = 0; i < n; ++i)
    std::printf("%d%c", static_cast<int>(level[i] * 256), i % 32 == 31 || i + 1 == n ? '\n' : ' ');
  MUST(cudaFree(steps));
  MUST(cudaFree(level));
  chosen.clear();
}

int main() {
  // Every element of a level is the level's number.
  cudaMipmappedArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  MUST(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(256, 256, 0), 9, 0));
  for (unsigned l = 0; l < 9; ++l) {
    cudaArray_t level;
    MUST(cudaGetMipmappedArrayLevel(&level, array, l));
    const size_t size = 256 >> l;
    const std::vector<float> values(size * size, static_cast<float>(l));
    MUST(cudaMemcpy2DToArray(level, 0, 0, values.data(), size * 4, size * 4, size, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  cudaTextureDesc description = {};
  description.normalizedCoords = 1;
  description.mipmapFilterMode = cudaFilterModeLinear;
  description.maxMipmapLevelClamp = 8;
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  MUST(cudaCreateTextureObject(&texture, &resource, &description, nullptr));

  for (int i = 0; i < 1024; ++i) add(4 * (1 + static_cast<float>(i) / 1024), 0, 0, 0);
  show("along x");
  for (int i = 0; i < 256; ++i) add(0, 0, 0, 2 * (1 + static_cast<float>(i) / 256));
  show("along y");
  for (int m = 4; m < 8; ++m)
    for (int i = 0; i <= 128; ++i) {
      const float angle = static_cast<float>(i) * 1.57079632679f / 128;
      add(static_cast<float>(m) * cosf(angle), static_cast<float>(m) * sinf(angle), 0, 0);
    }
  show("round about");
  for (int i = 0; i < 2048; ++i) {
    const float x = 16 * draw() - 8, y = 16 * draw() - 8;
    add(x, y, 0, 0);
  }
  show("anywhere");
  for (int i = 0; i < 256; ++i) {
    const float x = 200 * draw(), y = 2 * draw();
    add(0, 0, x, y);
  }
  show("long ones");
  for (int i = 0; i < 256; ++i) add(4, 0, 0, static_cast<float>(i) / 32);
  show("two, at a right angle");
  for (int i = 0; i < 64; ++i) add(static_cast<float>(i) / 32, static_cast<float>(i) / 64, 0, 0);
  show("short ones");
  return 0;
}
