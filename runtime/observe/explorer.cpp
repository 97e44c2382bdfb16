#include <observe/explorer.h>

namespace mr::observe {

const Explorer* explorer = nullptr;

}  // namespace mr::observe
