// Rule: launch attributes of every kind and value: launches, captured launches, kernel nodes, streams.
#include "random_graphs.h"
__global__ void big(int* p) {
  if (p) atomicAdd(p, 1);
}
__global__ void __cluster_dims__(2, 1, 1) clu(int* p) {
  if (p) atomicAdd(p, 1);
}
__global__ void __launch_bounds__(128) lb(int* p) {
  if (p) atomicAdd(p, 1);
}
static void* fns[] = {(void*)big, (void*)big, (void*)big, (void*)clu, (void*)lb};
static cudaEvent_t te;
static void rv(cudaLaunchAttributeID id, cudaLaunchAttributeValue& v) {
  memset(&v, 0, sizeof v);
  switch (id) {
  case 1:
    v.accessPolicyWindow.base_ptr = pick({(void*)d, (void*)nullptr, (void*)d});
    v.accessPolicyWindow.num_bytes = pick({0, 4096, 1 << 30});
    v.accessPolicyWindow.hitRatio = pick({0.f, 0.5f, 1.f, 1.5f, -1.f});
    v.accessPolicyWindow.hitProp = (cudaAccessProperty)R(4);
    v.accessPolicyWindow.missProp = (cudaAccessProperty)R(4);
    say(" window %d %zu %.1f %d %d", v.accessPolicyWindow.base_ptr != 0, v.accessPolicyWindow.num_bytes,
        v.accessPolicyWindow.hitRatio, v.accessPolicyWindow.hitProp, v.accessPolicyWindow.missProp);
    break;
  case 2:
    v.cooperative = R(3);
    say(" cooperative %d", v.cooperative);
    break;
  case 3:
    v.syncPolicy = (cudaSynchronizationPolicy)R(6);
    say(" policy %d", v.syncPolicy);
    break;
  case 4:
    v.clusterDim.x = pick({1, 2, 4, 8, 0, 16, 3});
    v.clusterDim.y = pick({1, 1, 1, 2, 0});
    v.clusterDim.z = pick({1, 1, 1, 2});
    say(" cluster %u %u %u", v.clusterDim.x, v.clusterDim.y, v.clusterDim.z);
    break;
  case 5:
    v.clusterSchedulingPolicyPreference = (cudaClusterSchedulingPolicy)R(4);
    say(" sched %d", v.clusterSchedulingPolicyPreference);
    break;
  case 6:
    v.programmaticStreamSerializationAllowed = R(3);
    say(" pss %d", v.programmaticStreamSerializationAllowed);
    break;
  case 7:
    v.programmaticEvent.event = pick({ev[0], te, (cudaEvent_t) nullptr, ev[1]});
    v.programmaticEvent.flags = pick({0, 0, 0, 1, 2});
    v.programmaticEvent.triggerAtBlockStart = R(2);
    say(" pe %d %d %d", v.programmaticEvent.event == te ? 2 : v.programmaticEvent.event != 0, v.programmaticEvent.flags,
        v.programmaticEvent.triggerAtBlockStart);
    break;
  case 8:
    v.priority = pick({0, -1, -5, -6, 1, 5, -100});
    say(" priority %d", v.priority);
    break;
  case 9:
    v.memSyncDomainMap.default_ = R(5);
    v.memSyncDomainMap.remote = R(5);
    say(" map %d %d", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote);
    break;
  case 10:
    v.memSyncDomain = (cudaLaunchMemSyncDomain)R(3);
    say(" domain %d", v.memSyncDomain);
    break;
  case 11:
    v.preferredClusterDim.x = pick({1, 2, 4, 0});
    v.preferredClusterDim.y = 1;
    v.preferredClusterDim.z = 1;
    say(" pcluster %u", v.preferredClusterDim.x);
    break;
  case 12:
    v.launchCompletionEvent.event = pick({ev[0], te, (cudaEvent_t) nullptr});
    v.launchCompletionEvent.flags = pick({0, 0, 1, 2});
    say(" lce %d %d", v.launchCompletionEvent.event == te ? 2 : v.launchCompletionEvent.event != 0,
        v.launchCompletionEvent.flags);
    break;
  case 13:
    v.deviceUpdatableKernelNode.deviceUpdatable = R(3);
    say(" updatable %d", v.deviceUpdatableKernelNode.deviceUpdatable);
    break;
  case 14:
    v.sharedMemCarveout = pick({0, 50, 100, -1, 101, -2});
    say(" carveout %d", v.sharedMemCarveout);
    break;
  default: say(" id %d", (int)id);
  }
}
static void sv(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& v) {
  switch (id) {
  case 1:
    say(" {%d %zu %.1f %d %d}", v.accessPolicyWindow.base_ptr != 0, v.accessPolicyWindow.num_bytes,
        v.accessPolicyWindow.hitRatio, v.accessPolicyWindow.hitProp, v.accessPolicyWindow.missProp);
    break;
  case 2: say(" {%d}", v.cooperative); break;
  case 3: say(" {%d}", v.syncPolicy); break;
  case 4: say(" {%u %u %u}", v.clusterDim.x, v.clusterDim.y, v.clusterDim.z); break;
  case 5: say(" {%d}", v.clusterSchedulingPolicyPreference); break;
  case 8: say(" {%d}", v.priority); break;
  case 9: say(" {%d %d}", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote); break;
  case 10: say(" {%d}", v.memSyncDomain); break;
  case 11: say(" {%u %u %u}", v.preferredClusterDim.x, v.preferredClusterDim.y, v.preferredClusterDim.z); break;
  case 13: say(" {%d}", v.deviceUpdatableKernelNode.deviceUpdatable); break;
  case 14: say(" {%d}", v.sharedMemCarveout); break;
  }
}
static void shownode(cudaGraphNode_t n) {
  for (int id = 0; id < 17; id++) {
    cudaLaunchAttributeValue v;
    memset(&v, 0, sizeof v);
    cudaError_t e = cudaGraphKernelNodeGetAttribute(n, (cudaLaunchAttributeID)id, &v);
    cudaGetLastError();
    say(" %d:%s", id, e ? N(e) : "");
    if (!e) sv((cudaLaunchAttributeID)id, v);
  }
  NL();
}
int main(int c, char** v) {
  ginit();
  M(cudaEventCreate(&te));
  cudaStream_t t;
  M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  Seeds seeds(c, v, 0, 250);
  for (unsigned seed : seeds.all()) {
    reseed(seed + 500000);
    seeds.begin(seed);
    cudaLaunchConfig_t cf = {};
    cf.gridDim = dim3{(unsigned)pick({1, 2, 4, 16, 3, 0}), (unsigned)pick({1, 1, 1, 2}), 1u};
    cf.blockDim = dim3(pick({1, 32, 128, 256, 1024, 1025, 0}), 1, 1);
    cf.dynamicSmemBytes = pick({0, 0, 0, 1024, 49152, 49153, 300000});
    cf.stream = s;
    int fi = R(5);
    void* f = fns[fi];
    say("fn %d grid %u,%u block %u smem %zu:", fi, cf.gridDim.x, cf.gridDim.y, cf.blockDim.x, cf.dynamicSmemBytes);
    cudaLaunchAttribute a[4];
    cf.numAttrs = R(4);
    cf.attrs = a;
    for (unsigned i = 0; i < cf.numAttrs; i++) {
      a[i].id = (cudaLaunchAttributeID)(chance(4) ? pick({0, 15, 16, 99}) : 1 + R(14));
      rv(a[i].id, a[i].val);
    }
    chance(2);
    NL();
    void* args[] = {&d};
    cudaError_t e = cudaLaunchKernelExC(&cf, f, args), l = cudaPeekAtLastError();
    say("launch %s %s", N(e), N(l));
    cudaGetLastError();
    e = cudaStreamSynchronize(s);
    say(" sync %s\n", N(e));
    if (e) cudaGetLastError();
    {
      int nb = -1;
      e = cudaOccupancyMaxActiveClusters(&nb, f, &cf);
      cudaGetLastError();
      say("clusters %s %d\n", N(e), e ? -1 : nb > 0);
    }
    M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    e = cudaLaunchKernelExC(&cf, f, args);
    l = cudaGetLastError();
    cudaStreamCaptureStatus cs;
    M(cudaStreamIsCapturing(s, &cs));
    say("captured %s %s st %d", N(e), N(l), cs);
    cudaGraph_t g = nullptr;
    e = cudaStreamEndCapture(s, &g);
    cudaGetLastError();
    say(" end %s", N(e));
    cudaGraphNode_t n[4];
    size_t cnt = 4;
    if (g) {
      M(cudaGraphGetNodes(g, n, &cnt));
      say(" nodes %zu\n", cnt);
      if (cnt) shownode(n[0]);
      cudaGraphExec_t x;
      cudaGraphInstantiateParams ip = {};
      e = cudaGraphInstantiateWithParams(&x, g, &ip);
      cudaGetLastError();
      say("inst %s %d", N(e), ip.result_out);
      if (!e) {
        e = cudaGraphLaunch(x, s);
        say(" launch %s", N(e));
        e = cudaStreamSynchronize(s);
        say(" %s", N(e));
        M(cudaGraphExecDestroy(x));
      }
      M(cudaGraphDestroy(g));
    }
    NL();
    M(cudaGraphCreate(&g, 0));
    cudaKernelNodeParams kp = {};
    kp.func = f;
    kp.gridDim = cf.gridDim;
    kp.blockDim = cf.blockDim;
    kp.sharedMemBytes = cf.dynamicSmemBytes;
    kp.kernelParams = args;
    cudaGraphNode_t m = nullptr;
    e = cudaGraphAddKernelNode(&m, g, 0, 0, &kp);
    l = cudaGetLastError();
    say("add %s %s\n", N(e), N(l));
    if (!m) {
      kp.gridDim = dim3(4);
      kp.blockDim = dim3(32);
      kp.sharedMemBytes = 0;
      kp.func = (void*)big;
      M(cudaGraphAddKernelNode(&m, g, 0, 0, &kp));
    }
    if (m && cf.attrs) {
      for (unsigned i = 0; i < cf.numAttrs; i++) {
        e = cudaGraphKernelNodeSetAttribute(m, a[i].id, &a[i].val);
        l = cudaGetLastError();
        say("set %d %s %s;", (int)a[i].id, N(e), N(l));
      }
      shownode(m);
      cudaGraphNode_t o;
      kp.func = (void*)big;
      kp.gridDim = dim3(4);
      kp.blockDim = dim3(32);
      kp.sharedMemBytes = 0;
      M(cudaGraphAddKernelNode(&o, g, 0, 0, &kp));
      e = cudaGraphKernelNodeCopyAttributes(o, m);
      cudaGetLastError();
      say("copy %s", N(e));
      shownode(o);
      cudaGraphExec_t x;
      cudaGraphInstantiateParams ip = {};
      ip.flags = chance(30) ? 4 : 0;
      e = cudaGraphInstantiateWithParams(&x, g, &ip);
      cudaGetLastError();
      say("inst %d %s %d %d", (int)ip.flags, N(e), ip.result_out, nodeAt(g, ip.errNode_out));
      if (!e) {
        e = cudaGraphLaunch(x, s);
        cudaGetLastError();
        say(" launch %s", N(e));
        e = cudaStreamSynchronize(s);
        say(" %s", N(e));
        cudaError_t e2 = cudaGraphExecKernelNodeSetParams(x, m, &kp);
        cudaGetLastError();
        say(" exec set %s", N(e2));
        M(cudaGraphExecDestroy(x));
      }
      NL();
    }
    M(cudaGraphDestroy(g));
    for (unsigned i = 0; i < cf.numAttrs && cf.attrs; i++) {
      e = cudaStreamSetAttribute(t, a[i].id, &a[i].val);
      l = cudaGetLastError();
      say("stream set %d %s %s", (int)a[i].id, N(e), N(l));
      cudaLaunchAttributeValue q;
      memset(&q, 0, sizeof q);
      e = cudaStreamGetAttribute(t, a[i].id, &q);
      cudaGetLastError();
      say(" get %s", N(e));
      if (!e) sv(a[i].id, q);
      NL();
    }
    if (chance(20)) {
      M(cudaStreamDestroy(t));
      M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    }
  }
}
