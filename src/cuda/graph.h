// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes with dependencies; an executable graph is a private copy with its order of execution.
#ifndef WL_CUDA_GRAPH_H
#define WL_CUDA_GRAPH_H

#include "cuda/work.h"

typedef struct CudaNode CudaNode;
typedef Vec(CudaNode *) NodeList;

struct CudaNode {
    CudaGraph *graph;
    CudaWork work;
    NodeList needs;                // direct dependencies
    Vec(cudaGraphEdgeData) edges;  // one for each of them
    CudaNode *original;            // the node it is a copy of
    CudaNode *executable;          // its copy in an executable graph, when kernels may update it
    bool updatable;                // by kernels (cudaLaunchAttributeDeviceUpdatableKernelNode)
    u32 mark;                      // of the traversal under way
    u32 place;                     // in the order of the run under way
    bool disabled;
    void **arguments;  // made for cudaGraphKernelNodeGetParams
};

struct CudaGraph {
    NodeList nodes;
    CudaGraph *original;  // of a clone
    bool child;           // belongs to a node
    u64 serial;           // from 1; of no other graph, while addresses come again
    Vec(struct CudaUserObject *) objects;
};

typedef struct CudaExec {
    CudaGraph *graph;  // its own copy
    u64 source;        // serial of what it was made from
    NodeList order;
    unsigned long long flags;
    bool uploaded;
    bool pending;  // a kernel launched it, and it has not run yet
    u32 runs;      // launches that are not over
    bool busy;     // one of them is executing its nodes
    bool doomed;   // destroyed, to go with the last of them
} CudaExec;

enum {  // flags of cudaGraphInstantiate
    EXEC_AUTO_FREE = 1,
    EXEC_UPLOAD = 2,
    EXEC_DEVICE_LAUNCH = 4,
    EXEC_NODE_PRIORITY = 8
};

void exec_free(CudaContext *c, CudaExec *exec);  // of one that no handle stands for any more

CudaGraph *graph_new(CudaContext *c);
void graph_destroy(CudaContext *c, CudaGraph *graph);  // NULL is allowed
void node_delete(CudaContext *c, CudaNode *node);      // the graph must not list it any more
cudaError_t graph_clone(CudaContext *c, const CudaGraph *from, CudaGraph **to);
// Takes over what `work` owns, in any case.
cudaError_t graph_add(CudaContext *c, CudaGraph *graph, CudaNode *const *needs, size_t count, CudaWork *work,
                      CudaNode **node);
// Makes `node` depend on `needed`. The edge's ports and type must be possible (edge_possible).
Status node_need(CudaNode *node, CudaNode *needed, cudaGraphEdgeData edge);
// From kernels, when all blocks have begun or said so: `programmatic` to another kernel; else data of zeros.
bool edge_possible(const CudaNode *from, const CudaNode *to, cudaGraphEdgeData edge);
bool edge_is_plain(cudaGraphEdgeData edge);
// An order in which every node comes behind what it needs. cudaErrorInvalidValue: there is a circle.
cudaError_t graph_order(CudaGraph *graph, NodeList *order);
bool graph_reaches(CudaGraph *graph, const NodeList *from, const CudaNode *node);
Status node_list_copy(NodeList *to, const NodeList *from);

// Memory of allocation nodes has its address from when the node is made, and stays reserved.
cudaError_t graph_memory_new(CudaContext *c, size_t size, void **address);
cudaError_t graph_memory_set(CudaContext *c, void *address, bool live);
bool graph_memory_free(CudaContext *c, void *address);  // true when it was graph memory

#endif
