// SPDX-License-Identifier: Apache-2.0
// All streams of the device runtime are one queue behind the parent grid, but the tail stream comes after the rest: an
// order that the hardware may choose too.
#include "sim/child.h"

#include <string.h>

#include "sim/grid.h"

struct ChildLaunch {
    FuncRef func;  // WL_NONE: a copy or a fill
    u32 grid[3], block[3], shared;
    DevicePtr buffer;
    u32 bytes;      // of parameters
    bool launched;  // false: only the buffer was asked for
    bool tail;
    ChildBox box;
};

// --- in the parent -----------------------------------------------------------------------------------------------
// Bytes of a kernel's parameter block (lower.c lays it out the same way).
static u32 param_bytes(const Module *m, const Function *f) {
    u64 at = 0;
    for (u32 i = 0; i < f->param_count; i++) {
        const Var *var = &m->vars[f->params + i];
        u64 align = var->align ? var->align : 1;
        at = (at + align - 1) / align * align + var->size;
    }
    return (u32)at;
}

// The kernel's own limits; when it cannot be prepared, its launch will say why.
static bool fits(Grid *g, FuncRef ref, u64 threads, u32 shared) {
    SimModule *module = g->kernel->module;
    const GpuModel *gpu = sim_gpu(g->sim, module->device);
    SimKernel *kernel;
    SimKernelInfo info;
    Diag diag = {0};
    if (sim_find_kernel(g->sim, module, module_text(module->ptx, module->ptx->funcs[ref].name), &kernel) != STATUS_OK)
        return false;
    Status status = sim_kernel_prepare(g->sim, kernel, &info, &diag);
    diag_free(&diag);
    if (status != STATUS_OK) return true;
    return threads <= info.max_threads && (u64)info.static_shared_bytes + shared <= gpu->shared_per_cta;
}

static bool possible(const GpuModel *gpu, const u32 grid[3], const u32 block[3]) {
    u64 threads = (u64)block[0] * block[1] * block[2];
    bool empty = !grid[0] || !grid[1] || !grid[2] || threads == 0;
    bool small = block[0] <= 1024 && block[1] <= 1024 && block[2] <= 64 && threads <= gpu->max_threads_per_cta;
    return !empty && small && grid[0] <= 0x7fffffff && grid[1] <= 65535 && grid[2] <= 65535;
}

// Gives the child its buffer and puts it into the list.
static Status child_take(Grid *g, ChildLaunch *child) {
    TRY(vec_reserve(&g->children, 1));
    TRY(sim_alloc(g->sim, g->kernel->module->device, MEMORY_DEVICE, child->bytes ? child->bytes : 1, 256,
                  &child->buffer));
    return vec_push(&g->children, child);
}

u64 child_buffer(Exec *x, u64 func, const u32 grid[3], const u32 block[3], u32 shared) {
    Grid *g = x->grid;
    const Module *m = g->kernel->module->ptx;
    FuncRef ref = function_from_handle(m, func);
    if (ref == WL_NONE || !m->funcs[ref].is_entry ||
        !possible(sim_gpu(g->sim, g->kernel->module->device), grid, block) ||
        !fits(g, ref, (u64)block[0] * block[1] * block[2], shared))
        return 0;
    ChildLaunch *child = mem_zero(1, sizeof *child);
    if (!child) return 0;
    *child = (ChildLaunch){.func = ref, .shared = shared, .bytes = param_bytes(m, &m->funcs[ref])};
    memcpy(child->grid, grid, sizeof child->grid);
    memcpy(child->block, block, sizeof child->block);
    if (child_take(g, child) != STATUS_OK) return mem_free(child), 0;
    return child->buffer;
}

bool child_launch(Exec *x, u64 buffer, u64 stream) {
    Grid *g = x->grid;
    ChildLaunch **list = g->children.data;
    u32 at = g->children.len;
    while (at > 0 && (list[at - 1]->func == WL_NONE || list[at - 1]->buffer != buffer)) at--;
    if (at == 0 || list[at - 1]->launched) return false;
    ChildLaunch *child = list[at - 1];
    child->launched = true;
    child->tail = stream == CHILD_STREAM_TAIL;
    // Children run in the order of their launches, not of their buffers: to the end of the list.
    memmove(&list[at - 1], &list[at], sizeof *list * (g->children.len - at));
    list[g->children.len - 1] = child;
    return true;
}

Status child_move(Exec *x, const ChildBox *box, u64 stream) {
    ChildLaunch *child = mem_zero(1, sizeof *child);
    if (!child) return STATUS_NO_MEMORY;
    *child = (ChildLaunch){.func = WL_NONE, .launched = true, .tail = stream == CHILD_STREAM_TAIL, .box = *box};
    Status status = vec_push(&x->grid->children, child);
    if (status != STATUS_OK) mem_free(child);
    return status;
}

// --- after the parent --------------------------------------------------------------------------------------------
static void child_free(Sim *sim, ChildLaunch *child) {
    if (child->func != WL_NONE && sim_free(sim, child->buffer) != STATUS_OK) {}  // freed by the program itself
    mem_free(child);
}

// Host bytes of a row; NULL with the fault explained.
static u8 *row(Sim *sim, SimModule *module, DevicePtr address, u64 bytes, Diag *diag) {
    const SimAllocation *a;
    u8 *view = sim_host_view(sim, address, bytes, &a);
    if (view && a && memory_reaches(sim, module->device, a)) return view;
    sim->fault_code = 700;  // cudaErrorIllegalAddress
    diag_text(diag, DIAG_ERROR, NULL, 0, 0,
              "a copy or fill that a kernel asked for touches %llu bytes at address 0x%llx, outside of its allocation",
              (unsigned long long)bytes, (unsigned long long)address);
    return NULL;
}

static Status move(Sim *sim, SimModule *module, const ChildBox *b, Diag *diag) {
    for (u64 z = 0; z < b->depth; z++)
        for (u64 y = 0; y < b->height; y++) {
            u8 *to = row(sim, module, b->to + z * b->to_slice + y * b->to_pitch, b->width, diag);
            if (!to) return STATUS_FAULT;
            if (!b->from) {
                memset(to, b->value, b->width);
                continue;
            }
            u8 *from = row(sim, module, b->from + z * b->from_slice + y * b->from_pitch, b->width, diag);
            if (!from) return STATUS_FAULT;
            memmove(to, from, b->width);
        }
    return STATUS_OK;
}

static Status child_run(Sim *sim, SimModule *module, const ChildLaunch *child, Diag *diag) {
    if (child->func == WL_NONE) return move(sim, module, &child->box, diag);
    u8 *params = mem_zero(1, child->bytes + 16);  // a copy: the kernel may write where its parameters came from
    if (!params) return STATUS_NO_MEMORY;
    const void *from = sim_host_view(sim, child->buffer, child->bytes, NULL);
    Status status = from || child->bytes == 0 ? STATUS_OK : STATUS_INVALID;
    if (status == STATUS_OK && child->bytes) memcpy(params, from, child->bytes);
    if (status == STATUS_OK)
        status = grid_run_child(sim, module, child->func, child->grid, child->block, child->shared, params, diag);
    mem_free(params);
    return status;
}

Status child_run_all(Sim *sim, SimModule *module, ChildList *children, Diag *diag) {
    Status status = STATUS_OK;
    ChildLaunch **list = children->data;
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 i = 0; i < children->len && status == STATUS_OK; i++)
            if (list[i]->launched && list[i]->tail == (pass == 1)) status = child_run(sim, module, list[i], diag);
    for (u32 i = 0; i < children->len; i++) child_free(sim, list[i]);
    vec_free(children);
    return status;
}

void child_discard(Grid *grid) {
    for (u32 i = 0; i < grid->children.len; i++) child_free(grid->sim, grid->children.data[i]);
    grid->children.len = 0;
}
