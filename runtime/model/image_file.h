// Device images as files in memory: what can be told about one without loading it.
#pragma once
#include <cstddef>
#include <string_view>

namespace mr::model {

enum class ImageKind {
  ours,     // an image that mrcc made
  foreign,  // an ELF file of something else: for another processor, or without an image in it
  text,     // PTX
  none,     // nothing of the kind
};

// Length of an ELF file in memory: its section headers come last. 0 if it isn't one for this processor. Reads no
// further than the header.
std::size_t image_length(const void* bytes) noexcept;
// `limit`: bytes that may be looked at; when it isn't known, the header is believed.
ImageKind kind_of_image(const void* bytes, std::size_t limit = ~std::size_t{0}) noexcept;
// The image of the same code that tells a checker what it touches, which lies behind one that was made with
// -mrcc-check; null if there is none.
const void* instrumented_image(const void* bytes) noexcept;
// Bytes of an image with what lies behind it, `limit` at most.
std::size_t image_extent(const void* bytes, std::size_t limit) noexcept;
// Has an ELF file a section of this name?
bool image_has_section(const void* bytes, std::string_view name) noexcept;

}  // namespace mr::model
