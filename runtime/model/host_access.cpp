#include <model/host_access.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include <memory/space.h>
#include <model/code_site.h>

namespace mr::model {

using memory::Kind;
using memory::Pointer;
using memory::space;

bool report_host_access(const void* address, bool is_write) {
  const Pointer found = space().ready() ? space().find(address) : Pointer{};
  if (!memory::on_device(found.kind)) return false;
  const char* did = is_write ? "wrote to" : "read";
  char text[1536];
  int length;
  if (found.kind == Kind::variable) {
    length = std::snprintf(text, sizeof text,
                           "millrace: host code %s a __device__ or __constant__ variable at %p, which only kernels may "
                           "do; use %s\n",
                           did, address, is_write ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol");
  } else if (!found.block.base || !found.block.live) {
    length = std::snprintf(text, sizeof text,
                           "millrace: host code %s device memory at %p, which is not allocated; only kernels and the "
                           "cudaMemcpy and cudaMemset functions may use device memory\n",
                           did, address);
  } else {
    char site[640];
    describe_call_site(site, sizeof site, found.block.site);
    length = std::snprintf(text, sizeof text,
                           "millrace: host code %s device memory at %p, byte %llu of the %zu allocated by %s; use "
                           "cudaMemcpy, or allocate it with cudaMallocManaged\n",
                           did, address,
                           static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address) -
                                                           reinterpret_cast<std::uintptr_t>(found.block.base)),
                           found.block.size, site);
  }
  if (length > 0) {
    const auto bytes = static_cast<std::size_t>(length) < sizeof text ? static_cast<std::size_t>(length)
                                                                      : sizeof text - 1;
    // Not through stdio, whose lock the interrupted code may hold.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, bytes);
  }
  return true;
}

}  // namespace mr::model
