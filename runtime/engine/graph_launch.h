// Graphs that device code launches (programming guide, "Device Graph Launch").
//
// Environment: what one run of a graph encloses. It is over when the graph's nodes and all graphs that were fired into
// it are. Chain: one place in an environment, where a graph runs, then its tails in their order, each with its own
// tails in front of the next. A launch by the host becomes the first chain of an environment of its own, the launch's,
// when device code first launches something:
//
//   launch's environment - chain - environment of the graph - chains of what it fired
//                        - chains of its siblings
//
// The host's operation completes with the launch's environment, so that whatever waits for the launch waits for all of
// it. A chain runs its graphs, one after the other, in a queue of its own: a graph that launches itself again and again
// needs no more memory than one.
//
// Invariants: `open` counts the graph's own nodes (1 until launch_end) and the chains in the environment; only who is
// counted may raise it, so nobody joins an environment that is over. Who brings it to zero (acq_rel: sees all that was
// done in it) is alone with it.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include <engine/graph_run.h>
#include <engine/spinlock.h>

namespace mr::engine {

class Environment;
class Queue;

enum class DeviceLaunch : std::uint8_t { tail, fire_and_forget, sibling };

// How many graphs one run of a graph may fire, and have waiting as tails.
inline constexpr std::uint32_t most_fired = 120, most_tails = 255;

// Device code of `launcher`, an image that runs, launches `image`, which only device code launches. `itself`: both are
// the same executable graph. False when that image is launched already (a graph may wait to run once more behind
// itself), or too many were launched, or the domain takes no more launches. Thread-safe.
bool launch_from_device(GraphImage& launcher, GraphImage& image, bool itself, DeviceLaunch how) noexcept;

// A graph's nodes have ended that device code has launched, or that has launched others. Tells what was behind them.
void leave_environment(Environment* environment) noexcept;
// Whether the graph runs in its chain's own queue; if not, the end of all completes the front operation of the host's.
bool runs_in_chain(const Environment& environment, const Queue& queue) noexcept;

}  // namespace mr::engine
