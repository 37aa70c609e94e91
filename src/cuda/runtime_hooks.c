// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime_hooks.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/graph_condition.h"

static int attribute(void *context, u32 device, int number, int *value) {
    return (int)device_attribute(context, device, number, value);
}

static int limit(void *context, u32 device, int number, u64 *value) {
    const CudaContext *c = context;
    if ((unsigned)number >= WL_COUNT(c->devices[device].limits)) return cudaErrorInvalidValue;
    *value = c->devices[device].limits[number];
    return cudaSuccess;
}

static int cache_config(void *context, u32 device) {
    return ((const CudaContext *)context)->devices[device].cache_config;
}

static const char *error_text(int error, bool name) {
    return name ? cudaGetErrorName((cudaError_t)error) : cudaGetErrorString((cudaError_t)error);
}

static u32 function(void *context, u32 device, const SimKernelInfo *info, void *to, u32 room) {
    const CudaContext *c = context;
    struct cudaFuncAttributes attributes;
    if (room < sizeof attributes) return 0;
    function_describe(&c->gpus[device], info, &attributes);
    memcpy(to, &attributes, sizeof attributes);
    return sizeof attributes;
}

static void set_condition(void *context, u64 handle, u32 value) { condition_set(context, handle, value); }

static int launch_graph(void *context, u64 exec, u64 stream, u64 running) {
    return running ? graph_launch_from_device(context, exec, stream) : (int)cudaErrorInvalidValue;
}

static int change_node(void *context, const SimNodeChange *change) { return graph_change_from_device(context, change); }

const SimRuntime runtime_hooks = {attribute, limit,         cache_config, error_text,
                                  function,  set_condition, launch_graph, change_node};
