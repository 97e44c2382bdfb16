// Two processes share device memory: by handles of blocks, and by an exported pool.
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

// Both processes come from a fork before the first use of the runtime. `child` returns 0 for success; it talks through
// the pipes.
struct Pipes {
  int to_child[2], to_parent[2];
};
template <class Child> pid_t start(Pipes& pipes, Child child) {
  EXPECT_EQ(pipe(pipes.to_child), 0);
  EXPECT_EQ(pipe(pipes.to_parent), 0);
  const pid_t pid = fork();
  if (pid == 0) _exit(child(pipes.to_child[0], pipes.to_parent[1]));
  return pid;
}
template <class T> bool send(int file, const T& value) {
  return write(file, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}
template <class T> bool receive(int file, T* value) {
  return read(file, value, sizeof *value) == static_cast<ssize_t>(sizeof *value);
}

TEST(Ipc, ABlockIsTheSameMemoryInAnotherProcess) {
  Pipes pipes;
  const pid_t child = start(pipes, [](int in, int out) {
    cudaIpcMemHandle_t handle;
    if (!receive(in, &handle)) return 1;
    char* p = nullptr;
    if (cudaIpcOpenMemHandle(reinterpret_cast<void**>(&p), handle, 0) != cudaErrorInvalidValue) return 2;
    if (cudaIpcOpenMemHandle(reinterpret_cast<void**>(&p), handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
      return 3;
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, p + 10) != cudaSuccess || attributes.type != cudaMemoryTypeDevice)
      return 4;
    char back[100];
    if (cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost) != cudaSuccess || back[99] != 0x5a) return 5;
    if (cudaMemset(p, 0x11, 50) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 6;
    if (cudaFree(p) != cudaErrorInvalidValue) return 7;
    if (!send(out, 1)) return 8;
    int go;
    receive(in, &go);
    return cudaIpcCloseMemHandle(p) == cudaSuccess && cudaIpcCloseMemHandle(p) == cudaErrorInvalidValue ? 0 : 9;
  });
  char *neighbour, *p;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&neighbour), 100), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&p), 100), cudaSuccess);
  ASSERT_EQ(cudaMemset(neighbour, 0x77, 100), cudaSuccess);
  ASSERT_EQ(cudaMemset(p, 0x5a, 100), cudaSuccess);
  cudaIpcMemHandle_t handle, again;
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, p), cudaSuccess);
  ASSERT_EQ(cudaIpcGetMemHandle(&again, p), cudaSuccess);
  EXPECT_EQ(std::memcmp(&handle, &again, sizeof handle), 0);
  void* own = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess), cudaErrorDeviceUninitialized);
  EXPECT_EQ(cudaIpcGetMemHandle(&again, &own), cudaErrorInvalidValue);
  ASSERT_TRUE(send(pipes.to_child[1], handle));
  int done = 0;
  close(pipes.to_parent[1]);
  EXPECT_TRUE(receive(pipes.to_parent[0], &done));
  char back[100];
  ASSERT_EQ(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[49], 0x11);
  EXPECT_EQ(back[50], 0x5a);
  ASSERT_EQ(cudaMemcpy(back, neighbour, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[99], 0x77);
  send(pipes.to_child[1], 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaFree(neighbour), cudaSuccess);
}

}  // namespace
