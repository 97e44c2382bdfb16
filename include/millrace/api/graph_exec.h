// API reference, "Graph Management": instantiated graphs. Launches of one executable graph are ordered one after the
// other; an update affects later launches only. Calls on one executable graph must not overlap.
#ifndef MILLRACE_API_GRAPH_EXEC_H
#define MILLRACE_API_GRAPH_EXEC_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags __MR_DEFAULT(0));
__MR_API cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                       unsigned long long flags __MR_DEFAULT(0));
__MR_API cudaGraphInstantiateWithParams(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                        cudaGraphInstantiateParams* instantiateParams);
__MR_API cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long* flags);
__MR_API cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream);
__MR_API cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
__MR_API cudaGraphExecDestroy(cudaGraphExec_t graphExec);
__MR_API cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo* resultInfo);
__MR_API cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                    struct cudaGraphNodeParams* nodeParams);
__MR_API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                          const struct cudaKernelNodeParams* pNodeParams);
__MR_API cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                          const struct cudaMemcpy3DParms* pNodeParams);
__MR_API cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                            const void* src, size_t count, enum cudaMemcpyKind kind);
__MR_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void* symbol,
                                                  const void* src, size_t count, size_t offset,
                                                  enum cudaMemcpyKind kind);
__MR_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                                    const void* symbol, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind);
__MR_API cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                          const struct cudaMemsetParams* pNodeParams);
__MR_API cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                        const struct cudaHostNodeParams* pNodeParams);
__MR_API cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, cudaGraph_t childGraph);
__MR_API cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event);
__MR_API cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event);
__MR_API cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, const struct cudaExternalSemaphoreSignalNodeParams* nodeParams);
__MR_API cudaGraphExecExternalSemaphoresWaitNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                          const struct cudaExternalSemaphoreWaitNodeParams* nodeParams);
__MR_API cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled);
__MR_API cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int* isEnabled);

#if defined(__cplusplus)
}
#endif

#endif
