// Delays between the two halves of a handshake, for tests.
//
// The engine's protocols are all of one shape: store, full barrier, look at what the other side stores. MR_DELAY()
// stands between such steps. It is nothing in ordinary builds; where MILLRACE_DELAYS is defined (the presets for
// sanitizers) it now and then gives the processor away or lets some microseconds pass, so that the other side gets in
// between far more often than it would by itself.
#pragma once

#ifdef MILLRACE_DELAYS
#include <cstdint>

#include <sched.h>

#include <engine/clock.h>
#include <engine/spinlock.h>

namespace mr::engine {

inline void delay() noexcept {
  // A generator for each thread, begun at its address: threads differ, and so do runs.
  thread_local std::uint64_t state = reinterpret_cast<std::uintptr_t>(&state) ^ ticks();
  state = state * 6364136223846793005u + 1442695040888963407u;
  const auto die = static_cast<std::uint32_t>(state >> 33);
  if ((die & 31u) == 0) {
    sched_yield();
  } else if ((die & 511u) == 1) {
    for (const std::uint64_t end = ticks() + (die >> 9 & 31u) * ticks_per_us; ticks() < end;) cpu_pause();
  }
}

}  // namespace mr::engine
#define MR_DELAY() ::mr::engine::delay()
#else
#define MR_DELAY() static_cast<void>(0)
#endif
