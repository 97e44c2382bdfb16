// API reference, "Graph Management": building graphs of operations. A graph is not thread-safe: calls on one graph, or
// on its nodes, must not overlap. Outputs that are counts take the array's capacity in and give the true number out.
#ifndef MILLRACE_API_GRAPH_H
#define MILLRACE_API_GRAPH_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags);
__MR_API cudaGraphDestroy(cudaGraph_t graph);
__MR_API cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph);
__MR_API cudaGraphNodeFindInClone(cudaGraphNode_t* pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph);
__MR_API cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* pType);
__MR_API cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes);
__MR_API cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes, size_t* pNumRootNodes);
__MR_API cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edgeData,
                           size_t* numEdges);
__MR_API cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies, cudaGraphEdgeData* edgeData,
                                      size_t* pNumDependencies);
__MR_API cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                        cudaGraphEdgeData* edgeData, size_t* pNumDependentNodes);
__MR_API cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                  const cudaGraphEdgeData* edgeData, size_t numDependencies);
__MR_API cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edgeData, size_t numDependencies);
__MR_API cudaGraphDestroyNode(cudaGraphNode_t node);
__MR_API cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags);

/* Nodes of any kind. */
__MR_API cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                          const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                          struct cudaGraphNodeParams* nodeParams);
__MR_API cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams* nodeParams);

/* Kernel nodes. */
__MR_API cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                size_t numDependencies, const struct cudaKernelNodeParams* pNodeParams);
__MR_API cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams* pNodeParams);
__MR_API cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams* pNodeParams);
__MR_API cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc);
__MR_API cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                         cudaLaunchAttributeValue* value_out);
__MR_API cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                         const cudaLaunchAttributeValue* value);

/* Copy nodes. */
__MR_API cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                size_t numDependencies, const struct cudaMemcpy3DParms* pCopyParams);
__MR_API cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                  size_t numDependencies, void* dst, const void* src, size_t count,
                                  enum cudaMemcpyKind kind);
__MR_API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                        const void* symbol, const void* src, size_t count, size_t offset,
                                        enum cudaMemcpyKind kind);
__MR_API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dst,
                                          const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind);
__MR_API cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms* pNodeParams);
__MR_API cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms* pNodeParams);
__MR_API cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src, size_t count,
                                        enum cudaMemcpyKind kind);
__MR_API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* src, size_t count,
                                              size_t offset, enum cudaMemcpyKind kind);
__MR_API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const void* symbol, size_t count,
                                                size_t offset, enum cudaMemcpyKind kind);

/* Set nodes. */
__MR_API cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                size_t numDependencies, const struct cudaMemsetParams* pMemsetParams);
__MR_API cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams* pNodeParams);
__MR_API cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams* pNodeParams);

/* Host, child, empty and event nodes. */
__MR_API cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                              size_t numDependencies, const struct cudaHostNodeParams* pNodeParams);
__MR_API cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams* pNodeParams);
__MR_API cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams* pNodeParams);
__MR_API cudaGraphAddChildGraphNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                    cudaGraph_t childGraph);
__MR_API cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph);
__MR_API cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                               size_t numDependencies);
__MR_API cudaGraphAddEventRecordNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies, cudaEvent_t event);
__MR_API cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out);
__MR_API cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
__MR_API cudaGraphAddEventWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, cudaEvent_t event);
__MR_API cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out);
__MR_API cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);

/* Semaphore nodes. */
__MR_API cudaGraphAddExternalSemaphoresSignalNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                  const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                  const struct cudaExternalSemaphoreSignalNodeParams* nodeParams);
__MR_API cudaGraphExternalSemaphoresSignalNodeGetParams(cudaGraphNode_t hNode,
                                                        struct cudaExternalSemaphoreSignalNodeParams* params_out);
__MR_API cudaGraphExternalSemaphoresSignalNodeSetParams(cudaGraphNode_t hNode,
                                                        const struct cudaExternalSemaphoreSignalNodeParams* nodeParams);
__MR_API cudaGraphAddExternalSemaphoresWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                                const struct cudaExternalSemaphoreWaitNodeParams* nodeParams);
__MR_API cudaGraphExternalSemaphoresWaitNodeGetParams(cudaGraphNode_t hNode,
                                                      struct cudaExternalSemaphoreWaitNodeParams* params_out);
__MR_API cudaGraphExternalSemaphoresWaitNodeSetParams(cudaGraphNode_t hNode,
                                                      const struct cudaExternalSemaphoreWaitNodeParams* nodeParams);

/* Memory nodes. */
__MR_API cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                  size_t numDependencies, struct cudaMemAllocNodeParams* nodeParams);
__MR_API cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams* params_out);
__MR_API cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                 size_t numDependencies, void* dptr);
__MR_API cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out);
__MR_API cudaDeviceGraphMemTrim(int device);
__MR_API cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void* value);
__MR_API cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void* value);

/* Conditional nodes and user objects. */
__MR_API cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out, cudaGraph_t graph,
                                          unsigned int defaultLaunchValue __MR_DEFAULT(0),
                                          unsigned int flags __MR_DEFAULT(0));
__MR_API cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                              unsigned int initialRefcount, unsigned int flags);
__MR_API cudaUserObjectRetain(cudaUserObject_t object, unsigned int count __MR_DEFAULT(1));
__MR_API cudaUserObjectRelease(cudaUserObject_t object, unsigned int count __MR_DEFAULT(1));
__MR_API cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count __MR_DEFAULT(1),
                                   unsigned int flags __MR_DEFAULT(0));
__MR_API cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count __MR_DEFAULT(1));

#if defined(__cplusplus)
}
#endif

#endif
