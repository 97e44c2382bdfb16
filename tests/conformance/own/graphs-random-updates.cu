// Rule: what an update of an executable graph by a graph that is almost the same answers, and what then runs.
#include "random_graphs.h"
struct Spec {
  int type, variant, cell;
  std::vector<int> deps;
  std::vector<Spec> child;
  cudaGraphEdgeData ed[8];
};
typedef std::vector<Spec> G;
static G make(int depth) {
  int n = 1 + R(depth ? 3 : 7);
  G g;
  int style = R(3);
  for (int i = 0; i < n; i++) {
    Spec x;
    memset(x.ed, 0, sizeof x.ed);
    x.type = pick({0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7});
    if (x.type == 4 && depth > 1) x.type = 5;
    x.variant = 0;
    x.cell = R(30);
    for (int j = 0; j < i && x.deps.size() < 8; j++)
      if (chance(style == 0 ? 20 : style == 1 ? 45 : 75)) {
        if (g[j].type == 0 && x.type == 0 && chance(10)) {
          x.ed[x.deps.size()].from_port = 1;
          x.ed[x.deps.size()].type = 1;
        }
        x.deps.push_back(j);
      }
    if (x.type == 4) x.child = make(depth + 1);
    g.push_back(x);
  }
  return g;
}
static cudaGraph_t build(const G& sp, bool edges_later, bool reverse_edges, const std::vector<int>* order = nullptr) {
  cudaGraph_t g;
  M(cudaGraphCreate(&g, 0));
  std::vector<cudaGraphNode_t> n(sp.size());
  for (size_t a = 0; a < sp.size(); a++) {
    size_t i = order ? (*order)[a] : a;
    const Spec& x = sp[i];
    cudaGraphNode_t* o = &n[i];
    int w = x.variant;
    int c = x.cell;
    switch (x.type) {
    case 0:
      if (w < 10)
        n[i] = kern(g, 0, 0, w == 1 ? (void*)k2 : w == 2 ? (void*)k3 : (void*)k, c, w == 3 ? 5 : 1);
      else {
        n[i] = kern(g, 0, 0, (void*)k, c, 1);
        cudaLaunchAttributeValue v;
        memset(&v, 0, sizeof v);
        if (w == 10) {
          v.priority = -2;
          M(cudaGraphKernelNodeSetAttribute(n[i], cudaLaunchAttributePriority, &v));
        }
        if (w == 11) {
          v.cooperative = 1;
          M(cudaGraphKernelNodeSetAttribute(n[i], cudaLaunchAttributeCooperative, &v));
        }
        if (w == 12) {
          v.clusterDim.x = v.clusterDim.y = v.clusterDim.z = 1;
          M(cudaGraphKernelNodeSetAttribute(n[i], cudaLaunchAttributeClusterDimension, &v));
        }
        if (w == 13) {
          v.memSyncDomain = cudaLaunchMemSyncDomainRemote;
          M(cudaGraphKernelNodeSetAttribute(n[i], cudaLaunchAttributeMemSyncDomain, &v));
        }
      }
      break;
    case 1: {
      bool d2h = w == 1, dd = w == 2;
      size_t sz = w == 3 ? 8 : 4;
      if (w == 4) {
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(pin, 16, 4, 2);
        p.dstPtr = make_cudaPitchedPtr(d2 + c, 16, 4, 2);
        p.extent = make_cudaExtent(4, 2, 1);
        p.kind = cudaMemcpyHostToDevice;
        M(cudaGraphAddMemcpyNode(o, g, 0, 0, &p));
      } else if (w == 5)
        M(cudaGraphAddMemcpyNode1D(o, g, 0, 0, d2 + c, page, 4, cudaMemcpyDefault));
      else if (w == 6)
        M(cudaGraphAddMemcpyNodeToSymbol(o, g, 0, 0, sym, pin, 4, 0, cudaMemcpyHostToDevice));
      else
        M(cudaGraphAddMemcpyNode1D(o, g, 0, 0, d2h ? (void*)(pin + 100) : (void*)(d2 + c),
                                   d2h  ? (void*)(d2 + c)
                                   : dd ? (void*)(d2 + 64)
                                        : (void*)pin,
                                   sz,
                                   d2h  ? cudaMemcpyDeviceToHost
                                   : dd ? cudaMemcpyDeviceToDevice
                                        : cudaMemcpyHostToDevice));
    } break;
    case 2: {
      cudaMemsetParams m = {d2 + c,          64, (unsigned)(w == 1 ? 9 : 3), w == 2 ? 2u : 4u, w == 3 ? 2u : 1u,
                            w == 4 ? 2u : 1u};
      if (w == 5) m.dst = pin;
      if (w == 6) m.pitch = 0;
      M(cudaGraphAddMemsetNode(o, g, 0, 0, &m));
    } break;
    case 3: {
      cudaHostNodeParams h = {w == 1 ? h2 : h1, hosts + (w == 2 ? 31 : c)};
      M(cudaGraphAddHostNode(o, g, 0, 0, &h));
    } break;
    case 4: {
      cudaGraph_t ch = build(x.child, edges_later, reverse_edges);
      M(cudaGraphAddChildGraphNode(o, g, 0, 0, ch));
      M(cudaGraphDestroy(ch));
    } break;
    case 5: M(cudaGraphAddEmptyNode(o, g, 0, 0)); break;
    case 6: M(cudaGraphAddEventWaitNode(o, g, 0, 0, ev[w % 3])); break;
    case 7: M(cudaGraphAddEventRecordNode(o, g, 0, 0, ev[w % 3])); break;
    }
    if (!edges_later && !order)
      for (size_t j = 0; j < x.deps.size(); j++) M(cudaGraphAddDependencies(g, &n[x.deps[j]], &n[i], &x.ed[j], 1));
  }
  if (edges_later || order) {
    for (size_t i0 = 0; i0 < sp.size(); i0++) {
      size_t i = reverse_edges ? sp.size() - 1 - i0 : i0;
      const Spec& x = sp[i];
      for (size_t j0 = 0; j0 < x.deps.size(); j0++) {
        size_t j = reverse_edges ? x.deps.size() - 1 - j0 : j0;
        M(cudaGraphAddDependencies(g, &n[x.deps[j]], &n[i], &x.ed[j], 1));
      }
    }
  }
  return g;
}
static void mutate(G& g, int depth) {
  int what = R(12);
  Spec& x = g[R(g.size())];
  if (x.type == 4 && chance(60)) {
    say(" child:");
    return mutate(x.child, depth + 1);
  }
  switch (what) {
  case 0: {
    Spec y;
    memset(y.ed, 0, sizeof y.ed);
    y.type = pick({0, 2, 5});
    y.variant = 0;
    y.cell = R(30);
    for (size_t j = 0; j < g.size() && y.deps.size() < 8; j++)
      if (chance(30)) y.deps.push_back(j);
    g.push_back(y);
    say(" node+");
  } break;
  case 1:
    if (g.size() > 1) {
      bool used = false;
      g.pop_back();
      (void)used;
      say(" node-");
    }
    break;
  case 2:
    if (!x.deps.empty()) {
      x.deps.pop_back();
      say(" edge-");
    }
    break;
  case 3: {
    int i = &x - &g[0];
    if (i) {
      int j = R(i);
      bool has = false;
      for (int q : x.deps) has |= q == j;
      if (!has && x.deps.size() < 8) {
        x.deps.push_back(j);
        x.ed[x.deps.size() - 1] = {};
        say(" edge+");
      }
    }
  } break;
  case 4: {
    int t = pick({0, 1, 2, 3, 5, 6, 7});
    for (auto& e : x.ed) e = {};
    for (auto& y : g)
      for (auto& e : y.ed) e = {};
    say(" type %d->%d", x.type, t);
    x.type = t;
    x.variant = 0;
  } break;
  case 5:
    if (!x.deps.empty()) {
      int j = R(x.deps.size());
      bool kk = x.type == 0 && g[x.deps[j]].type == 0;
      if (kk) {
        x.ed[j].from_port = x.ed[j].type ? 0 : 1;
        x.ed[j].type = x.ed[j].from_port;
        say(" edgedata");
      }
    }
    break;
  case 6: {
    int a = R(g.size()), b = R(g.size());
    if (g[a].deps.size() == 0 && g[b].deps.size() == 0 && a != b) {
      std::swap(g[a].type, g[b].type);
      std::swap(g[a].variant, g[b].variant);
      std::swap(g[a].child, g[b].child);
      for (auto& y : g)
        for (auto& e : y.ed) e = {};
      say(" swap %d %d", a, b);
    }
  } break;
  default:
    x.variant = x.type == 0   ? pick({1, 2, 3, 10, 11, 12, 13})
                : x.type == 1 ? 1 + R(6)
                : x.type == 2 ? 1 + R(6)
                : x.type == 4 ? 0
                              : 1 + R(2);
    x.cell = chance(50) ? x.cell : R(30);
    say(" params of %d to %d", x.type, x.variant);
  }
}
int main(int c, char** v) {
  ginit();
  Seeds seeds(c, v, 0, 300);
  for (unsigned seed : seeds.all()) {
    reseed(seed + 200000);
    seeds.begin(seed);
    memset(hosts, 0, sizeof hosts);
    G a = make(0), b = a;
    bool l1 = R(2), r1 = R(2);
    cudaGraph_t g1 = build(a, l1, r1);
    say("%s\n", shape(g1).c_str());
    cudaGraphExec_t x;
    cudaError_t e = cudaGraphInstantiate(&x, g1, 0);
    if (e) {
      say("inst %s\n", N(e));
      cudaGetLastError();
      cudaGraphDestroy(g1);
      continue;
    }
    for (int round = 0; round < 3; round++) {
      b = a;
      int m = chance(15) ? 0 : 1 + R(2);
      say("mutations:");
      for (int i = 0; i < m; i++) mutate(b, 0);
      bool l2 = chance(60) ? l1 : !l1, r2 = chance(70) ? r1 : !r1;
      std::vector<int> order;
      bool ord = chance(20);
      if (ord) {
        for (size_t i = 0; i < b.size(); i++) order.push_back(i);
        for (size_t i = 0; i + 1 < b.size(); i++) std::swap(order[i], order[i + R(b.size() - i)]);
        say(" order");
        for (int o : order) say(" %d", o);
      }
      NL();
      cudaGraph_t g2 = build(b, l2, r2, ord ? &order : nullptr);
      say("%s\n", shape(g2).c_str());
      cudaGraphExecUpdateResultInfo in;
      memset(&in, 0x55, sizeof in);
      e = cudaGraphExecUpdate(x, g2, &in);
      cudaError_t l = cudaGetLastError();
      say("update = %s last %s %s node %d from %d\n", N(e), N(l), UR[in.result], nodeAt(g2, in.errorNode),
          nodeAt(g2, in.errorFromNode));
      e = cudaGraphLaunch(x, s);
      say("launch %s", N(e));
      e = cudaStreamSynchronize(s);
      say(" %s", N(e));
      cells(30);
      say(" |");
      for (int j = 0; j < 32; j++) say(" %d", hosts[j]);
      memset(hosts, 0, sizeof hosts);
      NL();
      M(cudaGraphDestroy(g2));
    }
    M(cudaGraphExecDestroy(x));
    M(cudaGraphDestroy(g1));
  }
}
