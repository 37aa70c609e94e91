// SPDX-License-Identifier: Apache-2.0
// What the launches like the typical one were given: bytes of their parameters that were the same in all that were
// recorded.
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
static void forget_addresses(const FlowCode *code, const FlowArguments *a, bool *known) {
    for (u32 p = 0; p < code->param_count; p++) {
        const FlowParam *param = &code->params[p];
        for (u32 at = param->offset; param->size > 8 && at + 8 <= param->offset + param->size; at += 8) {
            u64 value = 0;
            if (at + 8 <= a->size) memcpy(&value, a->bytes + at, sizeof value);
            if (is_address(value)) memset(known + at, false, 8);
        }
    }
}

Status view_fill_arguments(KernelViews *views, const ViewFigures *figures, KernelView *view, Diag *diag) {
    const ProfileLaunch *typical = view->launches.typical;
    const ProfileArguments *rows;
    u32 count, at = 0;
    if (!view->flow.code || !view->flow.code->is_entry || !typical) return STATUS_OK;
    TRY(profile_launch_arguments(views->profile, view->function->id, &rows, &count, diag));
    FlowArguments *arguments = ARENA_NEW(&views->arena, FlowArguments);
    u8 *bytes = ARENA_ARRAY(&views->arena, u8, RECORD_ARGUMENT_BYTES);
    bool *known = ARENA_ARRAY(&views->arena, bool, RECORD_ARGUMENT_BYTES);
    if (!arguments || !bytes || !known) return STATUS_NO_MEMORY;
    *arguments = (FlowArguments){.bytes = bytes, .known = known};
    for (u32 i = 0; i < count; i++) {
        const ProfileLaunch *launch = launch_of(figures, rows[i].launch, &at);
        bool usable = rows[i].data.len && rows[i].data.len <= RECORD_ARGUMENT_BYTES;
        if (launch && usable && is_alike(launch, typical)) keep_same(arguments, bytes, known, rows[i].data);
    }
    if (!arguments->size) return STATUS_OK;
    forget_addresses(view->flow.code, arguments, known);
    return flow_take_arguments(&view->flow, arguments, &views->arena);
}
