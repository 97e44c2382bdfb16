// Where the elements of an array lie: `millrace check` treats arrays as the memory that they are.
#pragma once
#include <cstddef>

namespace mr::observe {

struct ArrayLayout {
  void* data;
  std::size_t element, width;  // bytes of an element; elements of a row
  std::size_t rows, slices;    // 1 where the dimension doesn't exist
  std::size_t row_pitch, slice_pitch;
};

}  // namespace mr::observe

// False for what is no array's handle. From any thread; does not wait.
extern "C" bool millrace_array_layout(const void* handle, mr::observe::ArrayLayout* layout) noexcept;
