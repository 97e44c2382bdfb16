// Rule: which parameters copies and sets take, as nodes, as calls, in a capture, and in an executable graph; how they
// are shown.
#include "random_graphs.h"
static cudaArray_t ar[4];
static int* man;
struct Nm {
  const char* n;
  void* p;
  size_t z;
};
static std::vector<Nm> nm;
static std::string P(const void* p) {
  if (!p) return "null";
  for (auto& x : nm)
    if (p >= x.p && p < (char*)x.p + x.z) return std::string(x.n) + "+" + std::to_string((char*)p - (char*)x.p);
  return "other";
}
static const char* A(cudaArray_t a) {
  for (int i = 0; i < 4; i++)
    if (a == ar[i]) {
      static const char* n[] = {"a1", "a2", "a3", "al"};
      return n[i];
    }
  return a ? "?" : "0";
}
static void show(const cudaMemcpy3DParms& p) {
  say("src %s@%zu,%zu,%zu %s/%zu/%zu/%zu dst %s@%zu,%zu,%zu %s/%zu/%zu/%zu ext %zu,%zu,%zu kind %d", A(p.srcArray),
      p.srcPos.x, p.srcPos.y, p.srcPos.z, P(p.srcPtr.ptr).c_str(), p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize,
      A(p.dstArray), p.dstPos.x, p.dstPos.y, p.dstPos.z, P(p.dstPtr.ptr).c_str(), p.dstPtr.pitch, p.dstPtr.xsize,
      p.dstPtr.ysize, p.extent.width, p.extent.height, p.extent.depth, (int)p.kind);
}
static cudaMemcpy3DParms rp(bool arrays) {
  cudaMemcpy3DParms p = {};
  bool simple = chance(50);
  auto side = [&](cudaArray_t& a, cudaPos& pos, cudaPitchedPtr& q) {
    if (arrays && chance(40)) a = ar[R(4)];
    if (!a || chance(4)) {
      void* at = pick({(void*)d, (void*)pin, (void*)page, (void*)d2, (void*)man});
      if (chance(3)) at = nullptr;
      q = cudaPitchedPtr{at, (size_t)(simple ? 64 : pick({64, 64, 32, 16, 0, 8, 128})),
                         (size_t)(simple ? 32 : pick({32, 64, 16, 0, 200})),
                         (size_t)(simple ? 4 : pick({4, 1, 2, 0, 100}))};
    }
    if (chance(25)) pos = cudaPos{(size_t)R(6), (size_t)R(3), (size_t)R(2)};
  };
  side(p.srcArray, p.srcPos, p.srcPtr);
  side(p.dstArray, p.dstPos, p.dstPtr);
  p.extent = cudaExtent{(size_t)pick({16, 4, 8, 32, 1, 0, 12}), (size_t)pick({1, 1, 2, 3, 4, 0}),
                        (size_t)pick({1, 1, 1, 2, 3, 0})};
  p.kind = (cudaMemcpyKind)(chance(40) ? 4 : R(6));
  return p;
}
static cudaMemsetParams rm() {
  cudaMemsetParams m = {};
  m.dst = pick({(void*)d, (void*)pin, (void*)page, (void*)(d2 + 1), (void*)((char*)d + 1), (void*)man, (void*)nullptr,
                (void*)d, (void*)d2});
  m.pitch = pick({64, 0, 1, 16, 5, 65536, 100000});
  m.value = pick({0, 3, 255, 256, -1, 65536, 0x1234567});
  m.elementSize = pick({1, 2, 4, 4, 4, 3, 0, 8});
  m.width = pick({1, 2, 16, 4, 0, 20000});
  m.height = pick({1, 1, 1, 2, 3, 0, 2000});
  return m;
}
static void showset(const cudaMemsetParams& m) {
  say("dst %s pitch %zu value %u elt %u width %zu height %zu", P(m.dst).c_str(), m.pitch, m.value, m.elementSize,
      m.width, m.height);
}
int main(int c, char** v) {
  ginit();
  M(cudaMallocManaged(&man, 65536));
  cudaChannelFormatDesc cd = cudaCreateChannelDesc<int>();
  M(cudaMallocArray(&ar[0], &cd, 16));
  M(cudaMallocArray(&ar[1], &cd, 16, 8));
  M(cudaMalloc3DArray(&ar[2], &cd, make_cudaExtent(16, 8, 4)));
  M(cudaMalloc3DArray(&ar[3], &cd, make_cudaExtent(16, 8, 3), cudaArrayLayered));
  nm = {{"d", d, 65536}, {"d2", d2, 65536}, {"pin", pin, 65536}, {"page", page, 1048576}, {"man", man, 65536}};
  Seeds seeds(c, v, 0, 400);
  for (unsigned seed : seeds.all()) {
    reseed(seed + 300000);
    seeds.begin(seed);
    cudaGraph_t g;
    M(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n = nullptr;
    cudaError_t e, l;
    bool arrays = chance(50);
    if (chance(65)) {
      cudaMemcpy3DParms p = rp(arrays);
      show(p);
      NL();
      e = cudaGraphAddMemcpyNode(&n, g, 0, 0, &p);
      l = cudaGetLastError();
      say("add %s %s\n", N(e), N(l));
      if (!e) {
        cudaMemcpy3DParms q;
        memset(&q, 0x11, sizeof q);
        e = cudaGraphMemcpyNodeGetParams(n, &q);
        cudaGetLastError();
        say("get %s ", N(e));
        if (!e) show(q);
        NL();
      }
      {
        cudaGraphNode_t n2;
        cudaGraphNodeParams z = {};
        z.type = cudaGraphNodeTypeMemcpy;
        z.memcpy.copyParams = p;
        cudaError_t e2 = cudaGraphAddNode(&n2, g, 0, 0, 0, &z);
        cudaGetLastError();
        say("generic %s\n", N(e2));
      }
      e = cudaMemcpy3DAsync(&p, s);
      l = cudaGetLastError();
      say("async %s %s", N(e), N(l));
      e = cudaStreamSynchronize(s);
      say(" %s\n", N(e));
      cudaGetLastError();
      e = cudaMemcpy3D(&p);
      l = cudaGetLastError();
      say("sync %s %s\n", N(e), N(l));
      M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
      e = cudaMemcpy3DAsync(&p, s);
      l = cudaGetLastError();
      say("captured %s %s", N(e), N(l));
      cudaGraph_t h = nullptr;
      e = cudaStreamEndCapture(s, &h);
      cudaGetLastError();
      say(" end %s", N(e));
      if (h) {
        cudaGraphNode_t m;
        size_t cnt = 1;
        M(cudaGraphGetNodes(h, &m, &cnt));
        say(" nodes %zu ", cnt);
        if (cnt == 1) {
          cudaMemcpy3DParms q;
          memset(&q, 0x11, sizeof q);
          e = cudaGraphMemcpyNodeGetParams(m, &q);
          cudaGetLastError();
          say("get %s ", N(e));
          if (!e) show(q);
        }
        M(cudaGraphDestroy(h));
      }
      NL();
      if (n) {
        cudaGraphExec_t x;
        e = cudaGraphInstantiate(&x, g, 0);
        say("inst %s", N(e));
        cudaGetLastError();
        if (!e) {
          e = cudaGraphLaunch(x, s);
          say(" launch %s", N(e));
          e = cudaStreamSynchronize(s);
          say(" %s\n", N(e));
          for (int i = 0; i < 4; i++) {
            cudaMemcpy3DParms q = p;
            int w = R(9);
            if (w == 0) q = rp(arrays);
            if (w == 1) q.extent.width = pick({4, 8, 16, 1});
            if (w == 2) q.extent.height = 1 + R(3);
            if (w == 3) q.kind = (cudaMemcpyKind)R(6);
            if (w == 4 && !q.srcArray) q.srcPtr.ptr = pick({(void*)d, (void*)pin, (void*)page, (void*)man});
            if (w == 5 && !q.dstArray) q.dstPtr.ptr = pick({(void*)d, (void*)pin, (void*)page, (void*)man});
            if (w == 6) q.dstPos.x = R(3);
            if (w == 7) q.srcPtr.pitch = 128;
            if (w == 8) q.extent.depth = 1 + R(2);
            say("exec set %d ", w);
            if (w == 0 || w == 3 || w == 4 || w == 5 || w < 3) show(q);
            e = cudaGraphExecMemcpyNodeSetParams(x, n, &q);
            l = cudaGetLastError();
            say(" = %s %s", N(e), N(l));
            e = cudaGraphMemcpyNodeSetParams(n, &q);
            cudaGetLastError();
            say(" set %s", N(e));
            e = cudaGraphMemcpyNodeSetParams(n, &p);
            cudaGetLastError();
            say(" back %s\n", N(e));
          }
          {
            int w = R(5);
            void* to = pick({(void*)d, (void*)pin, (void*)page, (void*)man});
            const void* from = pick({(void*)d2, (void*)(pin + 64), (void*)(page + 64), (void*)(man + 64)});
            e = cudaGraphExecMemcpyNodeSetParams1D(x, n, to, from, 4, (cudaMemcpyKind)w);
            cudaGetLastError();
            say("exec 1d %s %s kind %d = %s\n", P(to).c_str(), P(from).c_str(), w, N(e));
          }
          M(cudaGraphExecDestroy(x));
        } else
          NL();
      }
    } else {
      cudaMemsetParams p = rm();
      showset(p);
      NL();
      e = cudaGraphAddMemsetNode(&n, g, 0, 0, &p);
      l = cudaGetLastError();
      say("add %s %s\n", N(e), N(l));
      if (!e) {
        cudaMemsetParams q;
        memset(&q, 0x11, sizeof q);
        e = cudaGraphMemsetNodeGetParams(n, &q);
        say("get %s ", N(e));
        showset(q);
        NL();
      }
      {
        cudaGraphNode_t n2;
        cudaGraphNodeParams z = {};
        z.type = cudaGraphNodeTypeMemset;
        z.memset.dst = p.dst;
        z.memset.pitch = p.pitch;
        z.memset.value = p.value;
        z.memset.elementSize = p.elementSize;
        z.memset.width = p.width;
        z.memset.height = p.height;
        cudaError_t e2 = cudaGraphAddNode(&n2, g, 0, 0, 0, &z);
        cudaGetLastError();
        say("generic %s\n", N(e2));
      }
      if (n) {
        cudaGraphExec_t x;
        e = cudaGraphInstantiate(&x, g, 0);
        say("inst %s", N(e));
        cudaGetLastError();
        if (!e) {
          e = cudaGraphLaunch(x, s);
          say(" launch %s", N(e));
          e = cudaStreamSynchronize(s);
          say(" %s\n", N(e));
          for (int i = 0; i < 4; i++) {
            cudaMemsetParams q = rm();
            if (chance(60)) {
              auto z = q;
              q = p;
              int w = R(6);
              if (w == 0) q.value = z.value;
              if (w == 1) q.width = z.width;
              if (w == 2) q.height = z.height;
              if (w == 3) q.elementSize = z.elementSize;
              if (w == 4) q.dst = z.dst;
              if (w == 5) q.pitch = z.pitch;
            }
            say("exec set ");
            showset(q);
            e = cudaGraphExecMemsetNodeSetParams(x, n, &q);
            l = cudaGetLastError();
            say(" = %s %s", N(e), N(l));
            e = cudaGraphMemsetNodeSetParams(n, &q);
            cudaGetLastError();
            say(" set %s", N(e));
            e = cudaGraphMemsetNodeSetParams(n, &p);
            cudaGetLastError();
            say(" back %s\n", N(e));
          }
          M(cudaGraphExecDestroy(x));
        } else
          NL();
      }
      void* at = p.dst;
      size_t w = p.width, h = p.height;
      int w2 = R(4);
      if (w2 == 0) {
        e = cudaMemset2DAsync(at, p.pitch, p.value, w, h, s);
        say("2d");
      } else if (w2 == 1) {
        e = cudaMemsetAsync(at, p.value, w, s);
        say("1d");
      } else {
        cudaPitchedPtr q = make_cudaPitchedPtr(at, p.pitch, 32, 4);
        e = cudaMemset3DAsync(q, p.value, make_cudaExtent(w, h, 1), s);
        say("3d");
      }
      l = cudaGetLastError();
      say(" async %s %s", N(e), N(l));
      e = cudaStreamSynchronize(s);
      say(" %s\n", N(e));
      M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
      if (w2 == 0)
        e = cudaMemset2DAsync(at, p.pitch, p.value, w, h, s);
      else if (w2 == 1)
        e = cudaMemsetAsync(at, p.value, w, s);
      else {
        cudaPitchedPtr q = make_cudaPitchedPtr(at, p.pitch, 32, 4);
        e = cudaMemset3DAsync(q, p.value, make_cudaExtent(w, h, 1), s);
      }
      cudaGetLastError();
      say("captured %s", N(e));
      cudaGraph_t hg = nullptr;
      e = cudaStreamEndCapture(s, &hg);
      cudaGetLastError();
      say(" end %s", N(e));
      if (hg) {
        cudaGraphNode_t m;
        size_t cnt = 1;
        M(cudaGraphGetNodes(hg, &m, &cnt));
        say(" nodes %zu ", cnt);
        if (cnt == 1) {
          cudaMemsetParams q;
          memset(&q, 0x11, sizeof q);
          e = cudaGraphMemsetNodeGetParams(m, &q);
          cudaGetLastError();
          say("get %s ", N(e));
          showset(q);
        }
        M(cudaGraphDestroy(hg));
      }
      NL();
    }
    M(cudaGraphDestroy(g));
  }
}
