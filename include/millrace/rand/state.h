// What the states of all generators end with: the second number of a pair that the normal distributions made.
#pragma once

namespace __mr_rand {
enum Kind { none, of_normal, of_log_normal };

struct Spare {
  int boxmuller_flag, boxmuller_flag_double;  // a Kind: which distribution's it is
  float boxmuller_extra;
  double boxmuller_extra_double;

  __device__ void forget() {
    boxmuller_flag = boxmuller_flag_double = none;
    boxmuller_extra = 0;
    boxmuller_extra_double = 0;
  }
};
}  // namespace __mr_rand
