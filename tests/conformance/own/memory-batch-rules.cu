// Rule: what batches of copies say to null lists and entries, each kind of pointer, sizes beyond a block's end, hints,
// flags, orders and streams; and to boxes in batches.
#include "call_sections.h"

static char host[4096], other[4096];
struct Batch {
  void* dst[3];
  const void* src[3];
  size_t sizes[3] = {64, 64, 64};
  cudaMemcpyAttributes attributes[3] = {};
  size_t indexes[3] = {0, 1, 2};
  size_t count = 3, kinds = 1;
  cudaStream_t stream;
  Batch(void* to, const void* from, cudaStream_t s) : stream(s) {
    for (int i = 0; i < 3; ++i) {
      dst[i] = (char*)to + 64 * i;
      src[i] = (const char*)from + 64 * i;
      attributes[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    }
  }
  cudaError_t run() { return cudaMemcpyBatchAsync(dst, src, sizes, count, attributes, indexes, kinds, stream); }
};
static void after(const char* what, cudaError_t e) {
  std::printf("%s %s", what, E(e));
  std::printf(" then %s\n", E(cudaDeviceSynchronize()));
}
static char *d, *d2, *h, *m, *a;
static cudaStream_t s;
static void prepare() {
  MUST(cudaStreamCreate(&s));
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  MUST(cudaMallocAsync(&a, 4096, s));
  MUST(cudaMemset(d, 1, 4096));
  MUST(cudaDeviceSynchronize());
}
static void lists() {
  prepare();
  Batch b(d, h, s);
  CALL(cudaMemcpyBatchAsync((void**)nullptr, b.src, b.sizes, 3, b.attributes, b.indexes, 1, s));
  CALL(cudaMemcpyBatchAsync(b.dst, (const void**)nullptr, b.sizes, 3, b.attributes, b.indexes, 1, s));
  CALL(cudaMemcpyBatchAsync(b.dst, b.src, nullptr, 3, b.attributes, b.indexes, 1, s));
  CALL(cudaMemcpyBatchAsync(b.dst, b.src, b.sizes, 3, nullptr, b.indexes, 1, s));
  CALL(cudaMemcpyBatchAsync(b.dst, b.src, b.sizes, 3, b.attributes, nullptr, 1, s));
  CALL(cudaMemcpyBatchAsync(b.dst, b.src, b.sizes, 3, nullptr, nullptr, 0, s));
  for (int i = 0; i < 3; ++i) {
    Batch c(d, h, s);
    c.dst[i] = nullptr;
    std::printf("null target %d", i);
    after("", c.run());
    c = Batch(d, h, s);
    c.src[i] = nullptr;
    std::printf("null source %d", i);
    after("", c.run());
    c = Batch(d, h, s);
    c.sizes[i] = 0;
    std::printf("no bytes %d", i);
    after("", c.run());
  }
}
static void places() {
  prepare();
  char* ps[] = {d, h, m, a, host, d + 4000, h + 4000, m + 4000, a + 4000};
  const char* names[] = {"device",     "pinned",     "managed",     "ordered",    "pageable",
                         "device end", "pinned end", "managed end", "ordered end"};
  for (int order = 1; order <= 3; ++order)
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) {
        if (i == j || (i > 4 && j > 4)) continue;
        Batch b(ps[i], ps[j], s);
        if (i == 4) b.dst[0] = other;
        b.count = 1;
        for (size_t n : {(size_t)64, (size_t)96, (size_t)97, (size_t)4096}) {
          if ((i == 4 || j == 4) && n > 97 && (i > 4 || j > 4)) continue;
          b.sizes[0] = n;
          b.attributes[0].srcAccessOrder = (cudaMemcpySrcAccessOrder)order;
          std::printf("order %d, %s from %s, %zu:", order, names[i], names[j], n);
          after("", b.run());
        }
      }
}
static void inner() {
  prepare();
  for (int bad = 0; bad < 3; ++bad) {
    MUST(cudaMemset(d, 1, 4096));
    MUST(cudaMemset(d2, 9, 4096));
    MUST(cudaDeviceSynchronize());
    Batch b(d, d2, s);
    b.sizes[bad] = 8192;
    std::printf("entry %d too long", bad);
    after("", b.run());
    char got[192];
    MUST(cudaMemcpy(got, d, 192, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d\n", got[0], got[64], got[128]);
  }
}
static void attributes() {
  prepare();
  for (int f : {0, 1, 2, 3, 4, 0x80}) {
    Batch b(d, h, s);
    b.attributes[0].flags = f;
    std::printf("flags %d", f);
    after("", b.run());
  }
  for (int order : {-1, 0, 1, 2, 3, 4, 0x7fffffff}) {
    Batch b(d, h, s);
    b.attributes[0].srcAccessOrder = (cudaMemcpySrcAccessOrder)order;
    std::printf("order %d", order);
    after("", b.run());
  }
  for (int type = -1; type < 6; ++type)
    for (int id : {-1, 0, 1, 77}) {
      Batch b(d, m, s);
      b.attributes[0].srcLocHint = {(cudaMemLocationType)type, id};
      std::printf("source at %d %d", type, id);
      after("", b.run());
      b.attributes[0].srcLocHint = {};
      b.attributes[0].dstLocHint = {(cudaMemLocationType)type, id};
      std::printf("target at %d %d", type, id);
      after("", b.run());
    }
  Batch b(d, h, s);
  b.kinds = 3;
  after("three kinds", b.run());
  b.indexes[1] = 2;
  b.indexes[2] = 1;
  after("falling", b.run());
  b.indexes[2] = 3;
  after("beyond", b.run());
  b.kinds = 4;
  after("more kinds than copies", b.run());
  b.count = 0;
  after("no copies", b.run());
}
static void streams() {
  prepare();
  Batch b(d, h, nullptr);
  after("null", b.run());
  b.stream = cudaStreamLegacy;
  after("legacy", b.run());
  b.stream = cudaStreamPerThread;
  after("per thread", b.run());
  b.stream = s;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  std::printf("captured %s\n", E(b.run()));
  cudaGraph_t g = nullptr;
  CALL(cudaStreamEndCapture(s, &g));
  cudaStream_t n;
  MUST(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
  b.stream = n;
  after("non-blocking", b.run());
}
static cudaMemcpy3DBatchOp op(void* to, const void* from) {
  cudaMemcpy3DBatchOp o = {};
  o.src.type = o.dst.type = cudaMemcpyOperandTypePointer;
  o.src.op.ptr = {(void*)from, 0, 0, {}};
  o.dst.op.ptr = {to, 0, 0, {}};
  o.extent = make_cudaExtent(16, 4, 2);
  o.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return o;
}
static void boxes() {
  prepare();
  cudaMemcpy3DBatchOp o = op(d, h);
  after("good", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  after("no list", cudaMemcpy3DBatchAsync(1, nullptr, 0, s));
  after("none", cudaMemcpy3DBatchAsync(0, &o, 0, s));
  for (unsigned long long f : {1ull, 2ull, 1ull << 40}) after("flags", cudaMemcpy3DBatchAsync(1, &o, f, s));
  after("null stream", cudaMemcpy3DBatchAsync(1, &o, 0, nullptr));
  after("legacy", cudaMemcpy3DBatchAsync(1, &o, 0, cudaStreamLegacy));
  for (int type : {0, 1, 3, 77}) {
    o = op(d, h);
    o.src.type = (cudaMemcpy3DOperandType)type;
    std::printf("source type %d", type);
    if (type != 2) after("", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  }
  for (unsigned f : {1u, 2u, 0x80u}) {
    o = op(d, h);
    o.flags = f;
    after("entry's flags", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  }
  for (int order : {0, 2, 3, 4}) {
    o = op(d, h);
    o.srcAccessOrder = (cudaMemcpySrcAccessOrder)order;
    std::printf("order %d", order);
    after("", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  }
  for (size_t w : {0, 16, 4096})
    for (size_t y : {0, 4, 300})
      for (size_t z : {0, 2, 100}) {
        o = op(d, h);
        o.extent = make_cudaExtent(w, y, z);
        std::printf("extent %zu %zu %zu", w, y, z);
        after("", cudaMemcpy3DBatchAsync(1, &o, 0, s));
      }
  for (size_t row : {0, 8, 16, 17, 32, 512, 4096})
    for (size_t layer : {0, 1, 3, 4, 5, 64}) {
      o = op(d, h);
      o.src.op.ptr.rowLength = row;
      o.src.op.ptr.layerHeight = layer;
      std::printf("row %zu layer %zu", row, layer);
      after("", cudaMemcpy3DBatchAsync(1, &o, 0, s));
    }
  o = op(nullptr, h);
  after("null target", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  o = op(d, nullptr);
  after("null source", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  o = op(d + 4000, h);
  after("beyond the end", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  o = op(d, host);
  after("pageable", cudaMemcpy3DBatchAsync(1, &o, 0, s));
  o = op(d, m);
  o.src.op.ptr.locHint = {(cudaMemLocationType)77, 0};
  after("hint", cudaMemcpy3DBatchAsync(1, &o, 0, s));
}
int main() {
  alone("lists", lists);
  alone("places", places);
  alone("inner", inner);
  alone("attributes", attributes);
  alone("streams", streams);
  alone("boxes", boxes);
}
