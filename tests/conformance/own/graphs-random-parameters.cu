// Rule: graphs of all node types by the generic calls: what may be put where, set in nodes and in executable graphs,
// and what then runs.
#include "random_graphs.h"
__global__ void count(cudaGraphConditionalHandle h, int* left) {
  int n = --*left;
  cudaGraphSetConditional(h, n > 0);
}
struct Nd {
  cudaGraphNode_t n;
  int g, type;
  bool fixed, dead;
};
static std::vector<Nd> nodes;
static std::vector<cudaGraph_t> gs;
static std::vector<int> up;
struct X {
  cudaGraphExec_t x;
  int g;
  bool dead;
};
static std::vector<X> xs;
static std::vector<void*> ps;
static std::vector<std::pair<cudaGraphConditionalHandle, int>> hs;
static int cell, touched;
static int* left_;
static int root(int g) {
  while (up[g] >= 0) g = up[g];
  return g;
}
static int rn(int g) {
  if (nodes.empty()) return -1;
  for (int t = 0; t < 8; t++) {
    int i = R(nodes.size());
    if (!nodes[i].dead && (nodes[i].g == g || chance(5))) return i;
  }
  return -1;
}
// Parameters of a type; what they point to lives as long as the seed.
static void* args[3];
static int* cp;
static int one;
static cudaMemAccessDesc acc;
static void fill(cudaGraphNodeParams& p, int ty, int g) {
  memset(&p, 0, sizeof p);
  p.type = (cudaGraphNodeType)ty;
  int c = cell++ % 30;
  int w = R(12);
  switch (ty) {
  case 0:
    cp = d + c;
    one = 1 + R(3);
    args[0] = &cp;
    args[1] = &one;
    p.kernel.func = w == 0 ? nullptr : w == 1 ? (void*)k2 : (void*)k;
    p.kernel.gridDim = p.kernel.blockDim = dim3(w == 2 ? 0 : 1 + (w == 3), 1, 1);
    p.kernel.kernelParams = args;
    say(" kernel w%d v%d", w, one);
    break;
  case 1: {
    auto& q = p.memcpy.copyParams;
    q.srcPtr = make_cudaPitchedPtr(w == 0 ? (void*)page : (void*)pin, 8, 8, 1);
    q.dstPtr = make_cudaPitchedPtr(w == 1 ? nullptr : d2 + c, 8, 8, 1);
    q.extent = make_cudaExtent(w == 2 ? 0 : w == 3 ? 8 : 4, 1, 1);
    q.kind = w == 4 ? cudaMemcpyDefault : w == 5 ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (w == 6) p.memcpy.flags = 1;
    say(" copy w%d", w);
  } break;
  case 2:
    p.memset.dst = d2 + c;
    p.memset.value = 3;
    p.memset.elementSize = w == 0 ? 3 : w == 1 ? 2 : 4;
    p.memset.width = w == 2 ? 0 : w == 3 ? 2 : 1;
    p.memset.height = w == 4 ? 2 : 1;
    p.memset.pitch = w == 4 ? 64 : 0;
    say(" set w%d", w);
    break;
  case 3:
    p.host.fn = w == 0 ? nullptr : w == 1 ? h2 : h1;
    p.host.userData = hosts + c;
    say(" host w%d", w);
    break;
  case 4: {
    int ch = R(gs.size());
    for (int i = 0; i < 10 && (root(ch) == root(g) || shape(gs[ch]).size() > 60); i++) ch = R(gs.size());
    if (root(ch) == root(g)) ch = -1;
    p.graph.graph = ch < 0 ? nullptr : gs[ch];
    p.graph.ownership = (cudaGraphChildGraphNodeOwnership)pick({0, 0, 0, 1, 1, 2, -1});
    if (ch < 0) p.graph.ownership = (cudaGraphChildGraphNodeOwnership)1;
    say(" child g%d own %d", ch, p.graph.ownership);
  } break;
  case 6:
  case 7:
    p.eventWait.event = w == 0 ? nullptr : ev[c % 3];
    say(" event w%d", w);
    break;
  case 10:
    p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    p.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    p.alloc.bytesize = w == 0 ? 0 : pick({64, 4096, 100000});
    if (w == 1) p.alloc.poolProps.location.id = 7;
    say(" alloc w%d", w);
    break;
  case 11:
    p.free.dptr = ps.empty() || w == 0 ? (void*)d : ps[R(ps.size())];
    if (w == 1) p.free.dptr = nullptr;
    {
      int q = -1;
      for (size_t i = 0; i < ps.size(); i++)
        if (ps[i] == p.free.dptr) q = i;
      say(" free p%d w%d", q, w);
    }
    break;
  case 13: {
    cudaGraphConditionalHandle h = 0;
    int hi = -1;
    if (chance(75)) {
      unsigned a = R(3);
      cudaError_t e = cudaGraphConditionalHandleCreate(&h, gs[chance(70) ? g : root(g)], a, cudaGraphCondAssignDefault);
      cudaGetLastError();
      say(" handle %s init %u", N(e), a);
      if (!e) {
        hi = hs.size();
        hs.push_back({h, root(g)});
      }
    } else
      for (int t = 0; t < 6 && hi < 0 && !hs.empty(); t++) {
        hi = R(hs.size());
        if (hs[hi].second != root(g)) hi = -1;
      }
    h = hi < 0 ? 0 : hs[hi].first;
    if (hi < 0) {
      p.conditional.size = 0;
      say(" no handle");
    }
    p.conditional.handle = h;
    p.conditional.type = (cudaGraphConditionalNodeType)pick({0, 0, 1, 1, 2, 2, 3});
    if (hi >= 0) p.conditional.size = pick({1, 1, 1, 2, 2, 3, 0, 5});
    say(" cond %d size %u h%d", p.conditional.type, p.conditional.size, hi);
  } break;
  default: say(" type %d", ty);
  }
  if (chance(3)) {
    int z = R(4);
    say(" dirty%d", z);
    if (z == 0) p.reserved0[1] = 1;
    if (z == 1) p.reserved2 = 1;
    if (z == 2) p.reserved1[28] = 1;
    if (z == 3) ((char*)p.reserved1)[227] = 1;
  }
}
static cudaError_t setter(int g, const std::vector<cudaGraphNode_t>& dep, int h, unsigned val, bool ctr) {
  void* a[2] = {&hs[h].first, &val};
  void* b[2] = {&hs[h].first, &left_};
  cudaKernelNodeParams q = {};
  q.func = ctr ? (void*)count : (void*)setc;
  q.gridDim = q.blockDim = dim3(1);
  q.kernelParams = ctr ? b : a;
  cudaGraphNode_t n;
  cudaError_t r = cudaGraphAddKernelNode(&n, gs[g], dep.data(), dep.size(), &q);
  if (!r) {
    say(" n%d", (int)nodes.size());
    nodes.push_back({n, g, 0, true, false});
  }
  return r;
}
static cudaError_t add(int g) {
  std::vector<cudaGraphNode_t> dep;
  std::vector<int> di;
  int nd = R(3);
  int ty = pick({0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 10, 10, 11, 11, 13, 13, 13, 8, 12, 14});
  if (ty >= 8 && (ty == 8 || ty == 12 || ty == 14) && chance(70)) ty = 0;
  say("add %d to g%d after", ty, g);
  touched = g;
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
  if (ty == 0 && chance(30))
    for (int t = 0; t < 5 && !hs.empty(); t++) {
      int h = R(hs.size());
      if (hs[h].second != root(g)) continue;
      unsigned v = R(3);
      say(" setc h%d %u", h, v);
      return setter(g, dep, h, v, false);
    }
  cudaGraphNodeParams p = {};
  fill(p, ty, g);
  cudaGraphNode_t n = (cudaGraphNode_t)8;
  cudaError_t r = cudaGraphAddNode(&n, gs[g], dep.data(), nullptr, dep.size(), &p);
  if (r) {
    say(" out %s", n == (cudaGraphNode_t)8 ? "same" : n ? "set" : "null");
    return r;
  }
  say(" n%d", (int)nodes.size());
  nodes.push_back({n, g, ty, ty == 13, false});
  if (ty == 10) {
    say(" p%d", (int)ps.size());
    ps.push_back(p.alloc.dptr);
  }
  if (ty == 4 && p.graph.ownership == 1)
    for (size_t i = 0; i < gs.size(); i++)
      if (gs[i] == p.graph.graph) up[i] = g;
  if (ty == 13)
    for (unsigned i = 0; i < p.conditional.size; i++) {
      int b = gs.size();
      say(" body g%d", b);
      gs.push_back(p.conditional.phGraph_out[i]);
      up.push_back(g);
      if (p.conditional.type == cudaGraphCondTypeWhile)
        for (size_t h = 0; h < hs.size(); h++)
          if (hs[h].first == p.conditional.handle && hs[h].second == root(g)) {
            cudaError_t e = setter(b, {}, h, 0, true);
            say(" %s", N(e));
            break;
          }
    }
  return r;
}
static cudaError_t act() {
  touched = -1;
  int g = R(gs.size());
  if (nodes.size() < 2) return add(g);
  cudaError_t r = cudaSuccess;
  switch (R(34)) {
  default: return add(g);
  case 15:
  case 16:
  case 17: {
    int x = rn(g);
    if (x < 0 || nodes[x].fixed) return r;
    int ty = chance(80) ? nodes[x].type : pick({0, 1, 2, 3, 5, 6, 7, 10, 11, 13});
    say("set n%d (%d)", x, nodes[x].type);
    cudaGraphNodeParams p = {};
    fill(p, ty, nodes[x].g);
    touched = nodes[x].g;
    r = cudaGraphNodeSetParams(nodes[x].n, &p);
    if (!r && ty == 4 && p.graph.ownership == 1)
      for (size_t i = 0; i < gs.size(); i++)
        if (gs[i] == p.graph.graph) up[i] = nodes[x].g;
    return r;
  }
  case 18:
  case 19:
  case 20: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    int x = rn(xs[i].g);
    if (x < 0 || nodes[x].fixed) return r;
    int ty = chance(80) ? nodes[x].type : pick({0, 1, 2, 3, 5, 6, 7, 10, 11, 13});
    say("exec set x%d n%d (%d)", i, x, nodes[x].type);
    cudaGraphNodeParams p = {};
    fill(p, ty, nodes[x].g);
    return cudaGraphExecNodeSetParams(xs[i].x, nodes[x].n, &p);
  }
  case 21:
  case 22:
  case 23: {
    if (xs.size() > 4) return r;
    if (chance(70)) g = root(g);
    unsigned fl = pick({0, 0, 1, 1, 2, 8});
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
  case 26:
  case 27: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    say("launch x%d", i);
    static int five = 4;
    M(cudaMemcpy(left_, &five, 4, cudaMemcpyHostToDevice));
    int times = 1 + R(2);
    for (int t = 0; t < times && !r; t++) r = cudaGraphLaunch(xs[i].x, s);
    if (r) {
      M(cudaStreamSynchronize(s));
      cells(30);
      return r;
    }
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
  case 28: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    say("destroy x%d", i);
    xs[i].dead = true;
    return cudaGraphExecDestroy(xs[i].x);
  }
  case 29:
  case 30: {
    if (xs.empty()) return r;
    int i = R(xs.size());
    if (xs[i].dead) return r;
    int h = chance(75) ? xs[i].g : g;
    say("update x%d by g%d", i, h);
    cudaGraphExecUpdateResultInfo in;
    memset(&in, 0x55, sizeof in);
    r = cudaGraphExecUpdate(xs[i].x, gs[h], &in);
    say(" %s node %d from %d", in.result < 9 ? UR[in.result] : "?", nodeAt(gs[h], in.errorNode),
        nodeAt(gs[h], in.errorFromNode));
    return r;
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
    if (x < 0 || nodes[x].fixed || nodes[x].type == 4) return r;
    say("destroy n%d (%d)", x, nodes[x].type);
    touched = nodes[x].g;
    r = cudaGraphDestroyNode(nodes[x].n);
    if (!r) nodes[x].dead = true;
    return r;
  }
  case 33: {
    say("destroy g%d", g);
    if (up[g] < 0) {
      say(" skip");
      return r;
    }
    return cudaGraphDestroy(gs[g]);
  }
  }
}
int main(int c, char** v) {
  ginit();
  guard();
  M(cudaMalloc(&left_, 4));
  Seeds seeds(c, v, 0, 476,
              {4,   5,   6,   13,  15,  16,  19,  22,  24,  25,  27,  28,  30,  32,  33,  34,  35,  37,  39,  41,
               43,  44,  47,  50,  51,  53,  55,  56,  58,  59,  62,  63,  64,  68,  69,  70,  71,  75,  78,  79,
               80,  83,  84,  90,  98,  99,  100, 101, 104, 107, 109, 111, 112, 113, 115, 119, 121, 123, 128, 129,
               131, 134, 142, 143, 146, 150, 155, 156, 158, 172, 174, 179, 184, 187, 192, 195, 197, 198, 199, 200,
               202, 204, 205, 208, 214, 218, 220, 222, 224, 226, 227, 228, 229, 231, 237, 238, 244, 245, 247, 249,
               254, 256, 257, 258, 261, 262, 265, 268, 269, 273, 274, 275, 276, 277, 279, 288, 293, 296, 297, 298,
               304, 309, 313, 314, 315, 318, 327, 331, 332, 335, 338, 340, 349, 350, 355, 358, 359, 363, 364, 370,
               374, 377, 378, 380, 384, 385, 386, 387, 391, 393, 396, 397, 400, 405, 410, 413, 414, 419, 420, 421,
               428, 431, 434, 440, 442, 444, 445, 446, 447, 450, 454, 456, 458, 463, 467, 474});
  for (unsigned seed : seeds.all()) {
    reseed(seed + 700000);
    seeds.begin(seed);
    nodes.clear();
    gs.clear();
    up.clear();
    xs.clear();
    ps.clear();
    hs.clear();
    cell = 0;
    memset(hosts, 0, sizeof hosts);
    for (int i = 0; i < 3; i++) {
      cudaGraph_t g;
      M(cudaGraphCreate(&g, 0));
      gs.push_back(g);
      up.push_back(-1);
    }
    bool bad = false;
    for (int i = 0, n = 15 + R(30); i < n && !bad; i++) {
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
      if (r == cudaErrorIllegalAddress || r == cudaErrorLaunchFailure) return 0;
    }
    if (bad) {
      cudaGetLastError();
      continue;
    }
    for (auto& x : xs)
      if (!x.dead) M(cudaGraphExecDestroy(x.x));
    for (size_t i = 0; i < gs.size(); i++)
      if (up[i] < 0) M(cudaGraphDestroy(gs[i]));
    cudaError_t e = cudaDeviceSynchronize();
    if (e) say("left %s\n", N(e));
    cudaGetLastError();
    cells(30);
    NL();
  }
}
