// SPDX-License-Identifier: Apache-2.0
// What driver_calls.c is written in.
#ifndef WL_TESTS_CUDA_DRIVER_CALLS_H
#define WL_TESTS_CUDA_DRIVER_CALLS_H

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef REAL
#include <cuda.h>
#include <cudaProfiler.h>
#define CLUSTER(attribute) (attribute).value.clusterDim
// Exported, but no longer what cuda.h declares under these names.
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphGetEdges
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device);
CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream);
CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges);
CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
#else
#include "cuda/driver/driver_api.h"
#define CLUSTER(attribute) (attribute).val.clusterDim
#endif

#define CALL(call) printf("%s %d\n", #call, (int)(call)), fflush(stdout)
#define CALL_NAMED(format, call) (printf format, printf(" %d\n", (int)(call)))
#define VALUE(expression) (printf("%s = %lld\n", #expression, (long long)(expression)), fflush(stdout))

typedef struct CallSection {
    const char *name;
    void (*body)(void);
} CallSection;

static CallSection sections[64];
static unsigned section_count;

// A function that main runs; it registers itself, so that no list has to be kept.
#define SECTION(name)                                                \
    static void name(void);                                          \
    __attribute__((constructor)) static void register_##name(void) { \
        sections[section_count++] = (CallSection){#name, name};      \
    }                                                                \
    static void name(void)

static void run_section(const CallSection *section) {
    int status;
    printf("[%s]\n", section->name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        section->body();
        fflush(stdout);
        _exit(0);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    fflush(stdout);
}

#endif
