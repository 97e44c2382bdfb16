// cudaGraphDebugDotPrint: a graph in Graphviz's language, to be read by people (tools/graph.cpp draws it).
#include <cxxabi.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <model/graph.h>

namespace mr::model {
namespace {

std::string format(const char* text, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, text, values...);
  return buffer;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// The identifiers at the beginning of a mangled name that the C++ library can't demangle: what the language has got
// since (constraints, templated lambdas) is in the template arguments and parameters behind them. Empty if there is
// none.
std::string identifiers_of(const char* name) {
  std::string text;
  const char* at = name;
  if (at[0] != '_' || at[1] != 'Z') return text;
  at += 2;
  if (*at == 'N') ++at;
  while (*at == 'L') ++at;  // internal linkage
  while (*at >= '1' && *at <= '9') {
    char* begin;
    const std::size_t length = std::strtoul(at, &begin, 10);
    if (std::strlen(begin) < length) break;
    const std::string identifier(begin, length);
    if (!text.empty()) text += "::";
    text += identifier.starts_with("_GLOBAL__N") ? "(anonymous namespace)" : identifier;
    at = begin + length;
  }
  if (!text.empty() && *at == 'I') text += "<...>";
  return text;
}

bool demangles(const char* name) {
  int status = 0;
  std::free(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0;
}

std::string demangled(const char* name) {
  if (!name) return "?";
  int status = 0;
  char* plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 && plain ? plain : identifiers_of(name);
  if (text.empty()) text = name;
  std::free(plain);
  // The parameters can be long; the name and template arguments say which kernel it is.
  if (text.back() == ')') {
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      if (text[i] == ')') ++depth;
      if (text[i] == '(' && --depth == 0) {
        text.resize(i);
        break;
      }
    }
  }
  if (text.starts_with("void ")) text.erase(0, 5);
  // Nor do template arguments of a thousand characters fit into a picture; both ends say most.
  constexpr std::size_t most = 160, tail = 40;
  if (text.size() > most) text.replace(most - tail - 3, text.size() - (most - 3), "...");
  return text;
}

std::string bytes(std::size_t n) {
  if (n >= std::size_t{1} << 30) return format("%.4g GiB", static_cast<double>(n) / (1 << 30));
  if (n >= 1u << 20) return format("%.4g MiB", static_cast<double>(n) / (1 << 20));
  if (n >= 1u << 10) return format("%.4g KiB", static_cast<double>(n) / (1 << 10));
  return format("%zu B", n);
}

std::string extents(const std::uint32_t* e) {
  if (e[2] != 1) return format("%u x %u x %u", e[0], e[1], e[2]);
  if (e[1] != 1) return format("%u x %u", e[0], e[1]);
  return format("%u", e[0]);
}

const char* side(memory::Kind kind) {
  switch (kind) {
  case memory::Kind::device:
  case memory::Kind::variable: return "device";
  case memory::Kind::pinned:
  case memory::Kind::registered: return "pinned host";
  case memory::Kind::managed:
  case memory::Kind::managed_variable: return "managed";
  case memory::Kind::pageable: return "host";
  }
  return "?";
}

class Printer {
 public:
  Printer(std::FILE* file, unsigned flags) : file_(file), flags_(flags) {}

  void print(Graph& graph) {
    std::fputs("digraph cuda_graph {\n  rankdir=TB;\n  compound=true;\n"
               "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", fontsize=11];\n"
               "  edge [arrowsize=0.7, fontname=\"Helvetica\", fontsize=10];\n",
               file_);
    body(graph, 1);
    std::fputs("}\n", file_);
  }

 private:
  bool wants(cudaGraphDebugDotFlags flag) const {
    return flags_ & (static_cast<unsigned>(flag) | cudaGraphDebugDotFlagsVerbose);
  }
  void indent(int depth) {
    for (int i = 0; i < depth; ++i) std::fputs("  ", file_);
  }

  void body(Graph& graph, int depth) {
    for (GraphNode* node = graph.first; node; node = node->next) {
      if (node->type == cudaGraphNodeTypeGraph)
        cluster(*node, *node->child->graph, "child graph", "", depth);
      else
        simple(*node, depth);
      if (node->type == cudaGraphNodeTypeConditional) bodies(*node, depth);
    }
    for (GraphNode* node = graph.first; node; node = node->next)
      for (const EdgeRef& edge : node->dependents) {
        indent(depth);
        std::fprintf(file_, "%s -> %s%s;\n", name(*node, "_out").c_str(), name(*edge.node, "_in").c_str(),
                     edge_style(edge.data));
      }
  }

  // Edges that begin before a kernel's end: dashed, with the port and whether the next kernel can wait for the rest.
  static const char* edge_style(const cudaGraphEdgeData& data) {
    if (!has_edge_data(data)) return "";
    if (data.from_port == cudaGraphKernelNodePortProgrammatic) return " [style=dashed, label=\"trigger\"]";
    return data.type == cudaGraphDependencyTypeProgrammatic ? " [style=dashed, label=\"programmatic, launched\"]"
                                                            : " [style=dashed, label=\"launched\"]";
  }

  // Child graphs are drawn around their nodes; edges lead to points at their border.
  static std::string name(const GraphNode& node, const char* end) {
    return format("g%llu_n%u%s", static_cast<unsigned long long>(node.graph->uid), node.id,
                  node.type == cudaGraphNodeTypeGraph ? end : "");
  }

  void cluster(GraphNode& node, Graph& inner, const char* what, const std::string& suffix, int depth) {
    indent(depth);
    std::fprintf(file_, "subgraph cluster_g%llu {\n", static_cast<unsigned long long>(inner.uid));
    indent(depth + 1);
    std::fprintf(file_, "label=\"%s%s\"; labeljust=l; style=\"rounded,dashed\"; fontname=\"Helvetica\"; fontsize=11;\n",
                 what, escaped(suffix).c_str());
    if (node.type == cudaGraphNodeTypeGraph) {
      indent(depth + 1);
      std::fprintf(file_, "%s [shape=point, label=\"\"]; %s [shape=point, label=\"\"];\n", name(node, "_in").c_str(),
                   name(node, "_out").c_str());
      for (GraphNode* n = inner.first; n; n = n->next) {
        if (n->dependencies.empty()) {
          indent(depth + 1);
          std::fprintf(file_, "%s -> %s [style=dotted];\n", name(node, "_in").c_str(), name(*n, "_in").c_str());
        }
        if (n->dependents.empty()) {
          indent(depth + 1);
          std::fprintf(file_, "%s -> %s [style=dotted];\n", name(*n, "_out").c_str(), name(node, "_out").c_str());
        }
      }
      if (!inner.first) {
        indent(depth + 1);
        std::fprintf(file_, "%s -> %s [style=dotted];\n", name(node, "_in").c_str(), name(node, "_out").c_str());
      }
    }
    body(inner, depth + 1);
    if (!inner.first && node.type == cudaGraphNodeTypeConditional) {
      // Graphviz doesn't draw frames around nothing.
      indent(depth + 1);
      std::fprintf(file_, "g%llu_nothing [shape=plaintext, style=\"\", label=\"nothing\"];\n",
                   static_cast<unsigned long long>(inner.uid));
    }
    indent(depth);
    std::fputs("}\n", file_);
  }

  void bodies(GraphNode& node, int depth) {
    const ConditionalData& c = *node.conditional;
    for (unsigned i = 0; i < c.size; ++i) {
      auto& inner = *reinterpret_cast<Graph*>(c.bodies[i]);
      const std::string which = c.type == cudaGraphCondTypeSwitch  ? format("case %u", i)
                                : c.type == cudaGraphCondTypeWhile ? std::string("while not 0")
                                : i == 0                           ? std::string("if not 0")
                                                                   : std::string("else");
      cluster(node, inner, which.c_str(), "", depth);
      for (GraphNode* n = inner.first; n; n = n->next)
        if (n->dependencies.empty()) {
          indent(depth);
          std::fprintf(file_, "%s -> %s [style=dotted];\n", name(node, "").c_str(), name(*n, "_in").c_str());
        }
      if (!inner.first) {
        indent(depth);
        std::fprintf(file_, "%s -> g%llu_nothing [style=dotted];\n", name(node, "").c_str(),
                     static_cast<unsigned long long>(inner.uid));
      }
    }
  }

  void simple(GraphNode& node, int depth) {
    std::string label = describe(node);
    if (wants(cudaGraphDebugDotFlagsHandles)) label += format("\nhandle %p", static_cast<void*>(&node));
    indent(depth);
    std::fprintf(file_, "%s [fillcolor=\"%s\", label=\"%s\"%s];\n", name(node, "").c_str(), colour(node.type),
                 escaped(label).c_str(), mangled(node).c_str());
  }

  // Where the label has the kernel's name in part only, the tooltip has it mangled: `millrace graph` knows more of C++.
  static std::string mangled(const GraphNode& node) {
    const char* const name = node.type == cudaGraphNodeTypeKernel ? node.kernel->work->grid.kernel->name : nullptr;
    if (!name || name[0] != '_' || name[1] != 'Z' || demangles(name)) return "";
    return ", tooltip=\"" + escaped(name) + "\"";
  }

  static const char* colour(cudaGraphNodeType type) {
    switch (type) {
    case cudaGraphNodeTypeKernel: return "#d7e8ff";
    case cudaGraphNodeTypeMemcpy: return "#dff3dc";
    case cudaGraphNodeTypeMemset: return "#eef7d6";
    case cudaGraphNodeTypeHost: return "#ffe9cc";
    case cudaGraphNodeTypeConditional: return "#f6dcf2";
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree: return "#e6e6e6";
    default: return "#ffffff";
    }
  }

  std::string describe(GraphNode& node) {
    switch (node.type) {
    case cudaGraphNodeTypeKernel: return kernel(*node.kernel);
    case cudaGraphNodeTypeMemcpy: {
      const CopyData& copy = *node.copy;
      const cudaExtent& e = copy.params.extent;
      std::string text = "copy " + bytes(copy.copy.bytes()) + "\n" + side(copy.source) + " to " + side(copy.target);
      if (!copy.one_dimensional) text += format("\n%zu x %zu x %zu", e.width, e.height, e.depth);
      if (wants(cudaGraphDebugDotFlagsMemcpyNodeParams))
        text += format("\nfrom %p\nto %p", copy.copy.src, copy.copy.dst);
      return text;
    }
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams& p = node.fill->params;
      std::string text = "set " + bytes(p.width * p.elementSize * p.height) + format(" to 0x%x", p.value);
      if (wants(cudaGraphDebugDotFlagsMemsetNodeParams))
        text += format("\nat %p, elements of %u B\n%zu x %zu, pitch %zu", p.dst, p.elementSize, p.width, p.height,
                       p.pitch);
      return text;
    }
    case cudaGraphNodeTypeHost: {
      std::string text = "host function";
      if (wants(cudaGraphDebugDotFlagsHostNodeParams))
        text += format("\n%p, data %p", reinterpret_cast<void*>(node.host->params.fn), node.host->params.userData);
      return text;
    }
    case cudaGraphNodeTypeEmpty: return "empty";
    case cudaGraphNodeTypeExtSemaphoreSignal: return format("signal %u external", node.external->count);
    case cudaGraphNodeTypeExtSemaphoreWait: return format("wait for %u external", node.external->count);
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent: {
      std::string text = node.type == cudaGraphNodeTypeEventRecord ? "record event" : "wait for event";
      if (wants(cudaGraphDebugDotFlagsEventNodeParams)) text += format("\n%p", static_cast<void*>(node.event->event));
      return text;
    }
    case cudaGraphNodeTypeMemAlloc:
      return "allocate " + bytes(node.alloc->params.bytesize) + format("\n%p", node.alloc->params.dptr);
    case cudaGraphNodeTypeMemFree: return format("free\n%p", node.free->pointer);
    case cudaGraphNodeTypeConditional: {
      const ConditionalData& c = *node.conditional;
      std::string text = c.type == cudaGraphCondTypeIf      ? "if"
                         : c.type == cudaGraphCondTypeWhile ? "while"
                                                            : format("switch (%u)", c.size);
      if (wants(cudaGraphDebugDotFlagsConditionalNodeParams))
        text += format("\ncondition 0x%llx", static_cast<unsigned long long>(c.handle));
      return text;
    }
    default: return "node";
    }
  }

  std::string kernel(const KernelData& data) {
    const simt::Grid& grid = data.work->grid;
    std::string text = demangled(grid.kernel->name) + "\ngrid " + extents(grid.grid) + ", block " + extents(grid.block);
    if (grid.dynamic_shared) text += "\nshared " + bytes(grid.dynamic_shared);
    if (wants(cudaGraphDebugDotFlagsKernelNodeParams))
      text += format("\nfunction %p, %u B of arguments", data.function->host, grid.kernel->args_size);
    if (wants(cudaGraphDebugDotFlagsKernelNodeAttributes)) {
      const KernelAttributes a = attributes_of(data);
      text += format("\npriority %d%s", a.priority, a.cooperative ? ", cooperative" : "");
      if (a.cluster.x) text += format(", cluster %u x %u x %u", a.cluster.x, a.cluster.y, a.cluster.z);
    }
    return text;
  }

  std::FILE* file_;
  unsigned flags_;
};

}  // namespace

cudaError_t print_dot(Graph& graph, const char* path, unsigned flags) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) return cudaErrorOperatingSystem;
  Printer(file, flags).print(graph);
  const bool good = !std::ferror(file);
  return std::fclose(file) == 0 && good ? cudaSuccess : cudaErrorOperatingSystem;
}

}  // namespace mr::model
