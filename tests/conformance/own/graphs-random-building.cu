// Rule: random calls that build graphs, change them, and run them.
#include "random_graphs.h"
struct Nd {
  cudaGraphNode_t n;
  int g, type, cell;
  bool dead;
};
static std::vector<Nd> nodes;
static std::vector<cudaGraph_t> gs;
static std::vector<bool> gdead;
struct X {
  cudaGraphExec_t x;
  int g;
  bool dead;
};
static std::vector<X> xs;
static int cell;
static int rg() { return R(gs.size()); }
static int rn(int g) {
  for (int t = 0; t < 8; t++) {
    int i = R(nodes.size());
    if (!nodes[i].dead && (nodes[i].g == g || chance(6))) return i;
  }
  return -1;
}
static int touched;
static cudaError_t add(int g) {
  int ty = pick({0, 0, 0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<cudaGraphNode_t> dep;
  int nd = nodes.empty() ? 0 : R(4);
  say("add %d to g%d after", ty, g);
  for (int i = 0; i < nd; i++) {
    int x = rn(g);
    if (x >= 0) {
      dep.push_back(nodes[x].n);
      say(" n%d", x);
    }
  }
  if (chance(3)) {
    dep.push_back(nullptr);
    say(" null");
  }
  cudaGraphNode_t n = (cudaGraphNode_t)8;
  cudaError_t r;
  cudaGraph_t G = gs[g];
  int c = cell++ % 40;
  const cudaGraphNode_t* D = dep.empty() && chance(50) ? nullptr : dep.data();
  size_t z = dep.size();
  bool generic = chance(35);
  cudaGraphNodeParams p = {};
  p.type = (cudaGraphNodeType)ty;
  std::vector<cudaGraphEdgeData> ed;
  if (generic && chance(50)) {
    ed.resize(z + 1);
    for (auto& e : ed)
      if (chance(25)) {
        e.from_port = R(3);
        e.type = R(2);
        say(" (%d%d)", e.from_port, e.type);
      }
  }
  if (generic) say(" generic");
  int* q = d + c;
  int one = 1;
  void* args[] = {&q, &one};
  switch (ty) {
  case 0:
    p.kernel.func = (void*)k;
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = args;
    if (!generic) n = kern(G, D, z, (void*)k, c, 1, &r);
    break;
  case 1:
    p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(pin, 4, 4, 1);
    p.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(d2 + c, 4, 4, 1);
    p.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
    p.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
    if (!generic) r = cudaGraphAddMemcpyNode1D(&n, G, D, z, d2 + c, pin, 4, cudaMemcpyHostToDevice);
    break;
  case 2:
    p.memset.dst = d2 + c;
    p.memset.elementSize = 4;
    p.memset.width = p.memset.height = 1;
    {
      cudaMemsetParams m = {d2 + c, 0, 3, 4, 1, 1};
      if (!generic) r = cudaGraphAddMemsetNode(&n, G, D, z, &m);
    }
    break;
  case 3:
    p.host.fn = h1;
    p.host.userData = hosts + c;
    {
      cudaHostNodeParams h = {h1, hosts + c};
      if (!generic) r = cudaGraphAddHostNode(&n, G, D, z, &h);
    }
    break;
  case 4: {
    int ch = rg();
    if (shape(gs[ch]).size() > 200) ch = g;
    if (shape(gs[ch]).size() > 300) {
      say(" skipped");
      return cudaSuccess;
    }
    say(" child g%d", ch);
    p.graph.graph = gs[ch];
    if (!generic) r = cudaGraphAddChildGraphNode(&n, G, D, z, gs[ch]);
  } break;
  case 5:
    if (!generic) r = cudaGraphAddEmptyNode(&n, G, D, z);
    break;
  case 6:
    p.eventWait.event = ev[c % 3];
    if (!generic) r = cudaGraphAddEventWaitNode(&n, G, D, z, ev[c % 3]);
    break;
  case 7:
    p.eventRecord.event = ev[c % 3];
    if (!generic) r = cudaGraphAddEventRecordNode(&n, G, D, z, ev[c % 3]);
    break;
  }
  if (generic) r = cudaGraphAddNode(&n, G, D, ed.empty() ? nullptr : ed.data(), z, &p);
  if (!r) {
    say(" n%d", (int)nodes.size());
    nodes.push_back({n, g, ty, c, false});
  } else
    say(" out %s", n == (cudaGraphNode_t)8 ? "same" : n ? "set" : "null");
  touched = g;
  return r;
}
static cudaError_t act() {
  touched = -1;
  int g = rg();
  if (nodes.empty()) return add(g);
  int op = R(40);
  cudaError_t r = cudaSuccess;
  switch (op) {
  default: return add(g);
  case 14:
  case 15:
  case 16:
  case 17: {
    int c = 1 + R(3);
    cudaGraphNode_t f[4], t[4];
    cudaGraphEdgeData e[4] = {};
    bool use = chance(30), rem = op > 15;
    say("%s edges g%d", rem ? "remove" : "add", g);
    int m = 0;
    for (int i = 0; i < c; i++) {
      int x = rn(g), y = rn(g);
      if (rem && x >= 0) {
        cudaGraphNode_t ff[64];
        cudaGraphEdgeData ee[64];
        size_t q = 64;
        M(cudaGraphNodeGetDependentNodes(nodes[x].n, ff, ee, &q));
        if (q && chance(85)) {
          int w = R(q);
          for (size_t j = 0; j < nodes.size(); j++)
            if (nodes[j].n == ff[w] && !nodes[j].dead) y = j;
          if (use && chance(80)) e[m] = ee[w];
        }
      } else if (use) {
        e[m].from_port = R(3);
        e[m].type = R(2);
      }
      if (x < 0 || y < 0) continue;
      f[m] = nodes[x].n;
      t[m] = nodes[y].n;
      say(" n%d-n%d", x, y);
      if (use) say("(%d%d)", e[m].from_port, e[m].type);
      m++;
    }
    touched = g;
    return rem ? cudaGraphRemoveDependencies(gs[g], f, t, use ? e : nullptr, m)
               : cudaGraphAddDependencies(gs[g], f, t, use ? e : nullptr, m);
  }
  case 18:
  case 19: {
    int x = rn(g);
    if (x < 0) return r;
    say("destroy n%d", x);
    touched = nodes[x].g;
    r = cudaGraphDestroyNode(nodes[x].n);
    if (!r) nodes[x].dead = true;
    return r;
  }
  case 20: {
    if (gs.size() > 5) return r;
    say("clone g%d g%d", g, (int)gs.size());
    cudaGraph_t c = nullptr;
    r = cudaGraphClone(&c, gs[g]);
    if (!r) {
      int ng = gs.size();
      gs.push_back(c);
      size_t m = nodes.size();
      for (size_t i = 0; i < m; i++)
        if (nodes[i].g == g && !nodes[i].dead) {
          Nd y = nodes[i];
          M(cudaGraphNodeFindInClone(&y.n, nodes[i].n, c));
          y.g = ng;
          nodes.push_back(y);
          say(" n%d", (int)nodes.size() - 1);
        }
      touched = ng;
    }
    return r;
  }
  case 21: {
    int x = rn(g), c = rg();
    if (x < 0) return r;
    say("find n%d in g%d", x, c);
    cudaGraphNode_t y = nullptr;
    r = cudaGraphNodeFindInClone(&y, nodes[x].n, gs[c]);
    if (!r) say(" at %d", nodeAt(gs[c], y));
    return r;
  }
  case 22: {
    if (gs.size() > 5) return r;
    say("create g%d", (int)gs.size());
    cudaGraph_t c;
    M(cudaGraphCreate(&c, 0));
    gs.push_back(c);
    return r;
  }
  case 23:
  case 24: {
    if (xs.size() > 6) return r;
    unsigned fl = pick({0, 0, 1, 2, 4, 8});
    say("instantiate g%d flags %u", g, fl);
    cudaGraphInstantiateParams ip = {};
    ip.flags = fl;
    ip.uploadStream = s;
    cudaGraphExec_t x = (cudaGraphExec_t)8;
    r = cudaGraphInstantiateWithParams(&x, gs[g], &ip);
    say(" result %d node %d", ip.result_out, nodeAt(gs[g], ip.errNode_out));
    if (!r) {
      say(" x%d", (int)xs.size());
      xs.push_back({x, g, false});
    } else
      say(" out %s", x == (cudaGraphExec_t)8 ? "same" : x ? "set" : "null");
    return r;
  }
  case 25:
  case 26:
  case 27: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    int h = chance(60) ? xs[i].g : g;
    say("update x%d by g%d", i, h);
    cudaGraphExecUpdateResultInfo in;
    memset(&in, 0x55, sizeof in);
    r = cudaGraphExecUpdate(xs[i].x, gs[h], &in);
    say(" %s node %d from %d", in.result < 9 ? UR[in.result] : "?", nodeAt(gs[h], in.errorNode),
        nodeAt(gs[h], in.errorFromNode));
    if (!r) xs[i].g = h;
    return r;
  }
  case 28:
  case 29: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    say("launch x%d", i);
    r = cudaGraphLaunch(xs[i].x, s);
    if (r) return r;
    r = cudaStreamSynchronize(s);
    cells(40);
    say(" hosts");
    for (int j = 0; j < 40; j++) {
      say("%d", hosts[j]);
      hosts[j] = 0;
    }
    return r;
  }
  case 30: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    say("destroy x%d", i);
    xs[i].dead = true;
    return cudaGraphExecDestroy(xs[i].x);
  }
  case 31:
  case 32:
  case 33: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    int x = rn(xs[i].g);
    if (x < 0) return r;
    unsigned e = 9;
    bool en = R(2);
    say("enabled x%d n%d (%d)", i, x, nodes[x].type);
    if (chance(50)) {
      r = cudaGraphNodeGetEnabled(xs[i].x, nodes[x].n, &e);
      say(" is %u", e);
    } else {
      say(" set %d", en);
      r = cudaGraphNodeSetEnabled(xs[i].x, nodes[x].n, en);
    }
    return r;
  }
  case 34:
  case 35:
  case 36: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    int x = rn(xs[i].g);
    if (x < 0) return r;
    int w = chance(75) ? nodes[x].type : R(8);
    say("set x%d n%d (%d) as %d", i, x, nodes[x].type, w);
    int* q = d + R(40);
    int v = 1 + R(3), u = 3;
    void* args[] = {&q, &v, &u};
    cudaKernelNodeParams kp = {};
    kp.func = pick({(void*)k, (void*)k2, (void*)k3});
    kp.gridDim = kp.blockDim = dim3(1);
    kp.kernelParams = args;
    cudaMemsetParams mp = {d2, 0, 3, chance(80) ? 4u : 2u, 1, 1};
    cudaHostNodeParams hp = {R(2) ? h1 : h2, hosts + R(40)};
    cudaGraphExec_t E = xs[i].x;
    switch (w) {
    case 0: return cudaGraphExecKernelNodeSetParams(E, nodes[x].n, &kp);
    case 1: return cudaGraphExecMemcpyNodeSetParams1D(E, nodes[x].n, d2, pin + 4, 4 + 4 * R(2), cudaMemcpyHostToDevice);
    case 2: return cudaGraphExecMemsetNodeSetParams(E, nodes[x].n, &mp);
    case 3: return cudaGraphExecHostNodeSetParams(E, nodes[x].n, &hp);
    case 4: {
      int c = rg();
      say(" child g%d", c);
      return cudaGraphExecChildGraphNodeSetParams(E, nodes[x].n, gs[c]);
    }
    case 6: return cudaGraphExecEventWaitNodeSetEvent(E, nodes[x].n, ev[R(3)]);
    case 7: return cudaGraphExecEventRecordNodeSetEvent(E, nodes[x].n, ev[R(3)]);
    default: {
      cudaGraphNodeParams p = {};
      p.type = (cudaGraphNodeType)nodes[x].type;
      say(" generic");
      if (nodes[x].type == 5) {
        cudaGraphNodeParams e = {};
        e.type = cudaGraphNodeTypeEmpty;
        return cudaGraphExecNodeSetParams(E, nodes[x].n, &e);
      }
      return cudaSuccess;
    }
    }
  }
  case 37: {
    int x = rn(g);
    if (x < 0) return r;
    int w = chance(75) ? nodes[x].type : R(8);
    say("set n%d (%d) as %d", x, nodes[x].type, w);
    int* q = d + nodes[x].cell;
    int v = 1 + R(3), u = 3;
    void* args[] = {&q, &v, &u};
    cudaKernelNodeParams kp = {};
    kp.func = pick({(void*)k, (void*)k2, (void*)k3});
    kp.gridDim = kp.blockDim = dim3(1);
    kp.kernelParams = args;
    cudaMemsetParams mp = {d2, 0, 3, 4, 1, 1};
    cudaHostNodeParams hp = {R(2) ? h1 : h2, hosts + R(40)};
    cudaGraphNode_t n = nodes[x].n;
    switch (w) {
    case 0: return cudaGraphKernelNodeSetParams(n, &kp);
    case 1: return cudaGraphMemcpyNodeSetParams1D(n, d2, pin + 4, 4, cudaMemcpyHostToDevice);
    case 2: return cudaGraphMemsetNodeSetParams(n, &mp);
    case 3: return cudaGraphHostNodeSetParams(n, &hp);
    case 6: return cudaGraphEventWaitNodeSetEvent(n, ev[R(3)]);
    case 7: return cudaGraphEventRecordNodeSetEvent(n, ev[R(3)]);
    default: return cudaSuccess;
    }
  }
  case 38: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    unsigned long long f = 77;
    say("flags x%d", i);
    r = cudaGraphExecGetFlags(xs[i].x, &f);
    say(" %d", (int)f);
    return r;
  }
  }
}
int main(int c, char** v) {
  ginit();
  guard();
  Seeds seeds(c, v, 10000, 10385,
              {10004, 10007, 10012, 10013, 10020, 10021, 10024, 10032, 10058, 10061, 10070, 10073, 10074, 10075, 10082,
               10083, 10087, 10101, 10105, 10106, 10112, 10121, 10122, 10127, 10130, 10133, 10142, 10143, 10145, 10151,
               10154, 10158, 10166, 10180, 10181, 10182, 10184, 10186, 10187, 10191, 10198, 10201, 10205, 10213, 10216,
               10226, 10230, 10236, 10250, 10254, 10258, 10259, 10261, 10267, 10269, 10277, 10279, 10280, 10281, 10283,
               10290, 10291, 10292, 10294, 10297, 10301, 10311, 10317, 10318, 10320, 10324, 10329, 10330, 10335, 10337,
               10340, 10343, 10344, 10347, 10350, 10351, 10355, 10365, 10378, 10380});
  for (unsigned seed : seeds.all()) {
    reseed(seed + 100000);
    seeds.begin(seed);
    nodes.clear();
    gs.clear();
    xs.clear();
    cell = 0;
    memset(hosts, 0, sizeof hosts);
    for (int i = 0; i < 2; i++) {
      cudaGraph_t g;
      M(cudaGraphCreate(&g, 0));
      gs.push_back(g);
    }
    bool bad = false;
    for (int i = 0, n = 10 + R(30); i < n && !bad; i++) {
      if (sigsetjmp(on_fault, 1)) {
        bad = true;
        say(" crashes\n");
        break;
      }
      cudaError_t r = act(), l = cudaGetLastError();
      say(" = %s", N(r));
      if (l != r) say(" last %s", N(l));
      if (touched >= 0) say(" %s", shape(gs[touched]).c_str());
      NL();
    }
    if (bad) {
      cudaGetLastError();
      continue;
    }
    for (auto& x : xs)
      if (!x.dead) M(cudaGraphExecDestroy(x.x));
    for (auto g : gs) M(cudaGraphDestroy(g));
    cudaError_t e = cudaDeviceSynchronize();
    if (e) say("left %s\n", N(e));
    cudaGetLastError();
  }
}
