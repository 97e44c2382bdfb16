// Rule: random calls of the functions that set the parameters of nodes of one type, in graphs and executable graphs,
// and what then runs.
#include "random_graphs.h"

static int* mg;
static cudaArray_t arrays[2];
static char expected_pin[4096];
enum Kind { kernel, box, row, to_symbol, from_symbol, set, host, record, wait_, child, empty, kinds };
struct Node {
  cudaGraphNode_t n;
  Kind kind;
};
static std::vector<Node> nodes;
static cudaGraph_t g;
static std::vector<cudaGraphExec_t> xs;
static std::vector<cudaGraph_t> inners;
static int one, two;
static int* cp;
static void* args[3];

// Memory by name: device, other device, pinned, pageable, managed, a device variable, null.
static char* place(int which, int offset) {
  static char* symbol;
  if (!symbol) M(cudaGetSymbolAddress((void**)&symbol, sym));
  char* const base[] = {(char*)d, (char*)d2, (char*)pin, (char*)page, (char*)mg, symbol, nullptr};
  return base[which] ? base[which] + (which == 5 ? offset % 128 : offset) : nullptr;
}
static bool on_device(int which) { return which < 2 || which == 5; }
// Copies are not given pageable memory later: a GPU takes it, and faults.
static bool pageable;
static int somewhere() {
  const int w = chance(3) ? 6 : R(6);
  return w == 3 && !pageable ? 4 : w;
}
static cudaMemcpyKind direction(int to, int from) {
  if (chance(50)) return cudaMemcpyDefault;
  if (chance(8)) return pick({cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice});
  if (to == 6 || from == 6) return cudaMemcpyDefault;
  return on_device(from) ? (on_device(to) ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost)
                         : (on_device(to) ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost);
}

struct Made {
  cudaKernelNodeParams k;
  cudaMemcpy3DParms box;
  struct {
    void *to, *from;
    size_t bytes, at;
    cudaMemcpyKind kind;
    const void* symbol;
  } row;
  cudaMemsetParams set;
  cudaHostNodeParams host;
  cudaEvent_t event;
  cudaGraph_t child;
};
static Made m;
static void make(Kind kind) {
  switch (kind) {
  case kernel: {
    const int w = R(14), c = R(16);
    one = 1 + R(3);
    two = 5;
    cp = d + c;
    args[0] = &cp;
    args[1] = &one;
    args[2] = &two;
    m.k = {};
    m.k.func = w == 0 ? (void*)k2 : w == 1 ? (void*)k3 : w == 2 ? nullptr : w == 3 ? (void*)page : (void*)k;
    m.k.gridDim = dim3(w == 4 ? 0 : w == 5 ? 3 : 1);
    m.k.blockDim = dim3(w == 6 ? 2000 : w == 7 ? 2 : 1);
    m.k.sharedMemBytes = w == 8 ? 1000 : w == 9 ? 1 << 20 : 0;
    m.k.kernelParams = args;
    struct {
      int* p;
      int v, w;
    } static packed;
    static size_t bytes;
    static void* extra[] = {(void*)1, &packed, (void*)2, &bytes, (void*)0};
    if (w >= 12) {
      packed = {cp, one, two};
      bytes = w == 12 ? 12 : 16;
      m.k.kernelParams = nullptr;
      m.k.extra = extra;
    }
    say(" w%d c%d v%d", w, c, one);
    break;
  }
  case box: {
    int to = somewhere(), from = somewhere();
    if (to == 5) to = 4;
    if (from == 5) from = 1;
    const int a = 4 * R(8), b = 1024 + 4 * R(8), w = R(12);
    m.box = {};
    const size_t pitch = 32, width = 4 * (1 + R(6)), height = chance(40) ? 1 : 1 + R(3), depth = chance(75) ? 1 : 2;
    m.box.srcPtr = make_cudaPitchedPtr(place(from, a), pitch, pitch, 4);
    m.box.dstPtr = make_cudaPitchedPtr(place(to, b), pitch, pitch, 4);
    if (w == 0) m.box.srcPos.x = 4;
    if (w == 1) m.box.dstPos.y = 1;
    m.box.extent = make_cudaExtent(w == 2 ? 0 : width, height, depth);
    m.box.kind = direction(to, from);
    if (w == 3) {
      m.box.srcPtr = {};
      m.box.srcArray = arrays[0];
      m.box.kind = cudaMemcpyDefault;
      m.box.extent.width = 1 + R(4);
    }
    if (w == 4) {
      m.box.dstPtr = {};
      m.box.dstArray = arrays[R(2)];
      m.box.kind = cudaMemcpyDefault;
      m.box.extent.width = 1 + R(4);
    }
    say(" %d+%d from %d+%d w%d %zux%zux%zu kind %d", to, b, from, a, w, width, height, depth, m.box.kind);
    break;
  }
  case row: {
    const int to = somewhere(), from = somewhere(), a = 4 * R(8), b = 1024 + 4 * R(8);
    m.row = {place(to, b), place(from, a), (size_t)(chance(6) ? 0 : 4 * (1 + R(16))), 0, direction(to, from), nullptr};
    if (to == 5 || from == 5) m.row.to = place(to == 5 ? 1 : to, b), m.row.from = place(from == 5 ? 0 : from, a);
    say(" %d+%d from %d+%d %zu kind %d", to, b, from, a, m.row.bytes, m.row.kind);
    break;
  }
  case to_symbol:
  case from_symbol: {
    const int other = somewhere(), a = 2048 + 4 * R(8);
    const int t = kind == to_symbol ? 5 : other, f = kind == to_symbol ? other : 5;
    m.row = {
        place(other, other == 5 ? 4 * R(8) : a), nullptr,         (size_t)(4 * R(12)),
        (size_t)(chance(5) ? 252 : 4 * R(8)),    direction(t, f), chance(4) ? (const void*)page : (const void*)sym};
    if (other == 5) m.row.to = place(0, a);
    say(" %d+%d %zu at %zu kind %d%s", other, a, m.row.bytes, m.row.at, m.row.kind, m.row.symbol == sym ? "" : " page");
    break;
  }
  case set: {
    const int to = somewhere(), w = R(10);
    m.set = {};
    m.set.dst = place(to == 5 ? 0 : to, 3072 + 4 * R(4));
    m.set.elementSize = w == 0 ? 3 : pick({1, 2, 4, 4, 4});
    m.set.value = m.set.elementSize == 4 ? R(70000) : R(256);
    m.set.width = w == 1 ? 0 : 1 + R(6);
    m.set.height = chance(70) ? 1 : 1 + R(3);
    m.set.pitch = w == 2 ? 4 : 32;
    say(" %d value %u size %u %zux%zu pitch %zu", to, m.set.value, m.set.elementSize, m.set.width, m.set.height,
        m.set.pitch);
    break;
  }
  case host: {
    const int w = R(10), c = R(16);
    m.host = {w == 0 ? nullptr : w < 3 ? h2 : h1, hosts + c};
    say(" w%d c%d", w, c);
    break;
  }
  case record:
  case wait_: {
    const int w = R(8);
    m.event = w == 0 ? nullptr : ev[w % 3];
    say(" w%d", w);
    break;
  }
  case child: {
    const int w = R(6);
    cudaGraph_t inner = inners[R(inners.size())];
    m.child = w == 0 ? nullptr : inner;
    int at = 0;
    while (inners[at] != inner) at++;
    say(" w%d inner %d", w, at);
    break;
  }
  default: break;
  }
}
static const char* const names[] = {"kernel", "box",    "row",  "to symbol", "from symbol", "set",
                                    "host",   "record", "wait", "child",     "empty"};

static cudaError_t add(Kind kind, cudaGraphNode_t* out, const cudaGraphNode_t* deps, size_t n) {
  switch (kind) {
  case kernel: return cudaGraphAddKernelNode(out, g, deps, n, &m.k);
  case box: return cudaGraphAddMemcpyNode(out, g, deps, n, &m.box);
  case row: return cudaGraphAddMemcpyNode1D(out, g, deps, n, m.row.to, m.row.from, m.row.bytes, m.row.kind);
  case to_symbol:
    return cudaGraphAddMemcpyNodeToSymbol(out, g, deps, n, m.row.symbol, m.row.to, m.row.bytes, m.row.at, m.row.kind);
  case from_symbol:
    return cudaGraphAddMemcpyNodeFromSymbol(out, g, deps, n, m.row.to, m.row.symbol, m.row.bytes, m.row.at, m.row.kind);
  case set: return cudaGraphAddMemsetNode(out, g, deps, n, &m.set);
  case host: return cudaGraphAddHostNode(out, g, deps, n, &m.host);
  case record: return cudaGraphAddEventRecordNode(out, g, deps, n, m.event);
  case wait_: return cudaGraphAddEventWaitNode(out, g, deps, n, m.event);
  case child: return cudaGraphAddChildGraphNode(out, g, deps, n, m.child);
  default: return cudaGraphAddEmptyNode(out, g, deps, n);
  }
}
static cudaError_t change(Kind kind, cudaGraphNode_t n, cudaGraphExec_t x) {
  switch (kind) {
  case kernel: return x ? cudaGraphExecKernelNodeSetParams(x, n, &m.k) : cudaGraphKernelNodeSetParams(n, &m.k);
  case box: return x ? cudaGraphExecMemcpyNodeSetParams(x, n, &m.box) : cudaGraphMemcpyNodeSetParams(n, &m.box);
  case row:
    return x ? cudaGraphExecMemcpyNodeSetParams1D(x, n, m.row.to, m.row.from, m.row.bytes, m.row.kind)
             : cudaGraphMemcpyNodeSetParams1D(n, m.row.to, m.row.from, m.row.bytes, m.row.kind);
  case to_symbol:
    return x ? cudaGraphExecMemcpyNodeSetParamsToSymbol(x, n, m.row.symbol, m.row.to, m.row.bytes, m.row.at, m.row.kind)
             : cudaGraphMemcpyNodeSetParamsToSymbol(n, m.row.symbol, m.row.to, m.row.bytes, m.row.at, m.row.kind);
  case from_symbol:
    return x ? cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, n, m.row.to, m.row.symbol, m.row.bytes, m.row.at,
                                                          m.row.kind)
             : cudaGraphMemcpyNodeSetParamsFromSymbol(n, m.row.to, m.row.symbol, m.row.bytes, m.row.at, m.row.kind);
  case set: return x ? cudaGraphExecMemsetNodeSetParams(x, n, &m.set) : cudaGraphMemsetNodeSetParams(n, &m.set);
  case host: return x ? cudaGraphExecHostNodeSetParams(x, n, &m.host) : cudaGraphHostNodeSetParams(n, &m.host);
  case record:
    return x ? cudaGraphExecEventRecordNodeSetEvent(x, n, m.event) : cudaGraphEventRecordNodeSetEvent(n, m.event);
  case wait_: return x ? cudaGraphExecEventWaitNodeSetEvent(x, n, m.event) : cudaGraphEventWaitNodeSetEvent(n, m.event);
  case child: return x ? cudaGraphExecChildGraphNodeSetParams(x, n, m.child) : cudaSuccess;
  default: return cudaSuccess;
  }
}
// What all memory holds, as one number, after it was filled and the executable graph was launched.
static void launch(cudaGraphExec_t x) {
  static unsigned char fill[4096], out[4096];
  for (int i = 0; i < 4096; i++) fill[i] = i * 7 + i / 64;
  for (void* p : {(void*)d, (void*)d2, (void*)mg}) M(cudaMemcpy(p, fill, 4096, cudaMemcpyDefault));
  M(cudaMemcpyToSymbol(sym, fill, sizeof sym));
  M(cudaDeviceSynchronize());
  memcpy(pin, fill, 4096);
  memcpy(page, fill, 4096);
  memset(hosts, 0, sizeof hosts);
  for (auto a : arrays) M(cudaMemcpy2DToArray(a, 0, 0, fill, 32, 32, 8, cudaMemcpyHostToDevice));
  M(cudaDeviceSynchronize());
  cudaError_t r = cudaGraphLaunch(x, s);
  say(" launch %s", N(r));
  r = cudaStreamSynchronize(s);
  if (r) say(" wait %s", N(r));
  say(" [");
  auto tell = [](const void* p, size_t bytes) {
    unsigned long long h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char*)p)[i]) * 0x100000001b3ull;
    say(" %04llx", h & 0xffff);
  };
  for (void* p : {(void*)d, (void*)d2, (void*)mg}) {
    M(cudaMemcpy(out, p, 4096, cudaMemcpyDefault));
    tell(out, 4096);
  }
  M(cudaMemcpyFromSymbol(out, sym, sizeof sym));
  tell(out, sizeof sym);
  tell(pin, 4096);
  tell(page, 4096);
  tell(hosts, sizeof hosts);
  for (auto a : arrays) {
    M(cudaMemcpy2DFromArray(out, 32, a, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    tell(out, 256);
  }
  say(" ]");
}
int main(int c, char** v) {
  ginit();
  guard();
  M(cudaMallocManaged(&mg, 4096));
  cudaChannelFormatDesc fd = cudaCreateChannelDesc<int>();
  for (auto& a : arrays) M(cudaMallocArray(&a, &fd, 8, 8));
  for (int i = 0; i < 3; i++) {  // two of one shape, one of another
    cudaGraph_t inner;
    M(cudaGraphCreate(&inner, 0));
    cudaGraphNode_t n = kern(inner, nullptr, 0, (void*)k, 20 + i, i + 1);
    if (i == 2) kern(inner, &n, 1, (void*)k, 23, 9);
    inners.push_back(inner);
  }
  // A set that gets elements of another size in an executable graph writes other bytes on a GPU, and 330 gives a copy
  // another array.
  Seeds seeds(c, v, 0, 600, {66, 138, 179, 272, 325, 330, 380, 405, 511, 539});
  for (unsigned seed : seeds.all()) {
    reseed(seed + 90000000);
    seeds.begin(seed);
    nodes.clear();
    xs.clear();
    pageable = chance(50);
    M(cudaGraphCreate(&g, 0));
    if (sigsetjmp(on_fault, 1)) {
      say(" crashes\n");
      cudaGetLastError();
      continue;
    }
    for (int i = 0, n = 4 + R(8); i < n; i++) {
      const Kind kind = (Kind)R(kinds);
      say("add %s", names[kind]);
      make(kind);
      cudaGraphNode_t made = nullptr;
      const cudaError_t r = add(kind, &made, nodes.empty() ? nullptr : &nodes.back().n, nodes.empty() ? 0 : 1);
      cudaGetLastError();
      say(" = %s\n", N(r));
      if (!r) nodes.push_back({made, kind});
    }
    for (int i = 0; i < 2; i++) {
      cudaGraphExec_t x = nullptr;
      const cudaError_t r = cudaGraphInstantiate(&x, g, 0);
      say("instantiate = %s", N(r));
      cudaGetLastError();
      if (!r) {
        launch(x);
        xs.push_back(x);
      }
      NL();
      pageable = false;
      if (!xs.empty())
        for (int j = 0, n = 4 + R(14); j < n && !nodes.empty(); j++) {
          const Node node = nodes[R(nodes.size())];
          const Kind kind = chance(85) ? node.kind : (Kind)R(kinds);
          const int x = chance(80) ? R(xs.size()) : -1;
          int at = 0;
          while (nodes[at].n != node.n) at++;
          if (chance(12)) {
            unsigned on = R(3), is = 9;
            say("enable %d x%d %u", at, x, on);
            cudaError_t e = cudaGraphNodeSetEnabled(x < 0 ? nullptr : xs[x], node.n, on);
            say(" = %s", N(e));
            e = cudaGraphNodeGetEnabled(x < 0 ? nullptr : xs[x], node.n, &is);
            say(" %s %u\n", N(e), is);
            cudaGetLastError();
            continue;
          }
          say("change %d (%s) x%d as %s", at, names[node.kind], x, names[kind]);
          make(kind);
          const cudaError_t e = change(kind, node.n, x < 0 ? nullptr : xs[x]);
          cudaGetLastError();
          say(" = %s", N(e));
          if (!e && x >= 0) launch(xs[x]);
          NL();
        }
    }
    for (auto x : xs) {
      launch(x);
      NL();
      M(cudaGraphExecDestroy(x));
    }
    M(cudaGraphDestroy(g));
  }
}
