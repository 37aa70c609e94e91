// SPDX-License-Identifier: Apache-2.0
// What kind of work a machine instruction does. Divisions and roots are sequences: each has one instruction that
// nothing else has, and that stands for it.
#include <string.h>

#include "analyze/advice/rule.h"
#include "analyze/advice/traits.h"

static const struct {
    u16 op;
    const char *modifier;  // that must be there, "" = any
    u32 traits;
} rows[] = {
    {SASS_OP_I2F, "RP", TRAIT_INT_DIVIDE | TRAIT_CONVERT},  // the divisor, rounded up: only in division of integers
    {SASS_OP_FCHK, "", TRAIT_EXACT_MATH},                   // whether a division needs the slow path
    {SASS_OP_MUFU, "", TRAIT_SPECIAL},
    {SASS_OP_F2I, "", TRAIT_CONVERT},
    {SASS_OP_I2F, "", TRAIT_CONVERT},
    {SASS_OP_FRND, "", TRAIT_CONVERT},
    {SASS_OP_SHFL, "", TRAIT_SHUFFLE},
    {SASS_OP_BAR, "SYNC", TRAIT_BARRIER},
    {SASS_OP_BAR, "RED", TRAIT_BARRIER},
    {SASS_OP_LDGSTS, "", TRAIT_ASYNC},
    {SASS_OP_HGMMA, "", TRAIT_ASYNC},
    {SASS_OP_IGMMA, "", TRAIT_ASYNC},
    {SASS_OP_QGMMA, "", TRAIT_ASYNC},
    {SASS_OP_LDG, "CONSTANT", TRAIT_READ_ONLY},
    {SASS_OP_LDG, "STRONG", TRAIT_STRONG},
    {SASS_OP_STG, "STRONG", TRAIT_STRONG},
    {SASS_OP_LD, "STRONG", TRAIT_STRONG},
    {SASS_OP_ST, "STRONG", TRAIT_STRONG},
};

static u32 atomic_traits(const SassInsn *insn) {
    bool is_float = sass_has(insn, "F32") || sass_has(insn, "F64");
    bool wide = sass_has(insn, "64") && (sass_has(insn, "MIN") || sass_has(insn, "MAX"));
    if (sass_has(insn, "EXCH") || sass_has(insn, "CAS")) return TRAIT_LANE_ATOMIC | TRAIT_EXCHANGE;
    return is_float ? TRAIT_FLOAT_ATOMIC | TRAIT_LANE_ATOMIC : wide ? TRAIT_LANE_ATOMIC : 0;
}

// Evict first, last, unchanged, not at all; last use.
static bool has_hint(const SassInsn *insn) {
    static const char *const hints[] = {"EF", "EL", "EU", "NA", "LU"};
    for (u32 i = 0; i < WL_COUNT(hints); i++)
        if (sass_has(insn, hints[i])) return true;
    return false;
}

static u32 convert_traits(const SassInsn *insn) {
    const char *wide = strstr(insn->name, ".F64"), *narrow = strstr(insn->name, ".F32");
    if (!wide || !narrow) return TRAIT_CONVERT;
    return TRAIT_CONVERT | (wide < narrow ? TRAIT_WIDEN : TRAIT_NARROW);
}

// The compiler's routines say in their names what they do.
static u32 call_traits(const SassModule *sass, const SassInsn *insn) {
    static const struct {
        const char *part;
        u32 traits;
    } names[] = {{"_div_u", TRAIT_INT_DIVIDE},   {"_div_s", TRAIT_INT_DIVIDE},   {"_rem_", TRAIT_INT_DIVIDE},
                 {"_div_rn_", TRAIT_EXACT_MATH}, {"sqrt_rn_", TRAIT_EXACT_MATH}, {"_rcp_rn_", TRAIT_EXACT_MATH}};
    const char *callee = insn->operand_count ? sass->operands.data[insn->operands + insn->operand_count - 1].text : "";
    if (!strstr(callee, "__cuda_sm")) return TRAIT_CALL;
    for (u32 i = 0; i < WL_COUNT(names); i++)
        if (strstr(callee, names[i].part)) return names[i].traits;
    return TRAIT_CALL;
}

u32 insn_traits_sass(const FlowCode *code, u32 pc) {
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    u32 traits = sass_op(insn)->access & SASS_ASYNC ? TRAIT_ASYNC : 0;
    if (insn->op == SASS_OP_CALL) return traits | call_traits(code->sass, insn);
    if (insn->op == SASS_OP_F2F) return traits | convert_traits(insn);
    if ((insn->op == SASS_OP_LDG || insn->op == SASS_OP_STG) && has_hint(insn)) traits |= TRAIT_HINTED;
    if (sass_op(insn)->access & SASS_ATOMIC) return traits | atomic_traits(insn);
    for (u32 i = 0; i < WL_COUNT(rows); i++)
        if (rows[i].op == insn->op && (!rows[i].modifier[0] || sass_has(insn, rows[i].modifier)))
            return traits | rows[i].traits;
    return traits;
}
