// SPDX-License-Identifier: Apache-2.0
// The tests are those of the machine code that ptxas 13.0 makes for sm_90 (FSETP, ISETP and FCHK before the branch to
// the subroutine).
#include "sim/slow_path.h"

#include "sim/exec.h"

bool has_slow_path(const Form *form) {
    switch ((PtxOp)form->op) {
    case OP_DIV_F_RND:
    case OP_RCP:
    case OP_SQRT: return form->mods[MOD_RND] == RND_RN && form->mods[MOD_FTZ] == 0;
    case OP_DIV_F64:
    case OP_RCP_F64:
    case OP_SQRT_F64: return form->mods[MOD_RND] == RND_RN;
    default: return false;
    }
}

bool spins_in_shared(const Form *form) {
    if (form->op != OP_ATOM && form->op != OP_RED) return false;
    const TypeInfo *type = &ptx_types[form->types[0]];
    u16 op = form->mods[MOD_ATOM_OP];
    return type->class == TYPE_CLASS_FLOAT || (type->bits == 64 && op != ATOM_OP_EXCH && op != ATOM_OP_CAS);
}

static u32 exponent(u32 bits) { return bits >> 23 & 255; }

static bool is_special(u32 bits) { return !(bits & 0x7fffffff) || exponent(bits) == 255; }

// What FCHK tells: the exponents for which it does not are those of bench/hwref/h200-slow-paths.tsv, all 65,536 pairs.
static SlowPath div_f32(u32 a, u32 b) {
    u32 ea = exponent(a), eb = exponent(b);
    bool plain = ea >= 25 && ea <= 254 && eb >= 2 && eb <= 251 && eb <= ea + 124 && ea <= eb + 126;
    if (plain) return SLOW_NONE;
    if (is_special(a) || is_special(b)) return SLOW_DIV_F32_SPECIAL;
    return ea == 0 || eb == 0 ? SLOW_DIV_F32_SUBNORMAL : SLOW_DIV_F32_SCALED;
}

static SlowPath rcp_f32(u32 a) {
    if (((a + 0x1800000) & 0x7f800000) > 0x1ffffff) return SLOW_NONE;
    return is_special(a) ? SLOW_RCP_F32_SPECIAL : SLOW_RCP_F32_SCALED;
}

static SlowPath sqrt_f32(u32 a) {
    if (a - 0xd000000 <= 0x727fffff) return SLOW_NONE;
    return is_special(a) || a >> 31 ? SLOW_SQRT_F32_SPECIAL : SLOW_SQRT_F32_SCALED;
}

// `a` is not tiny, and neither is the quotient; infinities and NaNs count as tiny.
static SlowPath div_f64(u64 a, u64 b) {
    union {
        u64 bits;
        f64 value;
    } x = {a}, y = {b}, q;
    q.value = x.value / y.value;
    u32 numerator = a >> 32 & 0x7fffffff, quotient = q.bits >> 32 & 0x7fffffff;
    return numerator >= 0x3600000 && quotient > 0x100000 && quotient < 0x7f800000 ? SLOW_NONE : SLOW_DIV_F64;
}

static SlowPath rcp_f64(u32 high) { return ((high + 0x300402) & 0x7fffffff) >= 0x400402 ? SLOW_NONE : SLOW_RCP_F64; }

static SlowPath sqrt_f64(u32 high) { return high - 0x3500000 >= 0x7ca00000 ? SLOW_SQRT_F64 : SLOW_NONE; }

static SlowPath of_lane(const Exec *x, const SimInsn *in, u32 lane) {
    u64 a = exec_get_lane(x, in->src[0], lane);
    switch (in->form_op) {
    case OP_DIV_F_RND: return div_f32((u32)a, (u32)exec_get_lane(x, in->src[1], lane));
    case OP_RCP: return rcp_f32((u32)a);
    case OP_SQRT: return sqrt_f32((u32)a);
    case OP_DIV_F64: return div_f64(a, exec_get_lane(x, in->src[1], lane));
    case OP_RCP_F64: return rcp_f64((u32)(a >> 32));
    default: return sqrt_f64((u32)(a >> 32));
    }
}

SlowPath slow_path(const Exec *x, const SimInsn *in, u32 mask) {
    SlowPath worst = SLOW_NONE;
    for (u32 left = mask; left; left &= left - 1) {
        SlowPath path = of_lane(x, in, (u32)__builtin_ctz(left));
        if (path > worst) worst = path;
    }
    return worst;
}
