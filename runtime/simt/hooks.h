// The hooks that the model set; see Hooks in grid.h.
#pragma once
#include <simt/grid.h>

namespace mr::simt {

const Hooks& hooks() noexcept;

}  // namespace mr::simt
