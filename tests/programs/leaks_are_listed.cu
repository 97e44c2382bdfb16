// MILLRACE_LEAKS=1: what was never freed is listed on standard error at exit, one line a block, and a sum. Runs itself
// again with the variable set, and reads what it says.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

static void leak() {
  void *kept, *freed, *host, *managed, *ordered;
  cudaMalloc(&kept, 1000);
  cudaMalloc(&freed, 2000);
  cudaFree(freed);
  cudaMallocHost(&host, 300);
  cudaMallocManaged(&managed, 400);
  cudaMallocAsync(&ordered, 500, nullptr);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocAsync(&freed, 600, stream);
  cudaFreeAsync(freed, stream);
  cudaDeviceSynchronize();
}

int main(int argc, char**) {
  if (argc > 1) return leak(), 0;
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    setenv("MILLRACE_LEAKS", "1", 1);
    execl("/proc/self/exe", "leaks", "leak", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  int wrong = status != 0;
  for (const char* line : {"1000 bytes of device memory", "300 bytes of pinned memory", "400 bytes of managed memory",
                           "500 bytes of stream-ordered memory", "4 blocks, 2200 bytes in all, were never freed"})
    if (text.find(line) == std::string::npos) {
      std::printf("not said: %s\n", line);
      ++wrong;
    }
  if (text.find("2000 bytes") != std::string::npos || text.find("600 bytes") != std::string::npos) {
    std::printf("what was freed is listed\n");
    ++wrong;
  }
  if (wrong) std::printf("it said:\n%s", text.c_str());
  std::printf("%d wrong\n", wrong);
  return wrong;
}
