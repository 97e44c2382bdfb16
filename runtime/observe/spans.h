// Spans of time of host threads in a trace: calls of the API, and the ranges that a program marks (NVTX).
#pragma once
#include <observe/trace_format.h>

namespace mr::observe {

// `span` without its texts. `name` of a call lives as long as the process; others are copied. Nothing is done unless a
// trace is written.
void add_span(const trace_format::Span& span, const char* name, const void* pc) noexcept;

}  // namespace mr::observe
