// Ordinary memory of the program's (globals, heap, stacks) that host functions share with threads.
//
// What host functions touch is seen as it happens; what threads touch is seen on pages that a host function may know
// of: the program's variables, what the function is given and points to, and all that one has touched. Only pairs with
// a host function on one side are reported: threads among themselves are ThreadSanitizer's.
#pragma once
#include <cstdint>

#include "shadow.h"

namespace mr::check {

// A host function that was given `data` is about to be enqueued. Without the lock.
void expose(const void* data);
// What a thread's or function's code has touched, as far as it isn't memory that operations can touch. Under the lock.
void touch_ordinary(std::uintptr_t begin, std::uintptr_t end, const Access& access);
// The stack of the calling thread, and what lies with it.
struct StackRange {
  std::uintptr_t begin = 0, end = 0;
};
StackRange own_stack();

}  // namespace mr::check
