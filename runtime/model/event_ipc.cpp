#include <model/event_ipc.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <engine/op.h>

namespace mr::model {
namespace {

// What processes share. Numbers of records begin at 1.
struct Page {
  std::atomic<std::uint64_t> recorded;  // the newest record
  std::atomic<std::uint64_t>
      completed;  // the newest record that is complete. Release: what its stream did before is visible
  std::atomic<std::int32_t> recorder;  // process that made the newest record
  std::atomic<std::uint32_t>
      sleepers;  // who waits for `completed`. seq_cst with it: one of waker and sleeper sees the other
};

// One process's share. Freed with the last reference: one of each event, and one for each operation.
struct Share {
  Page* page = nullptr;
  int file = -1;
  bool imported = false;   // an imported event has no handle of its own
  std::int32_t maker = 0;  // the process that made it, and the file's number: what a handle is recognised by
  std::uint64_t inode = 0;
  std::atomic<int> references{1};
};

// What this process has opened. A handle can be opened again as long as one of its events is left here, also when the
// process that made it has destroyed its own. Guarded by opened_lock.
std::mutex opened_lock;
std::vector<Share*>& opened() {
  static auto* const shares = new std::vector<Share*>;
  return *shares;
}

Share* share_of(const Event& event) noexcept { return static_cast<Share*>(event.ipc); }
Share* keep(Share* share) noexcept {
  share->references.fetch_add(1, std::memory_order_relaxed);
  return share;
}
// Under opened_lock. False: its last reference is just being dropped.
bool keep_if_alive(Share* share) noexcept {
  int n = share->references.load(std::memory_order_relaxed);
  while (n && !share->references.compare_exchange_weak(n, n + 1, std::memory_order_relaxed)) {}
  return n != 0;
}
void drop(Share* share) noexcept {
  if (share->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (share->imported) {
    const std::scoped_lock hold(opened_lock);
    std::erase(opened(), share);
  }
  munmap(share->page, sizeof(Page));
  close(share->file);
  delete share;
}

Share* map_page(int file) noexcept {
  void* const at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* share = new (std::nothrow) Share;
  if (!share) {
    munmap(at, sizeof(Page));
    return nullptr;
  }
  share->page = static_cast<Page*>(at);
  share->file = file;
  return share;
}

// The futex is the low half of `completed`, not private: other processes sleep on it.
void* futex_of(Page& page) noexcept { return &page.completed; }

void complete(Page& page, std::uint64_t record) noexcept {
  std::uint64_t now = page.completed.load(std::memory_order_relaxed);
  while (now < record &&
         !page.completed.compare_exchange_weak(now, record, std::memory_order_seq_cst, std::memory_order_relaxed)) {}
  if (page.sleepers.load(std::memory_order_seq_cst))
    syscall(SYS_futex, futex_of(page), FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0);
}

bool is_complete(const Page& page, std::uint64_t record) noexcept {
  return page.completed.load(std::memory_order_acquire) >= record;
}

// A process that is gone completes nothing any more.
void give_up_on_the_dead(Page& page) noexcept {
  const pid_t recorder = page.recorder.load(std::memory_order_relaxed);
  if (recorder && recorder != getpid() && kill(recorder, 0) != 0 && errno == ESRCH)
    complete(page, page.recorded.load(std::memory_order_relaxed));
}

void sleep_until(Page& page, std::uint64_t record) noexcept {
  page.sleepers.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const std::uint64_t now = page.completed.load(std::memory_order_seq_cst);
    if (now >= record) break;
    const timespec look_again = {0, 100'000'000};
    syscall(SYS_futex, futex_of(page), FUTEX_WAIT, static_cast<std::uint32_t>(now), &look_again, nullptr, 0);
    give_up_on_the_dead(page);
  }
  page.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

engine::OpResult complete_op(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  auto* share = static_cast<Share*>(op.data[0]);
  complete(*share->page, reinterpret_cast<std::uintptr_t>(op.data[1]));
  drop(share);
  return engine::OpResult::done;
}

// Streams that wait for records of other processes: one thread looks after them all, made with the first.
class Watcher {
 public:
  void add(Share* share, std::uint64_t record, engine::Queue& queue) {
    std::scoped_lock hold(mutex_);
    waits_.push_back({share, record, &queue});
    if (!running_) {
      running_ = true;
      std::thread([this] { run(); }).detach();
    }
    more_.notify_one();
  }

 private:
  struct Wait {
    Share* share;
    std::uint64_t record;
    engine::Queue* queue;
  };
  void run() {
    std::unique_lock hold(mutex_);
    for (;;) {
      more_.wait(hold, [&] { return !waits_.empty(); });
      for (std::size_t i = 0; i < waits_.size();) {
        const Wait wait = waits_[i];
        give_up_on_the_dead(*wait.share->page);
        if (!is_complete(*wait.share->page, wait.record) && !wait.queue->domain()->dead()) {
          ++i;
          continue;
        }
        waits_[i] = waits_.back();
        waits_.pop_back();
        hold.unlock();
        drop(wait.share);
        wait.queue->finish_asynchronous();
        hold.lock();
      }
      // Another process can't tell this one's threads apart: look again soon.
      more_.wait_for(hold, std::chrono::microseconds(200));
    }
  }
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<Wait> waits_;
  bool running_ = false;
};
Watcher& watcher() {
  static auto* const instance = new Watcher;
  return *instance;
}

engine::OpResult wait_op(engine::CustomOp& op, engine::Queue& queue, engine::Runner&, bool dead) {
  auto* share = static_cast<Share*>(op.data[0]);
  const auto record = reinterpret_cast<std::uintptr_t>(op.data[1]);
  if (dead || is_complete(*share->page, record)) {
    drop(share);
    return engine::OpResult::done;
  }
  watcher().add(share, record, queue);
  return engine::OpResult::asynchronous;
}

void push(Stream& stream, engine::OpResult (*run)(engine::CustomOp&, engine::Queue&, engine::Runner&, bool),
          Share* share, std::uint64_t record) noexcept {
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::CustomOp>(engine::OpKind::custom);
  op->flags = engine::op_even_if_dead;
  op->run = run;
  op->data[0] = keep(share);
  op->data[1] = reinterpret_cast<void*>(record);
}

constexpr std::uint64_t handle_magic = 0x6c6c696d2d747665ull;
struct Handle {
  std::uint64_t magic;
  std::int32_t process, file;
  std::uint64_t inode;  // so that a reused descriptor is noticed
  std::uint32_t flags, unused;
  std::uint64_t more[4];
};
static_assert(sizeof(Handle) == sizeof(cudaIpcEventHandle_t));

}  // namespace

cudaError_t make_shared(Event& event) noexcept {
  const int file = memfd_create("millrace-event", MFD_CLOEXEC);
  if (file < 0) return cudaErrorMemoryAllocation;
  Share* share = ftruncate(file, sizeof(Page)) == 0 ? map_page(file) : nullptr;
  if (!share) {
    close(file);
    return cudaErrorMemoryAllocation;
  }
  event.ipc = share;
  return cudaSuccess;
}

void release_shared(Event& event) noexcept {
  drop(share_of(event));
  event.ipc = nullptr;
}

void record_shared(Event& event, Stream& stream) noexcept {
  std::scoped_lock hold(event.write_lock);
  Share* share = share_of(event);
  share->page->recorder.store(getpid(), std::memory_order_relaxed);
  const std::uint64_t record = share->page->recorded.fetch_add(1, std::memory_order_acq_rel) + 1;
  push(stream, complete_op, share, record);
  event.set_point(stream.queue, stream.queue->tail());  // lets this process's threads help
}

void stream_wait_shared(Stream& stream, Event& event) noexcept {
  Share* share = share_of(event);
  const std::uint64_t record = share->page->recorded.load(std::memory_order_acquire);
  if (!is_complete(*share->page, record)) push(stream, wait_op, share, record);
}

bool shared_complete(const Event& event) noexcept {
  Page& page = *share_of(event)->page;
  give_up_on_the_dead(page);
  return is_complete(page, page.recorded.load(std::memory_order_acquire));
}

void wait_shared(Event& event, engine::WaitMode mode) noexcept {
  Share* share = keep(share_of(event));
  const std::uint64_t record = share->page->recorded.load(std::memory_order_acquire);
  const RecordPoint point = event.point();
  if (!point.complete() && !is_complete(*share->page, record)) engine::wait(*point.queue, point.sequence, mode);
  sleep_until(*share->page, record);
  drop(share);
}

cudaError_t export_event(Event& event, cudaIpcEventHandle_t* out) noexcept {
  if (!event.ipc || share_of(event)->imported) return cudaErrorInvalidResourceHandle;
  struct stat about;
  if (fstat(share_of(event)->file, &about) != 0) return cudaErrorOperatingSystem;
  const Handle handle{handle_magic, getpid(), share_of(event)->file, about.st_ino, event.flags, 0, {}};
  std::memcpy(out, &handle, sizeof handle);
  return cudaSuccess;
}

namespace {

cudaError_t open_share(const Handle& handle, Share** out) noexcept {
  const std::scoped_lock hold(opened_lock);
  for (Share* share : opened())
    if (share->maker == handle.process && share->inode == handle.inode && keep_if_alive(share)) {
      *out = share;
      return cudaSuccess;
    }
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno == EACCES || errno == EPERM ? cudaErrorNotPermitted : cudaErrorInvalidResourceHandle;
  struct stat about;
  Share* share = fstat(file, &about) == 0 && about.st_ino == handle.inode ? map_page(file) : nullptr;
  if (!share) {
    close(file);
    return cudaErrorInvalidResourceHandle;
  }
  share->imported = true;
  share->maker = handle.process;
  share->inode = handle.inode;
  opened().push_back(share);
  *out = share;
  return cudaSuccess;
}

}  // namespace

cudaError_t import_event(const cudaIpcEventHandle_t& given, cudaEvent_t* out) noexcept {
  Handle handle;
  std::memcpy(&handle, &given, sizeof handle);
  if (handle.magic != handle_magic) return cudaErrorMapBufferObjectFailed;
  if (handle.process == getpid()) return cudaErrorDeviceUninitialized;
  Share* share = nullptr;
  if (const cudaError_t error = open_share(handle, &share)) return error;
  cudaEvent_t event;
  if (const cudaError_t error = create_event(&event, handle.flags & ~static_cast<unsigned>(cudaEventInterprocess))) {
    drop(share);
    return error;
  }
  auto* made = reinterpret_cast<Event*>(event);
  made->flags = handle.flags;
  made->ipc = share;
  *out = event;
  return cudaSuccess;
}

}  // namespace mr::model
