// SPDX-License-Identifier: Apache-2.0
// Opcodes by name, and what modifiers say.
#include <string.h>

#include "sass/sass.h"

const SassOpInfo sass_ops[SASS_OP_COUNT + 1] = {
#define OP(name, kind, unit, space, access, defs, width, time) \
    {#name, defs, access, SASS_WIDTH_##width, SASS_TIME_##time},
#include "sass/sass_ops.def"
#undef OP
    {"?", "*R", SASS_EFFECT, SASS_WIDTH_ONE, SASS_TIME_ALU},
};

static int compare_name(Str name, const char *other) {
    size_t len = strlen(other);
    int order = memcmp(name.data, other, name.len < len ? name.len : len);
    return order ? order : (name.len > len) - (name.len < len);
}

SassOp sass_find_op(Str mnemonic) {
    const char *dot = mnemonic.len ? memchr(mnemonic.data, '.', mnemonic.len) : NULL;
    Str name = {mnemonic.data, dot ? (size_t)(dot - mnemonic.data) : mnemonic.len};
    u32 low = 0, high = SASS_OP_COUNT;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        int order = compare_name(name, sass_ops[middle].name);
        if (order == 0) return (SassOp)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return SASS_OP_UNKNOWN;
}

bool sass_has(const SassInsn *insn, const char *modifier) {
    size_t len = strlen(modifier);
    for (const char *dot = strchr(insn->name, '.'); dot; dot = strchr(dot + 1, '.'))
        if (strncmp(dot + 1, modifier, len) == 0 && (dot[1 + len] == '.' || !dot[1 + len])) return true;
    return false;
}

u32 sass_access_bytes(const SassInsn *insn) {
    static const struct {
        const char *modifier;
        u32 bytes;
    } sizes[] = {{"U8", 1}, {"S8", 1}, {"U16", 2}, {"S16", 2}, {"64", 8}, {"F64", 8}, {"128", 16}, {"256", 32}};
    enum { ACCESS = SASS_LOAD | SASS_STORE | SASS_ATOMIC };
    const SassOpInfo *op = sass_op(insn);
    if (op->width == SASS_WIDTH_MATRIX) return 16;  // a row of 8 halves
    if (op->width != SASS_WIDTH_MEMORY || !(op->access & ACCESS)) return 0;
    for (u32 i = 0; i < WL_COUNT(sizes); i++)
        if (sass_has(insn, sizes[i].modifier)) return sizes[i].bytes;
    return 4;
}
