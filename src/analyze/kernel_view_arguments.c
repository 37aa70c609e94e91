// SPDX-License-Identifier: Apache-2.0
// What the launches like the typical one were given: bytes of their parameters that were the same in all that were
// recorded.
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_view_inside.h"

static bool is_alike(const ProfileLaunch *a, const ProfileLaunch *b) {
    return a->dynamic_shared_bytes == b->dynamic_shared_bytes && !memcmp(a->block, b->block, sizeof a->block) &&
           !memcmp(a->grid, b->grid, sizeof a->grid);
}

// Both are in order of the launches.
static const ProfileLaunch *launch_of(const ViewFigures *figures, u32 id, u32 *at) {
    while (*at < figures->launch_count && figures->launches[*at]->id != id) ++*at;
    return *at < figures->launch_count ? figures->launches[*at] : NULL;
}

static void keep_same(FlowArguments *a, u8 *bytes, bool *known, Str data) {
    u32 size = (u32)data.len;
    if (!a->size) {
        memcpy(bytes, data.data, size);
        memset(known, true, size);
        a->size = size;
    }
    if (size < a->size) a->size = size;
    for (u32 i = 0; i < a->size; i++) known[i] &= bytes[i] == (u8)data.data[i];
}

// Addresses of the device and of the host on Linux, where they share an address space (CUDA's unified addressing).
static bool is_address(u64 value) { return value >> 42 == 0x7f >> 2; }

// Structures may have pointers in them; a parameter of 8 bytes is no number where it is as large (flow_argument).
static void forget_addresses(const FlowCode *code, const FlowArguments *a, bool *known, bool *pointer) {
    for (u32 p = 0; p < code->param_count; p++) {
        const FlowParam *param = &code->params[p];
        for (u32 at = param->offset; param->size > 8 && at + 8 <= param->offset + param->size; at += 8) {
            u64 value = 0;
            if (at + 8 <= a->size) memcpy(&value, a->bytes + at, sizeof value);
            pointer[at] = is_address(value);
            if (pointer[at]) memset(known + at, false, 8);
        }
    }
}

// --- what pointers point to ------------------------------------------------------------------------------------------
static int by_address(const void *left, const void *right) {
    const ProfileAlloc *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

// Of those at one address the last one stays.
static Status read_allocs(KernelViews *views, Diag *diag) {
    const ProfileAlloc *rows;
    u32 count, kept = 0;
    Map last = {0};
    if (views->allocs) return STATUS_OK;
    TRY(profile_allocs(views->profile, &rows, &count, diag));
    views->allocs = ARENA_ARRAY(&views->arena, ProfileAlloc, count + 1);
    Status status = views->allocs ? STATUS_OK : STATUS_NO_MEMORY;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        const u64 *at = map_get(&last, rows[i].address);
        if (at) views->allocs[*at] = rows[i];
        if (!at) status = map_put(&last, rows[i].address, kept);
        if (!at) views->allocs[kept++] = rows[i];
    }
    map_free(&last);
    if (kept) qsort(views->allocs, kept, sizeof *views->allocs, by_address);
    views->alloc_count = kept;
    return status;
}

enum { BEFORE = 8 /* allocations that are looked at: one that has been freed may begin within another */ };

static u64 bytes_behind(const KernelViews *views, u64 pointer) {
    u32 low = 0, high = views->alloc_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (views->allocs[middle].address <= pointer)
            low = middle + 1;
        else
            high = middle;
    }
    for (u32 i = low; i > 0 && low - i < BEFORE; i--) {
        const ProfileAlloc *a = &views->allocs[i - 1];
        if (pointer - a->address < a->bytes) return a->bytes - (pointer - a->address);
    }
    return 0;
}

static Status find_arrays(KernelViews *views, const FlowArguments *a, KernelView *view) {
    const FlowCode *code = view->flow.code;
    ViewArray *arrays = ARENA_ARRAY(&views->arena, ViewArray, RECORD_ARGUMENT_BYTES / 8 + 1);
    if (!arrays) return STATUS_NO_MEMORY;
    view->arrays = arrays;
    for (u32 p = 0; p < code->param_count; p++) {
        const FlowParam *param = &code->params[p];
        for (u32 inside = 0; inside + 8 <= param->size && param->offset + inside + 8 <= a->size; inside += 8) {
            u64 pointer, bytes;
            memcpy(&pointer, a->bytes + param->offset + inside, sizeof pointer);
            bytes = bytes_behind(views, pointer);
            bool same = true;
            for (u32 i = 0; i < 8; i++) same &= a->known[param->offset + inside + i];
            ViewArray array = {code->first_param + p, inside, bytes, same ? pointer + bytes : 0};
            if (bytes) arrays[view->array_count++] = array;
        }
    }
    return STATUS_OK;
}

const ViewArray *kernel_view_array(const KernelView *view, const AffineFactor *base) {
    if (base->kind != AFFINE_PARAMETER) return NULL;
    for (u32 i = 0; i < view->array_count; i++)
        if (view->arrays[i].parameter == base->id && view->arrays[i].inside == base->offset) return &view->arrays[i];
    return NULL;
}

u64 kernel_view_array_bytes(const KernelView *view, const AffineFactor *base) {
    const ViewArray *array = kernel_view_array(view, base);
    return array ? array->bytes : 0;
}

// --- all together ----------------------------------------------------------------------------------------------------
Status view_fill_arguments(KernelViews *views, const ViewFigures *figures, KernelView *view, Diag *diag) {
    const ProfileLaunch *typical = view->launches.typical;
    const ProfileArguments *rows;
    u32 count, at = 0;
    if (!view->flow.code || !view->flow.code->is_entry || !typical) return STATUS_OK;
    TRY(profile_launch_arguments(views->profile, view->function->id, &rows, &count, diag));
    FlowArguments *arguments = ARENA_NEW(&views->arena, FlowArguments);
    u8 *bytes = ARENA_ARRAY(&views->arena, u8, RECORD_ARGUMENT_BYTES);
    bool *known = ARENA_ARRAY(&views->arena, bool, RECORD_ARGUMENT_BYTES);
    bool *pointer = ARENA_ARRAY(&views->arena, bool, RECORD_ARGUMENT_BYTES);
    if (!arguments || !bytes || !known || !pointer) return STATUS_NO_MEMORY;
    *arguments = (FlowArguments){.bytes = bytes, .known = known, .pointer = pointer};
    for (u32 i = 0; i < count; i++) {
        const ProfileLaunch *launch = launch_of(figures, rows[i].launch, &at);
        bool usable = rows[i].data.len && rows[i].data.len <= RECORD_ARGUMENT_BYTES;
        if (launch && usable && is_alike(launch, typical)) keep_same(arguments, bytes, known, rows[i].data);
    }
    if (!arguments->size) return STATUS_OK;
    TRY(read_allocs(views, diag));
    TRY(find_arrays(views, arguments, view));
    forget_addresses(view->flow.code, arguments, known, pointer);
    return flow_take_arguments(&view->flow, arguments, &views->arena);
}
