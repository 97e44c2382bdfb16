// Device memory of another process of the same user (API reference, cudaIpcGetMemHandle and kin).
//
// A block's memory is private until its handle is asked for. Then the pages it lies in move into a memory file, at the
// same addresses, and the handle says which file of which process. Whoever opens the handle maps the file through
// /proc, which lets only the same user in; the mapping outlives the exporting process, as long as it is not closed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include <cuda_runtime_api.h>
#include <model/context.h>
#include <model/memory.h>
#include <simt/protect.h>

namespace mr::model {

using memory::Kind;
using memory::Pointer;
using memory::space;

namespace {

constexpr std::uint64_t handle_magic = 0x6c6c696d2d637069ull;

// cudaIpcMemHandle_t as we fill it.
struct Handle {
  std::uint64_t magic;
  std::int32_t process;
  std::int32_t file;     // descriptor in that process
  std::uint64_t inode;   // of the file, so that a reused descriptor is noticed
  std::uint64_t offset;  // of the block in the file
  std::uint64_t bytes;   // of the block
  std::uint64_t file_bytes;
  std::uint64_t device;
  std::uint64_t unused;
};
static_assert(sizeof(Handle) == sizeof(cudaIpcMemHandle_t));

struct Exported {
  std::size_t bytes = 0;
  int file = -1;
};
struct Opened {
  void* mapping = nullptr;
  std::size_t bytes = 0;
  unsigned count = 0;
  std::uint64_t inode = 0;
};

std::mutex ipc_lock;
// Page ranges of this process's heaps that lie in files, by their first address. They stay there: freed blocks' pages
// are used again.
std::map<std::uintptr_t, Exported>& exported() {
  static auto* const map = new std::map<std::uintptr_t, Exported>;
  return *map;
}
// What was opened, by the address that the user got.
std::map<void*, Opened>& opened() {
  static auto* const map = new std::map<void*, Opened>;
  return *map;
}

// Moves [begin, begin + bytes) into a memory file. -1 when the kernel refuses. No work may be using it.
int move_to_file(std::uintptr_t begin, std::size_t bytes, int key) noexcept {
  const int file = memfd_create("millrace-ipc", MFD_CLOEXEC);
  if (file < 0) return -1;
  void* const at = reinterpret_cast<void*>(begin);
  simt::protect::RuntimeScope access;  // system calls read with the caller's rights
  std::size_t written = 0;
  while (ftruncate(file, static_cast<off_t>(bytes)) == 0 && written < bytes) {
    const ssize_t n = pwrite(file, static_cast<char*>(at) + written, bytes - written, static_cast<off_t>(written));
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  if (written != bytes || mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return -1;
  }
  if (key >= 0) memory::set_access(at, bytes, key);
  return file;
}

}  // namespace

cudaError_t ipc_export(cudaIpcMemHandle_t* out, void* pointer) noexcept {
  const Pointer found = space().find(pointer);
  if (found.kind != Kind::device || found.owner || !found.block.live ||
      (found.block.tag != memory::BlockTag::plain && found.block.tag != memory::BlockTag::pitched))
    return cudaErrorInvalidValue;
  // The pages move: nothing may write to them meanwhile.
  if (Context* context = existing_context(found.device)) context->synchronize();
  const std::scoped_lock hold(ipc_lock);
  const auto base = reinterpret_cast<std::uintptr_t>(found.block.base);
  std::uintptr_t first = base / memory::page_bytes * memory::page_bytes;
  const std::uintptr_t last = (base + found.block.extent + memory::page_bytes - 1) / memory::page_bytes *
                              memory::page_bytes;
  // Pages that a neighbour's export moved already are in its file; a block that lies partly there is moved as a whole.
  auto known = exported().upper_bound(base);
  const bool inside = known != exported().begin() &&
                      (--known, base + found.block.extent <= known->first + known->second.bytes);
  int file = -1;
  std::size_t file_bytes = 0;
  if (inside) {
    file = known->second.file;
    file_bytes = known->second.bytes;
    first = known->first;
  } else {
    file_bytes = last - first;
    for (const auto& [start, range] : exported())
      if (start < last && first < start + range.bytes)
        return cudaErrorInvalidValue;  // another process maps a part of these pages
    file = move_to_file(first, file_bytes, space().device_key());
    if (file < 0) return cudaErrorMemoryAllocation;
    exported()[first] = {file_bytes, file};
  }
  struct stat status;
  if (fstat(file, &status) != 0) return cudaErrorInvalidValue;
  Handle handle{handle_magic,
                getpid(),
                file,
                status.st_ino,
                base - first,
                found.block.size,
                file_bytes,
                static_cast<std::uint64_t>(found.device),
                0};
  std::memcpy(out, &handle, sizeof handle);
  return cudaSuccess;
}

cudaError_t ipc_open(void** out, const cudaIpcMemHandle_t& raw) noexcept {
  Handle handle;
  std::memcpy(&handle, &raw, sizeof handle);
  if (handle.magic != handle_magic || handle.bytes == 0 || handle.offset >= handle.file_bytes)
    return cudaErrorInvalidValue;
  if (handle.process == getpid()) return cudaErrorDeviceUninitialized;
  const std::scoped_lock hold(ipc_lock);
  for (auto& [pointer, mapping] : opened())
    if (mapping.inode == handle.inode &&
        static_cast<char*>(pointer) == static_cast<char*>(mapping.mapping) + handle.offset) {
      ++mapping.count;
      *out = pointer;
      return cudaSuccess;
    }
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (file < 0) return cudaErrorMapBufferObjectFailed;
  if (fstat(file, &status) != 0 || status.st_ino != handle.inode) {
    close(file);
    return cudaErrorMapBufferObjectFailed;
  }
  void* mapping = mmap(nullptr, handle.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapping == MAP_FAILED) return cudaErrorMapBufferObjectFailed;
  if (space().device_key() >= 0) memory::set_access(mapping, handle.file_bytes, space().device_key());
  char* const block = static_cast<char*>(mapping) + handle.offset;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  space().ranges().insert({begin, begin + handle.bytes, nullptr, 0, static_cast<std::uint8_t>(Kind::device),
                           static_cast<std::int16_t>(current_context().ordinal)});
  opened()[block] = {mapping, handle.file_bytes, 1, handle.inode};
  *out = block;
  return cudaSuccess;
}

cudaError_t ipc_close(void* pointer) noexcept {
  const std::scoped_lock hold(ipc_lock);
  const auto found = opened().find(pointer);
  if (found == opened().end()) return cudaErrorInvalidValue;
  current_context().synchronize();
  if (--found->second.count) return cudaSuccess;
  space().ranges().erase(reinterpret_cast<std::uintptr_t>(pointer));
  munmap(found->second.mapping, found->second.bytes);
  opened().erase(found);
  return cudaSuccess;
}

}  // namespace mr::model
