// SPDX-License-Identifier: Apache-2.0
// What kernels call without defining it: one function per row of builtins.def, run for one lane at a time. The device
// runtime of dynamic parallelism is in builtin_runtime.c.
#include "sim/builtin_lane.h"

#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/access.h"

#define HEAP_LIMIT_DEFAULT (8ull << 20)  // cudaLimitMallocHeapSize

// --- arguments and results -----------------------------------------------------------------------------------------
static u8 *arg_place(const BuiltinLane *b, const SimArg *arg) {
    const Exec *x = b->x;
    if (!arg->is_reg) return x->local + b->lane * x->local_stride + x->frame_local + arg->caller;
    u32 lane_bytes = arg->caller >> 30 & 1 ? 8 : 4;
    return (u8 *)exec_operand(x, arg->caller) + b->lane * lane_bytes;
}

void arg_bytes(const BuiltinLane *b, u32 index, void *to, u32 size) {
    memset(to, 0, size);
    if (index >= b->call->arg_count) return;
    const SimArg *arg = &b->x->grid->program->args[b->call->args + index];
    memcpy(to, arg_place(b, arg), arg->size < size ? arg->size : size);
}

u64 arg_u64(const BuiltinLane *b, u32 index) {
    u64 value;
    arg_bytes(b, index, &value, sizeof value);
    return value;
}

static void set_result(const BuiltinLane *b, u64 value) {
    if (b->call->result_count == 0) return;
    const SimArg *arg = &b->x->grid->program->args[b->call->results];
    memcpy(arg_place(b, arg), &value, arg->size < sizeof value ? arg->size : sizeof value);
}

bool store_through(const BuiltinLane *b, u32 index, const void *value, u32 size) {
    u8 space;
    u8 *to = access_resolve(b->x, b->lane, arg_u64(b, index), size, SPACE_NONE, true, &space);
    if (to) memcpy(to, value, size);
    return to != NULL;
}

// --- printf and assert ---------------------------------------------------------------------------------------------
u64 builtin_VPRINTF(const BuiltinLane *b) {
    return (u64)(i64)device_printf(b->x, b->lane, arg_u64(b, 0), arg_u64(b, 1));
}

// The text is CUDA's; the first failing thread's stays behind for the launch's error.
u64 builtin_ASSERTFAIL(const BuiltinLane *b) {
    Exec *x = b->x;
    const Warp *w = x->warp;
    const u32 *cta = w->cta->id, l = b->lane;
    char message[256], file[256], function[256], text[sizeof x->grid->message];
    if (!device_string(x, l, arg_u64(b, 0), message, sizeof message)) return 0;
    if (!device_string(x, l, arg_u64(b, 1), file, sizeof file)) return 0;
    if (!device_string(x, l, arg_u64(b, 3), function, sizeof function)) return 0;
    snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file,
             (u32)arg_u64(b, 2), function, cta[0], cta[1], cta[2], w->tid[0][l], w->tid[1][l], w->tid[2][l], message);
    if (x->fault.kind != FAULT_ASSERT) {
        x->fault = (Fault){.kind = FAULT_ASSERT, .lane = (u8)l};
        x->message = memcpy(x->grid->message, text, sizeof text);
    }
    size_t length = strlen(text);
    text[length] = '\n';  // in place of the NUL: the length is given
    device_print(x, text, length + 1);
    return 0;
}

// --- the device heap -----------------------------------------------------------------------------------------------
// Blocks of device malloc are told from others by this very label; they outlive the launch, as in CUDA.
static const char heap_label[] = "device malloc";

u64 heap_alloc(const BuiltinLane *b, u64 size) {
    const Grid *g = b->x->grid;
    Sim *sim = g->sim;
    SimDevice *device = &sim->devices[g->kernel->module->device];
    u64 limit = device->heap_limit ? device->heap_limit : HEAP_LIMIT_DEFAULT;
    DevicePtr address;
    if (size > limit || device->heap_bytes > limit - size) return 0;
    if (size == 0) size = 1;  // a block of its own, as on hardware
    if (sim_alloc(sim, g->kernel->module->device, MEMORY_DEVICE, size, 256, &address) != STATUS_OK) return 0;
    memory_lookup(sim, address)->label = heap_label;
    device->heap_bytes += size;
    return address;
}

bool heap_free(const BuiltinLane *b, u64 address) {
    Sim *sim = b->x->grid->sim;
    const SimAllocation *a = sim_find(sim, address);
    if (!a || a->label != heap_label || a->address != address) return false;
    SimDevice *device = &sim->devices[a->device];
    u64 size = a->size;
    if (sim_free(sim, address) != STATUS_OK) return false;
    device->heap_bytes -= size;
    return true;
}

u64 builtin_MALLOC(const BuiltinLane *b) { return heap_alloc(b, arg_u64(b, 0)); }

u64 builtin_FREE(const BuiltinLane *b) {
    u64 address = arg_u64(b, 0);
    if (address == 0 || heap_free(b, address)) return 0;
    Exec *x = b->x;
    if (x->check && check_bad_device_free(x, b->lane, address)) return 0;
    snprintf(x->grid->message, sizeof x->grid->message,
             "free of 0x%llx, which device malloc did not return or which was freed before",
             (unsigned long long)address);
    x->message = x->grid->message;
    x->fault = (Fault){.kind = FAULT_TRAP, .lane = (u8)b->lane, .address = address};
    return 0;
}

// --- the table -----------------------------------------------------------------------------------------------------
static const struct {
    const char *name;
    u64 (*call)(const BuiltinLane *b);
} builtins[BUILTIN_COUNT] = {
#define BUILTIN(id, name) [BUILTIN_##id] = {name, builtin_##id},
#include "sim/builtins.def"
#undef BUILTIN
};

u32 builtin_find(const char *name) {
    for (u32 i = 0; i < BUILTIN_COUNT; i++)
        if (strcmp(builtins[i].name, name) == 0) return i;
    return WL_NONE;
}

void builtin_call(Exec *x, Warp *warp, const SimCall *call, u32 mask) {
    x->warp = warp;
    u32 id = call->builtin - 1;
    for (u32 left = mask; left; left &= left - 1) {
        BuiltinLane b = {.x = x, .call = call, .lane = (u32)__builtin_ctz(left)};
        u64 result = builtins[id].call(&b);
        if (x->fault.kind && x->fault.kind != FAULT_ASSERT) return;
        set_result(&b, result);
    }
}
