// What an executable graph consists of, read back from the graph that it was made from with the API's own queries, so
// that captured graphs, built ones and changed ones are the same to the checker.
#pragma once
#include "api.h"

namespace mr::check {

// Reads the graph's nodes into `exec`. `call` is making or changing the executable graph: tags that it was told are the
// nodes' own. Under the lock.
void read_nodes(ExecMirror& exec, cudaGraph_t graph, const ApiCall& call);
// The same for an executable graph that has been made or updated of the graph: its steps and chains, too.
void read_exec(ExecMirror& exec, cudaGraph_t graph, const ApiCall& call);

}  // namespace mr::check
