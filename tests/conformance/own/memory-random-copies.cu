// Rule: what copies and sets of every form answer, and what they leave in memory, whatever they are given.
#include "random_memory_calls.h"

struct Region {
  const char* name;
  char* at;
  size_t size;
  bool host;
};
__device__ int variable[256];
__constant__ int constants[64];
static char* host;  // pageable but for what is registered in its middle
static const size_t host_bytes = 8 << 20, registered_at = 2 << 20, page_at = 5 << 20;
static std::vector<Region> regions;
static Region none = {"null", nullptr, 0, false};
struct ArrayOf {
  const char* name;
  cudaArray_t array;
  cudaExtent extent;
  int element;
};
static std::vector<ArrayOf> arrays;
static cudaStream_t stream, blocking;

static const char* array_name(cudaArray_const_t array) {
  for (auto& a : arrays)
    if (a.array == array) return a.name;
  return array ? "?" : "none";
}

// A place: mostly in one of the regions, at its beginning, inside or near its end.
struct Place {
  Region* region;
  long offset;
  char* at() const { return region->at + offset; }
};
static Place place(int misuse) {
  if (chance(misuse)) return Place{&none, 0};
  Region* r = &regions[below((int)regions.size())];
  // What lies behind a block may be nobody's, which is ordinary memory to a copy, or another one's.
  const long behind = (long)r->size - (r->at >= host && r->at < host + host_bytes ? 0 : 8);
  return {r, pick({0l, 0l, 0l, 4l, 16l, 100l, (long)r->size / 2, (long)r->size - 16, behind, 256l, 1l})};
}
static Place other_than(const Place& first, int misuse) {
  for (;;) {
    const Place p = place(misuse);
    if (p.region != first.region || !p.region->at) return p;
  }
}
static std::string S(const Place& p) { return std::string(p.region->name) + "+" + std::to_string(p.offset); }

static void fill_all(unsigned seed) {
  static int pattern[4096];
  for (auto& r : regions) {
    for (size_t i = 0; i < 4096; ++i) pattern[i] = (int)(i * 2654435761u + seed + r.name[0] * 77 + r.name[1]);
    if (r.host)
      memcpy(r.at, pattern, r.size);
    else
      MUST(cudaMemcpy(r.at, pattern, r.size, cudaMemcpyHostToDevice));
  }
  // What copies from and to pageable memory may reach beyond their regions.
  memset(host + registered_at - 4096, 1, 4096);
  memset(host + registered_at + 8192, 2, 600 << 10);
  memset(host + page_at + 8192, 3, 600 << 10);
  for (auto& a : arrays) {
    for (size_t i = 0; i < 4096; ++i) pattern[i] = (int)(i * 40503u + seed + a.name[1]);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(pattern, a.extent.width * a.element, a.extent.width,
                                   a.extent.height ? a.extent.height : 1);
    p.dstArray = a.array;
    p.extent = make_cudaExtent(a.extent.width, a.extent.height ? a.extent.height : 1,
                               a.extent.depth ? a.extent.depth : 1);
    p.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&p));
  }
  for (size_t i = 0; i < 64; ++i) pattern[i] = (int)(i * 77 + seed);
  MUST(cudaMemcpyToSymbol(constants, pattern, 256));
  MUST(cudaDeviceSynchronize());
}
static unsigned contents() {
  static int back[4096];
  unsigned long long hash = 1469598103934665603ull;
  for (auto& r : regions) {
    if (r.host) {
      hash = hash_of(r.at, r.size, hash);
    } else {
      MUST(cudaMemcpy(back, r.at, r.size, cudaMemcpyDeviceToHost));
      hash = hash_of(back, r.size, hash);
    }
  }
  hash = hash_of(host + registered_at - 4096, 4096, hash);
  hash = hash_of(host + registered_at + 8192, 4096, hash);
  MUST(cudaMemcpyFromSymbol(back, constants, 256));
  hash = hash_of(back, 256, hash);
  for (auto& a : arrays) {
    cudaMemcpy3DParms p = {};
    const size_t height = a.extent.height ? a.extent.height : 1, depth = a.extent.depth ? a.extent.depth : 1;
    p.dstPtr = make_cudaPitchedPtr(back, a.extent.width * a.element, a.extent.width, height);
    p.srcArray = a.array;
    p.extent = make_cudaExtent(a.extent.width, height, depth);
    p.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&p));
    hash = hash_of(back, a.extent.width * a.element * height * depth, hash);
  }
  return (unsigned)(hash ^ hash >> 32);
}

static cudaMemcpyKind some_kind(const Place* dst = nullptr, const Place* src = nullptr) {
  if (chance(45)) return cudaMemcpyDefault;
  if (dst && src && chance(60)) return (cudaMemcpyKind)((src->region->host ? 0 : 2) + (dst->region->host ? 0 : 1));
  return (cudaMemcpyKind)pick({0, 1, 2, 3, 4, 1, 2, 3, 5, -1});
}
static cudaStream_t some_stream() {
  return pick({stream, stream, blocking, (cudaStream_t)0, cudaStreamLegacy, cudaStreamPerThread});
}
static const char* stream_name(cudaStream_t s) {
  return s == stream                ? "s"
         : s == blocking            ? "b"
         : s == cudaStreamLegacy    ? "legacy"
         : s == cudaStreamPerThread ? "thread"
                                    : "0";
}
static size_t some_size() { return pick({0, 1, 4, 16, 100, 256, 1024, 4096, 8192, 16, 64}); }
static size_t some_width() { return pick({4, 16, 64, 100, 0, 1, 32, 128, 16, 64}); }
static size_t some_height() { return pick({1, 1, 2, 3, 4, 8, 0, 5}); }
static size_t some_pitch() { return pick({128, 128, 512, 64, 256, 100, 0, 16, 32, 3}); }

static cudaArray_t some_array(int misuse = 5) {
  if (chance(misuse)) return nullptr;
  return arrays[below((int)arrays.size())].array;
}
static void linear() {
  const Place dst = place(5), src = other_than(dst, 5);
  const size_t bytes = some_size();
  const cudaMemcpyKind kind = some_kind(&dst, &src);
  const bool async = chance(50);
  const cudaStream_t s = some_stream();
  say("memcpy%s %s %s %zu kind %d %s", async ? "Async" : "", S(dst).c_str(), S(src).c_str(), bytes, kind,
      async ? stream_name(s) : "");
  result(async ? cudaMemcpyAsync(dst.at(), src.at(), bytes, kind, s) : cudaMemcpy(dst.at(), src.at(), bytes, kind));
}
static void flat() {
  const Place dst = place(4), src = other_than(dst, 4);
  const cudaMemcpyKind kind = some_kind(&dst, &src);
  const bool async = chance(50);
  const cudaStream_t s = some_stream();
  const size_t dp = some_pitch(), sp = some_pitch(), w = some_width(), h = some_height();
  say("memcpy2D%s %s/%zu %s/%zu %zux%zu kind %d %s", async ? "Async" : "", S(dst).c_str(), dp, S(src).c_str(), sp, w, h,
      kind, async ? stream_name(s) : "");
  result(async ? cudaMemcpy2DAsync(dst.at(), dp, src.at(), sp, w, h, kind, s)
               : cudaMemcpy2D(dst.at(), dp, src.at(), sp, w, h, kind));
}
static cudaPitchedPtr some_pitched(const Place& p) {
  const bool simple = chance(50);
  const size_t pitch = simple ? 128 : some_pitch();
  const size_t x = simple ? 64 : pick({64, 32, 16, 0, 200});
  const size_t y = simple ? 4 : pick({4, 1, 2, 0, 16});
  return make_cudaPitchedPtr(p.at(), pitch, x, y);
}
static cudaPos some_position() {
  if (chance(70)) return cudaPos{0, 0, 0};
  const size_t x = below(8), y = below(3), z = below(2);
  return cudaPos{x, y, z};
}
static cudaExtent some_extent() {
  const size_t w = pick({16, 4, 8, 32, 1, 12, 16, 0}), h = pick({1, 1, 2, 3, 4, 8, 0}), d = pick({1, 1, 1, 1, 2, 3, 0});
  return cudaExtent{w, h, d};
}
static std::string S(const Place& p, const cudaPitchedPtr& q) {
  return S(p) + "/" + std::to_string(q.pitch) + "/" + std::to_string(q.xsize) + "/" + std::to_string(q.ysize);
}
static std::string S(const cudaPos& p) {
  return "@" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z);
}
static void box() {
  cudaMemcpy3DParms p = {};
  cudaMemcpy3DPeerParms q = {};
  const Place dst = place(4), src = other_than(dst, 4);
  if (chance(45)) p.dstArray = some_array();
  if (chance(45)) p.srcArray = some_array();
  if (p.dstArray == p.srcArray) p.srcArray = nullptr;
  if (!p.dstArray || chance(2)) p.dstPtr = some_pitched(dst);
  if (!p.srcArray || chance(2)) p.srcPtr = some_pitched(src);
  p.dstPos = some_position();
  p.srcPos = some_position();
  p.extent = some_extent();
  p.kind = p.srcArray || p.dstArray ? some_kind() : some_kind(&dst, &src);
  const cudaStream_t s = some_stream();
  const int form = below(5), to = pick({0, 0, 0, 0, 0, 1, -1}), from = pick({0, 0, 0, 0, 0, 1, -1});
  say("memcpy3D form %d %s %s%s <- %s %s%s extent %zu,%zu,%zu kind %d %s", form, array_name(p.dstArray),
      S(dst, p.dstPtr).c_str(), S(p.dstPos).c_str(), array_name(p.srcArray), S(src, p.srcPtr).c_str(),
      S(p.srcPos).c_str(), p.extent.width, p.extent.height, p.extent.depth, p.kind, stream_name(s));
  if (form < 2) {
    result(form ? cudaMemcpy3DAsync(&p, s) : cudaMemcpy3D(&p));
  } else if (form < 4) {
    say(" devices %d %d", to, from);
    q.dstArray = p.dstArray;
    q.dstPtr = p.dstPtr;
    q.dstPos = p.dstPos;
    q.srcArray = p.srcArray;
    q.srcPtr = p.srcPtr;
    q.srcPos = p.srcPos;
    q.extent = p.extent;
    q.dstDevice = to;
    q.srcDevice = from;
    result(form == 2 ? cudaMemcpy3DPeer(&q) : cudaMemcpy3DPeerAsync(&q, s));
  } else {
    result(cudaMemcpy3DAsync(&p, s));
  }
}
static bool beyond(cudaArray_t array, size_t x, size_t y, size_t bytes) {
  for (auto& a : arrays)
    if (a.array == array)
      return y * a.extent.width * a.element + x + bytes >
             a.extent.width * a.element * (a.extent.height ? a.extent.height : 1);
  return false;
}
static void with_arrays() {
  const int form = below(6);
  const bool async = chance(50);
  const cudaStream_t s = some_stream();
  const Place at = place(5);
  const cudaArray_t a = some_array(), b = some_array();
  const size_t x = pick({0, 0, 0, 4, 8, 16, 3, 60}), y = pick({0, 0, 0, 1, 2, 7}), x2 = pick({0, 0, 4, 8}),
               y2 = pick({0, 0, 1, 2});
  const size_t w = some_width(), h = some_height(), given = some_pitch(),
               pitch = given ? given : 128;  // none crashes a GPU's runtime
  const cudaMemcpyKind kind = chance(35) ? cudaMemcpyDefault : (cudaMemcpyKind)pick({0, 1, 2, 3, 1, 2, 3, 5});
  const size_t bytes = some_size();
  say("array form %d%s %s %s@%zu,%zu @%zu,%zu %s/%zu %zux%zu %zu kind %d %s", form, async ? "Async" : "", array_name(a),
      array_name(b), x, y, x2, y2, S(at).c_str(), pitch, w, h, bytes, kind, async ? stream_name(s) : "");
  switch (form) {
  case 0:
    result(async ? cudaMemcpy2DToArrayAsync(a, x, y, at.at(), pitch, w, h, kind, s)
                 : cudaMemcpy2DToArray(a, x, y, at.at(), pitch, w, h, kind));
    break;
  case 1:
    result(async ? cudaMemcpy2DFromArrayAsync(at.at(), pitch, a, x, y, w, h, kind, s)
                 : cudaMemcpy2DFromArray(at.at(), pitch, a, x, y, w, h, kind));
    break;
  case 2:
    if (a == b) {
      say(" same");
      break;
    }
    result(cudaMemcpy2DArrayToArray(a, x, y, b, x2, y2, w, h, kind));
    break;
  case 3:
    result(async ? cudaMemcpyToArrayAsync(a, x, y, at.at(), bytes, kind, s)
                 : cudaMemcpyToArray(a, x, y, at.at(), bytes, kind));
    break;
  case 4:
    result(async ? cudaMemcpyFromArrayAsync(at.at(), a, x, y, bytes, kind, s)
                 : cudaMemcpyFromArray(at.at(), a, x, y, bytes, kind));
    break;
  case 5:
    // How much is copied of what reaches beyond an array depends on how the bytes are cut.
    if (a == b || beyond(a, x, y, bytes) || beyond(b, x2, y2, bytes)) {
      say(" same");
      break;
    }
    result(cudaMemcpyArrayToArray(a, x, y, b, x2, y2, bytes, kind));
    break;
  }
}
static int not_a_symbol[4];
static void symbol() {
  const int form = below(4);
  const Place at = place(5);
  const cudaStream_t s = some_stream();
  const int which = pick({0, 0, 0, 1, 1, 2, 3});
  const bool open = chance(30);
  const void* const of[] = {variable, constants, not_a_symbol, nullptr};
  // So may what lies behind a variable be, if the direction is left open.
  const size_t bytes = some_size(), far = pick({0, 0, 0, 4, 16, 100, 256, 1024, 1020, 5000}),
               offset = open && far >= (which == 1 ? 256 : 1024) ? 200 : far;
  const cudaMemcpyKind kind = open ? cudaMemcpyDefault : (cudaMemcpyKind)pick({0, 1, 2, 3, 1, 2, 3, 5});
  if (at.region->at == nullptr && bytes == 0) return;
  // Calls that don't wait copy what lies behind a variable.
  if ((form & 2) && which < 2 && offset + bytes > (which == 1 ? 256u : 1024u)) return;
  say("symbol form %d %d+%zu %s %zu kind %d %s", form, which, offset, S(at).c_str(), bytes, kind,
      form & 2 ? stream_name(s) : "");
  if (!strcmp(at.region->name, "variable") && which == 0) {
    say(" same\n");
    return;
  }
  switch (form) {
  case 0: result(cudaMemcpyToSymbol(of[which], at.at(), bytes, offset, kind)); break;
  case 1: result(cudaMemcpyFromSymbol(at.at(), of[which], bytes, offset, kind)); break;
  case 2: result(cudaMemcpyToSymbolAsync(of[which], at.at(), bytes, offset, kind, s)); break;
  case 3: result(cudaMemcpyFromSymbolAsync(at.at(), of[which], bytes, offset, kind, s)); break;
  }
}
static void peer() {
  const Place dst = place(4), src = other_than(dst, 4);
  const bool async = chance(50);
  const cudaStream_t s = some_stream();
  const int to = pick({0, 0, 0, 0, 0, 1, -1}), from = pick({0, 0, 0, 0, 0, 1, -1});
  const size_t bytes = some_size();
  say("memcpyPeer%s %s %d %s %d %zu %s", async ? "Async" : "", S(dst).c_str(), to, S(src).c_str(), from, bytes,
      async ? stream_name(s) : "");
  result(async ? cudaMemcpyPeerAsync(dst.at(), to, src.at(), from, bytes, s)
               : cudaMemcpyPeer(dst.at(), to, src.at(), from, bytes));
}
static cudaMemLocation some_location() {
  cudaMemLocation l = {};
  l.type = (cudaMemLocationType)pick({0, 0, 1, 1, 2, 3, 4, 5, -1});
  l.id = pick({0, 0, 0, 0, 1, -1});
  return l;
}
static void batch() {
  void* to[3];
  const void* from[3];
  size_t sizes[3];
  const int count = pick({1, 1, 2, 3, 3, 0});
  const cudaStream_t s = pick({stream, stream, stream, blocking, (cudaStream_t)0, cudaStreamPerThread});
  say("batch %s", stream_name(s));
  Place used[6];
  for (int i = 0; i < 3; ++i) {
    // Copies of a batch have no order among themselves: what one writes, no other touches.
    for (bool again = true; again;) {
      used[2 * i] = place(i < count ? 2 : 0);
      used[2 * i + 1] = other_than(used[2 * i], i < count ? 2 : 0);
      again = false;
      for (int j = 0; j < 2 * i; ++j)
        if (used[j].region == used[2 * i].region || used[j].region == used[2 * i + 1].region) again = true;
    }
    to[i] = used[2 * i].at();
    from[i] = used[2 * i + 1].at();
    sizes[i] = pick({4, 16, 100, 256, 1, 0, 4096, 64});
    if (i < count) say(" [%s %s %zu]", S(used[2 * i]).c_str(), S(used[2 * i + 1]).c_str(), sizes[i]);
  }
  cudaMemcpyAttributes attributes[3] = {};
  size_t at[3] = {};
  const int n = pick({1, 1, 1, 1, 2, 2, 0, 3});
  for (int i = 0; i < n; ++i) {
    attributes[i].srcAccessOrder = (cudaMemcpySrcAccessOrder)pick({1, 1, 1, 1, 2, 3, 0, 4, -1});
    if (chance(30)) attributes[i].srcLocHint = some_location();
    if (chance(30)) attributes[i].dstLocHint = some_location();
    attributes[i].flags = pick({0, 0, 0, 1, 2});
    at[i] = chance(85) ? i : below(4);
    say(" {%d %d/%d %d/%d flags %u at %zu}", attributes[i].srcAccessOrder, attributes[i].srcLocHint.type,
        attributes[i].srcLocHint.id, attributes[i].dstLocHint.type, attributes[i].dstLocHint.id, attributes[i].flags,
        at[i]);
  }
  result(cudaMemcpyBatchAsync(to, from, sizes, count, attributes, at, n, s));
}
static void box_batch() {
  cudaMemcpy3DBatchOp operations[2] = {};
  const int count = pick({1, 1, 1, 2, 0});
  const unsigned long long flags = pick({0, 0, 0, 0, 0, 1});
  const cudaStream_t s = pick({stream, stream, stream, blocking, (cudaStream_t)0});
  say("batch3D %d flags %llu %s", count, flags, stream_name(s));
  for (int i = 0; i < count; ++i) {
    cudaMemcpy3DBatchOp& op = operations[i];
    const Place dst = {&regions[i * 3], pick({0, 0, 64})},
                src = chance(5) ? place(60) : Place{&regions[i * 3 + 1], pick({0, 0, 16})};
    auto side = [&](cudaMemcpy3DOperand& o, const Place& p, int which) {
      if (chance(40)) {
        o.type = cudaMemcpyOperandTypeArray;
        o.op.array.array = arrays[i * 2 + which].array;
        if (chance(30)) {
          const size_t x = below(8), y = below(3), z = below(2);
          o.op.array.offset = {x, y, z};
        }
        say(" %s@%zu,%zu,%zu", array_name(o.op.array.array), o.op.array.offset.x, o.op.array.offset.y,
            o.op.array.offset.z);
      } else {
        o.type = chance(96) ? cudaMemcpyOperandTypePointer : (cudaMemcpy3DOperandType)pick({0, 3});
        o.op.ptr.ptr = p.at();
        o.op.ptr.rowLength = pick({0, 0, 16, 32, 64, 8, 128});
        o.op.ptr.layerHeight = pick({0, 0, 4, 8, 1, 2});
        if (chance(25)) o.op.ptr.locHint = some_location();
        say(" %s/%zu/%zu hint %d/%d type %d", S(p).c_str(), o.op.ptr.rowLength, o.op.ptr.layerHeight,
            o.op.ptr.locHint.type, o.op.ptr.locHint.id, o.type);
      }
    };
    side(op.dst, dst, 0);
    side(op.src, src, 1);
    op.extent = some_extent();
    op.srcAccessOrder = (cudaMemcpySrcAccessOrder)pick({1, 1, 1, 1, 1, 2, 3, 0, 4});
    op.flags = pick({0, 0, 0, 0, 1, 2});
    say(" extent %zu,%zu,%zu order %d flags %u;", op.extent.width, op.extent.height, op.extent.depth, op.srcAccessOrder,
        op.flags);
  }
  result(cudaMemcpy3DBatchAsync(count, operations, flags, s));
}
static void set() {
  const Place at = place(6);
  const bool async = chance(50);
  const cudaStream_t s = some_stream();
  const int form = below(3), value = pick({0, 1, 255, 256, -1, 0x1234567});
  const size_t w = some_width(), h = some_height(), pitch = some_pitch(), bytes = some_size();
  const cudaPitchedPtr p = some_pitched(at);
  const cudaExtent extent = some_extent();
  if (form == 0) {
    say("memset%s %s %d %zu %s", async ? "Async" : "", S(at).c_str(), value, bytes, async ? stream_name(s) : "");
    result(async ? cudaMemsetAsync(at.at(), value, bytes, s) : cudaMemset(at.at(), value, bytes));
  } else if (form == 1) {
    say("memset2D%s %s/%zu %d %zux%zu %s", async ? "Async" : "", S(at).c_str(), pitch, value, w, h,
        async ? stream_name(s) : "");
    result(async ? cudaMemset2DAsync(at.at(), pitch, value, w, h, s) : cudaMemset2D(at.at(), pitch, value, w, h));
  } else {
    say("memset3D%s %s %d %zu,%zu,%zu %s", async ? "Async" : "", S(at, p).c_str(), value, extent.width, extent.height,
        extent.depth, async ? stream_name(s) : "");
    result(async ? cudaMemset3DAsync(p, value, extent, s) : cudaMemset3D(p, value, extent));
  }
}

int main(int count, char** arguments) {
  auto device = [](size_t bytes) {
    void* p = nullptr;
    MUST(cudaMalloc(&p, bytes));
    return (char*)p;
  };
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamCreate(&blocking));
  host = (char*)aligned_alloc(1 << 21, host_bytes);
  memset(host, 0, host_bytes);
  void *pinned, *mapped, *managed, *pooled, *address, *pitched;
  size_t pitch;
  MUST(cudaMallocHost(&pinned, 8192));
  MUST(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  MUST(cudaHostRegister(host + registered_at, 8192, cudaHostRegisterDefault));
  MUST(cudaMallocManaged(&managed, 8192));
  MUST(cudaMallocAsync(&pooled, 4096, stream));
  MUST(cudaStreamSynchronize(stream));
  MUST(cudaGetSymbolAddress(&address, variable));
  MUST(cudaMallocPitch(&pitched, &pitch, 100, 8));
  regions = {{"dev", device(8192), 8192, false},
             {"pinned", (char*)pinned, 8192, true},
             {"page", host + page_at, 8192, true},
             {"small", device(1024), 1024, false},
             {"registered", host + registered_at, 8192, true},
             {"managed", (char*)managed, 8192, true},
             {"pooled", (char*)pooled, 4096, false},
             {"mapped", (char*)mapped, 4096, true},
             {"variable", (char*)address, 1024, false},
             {"Pitched", (char*)pitched, pitch * 8, false}};
  auto array = [&](const char* name, cudaChannelFormatDesc format, int element, size_t w, size_t h, size_t d,
                   unsigned flags) {
    cudaArray_t a = nullptr;
    MUST(cudaMalloc3DArray(&a, &format, make_cudaExtent(w, h, d), flags));
    arrays.push_back({name, a, make_cudaExtent(w, h, d), element});
  };
  array("a1", cudaCreateChannelDesc<int>(), 4, 32, 0, 0, 0);
  array("a2", cudaCreateChannelDesc<int>(), 4, 16, 8, 0, 0);
  array("a3", cudaCreateChannelDesc<int>(), 4, 16, 8, 4, 0);
  array("al", cudaCreateChannelDesc<int>(), 4, 16, 8, 3, cudaArrayLayered);
  array("ab", cudaCreateChannelDesc<uchar1>(), 1, 64, 4, 0, 0);
  array("a8", cudaCreateChannelDesc<float2>(), 8, 8, 4, 2, 0);
  // Left out: seeds with boxes and sets that reach into other blocks, or whose pitch or height is none at a position.
  return run_seeds(
      count, arguments, 1000,
      {11, 57, 67, 247, 259, 333, 371, 418, 534, 546, 563, 590, 618, 633, 709, 714, 732, 770, 849, 896, 928}, [&] {
        fill_all(seed_at);
        for (int i = 0; i < 30; ++i) {
          switch (below(9)) {
          case 0: linear(); break;
          case 1: flat(); break;
          case 2: box(); break;
          case 3: with_arrays(); break;
          case 4: symbol(); break;
          case 5: peer(); break;
          case 6: batch(); break;
          case 7: box_batch(); break;
          case 8: set(); break;
          }
          const cudaError_t wait = cudaDeviceSynchronize();
          say(" %s %08x\n", wait ? name_of(wait) : "", contents());
        }
      });
}
