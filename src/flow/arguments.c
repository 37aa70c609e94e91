// SPDX-License-Identifier: Apache-2.0
#include "flow/arguments.h"

#include <string.h>

static bool all_known(const FlowArguments *a, u32 at, u32 bytes) {
    if (at > a->size || bytes > a->size - at) return false;
    for (u32 i = 0; i < bytes; i++)
        if (!a->known[at + i]) return false;
    return true;
}

static i64 word_at(const FlowArguments *a, u32 at) {
    i32 number;
    memcpy(&number, a->bytes + at, sizeof number);
    return number;
}

bool flow_argument(const FlowCode *code, const FlowArguments *arguments, u32 id, i64 inside, u32 bytes, i64 *value) {
    u32 nth = id - code->first_param;
    if (!arguments || !code->is_entry || nth >= code->param_count) return false;
    const FlowParam *param = &code->params[nth];
    bool within = inside >= 0 && inside + bytes <= param->size;
    u32 at = within ? param->offset + (u32)inside : 0;
    if (!within || !all_known(arguments, at, bytes)) return false;
    if (bytes == 4) return *value = word_at(arguments, at), true;
    u64 number = 0;
    if (bytes == 8) memcpy(&number, arguments->bytes + at, sizeof number);
    *value = (i64)number;
    return number > 0 && number <= UINT32_MAX;
}

bool flow_argument_is_pointer(const FlowCode *code, const FlowArguments *arguments, u32 id, i64 inside) {
    u32 nth = id - code->first_param;
    if (!arguments || !arguments->pointer || !code->is_entry || nth >= code->param_count) return false;
    const FlowParam *param = &code->params[nth];
    return inside >= 0 && inside + 8 <= param->size && param->offset + inside < arguments->size &&
           arguments->pointer[param->offset + inside];
}

bool flow_constant_argument(const FlowCode *code, const FlowArguments *arguments, i64 offset, i64 *value) {
    i64 at = offset - code->param_base;
    if (!arguments || !code->is_entry || !code->param_base || at < 0 || at > arguments->size) return false;
    if (!all_known(arguments, (u32)at, 4)) return false;
    return *value = word_at(arguments, (u32)at), true;
}
