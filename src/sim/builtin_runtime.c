// SPDX-License-Identifier: Apache-2.0
// The device runtime of dynamic parallelism, and graphs from kernels. What is launched, copied or filled is done when
// the parent grid is complete (child.c). Streams and events are numbers: everything is in order anyway. Error codes are
// those that an H200 gives (2026-11-21, driver 580, CUDA 13.0).
#include <string.h>

#include "sim/builtin_lane.h"
#include "sim/child.h"
#include "sim/exec/access.h"

enum {  // cudaError_t
    CUDA_SUCCESS = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_CONFIGURATION = 9,
    CUDA_INVALID_PITCH = 12,
    CUDA_INVALID_DIRECTION = 21,
    CUDA_INVALID_DEVICE = 101,
    CUDA_NOT_SUPPORTED = 801
};
enum { DEVICE_RUNTIME_VERSION = 6000 };
enum { KIND_DEVICE_TO_DEVICE = 3, KIND_DEFAULT = 4 };  // cudaMemcpyKind
enum { EVENT_DISABLE_TIMING = 2, STREAM_HANDLE = 0x100, EVENT_HANDLE = 0x200, BANKS_OF_FOUR_BYTES = 1 };

// --- each thread's last error ----------------------------------------------------------------------------------------
static u64 thread_of(const BuiltinLane *b) {
    const Warp *w = b->x->warp;
    return w->cta->linear * w->cta->threads + w->index * LANES + b->lane;
}

static u64 note(const BuiltinLane *b, u64 error) {
    // When memory is out the error is returned and not kept.
    if (error) (void)!map_put(&b->x->grid->thread_errors, thread_of(b), error);
    return error;
}

static u64 last_error(const BuiltinLane *b) {
    const u64 *found = map_get(&b->x->grid->thread_errors, thread_of(b));
    return found ? *found : CUDA_SUCCESS;
}

u64 builtin_CDP_PEEK_LAST_ERROR(const BuiltinLane *b) { return last_error(b); }

u64 builtin_CDP_GET_LAST_ERROR(const BuiltinLane *b) {
    u64 error = last_error(b);
    if (error) map_remove(&b->x->grid->thread_errors, thread_of(b));
    return error;
}

static u64 give_int(const BuiltinLane *b, u32 index, u64 error, int value) {
    if (!error && !store_through(b, index, &value, sizeof value)) return CUDA_INVALID_VALUE;
    return note(b, error);
}

// --- launches --------------------------------------------------------------------------------------------------------
u64 builtin_CDP_PARAMETER_BUFFER(const BuiltinLane *b) {
    u32 grid[3], block[3];
    arg_bytes(b, 1, grid, sizeof grid);
    arg_bytes(b, 2, block, sizeof block);
    u64 buffer = child_buffer(b->x, arg_u64(b, 0), grid, block, (u32)arg_u64(b, 3));
    if (!buffer) note(b, CUDA_INVALID_CONFIGURATION);
    return buffer;
}

u64 builtin_CDP_LAUNCH(const BuiltinLane *b) {
    u64 buffer = arg_u64(b, 0);
    if (child_launch(b->x, buffer, arg_u64(b, 1))) return CUDA_SUCCESS;
    return buffer ? note(b, CUDA_INVALID_VALUE) : last_error(b);
}

u64 builtin_CDP_LAUNCH_PT(const BuiltinLane *b) { return builtin_CDP_LAUNCH(b); }

// --- streams and events ----------------------------------------------------------------------------------------------
u64 builtin_CDP_STREAM_CREATE(const BuiltinLane *b) {
    u64 handle = STREAM_HANDLE;
    if (arg_u64(b, 1) > 1) return note(b, CUDA_INVALID_VALUE);
    return store_through(b, 0, &handle, sizeof handle) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

u64 builtin_CDP_EVENT_CREATE(const BuiltinLane *b) {
    u64 handle = EVENT_HANDLE;
    if (!(arg_u64(b, 1) & EVENT_DISABLE_TIMING)) return note(b, CUDA_INVALID_VALUE);
    return store_through(b, 0, &handle, sizeof handle) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

static u64 stream_done(const BuiltinLane *b, u32 index) {
    return note(b, arg_u64(b, index) == STREAM_HANDLE ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

static u64 event_done(const BuiltinLane *b, u32 index) {
    return note(b, arg_u64(b, index) == EVENT_HANDLE ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

u64 builtin_CDP_STREAM_DESTROY(const BuiltinLane *b) { return stream_done(b, 0); }
u64 builtin_CDP_STREAM_WAIT(const BuiltinLane *b) { return event_done(b, 1); }
u64 builtin_CDP_STREAM_WAIT_PT(const BuiltinLane *b) { return event_done(b, 1); }
u64 builtin_CDP_EVENT_DESTROY(const BuiltinLane *b) { return event_done(b, 0); }
u64 builtin_CDP_EVENT_RECORD(const BuiltinLane *b) { return event_done(b, 0); }
u64 builtin_CDP_EVENT_RECORD_PT(const BuiltinLane *b) { return event_done(b, 0); }
u64 builtin_CDP_EVENT_RECORD_FLAGS(const BuiltinLane *b) { return event_done(b, 0); }
u64 builtin_CDP_EVENT_RECORD_FLAGS_PT(const BuiltinLane *b) { return event_done(b, 0); }

// --- memory ----------------------------------------------------------------------------------------------------------
u64 builtin_CDP_MALLOC(const BuiltinLane *b) {
    u64 address = heap_alloc(b, arg_u64(b, 1));
    if (!store_through(b, 0, &address, sizeof address)) return CUDA_INVALID_VALUE;
    return note(b, address ? CUDA_SUCCESS : CUDA_OUT_OF_MEMORY);
}

u64 builtin_CDP_FREE(const BuiltinLane *b) {
    u64 address = arg_u64(b, 0);
    return note(b, address == 0 || heap_free(b, address) ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

static u64 queue(const BuiltinLane *b, const ChildBox *box, u64 stream) {
    if (!box->width || !box->height || !box->depth) return CUDA_SUCCESS;
    return note(b, child_move(b->x, box, stream) == STATUS_OK ? CUDA_SUCCESS : CUDA_OUT_OF_MEMORY);
}

static bool on_device(u64 kind) { return kind == KIND_DEVICE_TO_DEVICE || kind == KIND_DEFAULT; }

u64 builtin_CDP_MEMCPY(const BuiltinLane *b) {
    ChildBox box = {.to = arg_u64(b, 0), .from = arg_u64(b, 1), .width = arg_u64(b, 2), .height = 1, .depth = 1};
    if (!on_device(arg_u64(b, 3))) return note(b, CUDA_INVALID_DIRECTION);
    bool good = !box.width || (box.to && box.from);
    return good ? queue(b, &box, arg_u64(b, 4)) : note(b, CUDA_INVALID_VALUE);
}

u64 builtin_CDP_MEMCPY_2D(const BuiltinLane *b) {
    ChildBox box = {.to = arg_u64(b, 0),
                    .to_pitch = arg_u64(b, 1),
                    .from = arg_u64(b, 2),
                    .from_pitch = arg_u64(b, 3),
                    .width = arg_u64(b, 4),
                    .height = arg_u64(b, 5),
                    .depth = 1};
    if (!on_device(arg_u64(b, 6))) return note(b, CUDA_INVALID_DIRECTION);
    if (box.width > box.to_pitch || box.width > box.from_pitch) return note(b, CUDA_INVALID_PITCH);
    bool good = box.to && box.from;
    return good ? queue(b, &box, arg_u64(b, 7)) : note(b, CUDA_INVALID_VALUE);
}

typedef struct PitchedPointer {  // struct cudaPitchedPtr
    u64 pointer, pitch, xsize, ysize;
} PitchedPointer;

typedef struct CopyParameters {  // struct cudaMemcpy3DParms
    u64 from_array, from_at[3];
    PitchedPointer from;
    u64 to_array, to_at[3];
    PitchedPointer to;
    u64 width, height, depth;
    u32 kind, unused;
} CopyParameters;

static u64 place_in(const PitchedPointer *p, const u64 at[3]) {
    return p->pointer + at[0] + (at[1] + at[2] * p->ysize) * p->pitch;
}

u64 builtin_CDP_MEMCPY_3D(const BuiltinLane *b) {
    CopyParameters p;
    for (u32 i = 0; i < sizeof p; i += 8) {
        u8 space;
        u8 *from = access_resolve(b->x, b->lane, arg_u64(b, 0) + i, 8, SPACE_NONE, false, &space);
        if (!from) return CUDA_INVALID_VALUE;
        memcpy((u8 *)&p + i, from, 8);
    }
    if (!on_device(p.kind)) return note(b, CUDA_INVALID_DIRECTION);
    if (p.from_array || p.to_array || !p.from.pointer || !p.to.pointer) return note(b, CUDA_INVALID_VALUE);
    ChildBox box = {.to = place_in(&p.to, p.to_at),
                    .from = place_in(&p.from, p.from_at),
                    .to_pitch = p.to.pitch,
                    .to_slice = p.to.pitch * p.to.ysize,
                    .from_pitch = p.from.pitch,
                    .from_slice = p.from.pitch * p.from.ysize,
                    .width = p.width,
                    .height = p.height,
                    .depth = p.depth};
    return queue(b, &box, arg_u64(b, 1));
}

u64 builtin_CDP_MEMSET(const BuiltinLane *b) {
    ChildBox box = {.to = arg_u64(b, 0), .value = (u8)arg_u64(b, 1), .width = arg_u64(b, 2), .height = 1, .depth = 1};
    return box.to ? queue(b, &box, arg_u64(b, 3)) : note(b, CUDA_INVALID_VALUE);
}

u64 builtin_CDP_MEMSET_2D(const BuiltinLane *b) {
    ChildBox box = {.to = arg_u64(b, 0),
                    .to_pitch = arg_u64(b, 1),
                    .value = (u8)arg_u64(b, 2),
                    .width = arg_u64(b, 3),
                    .height = arg_u64(b, 4),
                    .depth = 1};
    return box.to && box.width <= box.to_pitch ? queue(b, &box, arg_u64(b, 5)) : note(b, CUDA_INVALID_VALUE);
}

u64 builtin_CDP_MEMSET_3D(const BuiltinLane *b) {
    PitchedPointer to;
    u64 extent[3];
    arg_bytes(b, 0, &to, sizeof to);
    arg_bytes(b, 2, extent, sizeof extent);
    ChildBox box = {.to = to.pointer,
                    .to_pitch = to.pitch,
                    .to_slice = to.pitch * to.ysize,
                    .value = (u8)arg_u64(b, 1),
                    .width = extent[0],
                    .height = extent[1],
                    .depth = extent[2]};
    return box.to && box.width <= box.to_pitch ? queue(b, &box, arg_u64(b, 3)) : note(b, CUDA_INVALID_VALUE);
}

u64 builtin_CDP_MEMCPY_PT(const BuiltinLane *b) { return builtin_CDP_MEMCPY(b); }
u64 builtin_CDP_MEMCPY_2D_PT(const BuiltinLane *b) { return builtin_CDP_MEMCPY_2D(b); }
u64 builtin_CDP_MEMCPY_3D_PT(const BuiltinLane *b) { return builtin_CDP_MEMCPY_3D(b); }
u64 builtin_CDP_MEMSET_PT(const BuiltinLane *b) { return builtin_CDP_MEMSET(b); }
u64 builtin_CDP_MEMSET_2D_PT(const BuiltinLane *b) { return builtin_CDP_MEMSET_2D(b); }
u64 builtin_CDP_MEMSET_3D_PT(const BuiltinLane *b) { return builtin_CDP_MEMSET_3D(b); }

// --- questions -------------------------------------------------------------------------------------------------------
static const SimRuntime *runtime_of(const BuiltinLane *b, void **context) {
    const SimConfig *config = &b->x->grid->sim->config;
    *context = config->runtime_context;
    return config->runtime;
}

u64 builtin_CDP_DEVICE_COUNT(const BuiltinLane *b) {
    return give_int(b, 0, CUDA_SUCCESS, (int)b->x->grid->sim->config.devices);
}

u64 builtin_CDP_DEVICE(const BuiltinLane *b) { return give_int(b, 0, CUDA_SUCCESS, (int)lane_device(b)); }
u64 builtin_CDP_VERSION(const BuiltinLane *b) { return give_int(b, 0, CUDA_SUCCESS, DEVICE_RUNTIME_VERSION); }
u64 builtin_CDP_BANK_CONFIG(const BuiltinLane *b) { return give_int(b, 0, CUDA_SUCCESS, BANKS_OF_FOUR_BYTES); }

u64 builtin_CDP_ATTRIBUTE(const BuiltinLane *b) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    int value = 0;
    u32 device = (u32)arg_u64(b, 2);
    if (device != lane_device(b)) return note(b, CUDA_INVALID_DEVICE);
    u64 error = r ? (u64)r->attribute(context, device, (int)arg_u64(b, 1), &value) : CUDA_NOT_SUPPORTED;
    return give_int(b, 0, error, value);
}

u64 builtin_CDP_LIMIT(const BuiltinLane *b) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    u64 value = 0;
    u64 error = r ? (u64)r->limit(context, lane_device(b), (int)arg_u64(b, 1), &value) : CUDA_NOT_SUPPORTED;
    if (!error && !store_through(b, 0, &value, sizeof value)) return CUDA_INVALID_VALUE;
    return note(b, error);
}

u64 builtin_CDP_CACHE_CONFIG(const BuiltinLane *b) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    return give_int(b, 0, CUDA_SUCCESS, r ? r->cache_config(context, lane_device(b)) : 0);
}

// Texts live in device memory as long as the machine, one copy each, unnamed.
static u64 error_text(const BuiltinLane *b, bool name) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    Sim *sim = b->x->grid->sim;
    u64 key = arg_u64(b, 0) * 2 + name, *found = map_get(&sim->device_texts, key);
    DevicePtr address;
    if (found) return *found;
    const char *text = r ? r->error_text((int)arg_u64(b, 0), name) : "";
    size_t size = strlen(text) + 1;
    if (sim_alloc(sim, lane_device(b), MEMORY_PINNED, size, 256, &address) != STATUS_OK) return 0;
    memcpy(sim_host_view(sim, address, size, NULL), text, size);
    return map_put(&sim->device_texts, key, address) == STATUS_OK ? address : 0;
}

u64 builtin_CDP_ERROR_STRING(const BuiltinLane *b) { return error_text(b, false); }
u64 builtin_CDP_ERROR_NAME(const BuiltinLane *b) { return error_text(b, true); }

// The kernel behind a function pointer; NULL when there is none.
static const SimKernelInfo *kernel_info(const BuiltinLane *b, u64 handle, SimKernelInfo *info) {
    Grid *g = b->x->grid;
    SimModule *module = g->kernel->module;
    FuncRef ref = function_from_handle(module->ptx, handle);
    SimKernel *kernel;
    if (ref == WL_NONE || !module->ptx->funcs[ref].is_entry) return NULL;
    if (sim_find_kernel(g->sim, module, module_text(module->ptx, module->ptx->funcs[ref].name), &kernel) != STATUS_OK)
        return NULL;
    Diag diag = {0};
    Status status = sim_kernel_prepare(g->sim, kernel, info, &diag);
    diag_free(&diag);
    return status == STATUS_OK ? info : NULL;
}

u64 builtin_CDP_FUNCTION(const BuiltinLane *b) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    SimKernelInfo info;
    u64 attributes[32], to = arg_u64(b, 0);
    if (!kernel_info(b, arg_u64(b, 1), &info)) return note(b, CUDA_INVALID_VALUE);
    if (!r) return note(b, CUDA_NOT_SUPPORTED);
    u32 size = r->function(context, lane_device(b), &info, attributes, sizeof attributes);
    for (u32 i = 0; i < size; i += 8) {
        u8 space, *at = access_resolve(b->x, b->lane, to + i, 8, SPACE_NONE, true, &space);
        if (!at) return CUDA_INVALID_VALUE;
        memcpy(at, &attributes[i / 8], 8);
    }
    return CUDA_SUCCESS;
}

u64 builtin_CDP_OCCUPANCY(const BuiltinLane *b) {
    SimKernelInfo info;
    u64 threads = arg_u64(b, 2), shared = arg_u64(b, 3);
    const GpuModel *gpu = sim_gpu(b->x->grid->sim, lane_device(b));
    if (!kernel_info(b, arg_u64(b, 1), &info)) return note(b, CUDA_INVALID_VALUE);
    bool possible = (i32)threads > 0 && threads <= gpu->max_threads_per_cta && shared <= gpu->shared_per_sm;
    u32 blocks = possible ? sim_occupancy(gpu, &info, (u32)threads, (u32)shared) : 0;
    return give_int(b, 0, (i32)threads > 0 ? CUDA_SUCCESS : CUDA_INVALID_VALUE, (int)blocks);
}

u64 builtin_CDP_OCCUPANCY_FLAGS(const BuiltinLane *b) { return builtin_CDP_OCCUPANCY(b); }

// --- graphs ----------------------------------------------------------------------------------------------------------
u64 builtin_GRAPH_SET_CONDITIONAL(const BuiltinLane *b) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    if (r) r->set_condition(context, arg_u64(b, 0), (u32)arg_u64(b, 1));
    return 0;
}

u64 builtin_GRAPH_LAUNCH(const BuiltinLane *b) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    u64 running = b->x->grid->graph_exec;
    u64 error = r ? (u64)r->launch_graph(context, arg_u64(b, 0), arg_u64(b, 1), running) : CUDA_NOT_SUPPORTED;
    return note(b, error);
}

static u64 change(const BuiltinLane *b, const SimNodeChange *c) {
    void *context;
    const SimRuntime *r = runtime_of(b, &context);
    return note(b, r ? (u64)r->change_node(context, c) : CUDA_NOT_SUPPORTED);
}

// Parameters are changed in place of at most this many bytes (PTX ISA: 32764 bytes of kernel parameters).
enum { MOST_PARAM_BYTES = 32764 };

static u64 change_param(const BuiltinLane *b, SimNodeChange *c, u64 from) {
    u8 bytes[MOST_PARAM_BYTES];
    if (c->size > sizeof bytes) return note(b, CUDA_INVALID_VALUE);
    for (u64 i = 0; i < c->size; i++) {
        u8 space, *at = access_resolve(b->x, b->lane, from + i, 1, SPACE_NONE, false, &space);
        if (!at) return CUDA_INVALID_VALUE;
        bytes[i] = *at;
    }
    c->value = bytes;
    return change(b, c);
}

u64 builtin_GRAPH_NODE_SET_PARAM(const BuiltinLane *b) {
    SimNodeChange c = {
        .node = arg_u64(b, 0), .kind = NODE_CHANGE_PARAM, .offset = arg_u64(b, 1), .size = arg_u64(b, 3)};
    return change_param(b, &c, arg_u64(b, 2));
}

u64 builtin_GRAPH_NODE_SET_ENABLED(const BuiltinLane *b) {
    SimNodeChange c = {.node = arg_u64(b, 0), .kind = NODE_CHANGE_ENABLED, .enabled = (arg_u64(b, 1) & 255) != 0};
    return change(b, &c);
}

u64 builtin_GRAPH_NODE_SET_GRID(const BuiltinLane *b) {
    SimNodeChange c = {.node = arg_u64(b, 0), .kind = NODE_CHANGE_GRID};
    arg_bytes(b, 1, c.grid, sizeof c.grid);
    return change(b, &c);
}

typedef struct NodeUpdate {  // cudaGraphKernelNodeUpdate
    u64 node;
    u32 field, unused;
    union {
        u32 grid[3];
        struct {
            u64 value, offset, size;
        } param;
        u32 enabled;
    };
} NodeUpdate;

static bool read_update(const BuiltinLane *b, u64 from, NodeUpdate *to) {
    for (u32 i = 0; i < sizeof *to; i += 8) {
        u8 space, *at = access_resolve(b->x, b->lane, from + i, 8, SPACE_NONE, false, &space);
        if (!at) return false;
        memcpy((u8 *)to + i, at, 8);
    }
    return true;
}

u64 builtin_GRAPH_NODE_UPDATES(const BuiltinLane *b) {
    enum { FIELD_INVALID, FIELD_GRID, FIELD_PARAM, FIELD_ENABLED };  // cudaGraphKernelNodeField
    for (u64 i = 0; i < arg_u64(b, 1); i++) {
        NodeUpdate u;
        if (!read_update(b, arg_u64(b, 0) + i * sizeof u, &u)) return CUDA_INVALID_VALUE;
        if (u.field < FIELD_GRID || u.field > FIELD_ENABLED) return note(b, CUDA_INVALID_VALUE);
        SimNodeChange c = {.node = u.node, .enabled = u.enabled != 0};
        c.kind = u.field == FIELD_GRID    ? NODE_CHANGE_GRID
                 : u.field == FIELD_PARAM ? NODE_CHANGE_PARAM
                                          : NODE_CHANGE_ENABLED;
        if (u.field == FIELD_GRID) memcpy(c.grid, u.grid, sizeof c.grid);
        if (u.field == FIELD_PARAM) c.offset = u.param.offset, c.size = u.param.size;
        u64 error = u.field == FIELD_PARAM ? change_param(b, &c, u.param.value) : change(b, &c);
        if (error) return error;
    }
    return CUDA_SUCCESS;
}
