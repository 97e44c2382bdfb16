// NO DEFECT: host threads hand pinned memory on by std::latch, std::barrier, semaphores, shared mutexes, atomic waits,
// std::call_once, packaged tasks, stop tokens and spin locks.
// nvcc-flags: -std=c++20
// EXPECT: none
#include "streams.h"
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
int main() {
  int *h = pinned(), *d = device();
  cudaStream_t s = nonblocking();
  long sum = 0;
  auto fetch = [&](int v) {
    fill<<<GRID, 0, s>>>(d, v);
    CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
  };
  auto look = [&] {
    for (int i = 0; i < n; ++i) sum += h[i];
  };
  {
    std::latch l(1), back(1);
    std::jthread t([&] {
      fetch(1);
      l.count_down();
      back.wait();
    });
    l.wait();
    look();
    back.count_down();
  }
  {
    std::barrier b(2);
    std::jthread t([&] {
      fetch(2);
      b.arrive_and_wait();
      b.arrive_and_wait();
    });
    b.arrive_and_wait();
    look();
    (void)b.arrive_and_wait();
  }
  {
    std::counting_semaphore<4> q(0);
    std::jthread t([&] {
      fetch(3);
      q.release();
    });
    q.acquire();
    look();
  }
  {
    std::shared_mutex m;
    bool ready = false;
    std::jthread t([&] {
      std::unique_lock l(m);
      fetch(4);
      ready = true;
    });
    for (;;) {
      std::shared_lock l(m);
      if (ready) {
        look();
        break;
      }
    }
  }
  {
    std::atomic<int> a{0};
    std::jthread t([&] {
      fetch(5);
      a.store(1);
      a.notify_one();
    });
    a.wait(0);
    look();
  }
  {
    std::once_flag once;
    auto make = [&] { std::call_once(once, [&] { fetch(6); }); };
    std::jthread t(make);
    make();
    look();
  }
  {
    std::packaged_task<int()> task([&] {
      fetch(7);
      return 1;
    });
    auto f = task.get_future();
    std::jthread t(std::move(task));
    f.wait();
    look();
  }
  {
    std::mutex m;
    std::condition_variable_any cv;
    bool ready = false;
    std::jthread t([&](std::stop_token st) {
      std::unique_lock l(m);
      cv.wait(l, st, [&] { return ready; });
      look();
    });
    {
      std::lock_guard l(m);
      fetch(8);
      ready = true;
    }
    cv.notify_all();
  }
  {
    std::atomic_flag f = ATOMIC_FLAG_INIT;
    bool ready = false;
    auto locked = [&](auto g) {
      while (f.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
      g();
      f.clear(std::memory_order_release);
    };
    std::jthread t([&] {
      locked([&] {
        fetch(9);
        ready = true;
      });
    });
    for (bool done = false; !done;)
      locked([&] {
        if (ready) look(), done = true;
      });
  }
  {
    std::promise<void> p;
    std::shared_future<void> f = p.get_future().share();
    std::jthread t([&] {
      fetch(10);
      p.set_value();
    }),
        u([f] { f.wait(); });
    f.wait();
    look();
  }
  long want = 0;
  for (int v = 1; v <= 10; ++v) want += long(n) * v + long(n) * (n - 1) / 2;
  return finish(sum == want);
}
