// Rule: pools in host memory are for the host alone until a device is given access; those of a NUMA node can be
// exported.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#define R(label, call)                                                                                                 \
  do {                                                                                                                 \
    cudaError_t r_ = (call);                                                                                           \
    cudaGetLastError();                                                                                                \
    std::printf("%s = %s\n", label, cudaGetErrorName(r_));                                                             \
  } while (0)
static void attrs(const char* w, void* p) {
  cudaPointerAttributes a;
  std::memset(&a, 0, sizeof a);
  cudaError_t e = cudaPointerGetAttributes(&a, p);
  cudaGetLastError();
  std::printf("%s: %s type %d device %d dev %s host %s\n", w, cudaGetErrorName(e), a.type, a.device,
              !a.devicePointer       ? "null"
              : a.devicePointer == p ? "same"
                                     : "other",
              !a.hostPointer       ? "null"
              : a.hostPointer == p ? "same"
                                   : "other");
}
int main() {
  cudaFree(0);
  cudaStream_t s;
  cudaStreamCreate(&s);
  struct {
    const char* n;
    cudaMemLocationType t;
    int id;
  } l[] = {{"host", cudaMemLocationTypeHost, 0},        {"host1", cudaMemLocationTypeHost, 1},
           {"numa0", cudaMemLocationTypeHostNuma, 0},   {"numa1", cudaMemLocationTypeHostNuma, 1},
           {"numa99", cudaMemLocationTypeHostNuma, 99}, {"current", cudaMemLocationTypeHostNumaCurrent, 0},
           {"device", cudaMemLocationTypeDevice, 0},    {"managedish", cudaMemLocationTypeInvalid, 0}};
  for (auto& x : l)
    for (int h = 0; h < 2; ++h) {
      cudaMemPoolProps p = {};
      p.allocType = cudaMemAllocationTypePinned;
      p.location.type = x.t;
      p.location.id = x.id;
      p.handleTypes = h ? cudaMemHandleTypePosixFileDescriptor : cudaMemHandleTypeNone;
      cudaMemPool_t pool = nullptr;
      cudaError_t e = cudaMemPoolCreate(&pool, &p);
      cudaGetLastError();
      std::printf("%s handles %d create %s\n", x.n, h, cudaGetErrorName(e));
      if (e) continue;
      int fd = -1;
      R(" export", cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
      std::printf(" fd %d\n", fd >= 0);
      void* q = nullptr;
      R(" alloc", cudaMallocFromPoolAsync(&q, 4096, pool, s));
      cudaStreamSynchronize(s);
      if (q) {
        attrs(" attrs", q);
        attrs(" inner", (char*)q + 100);
        cudaMemPoolPtrExportData d;
        R(" export pointer", cudaMemPoolExportPointer(&d, q));
        if (x.t != cudaMemLocationTypeDevice) {
          ((int*)q)[3] = 5;
          std::printf(" host write ok\n");
        }
        cudaMemAccessFlags f;
        cudaMemLocation dl = {cudaMemLocationTypeDevice, 0}, hl = {cudaMemLocationTypeHost, 0};
        R(" access device", cudaMemPoolGetAccess(&f, pool, &dl));
        std::printf(" %d\n", f);
        R(" access host", cudaMemPoolGetAccess(&f, pool, &hl));
        std::printf(" %d\n", f);
        R(" memset", cudaMemsetAsync(q, 1, 64, s));
        R(" sync", cudaStreamSynchronize(s));
        cudaMemAccessDesc ad;
        ad.location = dl;
        ad.flags = cudaMemAccessFlagsProtReadWrite;
        R(" set access", cudaMemPoolSetAccess(pool, &ad, 1));
        attrs(" attrs then", q);
        R(" memset", cudaMemsetAsync(q, 1, 64, s));
        R(" sync", cudaStreamSynchronize(s));
        R(" free", cudaFreeAsync(q, s));
        attrs(" freed", q);
        cudaStreamSynchronize(s);
        attrs(" freed and synced", q);
      }
      R(" destroy", cudaMemPoolDestroy(pool));
    }
}
