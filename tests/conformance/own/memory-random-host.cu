// Rule: what is said about pinned, registered and managed memory, its advice, prefetches and attachments, whatever is
// asked.
#include "random_memory_calls.h"

struct Block {
  char* at;
  size_t size;
  char kind;  // 'h' pinned, 'r' registered, 'm' managed, 'd' device, 'p' pageable
  unsigned flags;
  bool live;
};
static std::vector<Block> blocks;
static char* host;  // 8 MiB of which parts are registered
static cudaStream_t streams[2];

static Block* some_block() {
  if (blocks.empty()) return nullptr;
  Block* b = &blocks[below((int)blocks.size())];
  say(" block %d kind %c", (int)(b - &blocks[0]), b->kind);
  return b->live ? b : nullptr;
}
static char* inside(Block* b) {
  const long offset = pick({0l, 0l, 0l, 1l, 100l, 4096l, (long)b->size - 1, (long)b->size / 2});
  const long at = offset < (long)b->size ? offset : 0;
  say("+%ld", at);
  return b->at + at;
}
static size_t some_size() { return pick({4096, 1, 0, 1000, 65536, 1 << 20, 4096, 3 << 20, 100000}); }
static cudaMemLocation some_location() {
  cudaMemLocation l = {};
  const int type = pick({1, 1, 1, 2, 2, 3, 4, 0, 5});
  l.type = (cudaMemLocationType)type;
  l.id = pick({0, 0, 0, 0, 1, -1});
  say(" at %d/%d", type, l.id);
  return l;
}
static cudaStream_t some_stream() {
  const int i = pick({0, 0, 1, 2, 3, 4});
  say(" stream %d", i);
  return i < 2 ? streams[i] : i == 2 ? (cudaStream_t)0 : i == 3 ? cudaStreamLegacy : cudaStreamPerThread;
}

static void allocate() {
  const int form = below(5);
  const size_t bytes = some_size();
  void* p = (void*)0x10;
  cudaError_t e;
  unsigned flags = 0;
  char kind = 'h';
  if (form < 2) {
    flags = pick({0, 1, 2, 4, 3, 7, 8, 16, 32, 6});
    say("hostAlloc %zu flags %u", bytes, flags);
    e = cudaHostAlloc(&p, bytes, flags);
  } else if (form < 4) {
    flags = pick({1, 1, 1, 2, 2, 0, 4, 3});
    say("mallocManaged %zu flags %u", bytes, flags);
    e = cudaMallocManaged(&p, bytes, flags);
    kind = 'm';
  } else {
    say("malloc %zu", bytes);
    e = cudaMalloc(&p, bytes);
    kind = 'd';
  }
  result(e);
  say(" %s", p == (void*)0x10 ? "untouched" : p ? "block" : "null");
  if (!e && p) {
    blocks.push_back({(char*)p, bytes, kind, flags, true});
    if (kind != 'd') memset(p, 1, bytes);
  }
}
static void enroll() {
  const size_t at = 4096 * below(64) + pick({0, 0, 0, 100}), bytes = pick({4096, 8192, 100, 65536, 0, 5000, 4096});
  const unsigned flags = pick({0, 0, 1, 2, 3, 4, 8, 7, 10, 16});
  const bool empty = chance(3);
  // What a registration says that shares pages with an older one but begins before it depends on both flags.
  for (Block& b : blocks) {
    const size_t old = (size_t)(b.at - host), end = old + b.size;
    if (b.kind == 'r' && b.live && at / 4096 <= (end - 1) / 4096 && old / 4096 <= (at + bytes) / 4096 &&
        !(at >= old && at < end))
      return;
  }
  say("register %zu %zu flags %u%s", at, bytes, flags, empty ? " null" : "");
  const cudaError_t e = cudaHostRegister(empty ? nullptr : host + at, bytes, flags);
  result(e);
  if (!e) blocks.push_back({host + at, bytes, 'r', flags, true});
}
static void register_other() {
  say("register");
  Block* b = some_block();
  if (!b || b->kind == 'r' || !b->size) return;
  result(cudaHostRegister(b->at, b->size, 0));
}
static void leave() {
  const int form = pick({0, 0, 0, 1, 2, 3});
  say("leave form %d", form);
  Block* b = some_block();
  if (!b) return;
  char* p = chance(20) ? inside(b) : b->at;
  if (form == 0) {
    const int right = b->kind == 'r' ? 1 : b->kind == 'h' ? 2 : 3;
    const cudaError_t e = right == 1 ? cudaHostUnregister(p) : right == 2 ? cudaFreeHost(p) : cudaFree(p);
    result(e);
    if (!e) b->live = false;
  } else {
    const cudaError_t e = form == 1 ? cudaHostUnregister(p) : form == 2 ? cudaFreeHost(p) : cudaFree(p);
    result(e);
    if (!e) b->live = false;
  }
}
static void look() {
  say("look");
  const bool outside = chance(10);
  Block* b = outside ? nullptr : some_block();
  if (!outside && !b) return;
  // Of small pinned blocks that share a page, a GPU's runtime says the flags of the first.
  const size_t far = 7 << 20;
  char* p = outside ? host + far : inside(b);
  cudaPointerAttributes a;
  memset(&a, 0x55, sizeof a);
  const cudaError_t e = cudaPointerGetAttributes(&a, p);
  say(" attributes");
  result(e);
  say(" %d %d %s %s", a.type, a.device,
      a.devicePointer == p ? "same"
      : a.devicePointer    ? "other"
                           : "null",
      a.hostPointer == p ? "same"
      : a.hostPointer    ? "other"
                         : "null");
  void* d = (void*)0x10;
  const unsigned flags = pick({0, 0, 0, 1});
  say(" device pointer %u", flags);
  result(cudaHostGetDevicePointer(&d, p, flags));
  say(" %s", d == p ? "same" : d == (void*)0x10 ? "untouched" : d ? "other" : "null");
  unsigned f = 99;
  say(" flags");
  const cudaError_t e2 = cudaHostGetFlags(&f, p);
  result(e2);
  if (e2 || !b || b->kind != 'h') say(" %u", f);
}
static size_t some_range(Block* b) {
  const size_t n = pick(
      {b->size, b->size, b->size, b->size / 2, (size_t)4096, (size_t)0, (size_t)1, b->size + 1, b->size + 65536});
  say(" %zu", n);
  return n;
}
static void advise() {
  const int advice = pick({1, 2, 3, 4, 5, 6, 1, 3, 5, 0, 7});
  say("advise %d", advice);
  Block* b = some_block();
  if (!b) return;
  char* p = chance(80) ? b->at : inside(b);
  const size_t n = some_range(b);
  result(cudaMemAdvise(p, n, (cudaMemoryAdvise)advice, some_location()));
}
static void prefetch() {
  say("prefetch");
  Block* b = some_block();
  if (!b) return;
  char* p = chance(80) ? b->at : inside(b);
  const size_t n = some_range(b);
  const cudaMemLocation l = some_location();
  const unsigned flags = pick({0, 0, 0, 0, 1});
  say(" flags %u", flags);
  cudaStream_t s = some_stream();
  result(cudaMemPrefetchAsync(p, n, l, flags, s));
  MUST(cudaDeviceSynchronize());
}
static void prefetch_batch() {
  const int form = below(3), count = pick({1, 1, 2, 0});
  say("batch form %d count %d", form, count);
  void* p[2];
  size_t sizes[2], at[2] = {};
  for (int i = 0; i < count; ++i) {
    Block* b = some_block();
    if (!b) return;
    p[i] = b->at;
    sizes[i] = some_range(b);
  }
  cudaMemLocation l[2];
  const int n = pick({1, 1, 1, 2, 0});
  for (int i = 0; i < n; ++i) {
    l[i] = some_location();
    at[i] = chance(80) ? i : below(3);
    say(" from %zu", at[i]);
  }
  const unsigned long long flags = pick({0, 0, 0, 0, 1});
  say(" flags %llu", flags);
  cudaStream_t s = some_stream();
  if (form == 0) result(cudaMemPrefetchBatchAsync(p, sizes, count, l, at, n, flags, s));
  if (form == 1) result(cudaMemDiscardBatchAsync(p, sizes, count, flags, s));
  if (form == 2) result(cudaMemDiscardAndPrefetchBatchAsync(p, sizes, count, l, at, n, flags, s));
  MUST(cudaDeviceSynchronize());
}
static void attach() {
  say("attach");
  cudaStream_t s = some_stream();
  Block* b = some_block();
  if (!b) return;
  char* p = chance(85) ? b->at : inside(b);
  const size_t n = chance(50) ? 0 : some_range(b);
  const unsigned flags = pick({1, 2, 4, 4, 3, 8});
  say(" length %zu flags %u", n, flags);
  result(cudaStreamAttachMemAsync(s, p, n, flags));
  MUST(cudaDeviceSynchronize());
}
static void range() {
  const int which = pick({1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 0, 9}), words = pick({1, 1, 1, 2, 3, 0});
  say("range attribute %d words %d", which, words);
  Block* b = some_block();
  if (!b) return;
  char* p = chance(80) ? b->at : inside(b);
  const size_t n = some_range(b), size = words * 4 - pick({0, 0, 0, 0, 1}) * (words > 0);
  int got[4] = {77, 77, 77, 77};
  say(" size %zu", size);
  const cudaError_t e = cudaMemRangeGetAttribute(got, size, (cudaMemRangeAttribute)which, p, n);
  result(e);
  say(" %d %d %d %d", got[0], got[1], got[2], got[3]);
}
static void ranges() {
  const int n = pick({1, 2, 3, 0});
  say("range attributes");
  int got[3][2] = {{77, 77}, {77, 77}, {77, 77}};
  void* data[] = {got[0], got[1], got[2]};
  size_t sizes[3];
  cudaMemRangeAttribute which[3];
  for (int i = 0; i < n; ++i) {
    which[i] = (cudaMemRangeAttribute)pick({1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 0});
    sizes[i] = pick({4, 4, 4, 8, 3, 0});
    say(" %d/%zu", which[i], sizes[i]);
  }
  Block* b = some_block();
  if (!b) return;
  const size_t bytes = some_range(b);
  const cudaError_t e = cudaMemRangeGetAttributes(data, sizes, which, n, b->at, bytes);
  result(e);
  for (auto& g : got) say(" %d %d", g[0], g[1]);
}

int main(int count, char** arguments) {
  host = (char*)aligned_alloc(1 << 21, 8 << 20);
  memset(host, 0, 8 << 20);
  MUST(cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking));
  MUST(cudaStreamCreate(&streams[1]));
  return run_seeds(count, arguments, 1000, {}, [&] {
    blocks.clear();
    for (int i = 0; i < 30; ++i) {
      switch (pick({0, 0, 0, 1, 1, 2, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8, 8, 9, 9, 10})) {
      case 0: allocate(); break;
      case 1: enroll(); break;
      case 2: register_other(); break;
      case 3: leave(); break;
      case 4: look(); break;
      case 5: advise(); break;
      case 6: prefetch(); break;
      case 7: prefetch_batch(); break;
      case 8: attach(); break;
      case 9: range(); break;
      case 10: ranges(); break;
      }
      say("\n");
    }
    MUST(cudaDeviceSynchronize());
    for (auto& b : blocks)
      if (b.live) MUST(b.kind == 'r' ? cudaHostUnregister(b.at) : b.kind == 'h' ? cudaFreeHost(b.at) : cudaFree(b.at));
  });
}
