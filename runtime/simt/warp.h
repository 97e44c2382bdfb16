// Warp-wide operations of fiber mode. Each is called by the lanes of a mask, in any order; the last one to arrive
// computes the results of all.
//
// A lane that has ended counts as arrived. Groups of one warp with different masks (or operations) proceed
// independently.
#pragma once
#include <cstdint>

#include <simt/resident.h>

namespace mr::simt {

enum WarpKind : std::uint32_t {
  warp_sync_op,
  warp_shuffle_op,
  warp_ballot_op,
  warp_match_any_op,
  warp_match_all_op,
  warp_reduce_op
};  // + MrReduce

void warp_sync(Self s, std::uint32_t mask) noexcept;
std::uint64_t warp_shuffle(Self s, std::uint32_t mask, std::uint32_t mode, std::uint64_t value, std::uint32_t operand,
                           std::uint32_t width, bool& in_range) noexcept;
std::uint32_t warp_ballot(Self s, std::uint32_t mask, bool predicate) noexcept;
std::uint32_t warp_match(Self s, std::uint32_t mask, std::uint32_t op, std::uint64_t value, bool& all_equal) noexcept;
std::uint32_t warp_reduce(Self s, std::uint32_t mask, std::uint32_t op, std::uint32_t value) noexcept;
// The lanes that are here together: those of the warp that reached the call at `site` by the time no lane of the warp
// can run.
std::uint32_t warp_activemask(Self s, std::uint64_t site) noexcept;

// The lane that a shuffle of `lane` reads, and whether that lies in the lane's segment (else it reads itself). width:
// 1, 2, 4 ... 32.
struct ShuffleSource {
  unsigned lane;
  bool in_range;
};
inline ShuffleSource shuffle_source(unsigned lane, std::uint32_t mode, std::uint32_t operand,
                                    std::uint32_t width) noexcept {
  const unsigned segment = width >= MR_WARP ? 0 : 32 - width;  // the bits of a lane number that name its segment
  const unsigned first = lane & segment, last = first | (31 & ~segment), step = operand & 31;
  switch (mode) {
  case MR_SHFL_UP:
    return static_cast<int>(lane - step) >= static_cast<int>(first) ? ShuffleSource{lane - step, true}
                                                                    : ShuffleSource{lane, false};
  case MR_SHFL_DOWN: return lane + step <= last ? ShuffleSource{lane + step, true} : ShuffleSource{lane, false};
  case MR_SHFL_XOR: return (lane ^ step) <= last ? ShuffleSource{lane ^ step, true} : ShuffleSource{lane, false};
  default: return {first | (step & ~segment), true};
  }
}

}  // namespace mr::simt
