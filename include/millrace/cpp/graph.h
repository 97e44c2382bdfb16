// Graphs: symbols by name, the older form of instantiation, C++ objects owned by graphs.
#ifndef MILLRACE_CPP_GRAPH_H
#define MILLRACE_CPP_GRAPH_H

#include "begin.h"

/* The log buffer is never written; the error node neither. */
__MR_INLINE cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                             cudaGraphNode_t* pErrorNode, char* pLogBuffer, size_t bufferSize) {
  (void)pErrorNode;
  (void)pLogBuffer;
  (void)bufferSize;
  return cudaGraphInstantiate(pGraphExec, graph, 0ull);
}

template <class T>
__MR_INLINE cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                       const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                       const T& symbol, const void* src, size_t count, size_t offset,
                                                       enum cudaMemcpyKind kind) {
  return cudaGraphAddMemcpyNodeToSymbol(pGraphNode, graph, pDependencies, numDependencies, __mr_symbol(symbol), src,
                                        count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                         const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                         void* dst, const T& symbol, size_t count, size_t offset,
                                                         enum cudaMemcpyKind kind) {
  return cudaGraphAddMemcpyNodeFromSymbol(pGraphNode, graph, pDependencies, numDependencies, dst, __mr_symbol(symbol),
                                          count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T& symbol, const void* src,
                                                             size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphMemcpyNodeSetParamsToSymbol(node, __mr_symbol(symbol), src, count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const T& symbol,
                                                               size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, __mr_symbol(symbol), count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                 const T& symbol, const void* src, size_t count,
                                                                 size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphExecMemcpyNodeSetParamsToSymbol(hGraphExec, node, __mr_symbol(symbol), src, count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                   void* dst, const T& symbol, size_t count,
                                                                   size_t offset, enum cudaMemcpyKind kind) {
  return cudaGraphExecMemcpyNodeSetParamsFromSymbol(hGraphExec, node, dst, __mr_symbol(symbol), count, offset, kind);
}

/* User objects: a C++ object that is deleted, or handed to `destroy`, when its last reference goes. */
template <class T> __MR_INLINE void __mr_delete_object(void* object) { delete static_cast<T*>(object); }

template <class T>
__MR_INLINE cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, T* objectToWrap,
                                             unsigned int initialRefcount, unsigned int flags) {
  return cudaUserObjectCreate(object_out, objectToWrap, __mr_delete_object<T>, initialRefcount, flags);
}

template <class T>
__MR_INLINE cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, T* objectToWrap, void (*destroy)(T*),
                                             unsigned int initialRefcount, unsigned int flags) {
  return cudaUserObjectCreate(object_out, static_cast<void*>(objectToWrap), reinterpret_cast<cudaHostFn_t>(destroy),
                              initialRefcount, flags);
}

#endif
