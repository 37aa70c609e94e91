// SPDX-License-Identifier: Apache-2.0
// Device-side launches. All streams of the device runtime (named, fire-and-forget, tail) are one queue behind the
// parent grid: each is an order that the hardware may choose too.
#include "sim/child.h"

#include <string.h>

#include "sim/grid.h"

struct ChildLaunch {
    FuncRef func;
    u32 grid[3], block[3], shared;
    DevicePtr buffer;
    u32 bytes;      // of parameters
    bool launched;  // false: only the buffer was asked for
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

static bool possible(const GpuModel *gpu, const u32 grid[3], const u32 block[3], u32 shared) {
    u64 threads = (u64)block[0] * block[1] * block[2];
    bool empty = !grid[0] || !grid[1] || !grid[2] || threads == 0;
    bool small = block[0] <= 1024 && block[1] <= 1024 && block[2] <= 64 && threads <= gpu->max_threads_per_cta;
    return !empty && small && grid[1] <= 65535 && grid[2] <= 65535 && shared <= gpu->shared_per_cta_optin;
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
        !possible(sim_gpu(g->sim, g->kernel->module->device), grid, block, shared))
        return 0;
    ChildLaunch *child = mem_zero(1, sizeof *child);
    if (!child) return 0;
    *child = (ChildLaunch){.func = ref, .shared = shared, .bytes = param_bytes(m, &m->funcs[ref])};
    memcpy(child->grid, grid, sizeof child->grid);
    memcpy(child->block, block, sizeof child->block);
    if (child_take(g, child) != STATUS_OK) return mem_free(child), 0;
    return child->buffer;
}

bool child_launch(Exec *x, u64 buffer) {
    Grid *g = x->grid;
    ChildLaunch **list = g->children.data;
    u32 at = g->children.len;
    while (at > 0 && list[at - 1]->buffer != buffer) at--;
    if (at == 0 || list[at - 1]->launched) return false;
    ChildLaunch *child = list[at - 1];
    child->launched = true;
    // Children run in the order of their launches, not of their buffers: to the end of the list.
    memmove(&list[at - 1], &list[at], sizeof *list * (g->children.len - at));
    list[g->children.len - 1] = child;
    return true;
}

// --- after the parent --------------------------------------------------------------------------------------------
static void child_free(Sim *sim, ChildLaunch *child) {
    if (sim_free(sim, child->buffer) != STATUS_OK) {}  // freed by the program itself: nothing left to do
    mem_free(child);
}

static Status child_run(Sim *sim, SimModule *module, const ChildLaunch *child, Diag *diag) {
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

Status child_run_all(Grid *grid, Diag *diag) {
    Sim *sim = grid->sim;
    SimModule *module = grid->kernel->module;
    ChildLaunch **list = grid->children.data;
    u32 count = grid->children.len;
    grid->children.data = NULL;
    grid->children.len = grid->children.cap = 0;
    Status status = STATUS_OK;
    for (u32 i = 0; i < count; i++) {
        if (status == STATUS_OK && list[i]->launched) status = child_run(sim, module, list[i], diag);
        child_free(sim, list[i]);
    }
    mem_free(list);
    return status;
}

void child_discard(Grid *grid) {
    for (u32 i = 0; i < grid->children.len; i++) child_free(grid->sim, grid->children.data[i]);
    grid->children.len = 0;
}
