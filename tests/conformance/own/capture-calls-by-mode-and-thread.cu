// Rule: what every kind of call does to a capture, by mode and by thread: recorded, tolerated, refused with or without
// spoiling it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <thread>
#include <vector>
using std::string;
#define E(x) cudaGetErrorName(x)
__global__ void k(int tag, int* p) {
  if (p) *p += tag;
}
__global__ void hold(volatile int* f) {
  long long t = clock64();
  while (!*f && clock64() - t < 4000000000LL) {}
}
__device__ int sym[8];
const char* st(cudaStream_t s) {
  cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
  cudaError_t e = cudaStreamIsCapturing(s, &c);
  if (e) {
    cudaGetLastError();
    return E(e);
  }
  return c == 0 ? "none" : c == 1 ? "active" : c == 2 ? "inval" : "?";
}
int nodes(cudaGraph_t g) {
  size_t n = 0;
  if (!g) return -1;
  cudaGraphGetNodes(g, 0, &n);
  return n;
}
cudaStream_t mk(unsigned f = cudaStreamNonBlocking) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, f);
  return s;
}
void fin(const char* l, cudaStream_t s) {
  cudaGraph_t g = (cudaGraph_t)16;
  cudaError_t e = cudaStreamEndCapture(s, &g);
  printf("   %s end=%s graph=%s nodes=%d\n", l, E(e),
         g == 0                 ? "null"
         : g == (cudaGraph_t)16 ? "untouched"
                                : "made",
         (g && g != (cudaGraph_t)16) ? nodes(g) : -1);
  if (g && g != (cudaGraph_t)16) cudaGraphDestroy(g);
  cudaGetLastError();
}
cudaStreamCaptureMode M[3] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                              cudaStreamCaptureModeRelaxed};
const char* MN[3] = {"global", "tl", "relaxed"};
void tryc(const char* n, std::function<cudaError_t(cudaStream_t)> f, int modes = 7, unsigned fl = cudaStreamNonBlocking,
          bool other = false) {
  for (int m = 0; m < 3; m++)
    if (modes >> m & 1) {
      cudaStream_t s = mk(fl);
      cudaStreamBeginCapture(s, M[m]);
      k<<<1, 1, 0, s>>>(1, 0);
      cudaError_t r;
      auto b = [&] {
        r = f(s);
        cudaGetLastError();
      };
      if (other)
        std::thread(b).join();
      else
        b();
      printf("%s.%s%s = %s st=%s", n, MN[m], other ? ".other" : "", E(r), st(s));
      cudaGraph_t g = 0;
      cudaError_t e = cudaStreamEndCapture(s, &g);
      printf(" end=%s nodes=%d\n", E(e), nodes(g));
      if (g) cudaGraphDestroy(g);
      cudaGetLastError();
      cudaStreamDestroy(s);
      cudaGetLastError();
    }
  fflush(stdout);
}
void CUDART_CB hf(void*) {}
void CUDART_CB cb(cudaStream_t, cudaError_t, void*) {}
int main() {
  int *d, *h;
  cudaMalloc(&d, 4096);
  cudaMallocHost(&h, 4096);
  static int page[1024];
  cudaStream_t t = mk(), u = mk();
  cudaEvent_t ev, ev2, evt;
  cudaEventCreate(&ev);
  cudaEventCreateWithFlags(&ev2, cudaEventDisableTiming);
  cudaEventCreate(&evt);
  k<<<1, 1>>>(0, 0);
  cudaDeviceSynchronize();
  // wrong thread
  for (int m = 0; m < 3; m++) {
    cudaStream_t s = mk();
    cudaStreamBeginCapture(s, M[m]);
    k<<<1, 1, 0, s>>>(1, 0);
    cudaGraph_t g = (cudaGraph_t)16;
    cudaError_t r;
    std::thread([&] {
      r = cudaStreamEndCapture(s, &g);
      cudaGetLastError();
    }).join();
    printf("wrongthread.%s=%s graph=%d st=%s\n", MN[m], E(r), g == 0 ? 0 : g == (cudaGraph_t)16 ? 16 : 1, st(s));
    k<<<1, 1, 0, s>>>(1, 0);
    printf("  launch=%s\n", E(cudaGetLastError()));
    fin("then", s);
  }
  tryc("devsync", [&](cudaStream_t) { return cudaDeviceSynchronize(); });
  tryc("devsync", [&](cudaStream_t) { return cudaDeviceSynchronize(); }, 7, cudaStreamDefault);
  tryc("devsync", [&](cudaStream_t) { return cudaDeviceSynchronize(); }, 7, cudaStreamNonBlocking, true);
  tryc("mallocasync_other", [&](cudaStream_t) {
    void* p;
    return cudaMallocAsync(&p, 64, t);
  });
  tryc(
      "mallocasync_other",
      [&](cudaStream_t) {
        void* p;
        return cudaMallocAsync(&p, 64, t);
      },
      7, cudaStreamNonBlocking, true);
  {
    void* p;
    cudaMallocAsync(&p, 64, t);
    cudaStreamSynchronize(t);
    tryc("freeasync_other", [&](cudaStream_t) { return cudaFreeAsync(p, t); });
    cudaGetLastError();
  }
  {
    void* p;
    cudaMallocAsync(&p, 64, t);
    cudaStreamSynchronize(t);
    tryc("freeasync_outside_ptr", [&](cudaStream_t s) { return cudaFreeAsync(p, s); });
    cudaGetLastError();
  }
  {
    void* p;
    cudaMalloc(&p, 64);
    tryc("freeasync_malloc_ptr", [&](cudaStream_t s) { return cudaFreeAsync(p, s); }, 1);
    cudaGetLastError();
  }
  tryc("freeasync_null", [&](cudaStream_t s) { return cudaFreeAsync(0, s); }, 1);
  tryc("freeasync_bogus", [&](cudaStream_t s) { return cudaFreeAsync((void*)0x1234, s); }, 1);
  tryc(
      "mallocasync_0",
      [&](cudaStream_t s) {
        void* p = (void*)1;
        auto e = cudaMallocAsync(&p, 0, s);
        printf("[p=%p]", p);
        return e;
      },
      1);
  tryc(
      "mallocasync_huge",
      [&](cudaStream_t s) {
        void* p;
        return cudaMallocAsync(&p, 1ull << 60, s);
      },
      1);
  tryc("addcallback", [&](cudaStream_t s) { return cudaStreamAddCallback(s, cb, 0, 0); });
  tryc("addcallback_null", [&](cudaStream_t s) { return cudaStreamAddCallback(s, 0, 0, 0); }, 1);
  tryc("getid", [&](cudaStream_t s) {
    unsigned long long x;
    return cudaStreamGetId(s, &x);
  });
  tryc(
      "getprio",
      [&](cudaStream_t s) {
        int x;
        return cudaStreamGetPriority(s, &x);
      },
      4);
  tryc(
      "getflags",
      [&](cudaStream_t s) {
        unsigned x;
        return cudaStreamGetFlags(s, &x);
      },
      4);
  tryc("getflags_other", [&](cudaStream_t s) {
    unsigned x;
    return cudaStreamGetFlags(t, &x);
  });
  tryc("getdevice", [&](cudaStream_t s) {
    int x;
    return cudaStreamGetDevice(s, &x);
  });
  tryc("getattr", [&](cudaStream_t s) {
    cudaStreamAttrValue v;
    return cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v);
  });
  tryc("setattr", [&](cudaStream_t s) {
    cudaStreamAttrValue v = {};
    v.syncPolicy = cudaSyncPolicyAuto;
    return cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v);
  });
  tryc("copyattr", [&](cudaStream_t s) { return cudaStreamCopyAttributes(s, t); });
  tryc("copyattr2", [&](cudaStream_t s) { return cudaStreamCopyAttributes(t, s); });
  tryc("streamdestroy_self", [&](cudaStream_t s) { return cudaGetLastError(); }, 1);
  tryc("attach", [&](cudaStream_t s) { return cudaStreamAttachMemAsync(s, d, 0, cudaMemAttachSingle); }, 5);
  {
    int* mg;
    cudaMallocManaged(&mg, 4096);
    tryc("attach_managed", [&](cudaStream_t s) { return cudaStreamAttachMemAsync(s, mg, 0, cudaMemAttachGlobal); }, 5);
    tryc(
        "prefetch",
        [&](cudaStream_t s) {
          cudaMemLocation l = {cudaMemLocationTypeDevice, 0};
          return cudaMemPrefetchAsync(mg, 4096, l, 0, s);
        },
        5);
    tryc(
        "advise",
        [&](cudaStream_t s) {
          cudaMemLocation l = {cudaMemLocationTypeDevice, 0};
          return cudaMemAdvise(mg, 4096, cudaMemAdviseSetReadMostly, l);
        },
        5);
    tryc("mallocmanaged", [&](cudaStream_t s) {
      int* x;
      return cudaMallocManaged(&x, 4096);
    });
  }
  tryc("mallochost", [&](cudaStream_t s) {
    int* x;
    return cudaMallocHost(&x, 4096);
  });
  tryc("hostalloc", [&](cudaStream_t s) {
    int* x;
    return cudaHostAlloc(&x, 4096, 0);
  });
  tryc("freehost", [&](cudaStream_t s) { return cudaFreeHost(0); });
  tryc("hostregister", [&](cudaStream_t s) {
    auto e = cudaHostRegister(page, 4096, 0);
    return e;
  });
  cudaHostUnregister(page);
  cudaGetLastError();
  tryc(
      "hostgetdp",
      [&](cudaStream_t s) {
        void* x;
        return cudaHostGetDevicePointer(&x, h, 0);
      },
      1);
  tryc(
      "mallocpitch",
      [&](cudaStream_t s) {
        void* x;
        size_t p;
        return cudaMallocPitch(&x, &p, 64, 64);
      },
      3);
  tryc(
      "malloc3d",
      [&](cudaStream_t s) {
        cudaPitchedPtr x;
        return cudaMalloc3D(&x, make_cudaExtent(64, 2, 2));
      },
      1);
  tryc(
      "mallocarray",
      [&](cudaStream_t s) {
        cudaArray_t a;
        cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
        return cudaMallocArray(&a, &c, 16);
      },
      3);
  tryc(
      "poolcreate",
      [&](cudaStream_t s) {
        cudaMemPool_t p;
        cudaMemPoolProps pr = {};
        pr.allocType = cudaMemAllocationTypePinned;
        pr.location.type = cudaMemLocationTypeDevice;
        return cudaMemPoolCreate(&p, &pr);
      },
      1);
  tryc(
      "pooltrim",
      [&](cudaStream_t s) {
        cudaMemPool_t p;
        cudaDeviceGetDefaultMemPool(&p, 0);
        return cudaMemPoolTrimTo(p, 0);
      },
      1);
  tryc(
      "poolgetattr",
      [&](cudaStream_t s) {
        cudaMemPool_t p;
        cudaDeviceGetDefaultMemPool(&p, 0);
        unsigned long long v;
        return cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &v);
      },
      1);
  tryc(
      "setlimit",
      [&](cudaStream_t s) {
        size_t x;
        cudaDeviceGetLimit(&x, cudaLimitStackSize);
        return cudaDeviceSetLimit(cudaLimitStackSize, x);
      },
      1);
  tryc(
      "getlimit",
      [&](cudaStream_t s) {
        size_t x;
        return cudaDeviceGetLimit(&x, cudaLimitStackSize);
      },
      1);
  tryc(
      "funcsetattr",
      [&](cudaStream_t s) { return cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000); }, 1);
  tryc(
      "symsize",
      [&](cudaStream_t s) {
        size_t x;
        return cudaGetSymbolSize(&x, sym);
      },
      1);
  tryc(
      "memcpytosym_sync",
      [&](cudaStream_t s) {
        int x = 1;
        return cudaMemcpyToSymbol(sym, &x, 4);
      },
      1);
  tryc(
      "memcpytosym_sync_blk",
      [&](cudaStream_t s) {
        int x = 1;
        return cudaMemcpyToSymbol(sym, &x, 4);
      },
      4, cudaStreamDefault);
  tryc("memcpy2d_sync", [&](cudaStream_t s) { return cudaMemcpy2D(d, 8, h, 8, 4, 2, cudaMemcpyDefault); }, 1);
  tryc("setdevice", [&](cudaStream_t s) { return cudaSetDevice(0); }, 1);
  tryc(
      "ipcevent",
      [&](cudaStream_t s) {
        cudaIpcEventHandle_t hd;
        return cudaIpcGetEventHandle(&hd, ev2);
      },
      1);
  tryc("graphinst", [&](cudaStream_t s) {
    cudaGraph_t g;
    cudaGraphCreate(&g, 0);
    cudaGraphExec_t x;
    return cudaGraphInstantiate(&x, g, 0);
  });
  tryc(
      "graphinst",
      [&](cudaStream_t s) {
        cudaGraph_t g;
        cudaGraphCreate(&g, 0);
        cudaGraphExec_t x;
        return cudaGraphInstantiate(&x, g, 0);
      },
      7, cudaStreamNonBlocking, true);
  {
    cudaGraph_t g;
    cudaGraphCreate(&g, 0);
    cudaGraphNode_t n;
    cudaGraphAddEmptyNode(&n, g, 0, 0);
    cudaGraphExec_t x;
    cudaGraphInstantiate(&x, g, 0);
    tryc("upload_other", [&](cudaStream_t s) { return cudaGraphUpload(x, t); }, 1);
    tryc("upload_self", [&](cudaStream_t s) { return cudaGraphUpload(x, s); }, 5);
    tryc(
        "execupdate",
        [&](cudaStream_t s) {
          cudaGraphExecUpdateResultInfo i;
          return cudaGraphExecUpdate(x, g, &i);
        },
        1);
    tryc(
        "clone",
        [&](cudaStream_t s) {
          cudaGraph_t c;
          return cudaGraphClone(&c, g);
        },
        1);
    tryc("execdestroy", [&](cudaStream_t s) { return cudaGraphExecDestroy(x); }, 1);
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = 64;
    tryc("addmemalloc", [&](cudaStream_t s) { return cudaGraphAddMemAllocNode(&n, g, 0, 0, &p); }, 1);
    tryc("graphtrim", [&](cudaStream_t s) { return cudaDeviceGraphMemTrim(0); }, 1);
    tryc(
        "getgraphmem",
        [&](cudaStream_t s) {
          unsigned long long v;
          return cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &v);
        },
        1);
  }
  // streams/events
  {
    auto s2 = mk();
    tryc("destroy_busy?", [&](cudaStream_t s) { return cudaStreamDestroy(s2); }, 1);
  }
  tryc(
      "streamcreate_blocking",
      [&](cudaStream_t s) {
        cudaStream_t x;
        return cudaStreamCreate(&x);
      },
      1);
  tryc("rec_external", [&](cudaStream_t s) { return cudaEventRecordWithFlags(ev, s, cudaEventRecordExternal); }, 1);
  printf("evq after external rec %s\n", E(cudaEventQuery(ev)));
  cudaGetLastError();
  tryc("wait_external", [&](cudaStream_t s) { return cudaStreamWaitEvent(s, ev, cudaEventWaitExternal); }, 1);
  tryc("rec_flag2", [&](cudaStream_t s) { return cudaEventRecordWithFlags(ev, s, 2); }, 1);
  printf("outside rec_external %s ", E(cudaEventRecordWithFlags(ev, t, cudaEventRecordExternal)));
  cudaGetLastError();
  printf("wait_external %s\n", E(cudaStreamWaitEvent(t, ev, cudaEventWaitExternal)));
  cudaGetLastError();
  tryc(
      "rec_ext_then_wait",
      [&](cudaStream_t s) {
        cudaEventRecordWithFlags(ev, s, cudaEventRecordExternal);
        return cudaStreamWaitEvent(s, ev, 0);
      },
      1);
  tryc("copy0", [&](cudaStream_t s) { return cudaMemcpyAsync(d, h, 0, cudaMemcpyHostToDevice, s); }, 1);
  tryc("set0", [&](cudaStream_t s) { return cudaMemsetAsync(d, 0, 0, s); }, 1);
  tryc("copy2d0", [&](cudaStream_t s) { return cudaMemcpy2DAsync(d, 8, h, 8, 0, 2, cudaMemcpyHostToDevice, s); }, 1);
  tryc("set2d", [&](cudaStream_t s) { return cudaMemset2DAsync(d, 64, 1, 8, 4, s); }, 1);
  tryc("copypageable", [&](cudaStream_t s) { return cudaMemcpyAsync(d, page, 64, cudaMemcpyHostToDevice, s); }, 1);
  tryc("copyh2h", [&](cudaStream_t s) { return cudaMemcpyAsync(h, page, 64, cudaMemcpyHostToHost, s); }, 1);
  tryc(
      "coop_too_large",
      [&](cudaStream_t s) {
        int a = 1;
        int* b = 0;
        void* ar[] = {&a, &b};
        return cudaLaunchCooperativeKernel((void*)k, dim3(1 << 20), dim3(32), ar, 0, s);
      },
      1);
  tryc("badfunc", [&](cudaStream_t s) { return cudaLaunchKernel((void*)page, dim3(1), dim3(1), 0, 0, s); }, 1);
  // event query of event of an invalidated not ended capture
  {
    auto s = mk();
    cudaStreamBeginCapture(s, M[2]);
    cudaEventRecord(ev2, s);
    cudaStreamQuery(s);
    cudaGetLastError();
    printf("evquery_of_invalidated=%s ", E(cudaEventQuery(ev2)));
    cudaGetLastError();
    float ms;
    cudaEventRecord(evt, t);
    printf("elapsed=%s\n", E(cudaEventElapsedTime(&ms, evt, ev2)));
    cudaGetLastError();
    fin("inv", s);
  }
  // unsafe while invalidated-not-ended
  for (int m = 0; m < 2; m++) {
    auto s = mk();
    cudaStreamBeginCapture(s, M[m]);
    cudaStreamQuery(s);
    void* p;
    cudaGetLastError();
    printf("malloc_while_invalid.%s=%s\n", MN[m], E(cudaMalloc(&p, 64)));
    cudaGetLastError();
    fin("", s);
  }
  // legacy while blocking invalidated
  {
    auto s = mk(0);
    cudaStreamBeginCapture(s, M[2]);
    cudaStreamQuery(s);
    cudaGetLastError();
    k<<<1, 1>>>(1, 0);
    printf("legacy_launch_while_blocking_invalid=%s ", E(cudaGetLastError()));
    fin("", s);
  }
  // blocking fork of a nonblocking origin
  {
    auto s = mk(), b = mk(0);
    cudaStreamBeginCapture(s, M[2]);
    cudaEventRecord(ev2, s);
    cudaStreamWaitEvent(b, ev2, 0);
    k<<<1, 1>>>(1, 0);
    printf("legacy_launch_with_blocking_fork=%s st=%s ", E(cudaGetLastError()), st(s));
    fin("", s);
  }
  // legacy: two captures blocking and nonblocking
  {
    auto s = mk(0), b = mk(), c = mk(0);
    cudaStreamBeginCapture(s, M[2]);
    cudaStreamBeginCapture(b, M[2]);
    cudaStreamBeginCapture(c, M[2]);
    k<<<1, 1>>>(1, 0);
    printf("legacy2=%s %s %s %s\n", E(cudaGetLastError()), st(s), st(b), st(c));
    fin("", s);
    fin("", b);
    fin("", c);
  }
  {
    auto s = mk(), b = mk(), c = mk();
    cudaStreamBeginCapture(s, M[0]);
    cudaStreamBeginCapture(b, M[1]);
    cudaStreamBeginCapture(c, M[2]);
    void* p;
    printf("unsafe3=%s ", E(cudaMalloc(&p, 64)));
    cudaGetLastError();
    printf("%s %s %s\n", st(s), st(b), st(c));
    fin("", s);
    fin("", b);
    fin("", c);
  }
  // thread modes
  for (int tm = 0; tm < 3; tm++)
    for (int m = 0; m < 3; m++) {
      cudaStreamCaptureMode mm = M[tm];
      cudaThreadExchangeStreamCaptureMode(&mm);
      string n = string("threadmode_") + MN[tm];
      tryc(
          n.c_str(),
          [&](cudaStream_t s) {
            void* p;
            return cudaMalloc(&p, 64);
          },
          1 << m);
      mm = M[0];
      cudaThreadExchangeStreamCaptureMode(&mm);
      auto s = mk();
      cudaStreamBeginCapture(s, M[m]);
      cudaError_t r;
      std::thread([&] {
        cudaStreamCaptureMode q = M[tm];
        cudaThreadExchangeStreamCaptureMode(&q);
        void* p;
        r = cudaMalloc(&p, 64);
      }).join();
      printf("otherthread_mode_%s capture %s: %s %s\n", MN[tm], MN[m], E(r), st(s));
      fin("", s);
    }
  // info legacy
  // destroy origin
  {
    auto s = mk();
    cudaStreamBeginCapture(s, M[0]);
    k<<<1, 1, 0, s>>>(1, 0);
    auto r = mk();
    cudaEventRecord(ev2, s);
    cudaStreamWaitEvent(r, ev2, 0);
    printf("destroy_origin=%s ", E(cudaStreamDestroy(s)));
    printf("fork st=%s ", st(r));
    k<<<1, 1, 0, r>>>(1, 0);
    printf("launch fork=%s ", E(cudaGetLastError()));
    void* p;
    printf("malloc=%s\n", E(cudaMalloc(&p, 64)));
    cudaGetLastError();
    fin("fork", r);
    printf("fork st after=%s\n", st(r));
    printf("evq %s\n", E(cudaEventQuery(ev2)));
    cudaGetLastError();
  }
  return 0;
}
