// invoke_one and invoke_one_broadcast: one thread of the group runs a callable.
#pragma once
#pragma clang system_header

#include "coalesced.h"

namespace cooperative_groups {

template <class Group, class F, class... A>
__MR_D __attribute__((convergent)) void invoke_one(const Group& group, F&& f, A&&... arguments) {
  if (group.thread_rank() == 0) static_cast<F&&>(f)(static_cast<A&&>(arguments)...);
}

// All threads get the value; for groups that have shfl.
template <class Group, class F, class... A>
__MR_D __attribute__((convergent)) auto invoke_one_broadcast(const Group& group, F&& f, A&&... arguments)
    -> decltype(static_cast<F&&>(f)(static_cast<A&&>(arguments)...)) {
  typedef decltype(static_cast<F&&>(f)(static_cast<A&&>(arguments)...)) __mr_value;
  alignas(__mr_value) unsigned char value[sizeof(__mr_value)] = {};
  if (group.thread_rank() == 0) ::new (value) __mr_value(static_cast<F&&>(f)(static_cast<A&&>(arguments)...));
  return group.shfl(*reinterpret_cast<__mr_value*>(value), 0);
}

}  // namespace cooperative_groups
