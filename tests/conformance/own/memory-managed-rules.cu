// Rule: what advice, prefetches, discards and queries of managed memory say to each kind of pointer, range and
// location.
#include "call_sections.h"

static const cudaMemLocation places[] = {{cudaMemLocationTypeInvalid, 0},     {cudaMemLocationTypeDevice, 0},
                                         {cudaMemLocationTypeDevice, 1},      {cudaMemLocationTypeDevice, -1},
                                         {cudaMemLocationTypeDevice, -2},     {cudaMemLocationTypeHost, 0},
                                         {cudaMemLocationTypeHost, 7},        {cudaMemLocationTypeHostNuma, 0},
                                         {cudaMemLocationTypeHostNuma, 1000}, {cudaMemLocationTypeHostNumaCurrent, 0},
                                         {(cudaMemLocationType)77, 0}};
static char host[8192];
static void show(const void* p, size_t n) {
  int v[4] = {77, 77, 77, 77};
  for (auto a : {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation,
                 cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributePreferredLocationType,
                 cudaMemRangeAttributePreferredLocationId, cudaMemRangeAttributeLastPrefetchLocationType,
                 cudaMemRangeAttributeLastPrefetchLocationId}) {
    v[0] = 77;
    const cudaError_t e = cudaMemRangeGetAttribute(v, 4, a, p, n);
    std::printf(" [%d %s %d]", (int)a, E(e), v[0]);
  }
  for (int k : {1, 2, 4}) {
    int w[4] = {77, 77, 77, 77};
    const cudaError_t e = cudaMemRangeGetAttribute(w, 4 * k, cudaMemRangeAttributeAccessedBy, p, n);
    std::printf(" [by %s %d %d %d %d]", E(e), w[0], w[1], w[2], w[3]);
  }
  std::puts("");
}
static void advise() {
  char *g, *d, *h;
  MUST(cudaMallocManaged(&g, 1 << 20));
  MUST(cudaMalloc(&d, 1 << 20));
  MUST(cudaMallocHost(&h, 1 << 20));
  for (int a = 0; a < 9; ++a)
    for (int l = 0; l < 11; ++l) {
      std::printf("advice %d place %d: %s", a, l, E(cudaMemAdvise(g, 1 << 20, (cudaMemoryAdvise)a, places[l])));
      show(g, 1 << 20);
    }
  const cudaMemLocation here = places[1];
  for (char* p : {d, h, host, (char*)nullptr})
    for (int a = 1; a < 7; ++a) {
      std::printf("%s advice %d: %s\n",
                  p == d      ? "device"
                  : p == h    ? "pinned"
                  : p == host ? "host"
                              : "null",
                  a, E(cudaMemAdvise(p, 4096, (cudaMemoryAdvise)a, here)));
    }
  CALL(cudaMemAdvise(g, 0, cudaMemAdviseSetReadMostly, here));
  CALL(cudaMemAdvise(g + 4096, 4096, cudaMemAdviseSetReadMostly, here));
  show(g + 4096, 4096);
  show(g, 4096);
  show(g, 8192);
  show(g + 5000, 10);
  show(g + 4000, 200);
  CALL(cudaMemAdvise(g + 100, 100, cudaMemAdviseSetPreferredLocation, here));
  show(g, 4096);
  show(g + 8192, 4096);
  CALL(cudaMemAdvise(g, (1 << 20) + 1, cudaMemAdviseSetReadMostly, here));
  CALL(cudaMemAdvise(g, 2 << 20, cudaMemAdviseSetReadMostly, here));
  CALL(cudaMemAdvise(g, (size_t)1 << 40, cudaMemAdviseSetReadMostly, here));
  CALL(cudaFree(g));
  CALL(cudaMemAdvise(g, 4096, cudaMemAdviseSetReadMostly, here));
}
static void prefetch() {
  char *g, *d, *h, *b;
  MUST(cudaMallocManaged(&g, 1 << 20));
  MUST(cudaMallocManaged(&b, 1 << 20, cudaMemAttachHost));
  MUST(cudaMalloc(&d, 1 << 20));
  MUST(cudaMallocHost(&h, 1 << 20));
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  for (int l = 0; l < 11; ++l) {
    std::printf("place %d: %s", l, E(cudaMemPrefetchAsync(g, 1 << 20, places[l], 0, s)));
    show(g, 1 << 20);
  }
  const cudaMemLocation here = places[1];
  CALL(cudaMemPrefetchAsync(g, 4096, here, 1, s));
  CALL(cudaMemPrefetchAsync(g, 0, here, 0, s));
  CALL(cudaMemPrefetchAsync(nullptr, 4096, here, 0, s));
  CALL(cudaMemPrefetchAsync(d, 4096, here, 0, s));
  CALL(cudaMemPrefetchAsync(h, 4096, here, 0, s));
  CALL(cudaMemPrefetchAsync(host, 4096, here, 0, s));
  CALL(cudaMemPrefetchAsync(b, 4096, here, 0, s));
  CALL(cudaMemPrefetchAsync(g + 10, 10, here, 0, s));
  CALL(cudaMemPrefetchAsync(g, (1 << 20) + 1, here, 0, s));
  CALL(cudaMemPrefetchAsync(g, 3 << 20, here, 0, s));
  CALL(cudaMemPrefetchAsync(g, 4096, places[5], 0, s));
  show(g, 4096);
  show(g, 8192);
  show(g + 4096, 4096);
  CALL(cudaStreamSynchronize(s));
}
static void query() {
  char *g, *d;
  MUST(cudaMallocManaged(&g, 1 << 20));
  MUST(cudaMalloc(&d, 1 << 20));
  int v[4];
  for (size_t n : {0, 1, 2, 4, 5, 8, 12})
    for (int a = 0; a < 10; ++a)
      std::printf("size %zu attribute %d %s\n", n, a,
                  E(cudaMemRangeGetAttribute(v, n, (cudaMemRangeAttribute)a, g, 4096)));
  CALL(cudaMemRangeGetAttribute(nullptr, 4, cudaMemRangeAttributeReadMostly, g, 4096));
  CALL(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, nullptr, 4096));
  CALL(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, g, 0));
  CALL(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, d, 4096));
  CALL(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, host, 4096));
  CALL(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, g, 4 << 20));
  int r = 7, l = 7;
  void* data[] = {&r, &l};
  size_t sizes[] = {4, 4};
  cudaMemRangeAttribute at[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation};
  CALL(cudaMemRangeGetAttributes(data, sizes, at, 2, g, 4096));
  std::printf("%d %d\n", r, l);
  CALL(cudaMemRangeGetAttributes(data, sizes, at, 0, g, 4096));
  CALL(cudaMemRangeGetAttributes(nullptr, sizes, at, 2, g, 4096));
  CALL(cudaMemRangeGetAttributes(data, nullptr, at, 2, g, 4096));
  CALL(cudaMemRangeGetAttributes(data, sizes, nullptr, 2, g, 4096));
  CALL(cudaMemRangeGetAttributes(data, sizes, at, 2, d, 4096));
  sizes[1] = 3;
  CALL(cudaMemRangeGetAttributes(data, sizes, at, 2, g, 4096));
}
static void allocate() {
  void* p = (void*)8;
  for (unsigned f : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 99u}) {
    p = (void*)8;
    std::printf("flags %u %s", f, E(cudaMallocManaged(&p, 100, f)));
    std::printf(" %d\n", p == (void*)8 ? 8 : p ? 1 : 0);
  }
  p = (void*)8;
  CALL(cudaMallocManaged(&p, 0));
  FACT(p == (void*)8 ? 8 : p ? 1 : 0);
  CALL(cudaMallocManaged((void**)nullptr, 10));
  p = (void*)8;
  CALL(cudaMallocManaged(&p, (size_t)1 << 60));
  FACT(p == (void*)8 ? 8 : p ? 1 : 0);
}
static void batches() {
  char *g, *d;
  MUST(cudaMallocManaged(&g, 1 << 20));
  MUST(cudaMalloc(&d, 1 << 20));
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  void* p[] = {g, g + 65536};
  size_t n[] = {4096, 4096};
  cudaMemLocation to[] = {places[1], places[5]};
  size_t at[] = {0, 1};
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  show(g, 4096);
  show(g + 65536, 4096);
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 1, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 0, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 3, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 0, to, at, 1, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 1, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 0, 0));
  CALL(cudaMemPrefetchBatchAsync(nullptr, n, 2, to, at, 2, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, nullptr, 2, to, at, 2, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, nullptr, at, 2, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, nullptr, 2, 0, s));
  at[0] = 1;
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  at[0] = 0;
  n[1] = 0;
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  n[1] = 4096;
  p[1] = d;
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  p[1] = g + 65536;
  CALL(cudaMemDiscardBatchAsync(p, n, 2, 0, s));
  CALL(cudaMemDiscardBatchAsync(p, n, 0, 0, s));
  CALL(cudaMemDiscardBatchAsync(p, n, 2, 1, s));
  CALL(cudaMemDiscardBatchAsync(p, n, 2, 0, 0));
  CALL(cudaMemDiscardBatchAsync(nullptr, n, 2, 0, s));
  CALL(cudaMemDiscardBatchAsync(p, nullptr, 2, 0, s));
  CALL(cudaMemDiscardAndPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  CALL(cudaMemDiscardAndPrefetchBatchAsync(p, n, 2, to, at, 0, 0, s));
  CALL(cudaMemDiscardAndPrefetchBatchAsync(p, n, 2, to, at, 2, 1, s));
  p[1] = d;
  CALL(cudaMemDiscardBatchAsync(p, n, 2, 0, s));
  CALL(cudaMemDiscardAndPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  p[1] = host;
  CALL(cudaMemDiscardBatchAsync(p, n, 2, 0, s));
  CALL(cudaMemPrefetchBatchAsync(p, n, 2, to, at, 2, 0, s));
  CALL(cudaStreamSynchronize(s));
}
int main() {
  alone("advise", advise);
  alone("prefetch", prefetch);
  alone("query", query);
  alone("allocate", allocate);
  alone("batches", batches);
}
