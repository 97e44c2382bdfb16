// The function that a call would have reached without the explorer.
#pragma once
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace mr::explore {

template <class F> F next_function(const char* name, const char* version = nullptr) {
  void* found = version ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (!found) found = dlsym(RTLD_NEXT, name);
  if (!found) {
    std::fprintf(stderr, "millrace: %s is not in any library that the program is linked with\n", name);
    std::abort();
  }
  return reinterpret_cast<F>(found);
}

}  // namespace mr::explore
