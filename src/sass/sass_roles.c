// SPDX-License-Identifier: Apache-2.0
// Which operands are written, and how many registers each takes.
#include <stdlib.h>
#include <string.h>

#include "sass/sass_inside.h"

// --- what is written ---------------------------------------------------------------------------------------------
static bool is_value(const SassOperand *o) {
    return o->kind == SASS_OPERAND_REG && (o->reg.file == SASS_R || o->reg.file == SASS_UR);
}
static bool is_predicate(const SassOperand *o) {
    return o->kind == SASS_OPERAND_REG && (o->reg.file == SASS_P || o->reg.file == SASS_UP);
}
// PR and UPR: all predicates at once.
static bool is_predicates(const SassOperand *o) {
    return o->kind == SASS_OPERAND_OTHER && (strcmp(o->text, "PR") == 0 || strcmp(o->text, "UPR") == 0);
}

static void mark_defs(SassOperand *operands, u32 count, const char *pattern) {
    u32 at = 0;
    for (; *pattern && at < count; pattern++) {
        switch (*pattern) {
        case 'r':
        case 'R':
            if (is_value(&operands[at])) operands[at++].is_def = true;
            break;
        case 'p':
        case 'P':
            if (is_predicate(&operands[at])) operands[at++].is_def = true;
            break;
        default:
            while (at < count && (is_predicate(&operands[at]) || is_predicates(&operands[at])))
                operands[at++].is_def = true;
        }
    }
}

// --- widths ------------------------------------------------------------------------------------------------------
static void set_words(SassOperand *operand, u32 words) {
    operand->words = (u8)words;
    if (is_value(operand)) operand->reg.count = (u8)words;
}

static bool is_data(const SassOperand *o) {
    return is_value(o) || o->kind == SASS_OPERAND_IMMEDIATE || o->kind == SASS_OPERAND_CONSTANT;
}

static void widen_data(SassOperand *operands, u32 count, u32 words) {
    for (u32 i = 0; i < count; i++)
        if (is_data(&operands[i])) set_words(&operands[i], words);
}

// Until Turing [R2] of an instruction with .E is 64 bits wide; later ones print [R2.64]. The first address of LDGSTS is
// one of shared memory.
static void widen_addresses(const SassInsn *insn, SassOperand *operands, u32 count) {
    for (u32 i = 0; i < count; i++) {
        SassOperand *o = &operands[i];
        if (o->kind != SASS_OPERAND_ADDRESS) continue;
        if (o->handle.file != SASS_NO_FILE) o->handle.count = 2;
        bool extended = sass_has(insn, "E") && !(insn->op == SASS_OP_LDGSTS && i == 0);
        bool alone = o->index.file == SASS_NO_FILE && o->handle.file == SASS_NO_FILE;
        if (extended && alone && !strstr(o->text, ".U32")) o->reg.count = 2;
        if (extended && o->index.file == SASS_UR) o->index.count = 2;
    }
}

// The n-th operand that is read and is no predicate, WL_NONE.
static u32 nth_source(const SassOperand *operands, u32 count, u32 n) {
    for (u32 i = 0; i < count; i++)
        if (!operands[i].is_def && is_data(&operands[i]) && n-- == 0) return i;
    return WL_NONE;
}

static void set_wide(const SassInsn *insn, SassOperand *operands, u32 count) {
    bool wide = sass_has(insn, "WIDE");
    u32 last = nth_source(operands, count, 2);
    if (!wide && !sass_has(insn, "HI")) return;
    if (last != WL_NONE) set_words(&operands[last], 2);
    if (wide && count) set_words(&operands[0], 2);
}

static void set_convert(const SassInsn *insn, SassOperand *operands, u32 count) {
    bool from_int = insn->op == SASS_OP_I2F || insn->op == SASS_OP_UI2F;
    bool to_int = insn->op == SASS_OP_F2I || insn->op == SASS_OP_UF2I;
    bool wide_int = sass_has(insn, "S64") || sass_has(insn, "U64"), wide_float = sass_has(insn, "F64");
    bool result, source;
    if (from_int || to_int) {
        result = from_int ? wide_float : wide_int;
        source = from_int ? wide_int : wide_float;
    } else {  // F2F.F64.F32: the result first; FRND.F64: both
        const char *first = strchr(insn->name, '.'), *other = strstr(insn->name, ".F32");
        if (!other) other = strstr(insn->name, ".F16");
        if (!other) other = strstr(insn->name, ".BF16");
        result = wide_float && first && (!other || strstr(insn->name, ".F64") < other);
        source = wide_float && (!other || strstr(insn->name, ".F64") > other);
    }
    for (u32 i = 0; i < count; i++)
        if (is_data(&operands[i])) set_words(&operands[i], (operands[i].is_def ? result : source) ? 2 : 1);
}

// Registers per thread of the fragments of a warp's matrix multiplication (PTX ISA, "Matrix Fragments for mma"):
// operands a and b, and accumulators of 32 bits.
static const struct Fragments {
    u16 op;
    const char *shape;
    const char *type;  // a modifier that must be there, "" = any
    u8 a, b, d;
} fragments[] = {
    {SASS_OP_DMMA, "884", "", 2, 2, 4},      {SASS_OP_DMMA, "8x8x4", "", 2, 2, 4},
    {SASS_OP_DMMA, "16x8x4", "", 4, 2, 8},   {SASS_OP_DMMA, "16x8x8", "", 8, 4, 8},
    {SASS_OP_DMMA, "16x8x16", "", 16, 8, 8}, {SASS_OP_HMMA, "884", "", 2, 2, 2},
    {SASS_OP_HMMA, "1684", "", 2, 1, 4},     {SASS_OP_HMMA, "1688", "TF32", 4, 2, 4},
    {SASS_OP_HMMA, "1688", "", 2, 1, 4},     {SASS_OP_HMMA, "16816", "SP", 2, 2, 4},
    {SASS_OP_HMMA, "16816", "", 4, 2, 4},    {SASS_OP_HMMA, "16832", "", 4, 4, 4},
    {SASS_OP_IMMA, "8816", "", 1, 1, 2},     {SASS_OP_IMMA, "8832", "", 1, 1, 2},
    {SASS_OP_IMMA, "16816", "", 2, 1, 4},    {SASS_OP_IMMA, "16832", "SP", 2, 2, 4},
    {SASS_OP_IMMA, "16832", "S4", 2, 1, 4},  {SASS_OP_IMMA, "16832", "U4", 2, 1, 4},
    {SASS_OP_IMMA, "16832", "", 4, 2, 4},    {SASS_OP_IMMA, "16864", "SP", 4, 4, 4},
    {SASS_OP_IMMA, "16864", "", 4, 2, 4},    {SASS_OP_BMMA, "88128", "", 1, 1, 2},
    {SASS_OP_BMMA, "168128", "", 2, 1, 4},   {SASS_OP_BMMA, "168256", "", 4, 2, 4},
    {SASS_OP_QMMA, "16864", "", 4, 4, 4},
};

static struct Fragments find_fragments(const SassInsn *insn) {
    for (u32 i = 0; i < WL_COUNT(fragments); i++) {
        const struct Fragments *f = &fragments[i];
        bool typed = !f->type[0] || sass_has(insn, f->type);
        if (f->op == insn->op && sass_has(insn, f->shape) && typed) return *f;
    }
    return (struct Fragments){.a = 4, .b = 2, .d = 4};
}

static void set_mma(const SassInsn *insn, SassOperand *operands, u32 count) {
    struct Fragments f = find_fragments(insn);
    bool half = insn->op == SASS_OP_HMMA && sass_has(insn, "F16") && !sass_has(insn, "F32");
    if (half && f.d > 2) f.d /= 2;
    const u8 words[] = {f.a, f.b, f.d};
    for (u32 i = 0, source = 0; i < count; i++) {
        if (!is_value(&operands[i])) continue;
        if (operands[i].is_def)
            set_words(&operands[i], f.d);
        else
            set_words(&operands[i], source < WL_COUNT(words) ? words[source] : 1), source++;
    }
}

// The N of a shape 64xNxK, 0.
static u32 columns_of(const SassInsn *insn) {
    const char *shape = strstr(insn->name, ".64x");
    return shape ? (u32)strtoul(shape + 4, NULL, 10) : 0;
}

static void set_gmma(const SassInsn *insn, SassOperand *operands, u32 count) {
    u32 words = columns_of(insn) / 2;  // 64 x N values of 32 bits over 128 threads
    bool half = insn->op != SASS_OP_IGMMA && sass_has(insn, "F16") && !sass_has(insn, "F32");
    if (half) words /= 2;
    if (!words || words > 128) words = 1;
    u8 result = count && is_value(&operands[0]) ? operands[0].reg.index : SASS_ZERO;
    for (u32 i = 0; i < count; i++) {
        if (operands[i].kind == SASS_OPERAND_ADDRESS) operands[i].reg.count = 4;
        if (!is_value(&operands[i])) continue;
        bool accumulator = operands[i].is_def || operands[i].reg.index == result;
        set_words(&operands[i], operands[i].reg.index == SASS_ZERO ? 1 : accumulator ? words : 4);
    }
}

// .x16 and the like; a matrix load of .4.
static u32 number_behind(const SassInsn *insn, const char *prefix) {
    const char *at = strstr(insn->name, prefix);
    u32 number = at ? (u32)strtoul(at + strlen(prefix), NULL, 10) : 1;
    return number ? number : 1;
}

static void set_texture(SassOperand *operands, u32 count) {
    for (u32 i = 0; i < count; i++)
        if (is_value(&operands[i]) && operands[i].reg.index != SASS_ZERO) set_words(&operands[i], 2);
}

static void set_widths(const SassInsn *insn, SassOperand *operands, u32 count) {
    u32 bytes = sass_access_bytes(insn);
    switch ((SassWidth)sass_op(insn)->width) {
    case SASS_WIDTH_ONE: return;
    case SASS_WIDTH_TWO: widen_data(operands, count, 2); return;
    case SASS_WIDTH_BY64:
        if (sass_has(insn, "64") || sass_has(insn, "U64") || sass_has(insn, "S64")) widen_data(operands, count, 2);
        return;
    case SASS_WIDTH_PAIR:
        if (!sass_has(insn, "32")) widen_data(operands, count, 2);
        return;
    case SASS_WIDTH_MEMORY:
        if (bytes > 4) widen_data(operands, count, bytes / 4);
        widen_addresses(insn, operands, count);
        return;
    case SASS_WIDTH_WIDE: set_wide(insn, operands, count); return;
    case SASS_WIDTH_CONVERT: set_convert(insn, operands, count); return;
    case SASS_WIDTH_TARGET: widen_data(operands, count, 2); return;
    case SASS_WIDTH_MMA: set_mma(insn, operands, count); return;
    case SASS_WIDTH_GMMA: set_gmma(insn, operands, count); return;
    case SASS_WIDTH_MATRIX: widen_data(operands, count, sass_has(insn, "4") ? 4 : sass_has(insn, "2") ? 2 : 1); return;
    case SASS_WIDTH_TEXTURE: set_texture(operands, count); return;
    case SASS_WIDTH_TENSOR_MEMORY: {
        u32 words = number_behind(insn, ".x");
        widen_data(operands, count, words <= 128 ? words : 1);
        return;
    }
    }
}

// No operand reaches beyond the last register.
static void clip(SassReg *reg) {
    enum { LAST_REGISTER = 254 };
    bool reads_zero = reg->index == SASS_ZERO || reg->file == SASS_P || reg->file == SASS_UP || reg->file == SASS_B;
    if (reads_zero)
        reg->count = 1;
    else if (reg->index + reg->count > LAST_REGISTER + 1)
        reg->count = (u8)(LAST_REGISTER + 1 - reg->index);
}

void sass_set_roles(SassModule *module, const SassInsn *insn) {
    if (!insn->operand_count) return;
    SassOperand *operands = module->operands.data + insn->operands;
    mark_defs(operands, insn->operand_count, sass_op(insn)->defs);
    set_widths(insn, operands, insn->operand_count);
    for (u32 i = 0; i < insn->operand_count; i++) {
        clip(&operands[i].reg);
        clip(&operands[i].index);
        clip(&operands[i].handle);
    }
}
