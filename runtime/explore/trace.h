// What a run did, in a file that survives whatever ends the program. Text lines (hexadecimal numbers):
//   P SITE API MODULE OFFSET [MODULE OFFSET ...]   a call of the API: return addresses, innermost first
//   E KEY WHAT SITE VIA TASK SLICE NAME            an event was chosen; VIA: the graph launch's site, of its steps
//   B KEY ORDER                                    the kernel's blocks were run in this order (Explorer::block_order)
//   T KEY N                                        the event was stopped after N of its instructions; E of what t: its
//                                                  rest
//   L KEY N                                        the event has N instructions of its own
//   S                                              a thread was left to itself
//   D ENDS                                         nothing can go on; 1: for ever, and the program is ended. Who waits
//                                                  for what follows:
//   W h THREAD SITE STREAM OF                      a host thread, for a stream's operations or (0) something else; or,
//   of
//                                                  stream OF, its host function
//   W WHAT STREAM SITE VIA ON NAME                 a stream whose first operation has begun, or (w) waits for stream ON
//   Z                                              the program came to its end
// The file's first eight bytes are the length of what follows.
#pragma once
#include <cstdarg>
#include <cstdint>

namespace mr::explore {

class Trace {
 public:
  // False when the file can't be made.
  bool open(const char* path);
  // Under the controller's lock.
  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);
  // Number of the call site, for E and P lines.
  std::uint32_t site(const char* api, const std::uintptr_t* frames, unsigned count);

 private:
  char* begin_ = nullptr;
  std::uint64_t used_ = 0;
};

}  // namespace mr::explore
