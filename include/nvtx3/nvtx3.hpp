// NVTX for C++: ranges and marks, of which nothing is left when no tool is attached.
#ifndef MILLRACE_NVTX3_HPP
#define MILLRACE_NVTX3_HPP
#include "nvToolsExt.h"

namespace nvtx3 {

struct domain {
  struct global {};
};
struct rgb {
  rgb(unsigned char, unsigned char, unsigned char) {}
};
struct argb {
  argb(unsigned char, unsigned char, unsigned char, unsigned char) {}
};
struct category {
  explicit category(uint32_t) {}
};
struct payload {
  template <class T> explicit payload(T) {}
};
struct message {
  template <class T> explicit message(const T&) {}
};
struct event_attributes {
  template <class... Parts> explicit event_attributes(const Parts&...) {}
};

// A range of the thread from here to the end of the scope.
template <class Domain = domain::global> class scoped_range_in {
 public:
  scoped_range_in() {}
  template <class First, class... Parts> explicit scoped_range_in(const First&, const Parts&...) {}
  scoped_range_in(const scoped_range_in&) = delete;
  scoped_range_in& operator=(const scoped_range_in&) = delete;
  ~scoped_range_in() {}
};
using scoped_range = scoped_range_in<>;

// A range of the process, which may end in another thread.
template <class Domain = domain::global> class unique_range_in {
 public:
  template <class... Parts> explicit unique_range_in(const Parts&...) {}
  unique_range_in(unique_range_in&&) = default;
  unique_range_in& operator=(unique_range_in&&) = default;
  ~unique_range_in() {}
};
using unique_range = unique_range_in<>;

template <class Domain = domain::global, class... Parts> void mark_in(const Parts&...) {}
template <class... Parts> void mark(const Parts&...) {}

}  // namespace nvtx3

#define NVTX3_FUNC_RANGE() ((void)0)
#define NVTX3_FUNC_RANGE_IN(domain) ((void)0)
#define NVTX3_FUNC_RANGE_IF(condition) ((void)(condition))
#endif
