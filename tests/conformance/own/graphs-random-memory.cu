// Rule: graphs with memory and conditional nodes: which are built, instantiated, updated, launched.
#include "random_graphs.h"
struct Nd {
  cudaGraphNode_t n;
  int g, type;
  bool dead;
};
struct Pt {
  void* p;
  int n;
};
static std::vector<Nd> nodes;
static std::vector<cudaGraph_t> gs;
static std::vector<bool> gd;
struct X {
  cudaGraphExec_t x;
  int g;
  bool dead;
};
static std::vector<X> xs;
static std::vector<void*> ps;
static std::vector<std::pair<cudaGraphConditionalHandle, int>> hs;
static std::vector<int> body;
static int touched, cell;
static int rg() {
  for (int i = 0; i < 20; i++) {
    int g = R(gs.size());
    if (!gd[g]) return g;
  }
  return -1;
}
static int rn(int g) {
  if (nodes.empty()) return -1;
  for (int t = 0; t < 8; t++) {
    int i = R(nodes.size());
    if (!nodes[i].dead && !gd[nodes[i].g] && (nodes[i].g == g || chance(4))) return i;
  }
  return -1;
}
static int root(int g) {
  while (body[g] >= 0) g = body[g] % 100;
  return g;
}
static cudaError_t add(int g) {
  int ty = pick({0, 0, 2, 3, 4, 5, 7, 10, 10, 11, 11, 13, 13, 13});
  std::vector<cudaGraphNode_t> dep;
  int nd = R(3);
  say("add %d to g%d after", ty, g);
  std::vector<int> di;
  for (int i = 0; i < nd; i++) {
    int x = rn(g);
    bool dup = false;
    for (int q : di) dup |= q == x;
    if (x >= 0 && !dup) {
      dep.push_back(nodes[x].n);
      di.push_back(x);
      say(" n%d", x);
    }
  }
  cudaGraphNode_t n = nullptr;
  cudaError_t r = cudaSuccess;
  const cudaGraphNode_t* D = dep.data();
  size_t z = dep.size();
  int c = cell++ % 30;
  cudaGraph_t G = gs[g];
  touched = g;
  switch (ty) {
  case 0:
    if (!hs.empty() && chance(40) && root(hs[hs.size() - 1].second) == root(g)) {
      int h = hs.size() - 1;
      unsigned val = R(2);
      say(" setc h%d %u", h, val);
      void* args[] = {&hs[h].first, &val};
      cudaKernelNodeParams q = {};
      q.func = (void*)setc;
      q.gridDim = q.blockDim = dim3(1);
      q.kernelParams = args;
      r = cudaGraphAddKernelNode(&n, G, D, z, &q);
    } else
      n = kern(G, D, z, (void*)k, c, 1, &r);
    break;
  case 2: {
    cudaMemsetParams m = {d2 + c, 0, 3, 4, 1, 1};
    r = cudaGraphAddMemsetNode(&n, G, D, z, &m);
  } break;
  case 3: {
    cudaHostNodeParams h = {h1, hosts + c};
    r = cudaGraphAddHostNode(&n, G, D, z, &h);
  } break;
  case 4: {
    int ch = rg();
    if (ch < 0 || ch == g || shape(gs[ch]).size() > 120) {
      say(" no");
      return r;
    }
    bool move = chance(40);
    say(" child g%d%s", ch, move ? " move" : "");
    if (move) {
      cudaGraphNodeParams p = {};
      p.type = cudaGraphNodeTypeGraph;
      p.graph.graph = gs[ch];
      p.graph.ownership = cudaGraphChildGraphOwnershipMove;
      r = cudaGraphAddNode(&n, G, D, nullptr, z, &p);
      if (!r) body[ch] = 100 + g;
    } else
      r = cudaGraphAddChildGraphNode(&n, G, D, z, gs[ch]);
  } break;
  case 5: r = cudaGraphAddEmptyNode(&n, G, D, z); break;
  case 7: r = cudaGraphAddEventRecordNode(&n, G, D, z, ev[c % 3]); break;
  case 10: {
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = pick({64, 4096, 100000});
    r = cudaGraphAddMemAllocNode(&n, G, D, z, &p);
    if (!r) {
      say(" p%d", (int)ps.size());
      ps.push_back(p.dptr);
    }
  } break;
  case 11: {
    if (ps.empty()) {
      say(" no");
      return r;
    }
    int p = R(ps.size());
    say(" free p%d", p);
    r = cudaGraphAddMemFreeNode(&n, G, D, z, ps[p]);
  } break;
  case 13: {
    cudaGraphConditionalHandle h = 0;
    int hi;
    bool fresh = chance(75);
    if (fresh || hs.empty()) {
      cudaError_t e = [&] {
        int a = R(2), b = R(2);
        return cudaGraphConditionalHandleCreate(&h, G, a, b);
      }();
      if (e) {
        say(" handle");
        return e;
      }
      hi = hs.size();
      hs.push_back({h, g});
    } else {
      hi = R(hs.size());
      h = hs[hi].first;
    }
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = pick({cudaGraphCondTypeIf, cudaGraphCondTypeIf, cudaGraphCondTypeSwitch});
    p.conditional.size = 1 + R(2);
    say(" cond %d size %u h%d%s", p.conditional.type, p.conditional.size, hi, fresh ? " new" : "");
    r = cudaGraphAddNode(&n, G, D, nullptr, z, &p);
    if (!r)
      for (unsigned i = 0; i < p.conditional.size; i++) {
        say(" body g%d", (int)gs.size());
        gs.push_back(p.conditional.phGraph_out[i]);
        gd.push_back(false);
        body.push_back(g);
      }
  } break;
  }
  if (!r) {
    say(" n%d", (int)nodes.size());
    nodes.push_back({n, g, ty, false});
  }
  return r;
}
static void kill(int g) {
  gd[g] = true;
  for (size_t i = 0; i < gs.size(); i++)
    if (!gd[i] && (body[i] == g || body[i] == 100 + g)) kill(i);
}
static cudaError_t act() {
  touched = -1;
  int g = rg();
  if (g < 0) {
    say("none");
    return cudaSuccess;
  }
  if (nodes.size() < 2) return add(g);
  int op = R(34);
  cudaError_t r = cudaSuccess;
  switch (op) {
  default: return add(g);
  case 16:
  case 17: {
    int x = rn(g), y = rn(g);
    if (x < 0 || y < 0) return r;
    if (y < x) std::swap(x, y);
    say("edge g%d n%d-n%d", g, x, y);
    touched = g;
    return cudaGraphAddDependencies(gs[g], &nodes[x].n, &nodes[y].n, nullptr, 1);
  }
  case 18: {
    int x = rn(g);
    if (x < 0) return r;
    cudaGraphNode_t f[64];
    cudaGraphEdgeData ee[64];
    size_t q = 64;
    M(cudaGraphNodeGetDependentNodes(nodes[x].n, f, ee, &q));
    say("remove edge of n%d", x);
    if (!q) return r;
    touched = nodes[x].g;
    return cudaGraphRemoveDependencies(gs[nodes[x].g], &nodes[x].n, &f[0], nullptr, 1);
  }
  case 19: {
    int x = rn(g);
    if (x < 0 || nodes[x].type == 4) return r;
    say("destroy n%d (%d)", x, nodes[x].type);
    touched = nodes[x].g;
    if (nodes[x].type == 13) {
      say(" skip");
      return r;
    }
    r = cudaGraphDestroyNode(nodes[x].n);
    if (!r) nodes[x].dead = true;
    return r;
  }
  case 20: {
    say("clone g%d", g);
    cudaGraph_t c = nullptr;
    r = cudaGraphClone(&c, gs[g]);
    if (!r) {
      say(" %s", shape(c).c_str());
      M(cudaGraphDestroy(c));
    }
    return r;
  }
  case 21:
  case 22:
  case 23: {
    if (xs.size() > 5) return r;
    unsigned fl = pick({0, 0, 0, 1, 2, 8});
    say("instantiate g%d flags %u", g, fl);
    cudaGraphInstantiateParams ip = {};
    ip.flags = fl;
    ip.uploadStream = s;
    cudaGraphExec_t x = nullptr;
    r = cudaGraphInstantiateWithParams(&x, gs[g], &ip);
    say(" result %d node %d", ip.result_out, nodeAt(gs[g], ip.errNode_out));
    if (!r) {
      say(" x%d", (int)xs.size());
      xs.push_back({x, g, false});
    }
    return r;
  }
  case 24:
  case 25:
  case 26: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    int h = chance(60) ? xs[i].g : g;
    if (gd[h]) return r;
    say("update x%d by g%d", i, h);
    cudaGraphExecUpdateResultInfo in;
    memset(&in, 0x55, sizeof in);
    r = cudaGraphExecUpdate(xs[i].x, gs[h], &in);
    say(" %s node %d from %d", in.result < 9 ? UR[in.result] : "?", nodeAt(gs[h], in.errorNode),
        nodeAt(gs[h], in.errorFromNode));
    return r;
  }
  case 27:
  case 28:
  case 29: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    say("launch x%d", i);
    r = cudaGraphLaunch(xs[i].x, s);
    if (r) return r;
    r = cudaStreamSynchronize(s);
    if (r) return r;
    cells(30);
    say(" hosts");
    for (int j = 0; j < 30; j++) {
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
  case 31: {
    if (ps.empty()) return r;
    int p = R(ps.size());
    bool as = R(2);
    say("free p%d %s", p, as ? "async" : "sync");
    r = as ? cudaFreeAsync(ps[p], s) : cudaFree(ps[p]);
    M(cudaStreamSynchronize(s));
    return r;
  }
  case 32: {
    int x = rn(g);
    if (x < 0 || xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    unsigned e = 9;
    say("enabled x%d n%d (%d)", i, x, nodes[x].type);
    r = cudaGraphNodeSetEnabled(xs[i].x, nodes[x].n, 1);
    cudaGetLastError();
    say(" %s", N(r));
    r = cudaGraphNodeGetEnabled(xs[i].x, nodes[x].n, &e);
    say(" is %u", e);
    return r;
  }
  case 33: {
    if (body[g] >= 0 && body[g] < 100) {
      say("destroy body g%d", g);
      return cudaGraphDestroy(gs[g]);
    }
    if (body[g] >= 100) {
      say("destroy moved g%d", g);
      return cudaGraphDestroy(gs[g]);
    }
    if (chance(70) || gs.size() < 2) return r;
    say("destroy g%d", g);
    r = cudaGraphDestroy(gs[g]);
    if (!r) kill(g);
    return r;
  }
  }
}
int main(int c, char** v) {
  ginit();
  guard();
  Seeds seeds(c, v, 10000, 10303, {10047, 10133, 10136});
  for (unsigned seed : seeds.all()) {
    reseed(seed + 400000);
    seeds.begin(seed);
    nodes.clear();
    gs.clear();
    gd.clear();
    xs.clear();
    ps.clear();
    hs.clear();
    body.clear();
    cell = 0;
    memset(hosts, 0, sizeof hosts);
    for (int i = 0; i < 2; i++) {
      cudaGraph_t g;
      M(cudaGraphCreate(&g, 0));
      gs.push_back(g);
      gd.push_back(false);
      body.push_back(-1);
    }
    bool bad = false;
    for (int i = 0, n = 10 + R(25); i < n && !bad; i++) {
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
      if (r >= 700 && r < 720) exit(1);
    }
    if (bad) {
      cudaGetLastError();
      continue;
    }
    for (auto& x : xs)
      if (!x.dead) M(cudaGraphExecDestroy(x.x));
    for (size_t i = 0; i < gs.size(); i++)
      if (!gd[i] && body[i] < 0) M(cudaGraphDestroy(gs[i]));
    for (auto p : ps) {
      cudaFree(p);
      cudaGetLastError();
    }
    cudaError_t e = cudaDeviceSynchronize();
    if (e) say("left %s\n", N(e));
    cudaGetLastError();
    cells(30);
    NL();
  }
}
