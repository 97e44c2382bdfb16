// Device variables that begin as zeros take no room in the program's file, and no memory until they are touched; a
// reset makes them zeros again. Static initialisers of device variables: addresses of variables and functions.
#include <sys/stat.h>

#include <cstdio>

constexpr size_t count = size_t{1} << 28;
__device__ int large[count];  // 1 GiB
__device__ int begun[3] = {1, 2, 3};
__device__ int* middle = &begun[1];
__device__ int* far_end = large + count - 1;
__device__ int twice(int x) { return 2 * x; }
__device__ int thrice(int x) { return 3 * x; }
typedef int (*function)(int);
__device__ function table[] = {twice, thrice};
__managed__ int shared_zero, shared_value = 7;
__device__ int* to_managed;

__global__ void touch() {
  large[0] += 1;
  *far_end += *middle;
  *middle = table[1](*middle);
  to_managed = &shared_value;
  *to_managed += 1;
  shared_zero += 2;
}

static int check(int first, int last, int mid) {
  int values[2] = {-1, -1}, begun_values[3];
  cudaMemcpyFromSymbol(&values[0], large, 4);
  cudaMemcpyFromSymbol(&values[1], large, 4, (count - 1) * 4);
  cudaMemcpyFromSymbol(begun_values, begun, 12);
  if (values[0] == first && values[1] == last && begun_values[1] == mid && begun_values[2] == 3) return 0;
  std::printf("got %d %d %d, not %d %d %d\n", values[0], values[1], begun_values[1], first, last, mid);
  return 1;
}

int main() {
  struct stat status;
  int wrong = 0;
  if (stat("/proc/self/exe", &status) != 0 || status.st_size > (64 << 20)) {
    std::printf("the program's file has %lld bytes\n", static_cast<long long>(status.st_size));
    ++wrong;
  }
  wrong += check(0, 0, 2);
  touch<<<1, 1>>>();
  cudaDeviceSynchronize();
  wrong += check(1, 2, 6);
  wrong += shared_zero != 2 || shared_value != 8;
  cudaDeviceReset();
  wrong += check(0, 0, 2);
  wrong += shared_zero != 2 || shared_value != 8;  // on a GPU managed variables keep their values
  touch<<<1, 1>>>();
  cudaDeviceSynchronize();
  wrong += check(1, 2, 6);
  wrong += shared_zero != 4 || shared_value != 9;
  cudaPointerAttributes attributes;
  void* address = nullptr;
  wrong += cudaGetSymbolAddress(&address, large) != cudaSuccess;
  wrong += cudaPointerGetAttributes(&attributes, static_cast<char*>(address) + (count - 1) * 4) != cudaSuccess;
  wrong += attributes.type != cudaMemoryTypeDevice;
  std::printf("%d wrong, %s\n", wrong, cudaGetErrorName(cudaGetLastError()));
  return wrong != 0;
}
