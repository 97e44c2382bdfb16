// Functions of the C library that read or write memory for their caller: what they touch is the program's doing, though
// they are not instrumented. They stand in front of the C library's; copies and sets come by host.cpp in instrumented
// code.
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

#include "next.h"
#include "state.h"

using namespace mr::check;

#define MR_PC reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))
#define MR_FRONT extern "C" [[gnu::visibility("default")]]
#define MR_NEXT(type, name) static const auto next = next_function<type>(#name)

MR_FRONT int memcmp(const void* a, const void* b, std::size_t n) noexcept {
  MR_NEXT(int (*)(const void*, const void*, std::size_t), memcmp);
  host_access(a, n, reads, MR_PC);
  host_access(b, n, reads, MR_PC);
  return next(a, b, n);
}
MR_FRONT int bcmp(const void* a, const void* b, std::size_t n) noexcept {
  MR_NEXT(int (*)(const void*, const void*, std::size_t), bcmp);
  host_access(a, n, reads, MR_PC);
  host_access(b, n, reads, MR_PC);
  return next(a, b, n);
}
MR_FRONT std::size_t fwrite(const void* from, std::size_t size, std::size_t count, FILE* file) {
  MR_NEXT(std::size_t (*)(const void*, std::size_t, std::size_t, FILE*), fwrite);
  host_access(from, size * count, reads, MR_PC);
  return next(from, size, count, file);
}
MR_FRONT std::size_t fread(void* to, std::size_t size, std::size_t count, FILE* file) {
  MR_NEXT(std::size_t (*)(void*, std::size_t, std::size_t, FILE*), fread);
  host_access(to, size * count, writes, MR_PC);
  return next(to, size, count, file);
}
MR_FRONT ssize_t write(int file, const void* from, std::size_t n) {
  MR_NEXT(ssize_t(*)(int, const void*, std::size_t), write);
  host_access(from, n, reads, MR_PC);
  return next(file, from, n);
}
MR_FRONT ssize_t pwrite(int file, const void* from, std::size_t n, off_t at) {
  MR_NEXT(ssize_t(*)(int, const void*, std::size_t, off_t), pwrite);
  host_access(from, n, reads, MR_PC);
  return next(file, from, n, at);
}
MR_FRONT ssize_t read(int file, void* to, std::size_t n) {
  MR_NEXT(ssize_t(*)(int, void*, std::size_t), read);
  host_access(to, n, writes, MR_PC);
  return next(file, to, n);
}
MR_FRONT ssize_t pread(int file, void* to, std::size_t n, off_t at) {
  MR_NEXT(ssize_t(*)(int, void*, std::size_t, off_t), pread);
  host_access(to, n, writes, MR_PC);
  return next(file, to, n, at);
}
MR_FRONT ssize_t send(int socket, const void* from, std::size_t n, int flags) {
  MR_NEXT(ssize_t(*)(int, const void*, std::size_t, int), send);
  host_access(from, n, reads, MR_PC);
  return next(socket, from, n, flags);
}
MR_FRONT ssize_t recv(int socket, void* to, std::size_t n, int flags) {
  MR_NEXT(ssize_t(*)(int, void*, std::size_t, int), recv);
  host_access(to, n, writes, MR_PC);
  return next(socket, to, n, flags);
}
