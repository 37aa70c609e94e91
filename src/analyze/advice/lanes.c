// SPDX-License-Identifier: Apache-2.0
// Which part of a warp's lanes goes a way, and which addresses they name, where nobody counted lanes. A test that is
// made of the index of the thread, of constants and of what is the same for all threads is tried out: for lanes of some
// warps of the launch, with values drawn for what is the same for all but not known. Where the part depends on what was
// drawn, it stays unknown.
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"
#include "base/floats.h"

enum {
    WARP = 32,
    DRAWS = 30,
    LARGE = LANES_LARGE_DRAWS,
    MIXED = 12 /* the last of them */,
    CTAS = 2,
    WARPS = 4,
    STEPS = 192 /* instructions behind a test */,
    KEPT = 256 /* values */
};
#define LEAST_DRAWS 3  // in which some lane goes the way
#define ALIKE 0.1      // parts of different draws differ by no more than that

// A value of one lane, which others are made of: computed once.
typedef struct Kept {
    u32 node;  // 0: none, else one more
    u32 lane, warp, cta, draw;
    i64 turn;
    bool equal, known;
    i64 value;
} Kept;

typedef struct Trial {
    const CasePart *part;
    const ProfileLaunch *launch;
    u32 cta[3], nth_cta, thread[3], warp, lane;
    u32 draw, steps;
    u32 block;    // where the test is
    bool equal;   // what is being computed is compared for being equal
    bool apart;   // only distances between lanes are asked for
    bool known;   // nothing is drawn: of a turn of the loop, what arguments decide as well
    u32 through;  // LanesThrough of what was asked for
    u32 access;   // whose address is asked for, where its guard holds; WL_NONE: none is
    u32 loop;
    i64 turn;
    Kept kept[KEPT];
} Trial;

// Large numbers, as sizes are, in the first draws; then small ones and powers of two, as kinds and steps are, each
// once; then large ones but for what is compared for being equal, as a kind is beside the checks against a size.
static i64 drawn(const Trial *t, u64 what) {
    static const i64 small[DRAWS - LARGE - MIXED] = {0, 1, 2, 3, 0, 1, 4, 8, 16, 32, 64, 256};
    bool large = t->draw < LARGE || (t->draw >= DRAWS - MIXED && !t->equal);
    u64 x = (what + 1) * 0x9e3779b97f4a7c15u + (large ? t->draw : LARGE) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    x ^= x >> 29;
    return large ? 4096 + (i64)(x >> 8 & 0xfffff) : small[(t->draw + (x >> 8)) % WL_COUNT(small)];
}

static void place_thread(Trial *t, u32 warp, u32 lane) {
    const u32 *block = t->launch->block;
    u32 linear = warp * WARP + lane;
    t->warp = warp, t->lane = lane;
    t->thread[0] = linear % block[0];
    t->thread[1] = linear / block[0] % block[1];
    t->thread[2] = linear / block[0] / block[1];
}

static bool value_of_node(Trial *t, u32 node, i64 *value);

static bool value_of_sreg(const Trial *t, const FlowOperand *o, i64 *value) {
    if (o->id == SREG_LANEID) return *value = t->lane, true;
    if (o->component > 2) return false;
    switch (o->id) {
    case SREG_TID: return *value = t->thread[o->component], true;
    case SREG_NTID: return *value = t->launch->block[o->component], true;
    case SREG_CTAID: return *value = t->cta[o->component], true;
    case SREG_NCTAID: return *value = t->launch->grid[o->component], true;
    default: return false;
    }
}

static bool value_of_operand(Trial *t, u32 operand, i64 *value) {
    const FlowResults *flow = &t->part->view->flow;
    const FlowOperand *o = &flow->code->operands[operand];
    switch (o->kind) {
    case FLOW_VALUE: return value_of_node(t, flow->chains->of_operand[operand], value);
    case FLOW_IMMEDIATE: return *value = o->value, true;
    case FLOW_SREG: return value_of_sreg(t, o, value);
    case FLOW_PARAMETER_VALUE:
        if (flow_argument(flow->code, flow->arguments, o->id, o->value, o->width / 8, value)) return true;
        *value = drawn(t, (u64)o->id << 40 ^ (u64)o->value << 32);
        return flow->code->is_entry && !t->known;
    default: return false;
    }
}

static bool compares(u8 compare, bool is_signed, i64 a, i64 b) {
    if (!is_signed) a = (u32)a, b = (u32)b;
    switch (compare) {
    case FLOW_EQUAL: return a == b;
    case FLOW_NOT_EQUAL: return a != b;
    case FLOW_LESS: return a < b;
    case FLOW_LESS_EQUAL: return a <= b;
    case FLOW_GREATER: return a > b;
    default: return a >= b;
    }
}

// Of numbers of 32 bits; what wraps is cut off by who asked. False: not an operation on such numbers.
static bool compute(const FlowInsn *in, bool is_signed, const i64 s[3], i64 *value) {
    switch (in->arith) {
    case FLOW_CONVERT: return *value = s[0], true;
    case FLOW_ADD: return *value = s[0] + s[1], true;
    case FLOW_ADD3: return *value = s[0] + s[1] + s[2], true;
    case FLOW_SUB: return *value = s[0] - s[1], true;
    case FLOW_MUL: return *value = s[0] * s[1], true;
    case FLOW_MULADD: return *value = s[0] * s[1] + s[2], true;
    case FLOW_NEGATE: return *value = -s[0], true;
    case FLOW_AND: return *value = s[0] & s[1], true;
    case FLOW_OR: return *value = s[0] | s[1], true;
    case FLOW_SELECT: return *value = s[2] ? s[0] : s[1], true;
    case FLOW_SHIFT_LEFT: return *value = s[1] < 0 || s[1] > 31 ? 0 : (i64)((u64)s[0] << s[1]), true;
    case FLOW_SHIFT_RIGHT:
        *value = (is_signed ? s[0] : (i64)(u32)s[0]) >> (s[1] < 0 || s[1] > 31 ? 31 : s[1]);
        return true;
    case FLOW_COMPARE: *value = compares(in->compare, is_signed, s[0], s[1]); return in->compare != FLOW_COMPARE_NONE;
    default: return false;
    }
}

// --- predicates of machine code ------------------------------------------------------------------------------------
static bool value_of_register(Trial *t, u32 pc, const SassOperand *o, i64 *value) {
    bool predicate = o->reg.file == SASS_P || o->reg.file == SASS_UP;
    if (o->reg.index == SASS_ZERO) return *value = predicate, true;
    u32 operand = insn_reads(t->part, pc, &o->reg);
    return operand != WL_NONE && value_of_operand(t, operand, value);
}

static bool value_of_constant(const Trial *t, const SassOperand *o, i64 *value) {
    const FlowResults *flow = &t->part->view->flow;
    bool fixed = !o->bank && (o->reg.file == SASS_NO_FILE || o->reg.index == SASS_ZERO);
    if (fixed && flow_constant_argument(flow->code, flow->arguments, o->value, value)) return true;
    return *value = drawn(t, (u64)o->value << 32 ^ o->bank), !t->known;
}

static bool value_of_source(Trial *t, u32 pc, const SassOperand *o, i64 *value) {
    bool predicate = o->reg.file == SASS_P || o->reg.file == SASS_UP;
    if (o->absolute || o->inverted || o->is_float) return false;
    if (o->kind == SASS_OPERAND_IMMEDIATE) return *value = o->value, true;
    if (o->kind == SASS_OPERAND_CONSTANT) return value_of_constant(t, o, value);
    if (o->kind != SASS_OPERAND_REG || !value_of_register(t, pc, o, value)) return false;
    if (o->negated) *value = predicate ? !*value : -*value;
    return true;
}

enum { PREDICATE_SOURCES = 4 };

// ISETP with its comparison joined to another predicate; what it is alone is arithmetic of the flow view.
static bool joined(const SassInsn *insn, const i64 s[PREDICATE_SOURCES], i64 *value) {
    static const struct {
        const char *name;
        u8 compare;
    } names[] = {{"EQ", FLOW_EQUAL},      {"NE", FLOW_NOT_EQUAL}, {"LT", FLOW_LESS},
                 {"LE", FLOW_LESS_EQUAL}, {"GT", FLOW_GREATER},   {"GE", FLOW_GREATER_EQUAL}};
    for (u32 i = 0; i < WL_COUNT(names); i++) {
        if (!sass_has(insn, names[i].name)) continue;
        bool holds = compares(names[i].compare, !sass_has(insn, "U32"), s[0], s[1]), other = s[2] != 0;
        *value = sass_has(insn, "AND") ? holds && other : sass_has(insn, "OR") ? holds || other : holds != other;
        return true;
    }
    return false;
}

static bool value_of_predicate(Trial *t, u32 pc, i64 *value) {
    const FlowCode *code = t->part->view->flow.code;
    if (!code->sass) return false;
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    bool compare = (insn->op == SASS_OP_ISETP || insn->op == SASS_OP_UISETP) && !sass_has(insn, "EX");
    i64 s[PREDICATE_SOURCES] = {0};
    u32 count = 0, wanted = compare ? 3 : PREDICATE_SOURCES;
    if (!compare && insn->op != SASS_OP_PLOP3 && insn->op != SASS_OP_UPLOP3) return false;
    bool before = t->equal, known = true;
    for (u32 i = 0; i < insn->operand_count && count < wanted && known; i++) {
        const SassOperand *o = &code->sass->operands.data[insn->operands + i];
        t->equal = compare && count < 2 && (sass_has(insn, "EQ") || sass_has(insn, "NE"));
        known = o->is_def || value_of_source(t, pc, o, &s[count++]);
    }
    t->equal = before;
    if (!known || count < wanted) return false;
    if (compare) return joined(insn, s, value);
    return *value = s[3] >> ((s[0] != 0) << 2 | (s[1] != 0) << 1 | (s[2] != 0)) & 1, true;
}

// LEA.HI R, a, b, RZ, n: b + (a >> 32 - n) of unsigned numbers. A signed division by a power of two begins with it.
static bool value_of_high_part(Trial *t, u32 pc, i64 *value) {
    const FlowCode *code = t->part->view->flow.code;
    if (!code->sass) return false;
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    const SassOperand *o = &code->sass->operands.data[insn->operands];
    i64 s[4];
    u32 count = 0;
    if (insn->op != SASS_OP_LEA || !sass_has(insn, "HI") || sass_has(insn, "X")) return false;
    for (u32 i = 0; i < insn->operand_count; i++)
        if (!o[i].is_def && (count == WL_COUNT(s) || !value_of_source(t, pc, &o[i], &s[count++]))) return false;
    if (count != WL_COUNT(s) || s[2] || s[3] < 1 || s[3] > 31) return false;
    return *value = (i32)((u32)s[1] + ((u32)s[0] >> (32 - s[3]))), true;
}

// --- what is kept within bounds --------------------------------------------------------------------------------------
static u32 lane_beside(const Trial *t) { return t->lane ^ 1; }

// The lesser of two numbers, or the larger. As far as distances go, what a bound, the same for all lanes, keeps within
// an array is what it is anywhere but at the ends. `beside`: those of the lane beside.
static i64 bounded_of(const Trial *t, const i64 here[2], const i64 beside[2], bool lesser, bool is_signed) {
    bool varies[2] = {here[0] != beside[0], here[1] != beside[1]};
    if (t->apart && varies[0] != varies[1]) return here[varies[1]];
    return here[compares(FLOW_LESS, is_signed, here[0], here[1]) == lesser ? 0 : 1];
}

// VIADDMNMX: the smaller (PT) or the larger (!PT) of a sum and a number, as where an index is kept within a row.
static bool sources_of_clamp(Trial *t, u32 pc, i64 s[2], bool *lesser) {
    const SassInsn *insn = insn_machine(t->part, pc);
    const SassOperand *o = &t->part->view->flow.code->sass->operands.data[insn->operands];
    i64 sources[4] = {0};
    u32 count = 0;
    for (u32 i = 0; i < insn->operand_count; i++)
        if (!o[i].is_def && (count == WL_COUNT(sources) || !value_of_source(t, pc, &o[i], &sources[count++])))
            return false;
    s[0] = (i32)(u32)(sources[0] + sources[1]), s[1] = (i32)(u32)sources[2];
    *lesser = sources[3] != 0;
    return count == WL_COUNT(sources);
}

static bool value_of_clamp(Trial *t, u32 pc, i64 *value) {
    const SassInsn *insn = insn_machine(t->part, pc);
    i64 here[2], beside[2];
    bool lesser;
    u32 lane = t->lane;
    if (!insn || insn->op != SASS_OP_VIADDMNMX || sass_has(insn, "RELU") || !sources_of_clamp(t, pc, here, &lesser))
        return false;
    place_thread(t, t->warp, lane_beside(t));
    bool known = sources_of_clamp(t, pc, beside, &lesser);
    place_thread(t, t->warp, lane);
    *value = bounded_of(t, here, beside, lesser, !sass_has(insn, "U32"));
    return known;
}

static bool value_of_bound(Trial *t, const FlowInsn *in, bool is_signed, i64 *value) {
    u32 first = in->operands + in->defs, lane = t->lane;
    i64 here[2], beside[2];
    bool known = in->uses == 2 && value_of_operand(t, first, &here[0]) && value_of_operand(t, first + 1, &here[1]);
    if (!known) return false;
    place_thread(t, t->warp, lane_beside(t));
    known = value_of_operand(t, first, &beside[0]) && value_of_operand(t, first + 1, &beside[1]);
    place_thread(t, t->warp, lane);
    *value = bounded_of(t, here, beside, in->arith == FLOW_MIN, is_signed);
    return known;
}

enum { LOGIC_SOURCES = 4 };  // three numbers and the table

// LOP3: bit by bit any function of three numbers, of which the flow view knows the common ones.
static bool value_of_logic(Trial *t, u32 pc, i64 *value) {
    const FlowCode *code = t->part->view->flow.code;
    if (!code->sass) return false;
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    const SassOperand *o = &code->sass->operands.data[insn->operands];
    i64 s[LOGIC_SOURCES] = {0};
    u32 count = 0, result = 0;
    if (insn->op != SASS_OP_LOP3 && insn->op != SASS_OP_ULOP3) return false;
    for (u32 i = 0; i < insn->operand_count && count < LOGIC_SOURCES; i++)
        if (!o[i].is_def && !value_of_source(t, pc, &o[i], &s[count++])) return false;
    if (count < LOGIC_SOURCES) return false;
    for (u32 row = 0; row < 8; row++) {
        u32 a = row & 4 ? (u32)s[0] : ~(u32)s[0], b = row & 2 ? (u32)s[1] : ~(u32)s[1];
        if ((u64)s[3] >> row & 1) result |= a & b & (row & 1 ? (u32)s[2] : ~(u32)s[2]);
    }
    return *value = (i32)result, true;
}

// --- divisions -------------------------------------------------------------------------------------------------------
// By a number that the compiler does not know they begin with its reciprocal in float; the steps are taken as they are.
static f32 rounded_up(i64 whole) {
    f32 number = (f32)whole;
    return (i64)number < whole ? nextafterf(number, INFINITY) : number;
}

static i64 truncated(f32 number) {
    if (!(number > 0)) return number < -0x1p31f ? INT32_MIN : isnan(number) ? 0 : (i64)number;
    return number < 0x1p32f ? (i64)number : UINT32_MAX;
}

// The upper half of a product and a pair of registers.
static bool value_of_high_product(Trial *t, u32 pc, const SassOperand *sources, bool is_signed, i64 *value) {
    SassOperand upper = sources[2];
    i64 a, b, low, high = 0;
    bool pair = upper.kind == SASS_OPERAND_REG && upper.reg.index != SASS_ZERO;
    upper.reg.index++;
    if (!value_of_source(t, pc, &sources[0], &a) || !value_of_source(t, pc, &sources[1], &b) ||
        !value_of_source(t, pc, &sources[2], &low) || (pair && !value_of_source(t, pc, &upper, &high)))
        return false;
    u64 product = is_signed ? (u64)((i64)(i32)a * (i32)b) : (u64)(u32)a * (u32)b;
    return *value = (i32)((product + ((u64)(u32)high << 32 | (u32)low)) >> 32), true;
}

static bool value_of_division_step(Trial *t, u32 pc, i64 *value) {
    const SassInsn *insn = insn_machine(t->part, pc);
    const SassOperand *o = insn ? &t->part->view->flow.code->sass->operands.data[insn->operands] : NULL;
    u32 first = 0;
    i64 s;
    while (insn && first < insn->operand_count && o[first].is_def) first++;
    if (!insn || first == insn->operand_count) return false;
    bool is_signed = !sass_has(insn, "U32");
    if (insn->op == SASS_OP_IMAD && sass_has(insn, "HI") && !sass_has(insn, "X") && first + 3 == insn->operand_count)
        return value_of_high_product(t, pc, &o[first], is_signed, value);
    bool step = insn->op == SASS_OP_IABS || (insn->op == SASS_OP_I2F && sass_has(insn, "RP")) ||
                (insn->op == SASS_OP_MUFU && sass_has(insn, "RCP")) ||
                (insn->op == SASS_OP_F2I && sass_has(insn, "TRUNC") && sass_has(insn, "U32"));
    if (!step || !value_of_source(t, pc, &o[first], &s)) return false;
    if (insn->op == SASS_OP_MUFU) t->through |= LANES_DIVIDED;
    switch (insn->op) {
    case SASS_OP_IABS: *value = s < 0 ? -s : s; break;
    case SASS_OP_I2F: *value = bits_of_f32(rounded_up(is_signed ? (i32)s : (i64)(u32)s)); break;
    case SASS_OP_MUFU: *value = bits_of_f32(1 / f32_of_bits((u32)s)); break;
    default: *value = truncated(f32_of_bits((u32)s)); break;
    }
    return *value = (i32)(u32)*value, true;
}

static bool value_of_opaque(Trial *t, u32 pc, i64 *value) {
    return value_of_predicate(t, pc, value) || value_of_high_part(t, pc, value) || value_of_logic(t, pc, value) ||
           value_of_clamp(t, pc, value) || value_of_division_step(t, pc, value);
}

static bool value_of_insn(Trial *t, const ChainNode *node, i64 *value) {
    const FlowInsn *in = case_insn(t->part, node->insn);
    u32 nth = node->operand - in->operands, first = in->operands + in->defs, used = in->uses < 3 ? in->uses : 3;
    if (nth == 1 && in->defs == 2) return value_of_logic(t, node->insn, value);  // behind a predicate
    if (in->arith == FLOW_OPAQUE) return !nth && value_of_opaque(t, node->insn, value);
    if (in->arith == FLOW_MOVE) return nth < in->uses && value_of_operand(t, first + nth, value);
    i64 sources[3] = {0};
    bool before = t->equal, known = true;
    if (nth || in->arith == FLOW_LOAD_PARAM) return false;
    if (in->arith == FLOW_MIN || in->arith == FLOW_MAX)
        return value_of_bound(t, in, t->part->view->flow.code->operands[first].is_signed, value);
    if (in->arith == FLOW_COMPARE) t->equal = in->compare == FLOW_EQUAL || in->compare == FLOW_NOT_EQUAL;
    for (u32 u = 0; u < used && known; u++) known = value_of_operand(t, first + u, &sources[u]);
    t->equal = before;
    if (!known) return false;
    bool is_signed = used && t->part->view->flow.code->operands[first].is_signed;
    if (!compute(in, is_signed, sources, value)) return false;
    *value = (i32)(u32)*value;
    return true;
}

static bool is_under_same_guard(const Trial *t, u32 pc) {
    const u32 *of_guard = t->part->view->flow.chains->of_guard;
    return t->access != WL_NONE && of_guard[pc] == of_guard[t->access] &&
           case_insn(t->part, pc)->guard_negated == case_insn(t->part, t->access)->guard_negated;
}

// Where its guard does not hold the value stays what it was.
static bool value_of_definition(Trial *t, const ChainNode *node, i64 *value) {
    const FlowInsn *in = case_insn(t->part, node->insn);
    const Chains *chains = t->part->view->flow.chains;
    i64 holds;
    if (in->guard == WL_NONE) return value_of_insn(t, node, value);
    t->through |= LANES_GUARDED;
    if (is_under_same_guard(t, node->insn)) return value_of_insn(t, node, value);
    if (node->arg_count != 1 || !value_of_node(t, chains->of_guard[node->insn], &holds)) return false;
    return (holds != 0) != in->guard_negated ? value_of_insn(t, node, value)
                                             : value_of_node(t, chains->args[node->args], value);
}

// --- pointers that walk --------------------------------------------------------------------------------------------
// A pointer that a loop moves on by as much for all lanes is, as far as the distances of lanes go, where it began:
// behind merges and sums with what is the same for all there is one value that they all come from.
enum { MOST_MERGES = 16 };

typedef struct Walk {
    u32 merges[MOST_MERGES], count;  // and definitions that not all lanes make, behind which is what was there before
    u32 root;                        // WL_NONE: not found yet
} Walk;

// The one operand of a sum that differs between lanes; WL_NONE: there is none, or more than one, or it is no sum. Of a
// product and a sum (IMAD.WIDE) what is added; its upper word is told by the lower one.
static u32 moved_on(const FlowResults *flow, u32 insn) {
    const FlowInsn *in = &flow->code->insns[insn];
    bool product = in->arith == FLOW_MULADD;
    u32 found = WL_NONE;
    if (!product && in->arith != FLOW_ADD && in->arith != FLOW_ADD3 && in->arith != FLOW_MOVE) return WL_NONE;
    for (u32 u = 0; u < in->uses && !(product && u == 3); u++) {
        u32 operand = in->operands + in->defs + u;
        if (!divergence_of_use(flow->divergence, insn, operand)) continue;
        if (found != WL_NONE || flow->code->operands[operand].kind != FLOW_VALUE) return WL_NONE;
        if (product && u < 2) return WL_NONE;
        found = flow->chains->of_operand[operand];
    }
    return found;
}

// Whether lanes next to each other have left the loop in different turns.
static bool parts_lanes(const Trial *t, u32 loop) {
    const FlowResults *flow = &t->part->view->flow;
    return loop != WL_NONE && bitset_has(&flow->divergence->temporal, loop) && !t->part->loops[loop].together &&
           !flow_loop_has(flow->loops, loop, t->block);
}

static bool was_walked(const Walk *w, u32 node) {
    for (u32 i = 0; i < w->count; i++)
        if (w->merges[i] == node) return true;
    return false;
}

// One more of them; false: there are too many.
static bool walk_over(Walk *w, u32 node) {
    if (w->count == MOST_MERGES) return false;
    w->merges[w->count++] = node;
    return true;
}

static bool walks_from(const Trial *t, u32 node, Walk *w) {
    const FlowResults *flow = &t->part->view->flow;
    const ChainNode *nodes = flow->chains->nodes;
    for (u32 before = node; before != WL_NONE && nodes[node = before].insn != WL_NONE;) {
        before = moved_on(flow, nodes[node].insn);
        if (before == WL_NONE || !nodes[node].arg_count) continue;
        if (was_walked(w, node)) return true;
        if (!walk_over(w, node) || !walks_from(t, flow->chains->args[nodes[node].args], w)) return false;
    }
    if (node == WL_NONE) return false;
    if (nodes[node].insn != WL_NONE) {
        if (w->root == WL_NONE) w->root = node;
        return w->root == node;
    }
    if (was_walked(w, node)) return true;
    if (parts_lanes(t, flow->loops->loop_of[nodes[node].block]) || !walk_over(w, node)) return false;
    for (u32 i = 0; i < nodes[node].arg_count; i++)
        if (!walks_from(t, flow->chains->args[nodes[node].args + i], w)) return false;
    return nodes[node].arg_count > 0;
}

static bool value_of_walk(Trial *t, u32 node, i64 *value) {
    Walk w = {.root = WL_NONE};
    if (!t->apart || t->part->view->flow.chains->nodes[node].insn != WL_NONE) return false;
    return walks_from(t, node, &w) && w.root != WL_NONE && value_of_node(t, w.root, value);
}

// What a warp loads from one place, as the row of a matrix that it takes, is the same for its lanes.
static bool value_of_load(Trial *t, u32 node, i64 *value) {
    const ChainNode *n = &t->part->view->flow.chains->nodes[node];
    const FlowInsn *in = case_insn(t->part, n->insn);
    i64 own, first;
    if (!in->is_load || in->is_atomic || in->guard != WL_NONE || in->address_use == 0xff) return false;
    if (in->space == SPACE_LOCAL) return false;
    u32 address = in->operands + in->defs + in->address_use, lane = t->lane, warp = t->warp;
    if (!value_of_operand(t, address, &own)) return false;
    place_thread(t, warp, 0);
    bool known = value_of_operand(t, address, &first);
    place_thread(t, warp, lane);
    *value = drawn(t, node ^ (u64)own << 32);
    return known && own == first;
}

// A sum of products of the thread's and the CTA's numbers, and of turns of the loop.
static bool value_of_form(const Trial *t, u32 node, i64 *value) {
    const Affine *affine = t->part->view->flow.affine;
    const AffineForm *form = &affine->forms[node];
    *value = form->constant;
    for (u32 i = 0; i < form->term_count; i++) {
        const AffineTerm *term = &affine->terms[form->terms + i];
        i64 product = term->coefficient;
        for (u32 k = 0; k < AFFINE_DEGREE && term->factors[k] != WL_NONE; k++) {
            const AffineFactor *f = &affine->factors[term->factors[k]];
            FlowOperand o = {.kind = FLOW_SREG, .component = f->component, .id = f->id};
            i64 factor = t->turn;
            if (f->kind == AFFINE_COUNTER ? f->id != t->loop : f->kind != AFFINE_SREG || !value_of_sreg(t, &o, &factor))
                return false;
            product = (i64)((u64)product * (u64)factor);
        }
        *value = (i64)((u64)*value + (u64)product);
    }
    *value = (i32)(u32)*value;
    return true;
}

static bool find_value(Trial *t, u32 node, i64 *value) {
    const FlowResults *flow = &t->part->view->flow;
    if (!t->steps) return false;
    t->steps--;
    bool defined = node < flow->chains->def_count;
    if (t->known && value_of_form(t, node, value)) return true;
    if (defined && value_of_definition(t, &flow->chains->nodes[node], value)) return true;
    if (t->known) return false;
    *value = drawn(t, node);
    if (!divergence_of_node(flow->divergence, node, t->block)) return true;  // the same for all lanes, whatever it is
    return defined ? value_of_load(t, node, value) : value_of_walk(t, node, value);
}

static bool value_of_node(Trial *t, u32 node, i64 *value) {
    if (node == WL_NONE) return false;
    Kept key = {.node = node + 1,
                .lane = t->lane,
                .warp = t->warp,
                .cta = t->nth_cta,
                .draw = t->draw,
                .turn = t->turn,
                .equal = t->equal};
    Kept *kept = &t->kept[(node * WARP + t->lane * 5 + t->equal) % KEPT];
    bool same = kept->node == key.node && kept->lane == key.lane && kept->warp == key.warp && kept->cta == key.cta &&
                kept->draw == key.draw && kept->turn == key.turn && kept->equal == key.equal;
    if (same) return *value = kept->value, kept->known;
    key.known = find_value(t, node, &key.value);
    *kept = key;
    return *value = key.value, key.known;
}

// --- lanes ---------------------------------------------------------------------------------------------------------
static void place_cta(Trial *t, u32 nth) {
    t->nth_cta = nth;
    for (u32 axis = 0; axis < 3; axis++) t->cta[axis] = (u32)((u64)t->launch->grid[axis] * nth / CTAS);
}

typedef struct Ways {
    f64 lanes, warps;  // that go the way; warps of which some do
} Ways;

// False: the test is not understood.
static bool try_warp(Trial *t, u32 branch, bool taken, u32 warp, u32 threads, Ways *ways) {
    u32 node = t->part->view->flow.chains->of_guard[branch], lanes = 0;
    bool negated = case_insn(t->part, branch)->guard_negated;
    for (u32 lane = 0; lane < WARP && warp * WARP + lane < threads; lane++) {
        i64 value;
        t->steps = STEPS;
        place_thread(t, warp, lane);
        if (!value_of_node(t, node, &value)) return false;
        lanes += ((value != 0) != negated) == taken;
    }
    ways->lanes += lanes;
    ways->warps += lanes > 0;
    return true;
}

static bool try_draw(Trial *t, u32 branch, bool taken, Ways *ways) {
    u32 threads = t->launch->block[0] * t->launch->block[1] * t->launch->block[2], warps = (threads + WARP - 1) / WARP;
    for (u32 cta = 0; cta < CTAS; cta++) {
        place_cta(t, cta);
        for (u32 w = 0; w < warps && w < WARPS; w++)
            if (!try_warp(t, branch, taken, w, threads, ways)) return false;
    }
    return true;
}

typedef struct Draws {
    f64 sum, least, most;
    u32 count;
} Draws;

static void add_draw(Draws *d, const Ways *ways) {
    if (ways->warps <= 0) return;
    f64 lanes = ways->lanes / ways->warps;
    d->least = d->count ? fmin(d->least, lanes) : lanes;
    d->most = fmax(d->most, lanes);
    d->sum += lanes;
    d->count++;
}

static f64 agreed(const Draws *d) {
    return d->count >= LEAST_DRAWS && d->most - d->least <= ALIKE * d->most ? d->sum / d->count : 0;
}

f64 lanes_of_way(const AdviceCase *c, const CasePart *part, u32 branch, bool taken) {
    Trial t = {.part = part,
               .launch = c->view->launches.typical,
               .block = part->view->flow.cfg->block_of[branch],
               .access = WL_NONE};
    Draws draws[3] = {0};
    if (!t.launch || case_insn(part, branch)->guard == WL_NONE || !t.launch->block[0] || !t.launch->block[1]) return 0;
    for (t.draw = 0; t.draw < DRAWS; t.draw++) {
        Ways ways = {0};
        if (!try_draw(&t, branch, taken, &ways)) return 0;
        add_draw(&draws[t.draw < LARGE ? 0 : t.draw < DRAWS - MIXED ? 1 : 2], &ways);
    }
    return agreed(draws[0].count ? &draws[0] : draws[2].count ? &draws[2] : &draws[1]);
}

// --- addresses -----------------------------------------------------------------------------------------------------
static Trial trial_of_access(const AdviceCase *c, const CasePart *part, u32 pc) {
    u32 block = part->view->flow.cfg->block_of[pc];
    return (Trial){.part = part, .launch = c->view->launches.typical, .block = block, .access = pc};
}

bool lanes_of_address(const AdviceCase *c, const CasePart *part, u32 pc, u32 draw, u32 warp, i64 offsets[WARP]) {
    const FlowInsn *in = case_insn(part, pc);
    Trial t = trial_of_access(c, part, pc);
    if (!t.launch || !t.launch->block[0] || !t.launch->block[1] || in->address_use == 0xff || draw >= DRAWS)
        return false;
    t.draw = draw;
    t.apart = true;
    place_cta(&t, 1);
    for (u32 lane = 0; lane < WARP; lane++) {
        t.steps = STEPS;
        place_thread(&t, warp, lane);
        if (!value_of_operand(&t, in->operands + in->defs + in->address_use, &offsets[lane])) return false;
        offsets[lane] = (i32)(u32)(offsets[lane] - (lane ? offsets[0] : 0));
    }
    offsets[0] = 0;
    return true;
}

i64 warps_of_address(const AdviceCase *c, const CasePart *part, u32 pc) {
    static const u32 lanes[] = {0, 7, WARP - 1};
    const FlowInsn *in = case_insn(part, pc);
    Trial t = trial_of_access(c, part, pc);
    if (!t.launch || t.launch->block[0] < 2 * WARP || in->address_use == 0xff) return 0;
    u32 warps = t.launch->block[0] / WARP < WARPS ? t.launch->block[0] / WARP : WARPS;
    i64 step = 0, before = 0, at;
    place_cta(&t, 1);
    for (u32 i = 0; i < WL_COUNT(lanes); i++)
        for (u32 warp = 0; warp < warps; warp++, before = at) {
            t.steps = STEPS;
            place_thread(&t, warp, lanes[i]);
            if (!value_of_operand(&t, in->operands + in->defs + in->address_use, &at)) return 0;
            if (i == 0 && warp == 1) step = (i32)(u32)(at - before);
            if (warp && (i32)(u32)(at - before) != step) return 0;
        }
    return step;
}

u32 lanes_through(const AdviceCase *c, const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    Trial t = trial_of_access(c, part, pc);
    i64 value;
    if (!t.launch || !t.launch->block[0] || !t.launch->block[1] || in->address_use == 0xff) return 0;
    t.steps = STEPS;
    place_cta(&t, 1);
    place_thread(&t, 0, 0);
    return value_of_operand(&t, in->operands + in->defs + in->address_use, &value) ? t.through : 0;
}

bool lanes_go_apart(const AdviceCase *c, const CasePart *part, u32 pc) {
    static const u32 places[][2] = {{0, 0}, {0, 1}, {1, 0}};  // CTA, warp
    const FlowInsn *in = case_insn(part, pc);
    Trial t = trial_of_access(c, part, pc);
    i64 first[WL_COUNT(places)];
    if (!t.launch || !t.launch->block[0] || !t.launch->block[1] || in->address_use == 0xff) return false;
    u32 threads = t.launch->block[0] * t.launch->block[1] * t.launch->block[2];
    for (u32 i = 0; i < WL_COUNT(places); i++) {
        if (places[i][1] * WARP >= threads) continue;  // a CTA of one warp
        t.steps = STEPS;
        place_cta(&t, places[i][0]);
        place_thread(&t, places[i][1], 0);
        if (!value_of_operand(&t, in->operands + in->defs + in->address_use, &first[i])) return false;
        first[i] = (i32)(u32)first[i];
        for (u32 j = 0; j < i; j++)
            if (places[j][1] * WARP < threads && first[i] == first[j]) return false;
    }
    return true;
}

// --- loops that lanes leave ------------------------------------------------------------------------------------------
// By how much more the first number of a comparison than the second one grows in each turn; 0: not known.
static i64 step_of_test(const CasePart *part, const FlowInsn *in, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    i64 steps[2] = {0};
    for (u32 u = 0; u < 2; u++) {
        u32 node = flow->chains->of_operand[in->operands + in->defs + u];
        if (node != WL_NONE && affine_step(flow->affine, node, loop, &steps[u]) != AFFINE_STRIDE_CONSTANT) return 0;
    }
    return steps[0] - steps[1];
}

static i64 turns_of(i64 distance, i64 step) { return distance / step - (distance % step != 0 && distance < 0); }

// Turns until the comparison says so, of each lane of a warp: the border between two numbers of them is in few places.
static bool borders(Trial *t, const FlowInsn *in, i64 step, u32 *count) {
    i64 before = 0;
    *count = 0;
    for (u32 lane = 0; lane < WARP; lane++) {
        i64 s[2];
        t->steps = STEPS;
        place_thread(t, 0, lane);
        for (u32 u = 0; u < 2; u++)
            if (!value_of_operand(t, in->operands + in->defs + u, &s[u])) return false;
        i64 turns = turns_of((i32)(u32)(s[0] - s[1]), step < 0 ? -step : step);
        *count += lane && turns != before;
        before = turns;
    }
    return true;
}

static bool leave_together_at(Trial *t, u32 loop) {
    const FlowResults *flow = &t->part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[t->block];
    u32 guard = flow->chains->of_guard[b->first + b->count - 1];
    u32 test = guard != WL_NONE && guard < flow->chains->def_count ? flow->chains->nodes[guard].insn : WL_NONE;
    const FlowInsn *in = test == WL_NONE ? NULL : case_insn(t->part, test);
    i64 step = in && in->arith == FLOW_COMPARE && in->uses == 2 ? step_of_test(t->part, in, loop) : 0;
    memset(t->kept, 0, sizeof t->kept);  // of another block
    for (t->draw = 0; step && t->draw < LARGE; t->draw++) {
        u32 count;
        if (!borders(t, in, step, &count) || count > 1) return false;
    }
    return step != 0;
}

bool lanes_leave_together(const AdviceCase *c, const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    Trial t = {.part = part, .launch = c->view->launches.typical, .apart = true, .access = WL_NONE};
    if (!t.launch || !t.launch->block[0] || !t.launch->block[1]) return false;
    place_cta(&t, 1);
    for (t.block = 0; t.block < flow->cfg->block_count; t.block++) {
        const FlowBlock *b = &flow->cfg->blocks[t.block];
        if (!b->count || !flow_loop_has(flow->loops, loop, t.block)) continue;
        if (!flow_loop_left_from(flow->cfg, flow->loops, loop, t.block)) continue;
        bool parts = bitset_has(&flow->divergence->branches, b->first + b->count - 1);
        if (parts && !leave_together_at(&t, loop)) return false;
    }
    return true;
}

// --- turns that a test lets in ---------------------------------------------------------------------------------------
enum { CTAS_OF_AXIS = 4, WARPS_TRIED = 2, LANES_TRIED = 4, TURNS_TRIED = 16 };

// Whether the lane passes all tests in the turn.
static bool passes(Trial *t, const LaneTest *tests, u32 count) {
    bool in = true;
    for (u32 i = 0; i < count; i++) {
        i64 value = 0;
        t->steps = STEPS;
        in &= value_of_node(t, tests[i].node, &value) && (value != 0) == tests[i].wanted;
    }
    return in;
}

// Bit by bit the turns in which the lane passes. False: they are no one run of turns.
static bool turns_of_lane(Trial *t, const LaneTest *tests, u32 count, u32 turns, u32 *in) {
    u32 tried = turns < TURNS_TRIED ? turns : TURNS_TRIED, begins = 0;
    *in = 0;
    for (u32 k = 0; k < tried; k++) {
        t->turn = (i64)((u64)turns * k / tried);
        u32 now = passes(t, tests, count), before = k ? *in >> (k - 1) & 1 : 0;
        begins += now > before;
        *in |= now << k;
    }
    return begins <= 1;
}

// Adds the turns of a warp in which a lane passes.
static bool turns_of_warp(Trial *t, u32 warp, const LaneTest *tests, u32 count, u32 turns, f64 *some) {
    u32 all = 0, in;
    for (u32 k = 0; k < LANES_TRIED; k++) {
        place_thread(t, warp, k * (WARP - 1) / (LANES_TRIED - 1));
        if (!turns_of_lane(t, tests, count, turns, &in)) return false;
        all |= in;
    }
    for (; all; all &= all - 1) *some += 1;
    return true;
}

static bool is_known(Trial *t, const LaneTest *test) {
    i64 value;
    t->steps = STEPS;
    place_thread(t, 0, 0);
    return value_of_node(t, test->node, &value);
}

f64 lanes_let_in(const AdviceCase *c, const CasePart *part, u32 loop, u32 turns, const LaneTest *tests, u32 count) {
    Trial t = {.part = part, .launch = c->view->launches.typical, .known = true, .loop = loop, .access = WL_NONE};
    LaneTest known[MOST_LANE_TESTS];
    u32 known_count = 0, warps, tried = 0;
    f64 some = 0;
    if (!t.launch || !t.launch->block[0] || !t.launch->block[1] || !turns) return 1;
    for (u32 i = 0; i < count && i < MOST_LANE_TESTS; i++)
        if (is_known(&t, &tests[i])) known[known_count++] = tests[i];
    warps = (t.launch->block[0] * t.launch->block[1] * t.launch->block[2] + WARP - 1) / WARP;
    for (u32 k = 0; known_count && k < CTAS_OF_AXIS * CTAS_OF_AXIS; k++) {
        u32 place[3] = {k % CTAS_OF_AXIS, k / CTAS_OF_AXIS, CTAS_OF_AXIS / 2};
        for (u32 axis = 0; axis < 3; axis++)
            t.cta[axis] = (u32)((u64)t.launch->grid[axis] * (2 * place[axis] + 1) / (2 * CTAS_OF_AXIS));
        t.nth_cta = k;
        for (u32 w = 0; w < WARPS_TRIED && w < warps; w++, tried++)
            if (!turns_of_warp(&t, w * warps / WARPS_TRIED, known, known_count, turns, &some)) return 1;
    }
    return tried ? some / tried / (turns < TURNS_TRIED ? turns : TURNS_TRIED) : 1;
}
