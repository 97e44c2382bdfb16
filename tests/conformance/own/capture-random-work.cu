// Rule: captures of launches with attributes, batches, memory, nested graphs, and dependencies with edge data: states,
// nodes, edges, shown attributes.
#include "random_graphs.h"
static cudaStream_t st[3];
static cudaEvent_t te;
static cudaGraphExec_t gx;
static std::vector<void*> ps;
static int* man;
static std::string info(cudaStream_t q, cudaGraph_t* out = nullptr) {
  cudaStreamCaptureStatus cs;
  unsigned long long id;
  cudaGraph_t g = nullptr;
  const cudaGraphNode_t* dep = nullptr;
  const cudaGraphEdgeData* ed = nullptr;
  size_t n = 0;
  char b[64];
  std::string o;
  cudaError_t e = cudaStreamGetCaptureInfo(q, &cs, &id, &g, &dep, &ed, &n);
  cudaGetLastError();
  if (out) *out = nullptr;
  if (e) return N(e);
  o = std::to_string(cs);
  if (cs == 1) {
    if (out) *out = g;
    for (size_t i = 0; i < n; i++) {
      snprintf(b, 64, " %d", nodeAt(g, dep[i]));
      o += b;
      if (ed && (ed[i].type || ed[i].from_port)) {
        snprintf(b, 64, "(%d%d)", ed[i].from_port, ed[i].type);
        o += b;
      }
    }
  }
  return o;
}
static void attrs(cudaGraph_t g) {
  cudaGraphNode_t n[128];
  size_t c = 128;
  if (cudaGraphGetNodes(g, n, &c)) {
    cudaGetLastError();
    return;
  }
  for (size_t i = 0; i < c; i++) {
    cudaGraphNodeType ty;
    M(cudaGraphNodeGetType(n[i], &ty));
    cudaLaunchAttributeValue v;
    if (ty == 0) {
      say(" k%zu:", i);
      for (int id : {1, 2, 4, 5, 8, 9, 10, 14}) {
        memset(&v, 0, sizeof v);
        cudaError_t e = cudaGraphKernelNodeGetAttribute(n[i], (cudaLaunchAttributeID)id, &v);
        cudaGetLastError();
        if (e)
          say(" %s", N(e));
        else if (id == 1)
          say(" %zu", v.accessPolicyWindow.num_bytes);
        else if (id == 4)
          say(" %u", v.clusterDim.x);
        else if (id == 9)
          say(" %d/%d", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote);
        else if (id == 8)
          say(" %d", v.priority);
        else
          say(" %d", *(int*)&v);
      }
    }
    if (ty == 1) {
      cudaMemcpy3DParms p;
      memset(&p, 0x11, sizeof p);
      cudaError_t e = cudaGraphMemcpyNodeGetParams(n[i], &p);
      cudaGetLastError();
      say(" c%zu: %s %zu,%zu,%zu kind %d pitch %zu %zu", i, N(e), p.extent.width, p.extent.height, p.extent.depth,
          e ? -1 : (int)p.kind, p.srcPtr.pitch, p.dstPtr.pitch);
    }
    if (ty == 2) {
      cudaMemsetParams p;
      M(cudaGraphMemsetNodeGetParams(n[i], &p));
      say(" m%zu: %zu %u %u %zu %zu", i, p.pitch, p.value, p.elementSize, p.width, p.height);
    }
    if (ty == 10) {
      cudaMemAllocNodeParams p;
      M(cudaGraphMemAllocNodeGetParams(n[i], &p));
      say(" a%zu: %zu", i, p.bytesize);
    }
  }
}
static cudaError_t launch(cudaStream_t q) {
  cudaLaunchConfig_t cf = {};
  cf.gridDim = cf.blockDim = dim3(1);
  cf.stream = q;
  cudaLaunchAttribute a[3];
  memset(a, 0, sizeof a);
  cf.attrs = a;
  cf.numAttrs = R(3);
  int c = R(30);
  for (unsigned i = 0; i < cf.numAttrs; i++) {
    auto& v = a[i].val;
    switch (R(8)) {
    case 0:
    case 1:
      a[i].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      v.programmaticStreamSerializationAllowed = R(3) != 0;
      say(" pss %d", v.programmaticStreamSerializationAllowed);
      break;
    case 2:
    case 3:
      a[i].id = cudaLaunchAttributeProgrammaticEvent;
      {
        int e = R(4);
        v.programmaticEvent.event = e == 3 ? te : ev[e];
        v.programmaticEvent.triggerAtBlockStart = R(2);
        v.programmaticEvent.flags = chance(10) ? 1 : 0;
        say(" pe %d %d %d", e, v.programmaticEvent.triggerAtBlockStart, v.programmaticEvent.flags);
      }
      break;
    case 4:
      a[i].id = cudaLaunchAttributeLaunchCompletionEvent;
      {
        int e = R(3);
        v.launchCompletionEvent.event = ev[e];
        say(" lce %d", e);
      }
      break;
    case 5:
      a[i].id = cudaLaunchAttributePriority;
      v.priority = -R(6);
      say(" prio %d", v.priority);
      break;
    case 6:
      a[i].id = cudaLaunchAttributeMemSyncDomain;
      v.memSyncDomain = (cudaLaunchMemSyncDomain)R(2);
      say(" domain %d", v.memSyncDomain);
      break;
    case 7:
      a[i].id = cudaLaunchAttributeClusterDimension;
      v.clusterDim.x = 1 + R(2);
      v.clusterDim.y = v.clusterDim.z = 1;
      say(" cluster %u", v.clusterDim.x);
      break;
    }
  }
  int* p = d + c;
  int one = 1;
  void* args[] = {&p, &one};
  return cudaLaunchKernelExC(&cf, (void*)k, args);
}
static cudaError_t act() {
  int i = R(3);
  cudaStream_t q = st[i];
  cudaError_t r = cudaSuccess;
  int c = R(30);
  switch (R(40)) {
  default: say("launch s%d", i); return launch(q);
  case 10:
  case 11:
  case 12: {
    int e = R(3);
    unsigned f = pick({0, 0, 0, 1, 2});
    say("record e%d s%d flags %u", e, i, f);
    return cudaEventRecordWithFlags(ev[e], q, f);
  }
  case 13:
  case 14:
  case 15:
  case 16: {
    int e = R(3);
    unsigned f = pick({0, 0, 0, 0, 1, 2});
    say("wait s%d e%d flags %u", i, e, f);
    return cudaStreamWaitEvent(q, ev[e], f);
  }
  case 17:
  case 18:
  case 19: {
    cudaGraph_t g;
    info(q, &g);
    say("update s%d", i);
    cudaGraphNode_t n[128], w[4];
    cudaGraphEdgeData ed[4];
    memset(ed, 0, sizeof ed);
    size_t m = 128;
    if (!g || cudaGraphGetNodes(g, n, &m) || !m) m = 0;
    cudaGetLastError();
    int z = m ? R(4) : R(2);
    for (int j = 0; j < z; j++) {
      int x = m ? R(m) : -1;
      w[j] = x < 0 ? nullptr : n[x];
      say(" %d", x);
      if (chance(30)) {
        ed[j].from_port = R(3);
        ed[j].type = R(2);
        say("(%d%d)", ed[j].from_port, ed[j].type);
      }
    }
    unsigned f = pick({0, 0, 1, 1, 2});
    bool use = chance(60);
    say(" flags %u%s", f, use ? " data" : "");
    return cudaStreamUpdateCaptureDependencies(q, w, use ? ed : nullptr, z, f);
  }
  case 20:
    say("copy s%d", i);
    {
      int w = R(6);
      say(" w%d", w);
      return w == 0   ? cudaMemcpyAsync(d2 + c, pin, 4, cudaMemcpyHostToDevice, q)
             : w == 1 ? cudaMemcpyAsync(page, d2, 4, cudaMemcpyDefault, q)
             : w == 2 ? cudaMemcpy2DAsync(d2, 64, pin, 64, 8, 1 + R(3), cudaMemcpyHostToDevice, q)
             : w == 3 ? cudaMemcpyToSymbolAsync(sym, pin, 4, 0, cudaMemcpyHostToDevice, q)
             : w == 4 ? cudaMemcpyAsync(d2, page, 4, cudaMemcpyHostToDevice, q)
                      : cudaMemcpyAsync(d2, d, 0, cudaMemcpyDefault, q);
    }
  case 21: {
    int w = R(3);
    say("set s%d w%d", i, w);
    return w == 0   ? cudaMemsetAsync(d2, 7, 16, q)
           : w == 1 ? cudaMemset2DAsync(d2, 64, 7, 4, 1 + R(2), q)
                    : cudaMemset3DAsync(make_cudaPitchedPtr(d2, 64, 64, 2), 7, make_cudaExtent(4, 2, 1 + R(2)), q);
  }
  case 22: say("host s%d", i); return cudaLaunchHostFunc(q, h1, hosts + c);
  case 23: {
    say("alloc s%d", i);
    void* p = nullptr;
    r = cudaMallocAsync(&p, pick({64, 4096, 0}), q);
    if (!r && p) {
      say(" p%d", (int)ps.size());
      ps.push_back(p);
    }
    return r;
  }
  case 24: {
    say("free s%d", i);
    if (ps.empty()) {
      say(" none");
      return r;
    }
    int p = R(ps.size());
    say(" p%d", p);
    return cudaFreeAsync(ps[p], q);
  }
  case 25: {
    void* dst[2] = {d2, d2 + 8};
    void* src[2] = {pin, pin + 8};
    const void* srcs[2] = {pin, pin + 8};
    (void)src;
    size_t z[2] = {16, 16};
    cudaMemcpyAttributes at = {};
    at.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t idx = 0;
    say("batch s%d", i);
    return cudaMemcpyBatchAsync(dst, srcs, z, 2, &at, &idx, 1, q);
  }
  case 26: {
    say("nested s%d", i);
    return cudaGraphLaunch(gx, q);
  }
  case 27: {
    say("upload s%d", i);
    return cudaGraphUpload(gx, q);
  }
  case 28: {
    int e = R(3);
    say("query e%d", e);
    return chance(50) ? cudaEventQuery(ev[e]) : cudaEventSynchronize(ev[e]);
  }
  case 29: {
    say("attach s%d", i);
    return cudaStreamAttachMemAsync(q, man, 0, cudaMemAttachSingle);
  }
  case 30: {
    say("prefetch s%d", i);
    cudaMemLocation l = {cudaMemLocationTypeDevice, 0};
    return cudaMemPrefetchAsync(man, 4096, l, 0, q);
  }
  case 31: {
    cudaLaunchAttributeValue v;
    memset(&v, 0, sizeof v);
    int w = R(4);
    say("attr s%d w%d", i, w);
    if (w == 0) {
      v.accessPolicyWindow = {d, 4096, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
      return cudaStreamSetAttribute(q, cudaLaunchAttributeAccessPolicyWindow, &v);
    }
    if (w == 1) {
      v.priority = -2;
      return cudaStreamSetAttribute(q, cudaLaunchAttributePriority, &v);
    }
    if (w == 2) {
      v.memSyncDomain = cudaLaunchMemSyncDomainRemote;
      return cudaStreamSetAttribute(q, cudaLaunchAttributeMemSyncDomain, &v);
    }
    return cudaStreamCopyAttributes(q, st[R(3)]);
  }
  case 32: {
    say("callback s%d", i);
    return cudaStreamAddCallback(q, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
  }
  case 33: {
    say("query s%d", i);
    return chance(50) ? cudaStreamQuery(q) : cudaStreamSynchronize(q);
  }
  case 34: {
    cudaGraph_t g = nullptr;
    say("end s%d", i);
    r = cudaStreamEndCapture(q, &g);
    cudaGetLastError();
    say(" %s", N(r));
    if (g) {
      say(" %s", shape(g).c_str());
      M(cudaGraphDestroy(g));
    }
    return cudaSuccess;
  }
  case 35: {
    int m = R(3);
    say("begin s%d mode %d", i, m);
    return cudaStreamBeginCapture(q, (cudaStreamCaptureMode)m);
  }
  case 36: {
    int w = R(4);
    say("thread");
    std::thread t([&] {
      int m = R(3);
      cudaStreamCaptureMode mm = (cudaStreamCaptureMode)m;
      cudaThreadExchangeStreamCaptureMode(&mm);
      say(" mode %d", m);
      if (w == 0) {
        say(" malloc");
        void* p;
        r = cudaMalloc(&p, 64);
        if (!r) cudaFree(p);
      }
      if (w == 1) {
        say(" launch s%d", i);
        r = launch(q);
      }
      if (w == 2) {
        say(" sync");
        r = cudaDeviceSynchronize();
      }
      if (w == 3) {
        say(" record");
        r = cudaEventRecord(ev[0], q);
      }
      say(" last %s", N(cudaGetLastError()));
    });
    t.join();
    return r;
  }
  case 37: {
    int w = R(6);
    say("unsafe w%d", w);
    void* p = nullptr;
    switch (w) {
    case 0:
      r = cudaMalloc(&p, 64);
      if (!r) cudaFree(p);
      return r;
    case 1:
      r = cudaMallocHost(&p, 64);
      if (!r) cudaFreeHost(p);
      return r;
    case 2: return cudaDeviceSynchronize();
    case 3: return cudaMemcpy(d, page, 4, cudaMemcpyHostToDevice);
    case 4: return cudaMemcpy(page, page + 64, 4, cudaMemcpyHostToHost);
    default: return cudaStreamQuery(0);
    }
  }
  }
}
int main(int c, char** v) {
  ginit();
  guard();
  M(cudaEventCreate(&te));
  M(cudaMallocManaged(&man, 65536));
  {
    cudaGraph_t g;
    M(cudaGraphCreate(&g, 0));
    kern(g, 0, 0, (void*)k, 1, 1);
    M(cudaGraphInstantiate(&gx, g, 0));
    M(cudaGraphDestroy(g));
  }
  Seeds seeds(c, v, 300, 820,
              {308, 313, 319, 322, 327, 329, 331, 332, 335, 338, 339, 342, 345, 346, 351, 352, 355, 368, 375, 376,
               378, 379, 380, 382, 385, 387, 391, 395, 402, 405, 406, 417, 418, 423, 424, 425, 426, 427, 428, 429,
               430, 431, 432, 433, 434, 435, 436, 437, 438, 439, 440, 441, 442, 443, 444, 445, 446, 447, 448, 449,
               451, 453, 454, 455, 456, 457, 458, 459, 460, 461, 462, 463, 464, 465, 466, 467, 468, 469, 470, 471,
               472, 473, 474, 475, 476, 477, 478, 479, 480, 481, 482, 483, 484, 485, 486, 487, 488, 489, 490, 491,
               492, 493, 494, 495, 496, 497, 498, 499, 509, 513, 515, 517, 522, 523, 524, 526, 531, 532, 536, 545,
               549, 563, 565, 575, 578, 579, 581, 582, 585, 593, 594, 596, 599, 600, 601, 603, 607, 612, 615, 622,
               624, 627, 632, 633, 634, 635, 636, 637, 638, 639, 640, 641, 642, 643, 644, 645, 646, 647, 648, 649,
               650, 651, 653, 655, 658, 663, 669, 672, 683, 685, 687, 690, 691, 693, 696, 697, 698, 699, 701, 710,
               719, 724, 725, 729, 732, 735, 739, 741, 742, 745, 747, 748, 750, 753, 758, 765, 769, 772, 774, 776,
               779, 780, 781, 783, 784, 785, 787, 790, 791, 794, 795, 796, 801, 804, 807, 809, 812, 813, 815, 817});
  for (unsigned seed : seeds.all()) {
    reseed(seed + 800000);
    seeds.begin(seed);
    ps.clear();
    for (auto& q : st) M(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
    for (auto& e : ev) {
      M(cudaEventDestroy(e));
      M(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    }
    M(cudaDeviceSynchronize());
    cudaGraph_t tg = nullptr;
    cudaError_t r;
    if (chance(40)) {
      M(cudaGraphCreate(&tg, 0));
      cudaGraphNode_t n[3];
      for (int i = 0; i < 3; i++) {
        n[i] = nullptr;
        if (i < 2)
          n[i] = kern(tg, n, i ? 1 : 0, (void*)k, i, 1);
        else
          M(cudaGraphAddEmptyNode(&n[i], tg, 0, 0));
      }
      cudaGraphNode_t w[3];
      cudaGraphEdgeData ed[3];
      memset(ed, 0, sizeof ed);
      int z = R(4);
      say("to graph");
      for (int j = 0; j < z; j++) {
        int x = R(3);
        w[j] = n[x];
        say(" %d", x);
        if (chance(30)) {
          ed[j].from_port = R(3);
          ed[j].type = R(2);
          say("(%d%d)", ed[j].from_port, ed[j].type);
        }
      }
      int m = R(3);
      bool use = chance(60);
      say(" mode %d%s", m, use ? " data" : "");
      r = cudaStreamBeginCaptureToGraph(st[0], tg, z ? w : nullptr, use ? ed : nullptr, z, (cudaStreamCaptureMode)m);
    } else {
      int m = R(3);
      say("mode %d", m);
      r = cudaStreamBeginCapture(st[0], (cudaStreamCaptureMode)m);
    }
    cudaGetLastError();
    say(" = %s [%s]\n", N(r), info(st[0]).c_str());
    bool bad = false;
    for (int i = 0, n = 6 + R(16); i < n && !bad; i++) {
      if (sigsetjmp(on_fault, 1)) {
        bad = true;
        say(" crashes\n");
        break;
      }
      cudaError_t r = act(), l = cudaGetLastError();
      if (r == cudaErrorNotReady) r = l;
      say(" = %s", N(r));
      if (l != r) say(" last %s", N(l));
      for (auto q : st) say(" [%s]", info(q).c_str());
      NL();
    }
    if (bad) {
      return 0;
    }
    for (int i = 0; i < 3; i++) {
      cudaGraph_t g = nullptr;
      r = cudaStreamEndCapture(st[i], &g);
      cudaGetLastError();
      say("end s%d %s", i, N(r));
      if (g) {
        say(" %s%s", shape(g).c_str(), g == tg ? " same" : "");
        attrs(g);
        cudaGraphExec_t x;
        cudaError_t e = cudaGraphInstantiate(&x, g, 0);
        cudaGetLastError();
        say(" inst %s", N(e));
        if (!e) {
          e = cudaGraphLaunch(x, s);
          cudaGetLastError();
          say(" %s", N(e));
          e = cudaStreamSynchronize(s);
          say(" %s", N(e));
          M(cudaGraphExecDestroy(x));
        }
        if (g != tg) M(cudaGraphDestroy(g));
      }
      NL();
    }
    if (tg) {
      r = cudaGraphDestroy(tg);
      cudaGetLastError();
      say("destroy %s\n", N(r));
    }
    for (auto q : st) {
      r = cudaStreamDestroy(q);
      cudaGetLastError();
      if (r) say("stream %s\n", N(r));
    }
    r = cudaDeviceSynchronize();
    if (r) {
      say("left %s\n", N(r));
      cudaGetLastError();
    }
    cells(30);
    NL();
    memset(hosts, 0, sizeof hosts);
  }
}
