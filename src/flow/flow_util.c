// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_util.h"

const u8 flow_arith_uses[] = {
    [FLOW_MOVE] = 1, [FLOW_CONVERT] = 1,    [FLOW_ADD] = 2,         [FLOW_SUB] = 2,
    [FLOW_MUL] = 2,  [FLOW_MULADD] = 3,     [FLOW_NEGATE] = 1,      [FLOW_AND] = 2,
    [FLOW_OR] = 2,   [FLOW_SHIFT_LEFT] = 2, [FLOW_SELECT] = 3,      [FLOW_MIN] = 2,
    [FLOW_MAX] = 2,  [FLOW_COMPARE] = 2,    [FLOW_SHIFT_RIGHT] = 2, [FLOW_ADD3] = 3,
};

Status flow_group(const FlowPairs *pairs, u32 keys, Arena *arena, FlowGroups *groups) {
    groups->first = ARENA_ARRAY(arena, u32, (size_t)keys + 2);
    groups->items = ARENA_ARRAY(arena, u32, (size_t)pairs->len + 1);
    if (!groups->first || !groups->items) return STATUS_NO_MEMORY;
    u32 *next = groups->first + 1;  // filling moves next[key] from the key's begin to its end, which is first[key + 1]
    for (u32 i = 0; i < pairs->len; i++) next[pairs->data[i].key + 1]++;
    for (u32 key = 1; key <= keys; key++) next[key] += next[key - 1];
    for (u32 i = 0; i < pairs->len; i++) groups->items[next[pairs->data[i].key]++] = pairs->data[i].item;
    return STATUS_OK;
}
