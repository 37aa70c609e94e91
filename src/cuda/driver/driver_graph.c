// SPDX-License-Identifier: Apache-2.0
// Graphs are the runtime's; here are the nodes whose parameters look different in the driver API.
#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/driver_copy.h"

#define ADD_PARAMETERS CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t numDependencies
#define ADD_ARGUMENTS phGraphNode, hGraph, dependencies, numDependencies

// --- kernels. Version 1 is the runtime's structure ---

static cudaError_t check_kernel(const CUDA_KERNEL_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    return p->func || p->kern ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

static struct cudaKernelNodeParams runtime_kernel(const CUDA_KERNEL_NODE_PARAMS *p) {
    return (struct cudaKernelNodeParams){.func = p->func ? (void *)p->func : (void *)p->kern,
                                         .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                         .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                         .sharedMemBytes = p->sharedMemBytes,
                                         .kernelParams = p->kernelParams,
                                         .extra = p->extra};
}

static cudaError_t add_kernel(ADD_PARAMETERS, const CUDA_KERNEL_NODE_PARAMS *p) {
    cudaError_t error = check_kernel(p);
    if (error != cudaSuccess) return error;
    struct cudaKernelNodeParams same = runtime_kernel(p);
    return cudaGraphAddKernelNode(ADD_ARGUMENTS, &same);
}

CUDA_API CUresult cuGraphAddKernelNode(ADD_PARAMETERS, const struct cudaKernelNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, cudaGraphAddKernelNode(ADD_ARGUMENTS, nodeParams));
}
CUDA_API CUresult cuGraphAddKernelNode_v2(ADD_PARAMETERS, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, add_kernel(ADD_ARGUMENTS, nodeParams));
}

static cudaError_t get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *to) {
    struct cudaKernelNodeParams p;
    cudaError_t error = to ? cudaGraphKernelNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    cudaFunction_t function;  // registered kernels are named by a host address there
    if (cudaGetFuncBySymbol(&function, p.func) != cudaSuccess) function = (cudaFunction_t)p.func;
    *to = (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                    .gridDimX = p.gridDim.x,
                                    .gridDimY = p.gridDim.y,
                                    .gridDimZ = p.gridDim.z,
                                    .blockDimX = p.blockDim.x,
                                    .blockDimY = p.blockDim.y,
                                    .blockDimZ = p.blockDim.z,
                                    .sharedMemBytes = p.sharedMemBytes,
                                    .kernelParams = p.kernelParams,
                                    .extra = p.extra};
    return cudaSuccess;
}

CUDA_API CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, struct cudaKernelNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, cudaGraphKernelNodeGetParams(hNode, nodeParams));
}
CUDA_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, get_kernel(hNode, nodeParams));
}

static cudaError_t set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    cudaError_t error = check_kernel(p);
    if (error != cudaSuccess) return error;
    struct cudaKernelNodeParams same = runtime_kernel(p);
    return cudaGraphKernelNodeSetParams(node, &same);
}

CUDA_API CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const struct cudaKernelNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, cudaGraphKernelNodeSetParams(hNode, nodeParams));
}
CUDA_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, set_kernel(hNode, nodeParams));
}

static cudaError_t exec_set_kernel(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    cudaError_t error = check_kernel(p);
    if (error != cudaSuccess) return error;
    struct cudaKernelNodeParams same = runtime_kernel(p);
    return cudaGraphExecKernelNodeSetParams(exec, node, &same);
}

CUDA_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const struct cudaKernelNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, cudaGraphExecKernelNodeSetParams(hGraphExec, hNode, nodeParams));
}
CUDA_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, exec_set_kernel(hGraphExec, hNode, nodeParams));
}

// --- copies ---

static cudaError_t add_copy(CudaContext *c, ADD_PARAMETERS, const CUDA_MEMCPY3D *box) {
    struct cudaMemcpy3DParms same;
    cudaError_t error = driver_box(c, box, &same);
    return error == cudaSuccess ? cudaGraphAddMemcpyNode(ADD_ARGUMENTS, &same) : error;
}

CUDA_API CUresult cuGraphAddMemcpyNode(ADD_PARAMETERS, const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    (void)ctx;
    DRIVER_RETURN(c, DRIVER_READY, add_copy(c, ADD_ARGUMENTS, copyParams));
}

static cudaError_t get_copy(CudaContext *c, CUgraphNode node, CUDA_MEMCPY3D *to) {
    struct cudaMemcpy3DParms p;
    cudaError_t error = to ? cudaGraphMemcpyNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error == cudaSuccess) driver_unbox(c, &p, to);
    return error;
}

CUDA_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, get_copy(c, hNode, nodeParams));
}

static cudaError_t set_copy(CudaContext *c, CUgraphNode node, const CUDA_MEMCPY3D *box) {
    struct cudaMemcpy3DParms same;
    cudaError_t error = driver_box(c, box, &same);
    return error == cudaSuccess ? cudaGraphMemcpyNodeSetParams(node, &same) : error;
}

CUDA_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, set_copy(c, hNode, nodeParams));
}

static cudaError_t exec_set_copy(CudaContext *c, CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *box) {
    struct cudaMemcpy3DParms same;
    cudaError_t error = driver_box(c, box, &same);
    return error == cudaSuccess ? cudaGraphExecMemcpyNodeSetParams(exec, node, &same) : error;
}

CUDA_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    (void)ctx;
    DRIVER_RETURN(c, DRIVER_READY, exec_set_copy(c, hGraphExec, hNode, copyParams));
}

// --- fills. Version 1 has no context at its end, and is all that is read or written unless a version says 2 ---

static struct cudaMemsetParams runtime_fill(const CUDA_MEMSET_NODE_PARAMS *p) {
    return (struct cudaMemsetParams){driver_pointer(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height};
}

static cudaError_t add_fill(ADD_PARAMETERS, const CUDA_MEMSET_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemsetParams same = runtime_fill(p);
    return cudaGraphAddMemsetNode(ADD_ARGUMENTS, &same);
}

CUDA_API CUresult cuGraphAddMemsetNode(ADD_PARAMETERS, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
    (void)ctx;
    DRIVER_RETURN(c, DRIVER_READY, add_fill(ADD_ARGUMENTS, memsetParams));
}

static cudaError_t get_fill(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *to) {
    struct cudaMemsetParams p;
    cudaError_t error = to ? cudaGraphMemsetNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    to->dst = driver_address(p.dst);
    to->pitch = p.pitch;
    to->value = p.value;
    to->elementSize = p.elementSize;
    to->width = p.width;
    to->height = p.height;
    return cudaSuccess;
}

CUDA_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, get_fill(hNode, nodeParams));
}

static cudaError_t set_fill(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemsetParams same = runtime_fill(p);
    return cudaGraphMemsetNodeSetParams(node, &same);
}

CUDA_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, set_fill(hNode, nodeParams));
}

static cudaError_t exec_set_fill(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemsetParams same = runtime_fill(p);
    return cudaGraphExecMemsetNodeSetParams(exec, node, &same);
}

CUDA_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
    (void)ctx;
    DRIVER_RETURN(c, DRIVER_READY, exec_set_fill(hGraphExec, hNode, memsetParams));
}

// --- nodes of any type ---

static cudaError_t runtime_node(CudaContext *c, const CUgraphNodeParams *p, struct cudaGraphNodeParams *to) {
    *to = (struct cudaGraphNodeParams){.type = p->type};
    switch (p->type) {
    case cudaGraphNodeTypeKernel: to->kernel = runtime_kernel(&p->kernel); return check_kernel(&p->kernel);
    case cudaGraphNodeTypeMemcpy: return driver_box(c, &p->memcpy.copyParams, &to->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: to->memset = runtime_fill(&p->memset); return cudaSuccess;
    default: memcpy(to->reserved1, p->reserved1, sizeof to->reserved1); return cudaSuccess;  // laid out alike
    }
}

// What the call found out goes back to the caller.
static void give_back(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to) {
    if (to->type == cudaGraphNodeTypeMemAlloc) to->alloc.dptr = from->alloc.dptr;
    if (to->type == cudaGraphNodeTypeConditional) to->conditional.phGraph_out = from->conditional.phGraph_out;
}

static cudaError_t add_node(CudaContext *c, ADD_PARAMETERS, const CUgraphEdgeData *edges, CUgraphNodeParams *p) {
    struct cudaGraphNodeParams same;
    cudaError_t error = p ? runtime_node(c, p, &same) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    error = cudaGraphAddNode(phGraphNode, hGraph, dependencies, edges, numDependencies, &same);
    if (error == cudaSuccess) give_back(&same, p);
    return error;
}

CUDA_API CUresult cuGraphAddNode(ADD_PARAMETERS, CUgraphNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, add_node(c, ADD_ARGUMENTS, NULL, nodeParams));
}
CUDA_API CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                    CUgraphNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, add_node(c, ADD_ARGUMENTS, dependencyData, nodeParams));
}

static cudaError_t set_node(CudaContext *c, CUgraphNode node, const CUgraphNodeParams *p) {
    struct cudaGraphNodeParams same;
    cudaError_t error = p ? runtime_node(c, p, &same) : cudaErrorInvalidValue;
    return error == cudaSuccess ? cudaGraphNodeSetParams(node, &same) : error;
}

CUDA_API CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, set_node(c, hNode, nodeParams));
}

static cudaError_t exec_set_node(CudaContext *c, CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *p) {
    struct cudaGraphNodeParams same;
    cudaError_t error = p ? runtime_node(c, p, &same) : cudaErrorInvalidValue;
    return error == cudaSuccess ? cudaGraphExecNodeSetParams(exec, node, &same) : error;
}

CUDA_API CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    DRIVER_RETURN(c, DRIVER_READY, exec_set_node(c, hGraphExec, hNode, nodeParams));
}

// --- executables, in their first versions ---

static cudaError_t instantiate(CUgraphExec *to, CUgraph graph, CUgraphNode *error_node, char *log, size_t log_size) {
    if (error_node) *error_node = NULL;
    if (log && log_size) *log = 0;
    return cudaGraphInstantiate(to, graph, 0);
}

CUDA_API CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                                     char *logBuffer, size_t bufferSize) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, instantiate(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize));
}

static cudaError_t update(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node, CUgraphExecUpdateResult *result) {
    CUgraphExecUpdateResultInfo info = {.result = cudaGraphExecUpdateError};
    cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    if (error_node) *error_node = info.errorNode;
    if (result) *result = info.result;
    return error;
}

CUDA_API CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                    CUgraphExecUpdateResult *updateResult_out) {
    DRIVER_RETURN(c, DRIVER_READY, update(hGraphExec, hGraph, hErrorNode_out, updateResult_out));
}
