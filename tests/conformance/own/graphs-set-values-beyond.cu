// Rule: sets in graphs whose value is larger than their elements: what the bits beyond do, by size, width, rows and
// place.
#include "call_sections.h"
#include <string>

static unsigned char *memory[3], *shown;
static cudaStream_t s;
static void run(const cudaMemsetParams& p, bool later) {
  cudaGraph_t g;
  cudaGraphNode_t n;
  cudaGraphExec_t x;
  MUST(cudaGraphCreate(&g, 0));
  cudaMemsetParams first = p;
  if (later) first.value = 0;
  MUST(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &first));
  MUST(cudaGraphInstantiate(&x, g, 0));
  if (later) MUST(cudaGraphExecMemsetNodeSetParams(x, n, &p));
  MUST(cudaGraphLaunch(x, s));
  MUST(cudaStreamSynchronize(s));
  MUST(cudaGraphExecDestroy(x));
  MUST(cudaGraphDestroy(g));
}
int main() {
  MUST(cudaMalloc(&memory[0], 4096));
  MUST(cudaMallocManaged(&memory[1], 4096));
  MUST(cudaMallocHost(&memory[2], 4096));
  MUST(cudaMallocHost(&shown, 4096));
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int where = 0; where < 3; where++)
    for (unsigned size : {1u, 2u, 4u})
      for (unsigned value : {0x12345678u, 0xabcdu, 0x100u})
        for (size_t height : {1, 2, 3})
          for (size_t width : {1, 2, 3, 4, 5, 8, 9})
            for (size_t at : {0u, size}) {
              if (width == 9 && size == 2) continue;  // one word more, in one row
              cudaMemsetParams p = {};
              p.dst = memory[where] + 64 + at;
              p.elementSize = size;
              p.value = value;
              p.width = width;
              p.height = height;
              p.pitch = 48;
              std::string line;
              for (bool later : {false, true}) {
                MUST(cudaMemset(memory[where], 0xee, 512));
                MUST(cudaDeviceSynchronize());
                run(p, later);
                MUST(cudaMemcpy(shown, memory[where], 512, cudaMemcpyDefault));
                std::string now;
                for (size_t i = 64; i < 64 + 48 * height; i++) {
                  char b[4];
                  snprintf(b, 4, "%02x", shown[i]);
                  if (i < 64 + at + size * width + 48 * (height - 1) && (i - 64) % 48 < at + size * width) now += b;
                  if ((i - 64) % 48 == 47) now += " ";
                }
                if (!later)
                  line = now;
                else if (now != line)
                  line += " later " + now;
              }
              std::printf("memory %d size %u value %x %zux%zu at %zu: %s\n", where, size, value, width, height, at,
                          line.c_str());
            }
}
