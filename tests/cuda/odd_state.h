// SPDX-License-Identifier: Apache-2.0
// What the sections of odd_calls.inc and odd_graphs.inc work on, and how they tell what is answered. The includer has
// K_INCREMENT, K_BOUNDED, K_TRAP, K_ASSERT, S_TABLE, GUARD (says what to do when a call crashes) and the list of
// sections.
#ifndef WL_TESTS_CUDA_ODD_STATE_H
#define WL_TESTS_CUDA_ODD_STATE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"

static FILE *answers;
static void *q2;
static char *q, *host, *man, *pin, text[256], exported[256];
static void *vp, *dsts[2], *managed_list[1], *data[1];
static const void *srcs[2];
static size_t size, sizes[2], zero_index;
static unsigned flags;
static unsigned long long id, number;
static int v, zero, ninety_nine = 99;
static float ms;
static const char *name;
static struct cudaPitchedPtr pitched;
static struct cudaPointerAttributes attributes;
static struct cudaMemcpy3DParms box;
static struct cudaMemcpyAttributes copy_attributes;
static struct cudaChannelFormatDesc format, float_format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
static struct cudaExtent extent;
static struct cudaArrayMemoryRequirements requirements;
static struct cudaArraySparseProperties sparse;
static cudaStream_t s, s2, other, bad_stream;
static cudaEvent_t e1, e2, e3, e_timing_off;
static cudaIpcMemHandle_t ipc_memory;
static cudaIpcEventHandle_t ipc_event;
static cudaLaunchAttributeValue value;
static cudaLaunchAttribute attribute;
static cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
static struct cudaDeviceProp properties;
static enum cudaFuncCache cache;
static const dim3 one = {1, 1, 1};
static void *args[1], *bad_args[1], *bad_pointer;
static cudaKernel_t kernel;
static cudaFunction_t function;
static struct cudaFuncAttributes func_attributes;
static struct cudaMemLocation device_0 = {cudaMemLocationTypeDevice, 0}, device_99 = {cudaMemLocationTypeDevice, 99};
static struct cudaMemLocation cpu = {cudaMemLocationTypeHost, 0}, nowhere;
static enum cudaMemRangeAttribute range_attributes[1] = {cudaMemRangeAttributeReadMostly};
static cudaMemPool_t pool, pool2;
static struct cudaMemPoolProps pool_props;
static struct cudaMemAccessDesc access_wanted;
static enum cudaMemAccessFlags access_flags;
static cudaArray_t ar, ar2;
static cudaMipmappedArray_t mip;
static cudaTextureObject_t texture;
static cudaSurfaceObject_t surface;
static struct cudaResourceDesc resource, resource2;
static struct cudaTextureDesc sampling, sampling2;
static struct cudaResourceViewDesc view;
static cudaGraph_t g, g2, g3;
static cudaGraphNode_t n1, n2, n3, kn, cn, mn, hn, en;
static cudaGraphExec_t x, x2;
static struct cudaKernelNodeParams kernel_params, kernel_params2;
static struct cudaMemsetParams fill;
static struct cudaHostNodeParams host_params;
static struct cudaMemAllocNodeParams alloc_params;
static struct cudaGraphNodeParams node_params;
static enum cudaGraphNodeType type;
static cudaGraphInstantiateParams instantiate_params;
static cudaGraphExecUpdateResultInfo update;
static cudaUserObject_t user;
static cudaGraphConditionalHandle handle;
static enum cudaStreamCaptureStatus status;
static enum cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
static unsigned capture_flags;

static void on_stream(cudaStream_t stream, cudaError_t error, void *user_data) {
    (void)stream, (void)error, (void)user_data;
}
static void on_host(void *user_data) { (void)user_data; }

// One process asks one section.
static void odd_begin(void) {
    (void)cudaMalloc((void **)&q, 4096);
    host = calloc(1, 1 << 20);
    (void)cudaMallocManaged((void **)&man, 4096, cudaMemAttachGlobal);
    (void)cudaMallocHost((void **)&pin, 4096);
    (void)cudaStreamCreate(&s);
    (void)cudaEventCreate(&e1);
    (void)cudaEventCreate(&e2);
    (void)cudaEventCreateWithFlags(&e_timing_off, cudaEventDisableTiming);
    (void)cudaMallocArray(&ar, &float_format, 64, 64, cudaArraySurfaceLoadStore);
    resource.res.array.array = ar;
    bad_stream = (cudaStream_t)(void *)host;
    dsts[0] = q, dsts[1] = q + 64, srcs[0] = host, srcs[1] = host + 64, sizes[0] = sizes[1] = 16;
    managed_list[0] = man, data[0] = &v;
    args[0] = &q, bad_pointer = (void *)0x10, bad_args[0] = &bad_pointer;
    (void)cudaGetLastError();
}

static void say_error(cudaError_t error) {
    cudaError_t last = cudaPeekAtLastError();
    fprintf(answers, "%s", cudaGetErrorName(error));
    if (last != error) fprintf(answers, ", last %s", cudaGetErrorName(last));
    fprintf(answers, "\n");
    (void)cudaGetLastError();
}

static void begin_captured(void) {
    (void)cudaStreamCreateWithFlags(&s, capture_flags);
    (void)cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    (void)cudaStreamBeginCapture(s, capture_mode);
}

static void end_captured(cudaError_t error) {
    size_t nodes = 0;
    g = NULL;
    cudaError_t end = cudaStreamEndCapture(s, &g);
    if (g) (void)cudaGraphGetNodes(g, NULL, &nodes);
    fprintf(answers, "%s, end %s, %zu nodes\n", cudaGetErrorName(error), cudaGetErrorName(end), nodes);
    (void)cudaStreamEndCapture(other, &g);
    (void)cudaStreamDestroy(s);
    (void)cudaStreamDestroy(other);
    (void)cudaGetLastError();
}

#define T(...)                                   \
    do {                                         \
        fprintf(answers, "%s = ", #__VA_ARGS__); \
        fflush(answers);                         \
        GUARD(say_error(__VA_ARGS__));           \
    } while (0)
#define V(number_) fprintf(answers, "%s = %lld\n", #number_, (long long)(intptr_t)(number_))
#define CAPTURED(...)                            \
    do {                                         \
        fprintf(answers, "%s = ", #__VA_ARGS__); \
        fflush(answers);                         \
        begin_captured();                        \
        GUARD(end_captured(__VA_ARGS__));        \
    } while (0)

// The sections as functions, then as a list.
#define SECTION(name_) static void section_##name_(void)
// clang-format off
#include "odd_calls.inc"
#include "odd_graphs.inc"
// clang-format on
#undef SECTION

static const struct {
    const char *name;
    void (*ask)(void);
} sections[] = {
#define SECTION(name_) {#name_, section_##name_},
#include "odd_sections.inc"
#undef SECTION
};

#endif
