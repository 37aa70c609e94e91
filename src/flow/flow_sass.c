// SPDX-License-Identifier: Apache-2.0
// The adapter from SASS: registers as values, memory accesses, branches, control words. What an instruction computes is
// flow_sass_arith.c's.
#include <string.h>

#include "flow/flow_sass.h"

// By opcode: the columns of sass_ops.def that name things of this module and of ptx.
static const struct {
    u8 kind, unit, space;
} facts[SASS_OP_COUNT + 1] = {
#define OP(name, kind, unit, space, access, defs, width, time) {FLOW_##kind, UNIT_##unit, SPACE_##space},
#include "sass/sass_ops.def"
#undef OP
    {FLOW_PLAIN, UNIT_ALU, SPACE_NONE},
};

// --- values ------------------------------------------------------------------------------------------------------
static Status value_of(SassAdapter *a, u8 file, u32 index, u32 *value) {
    u32 *known = &a->values[file][index];
    if (!*known) {
        TRY(vec_push(&a->regs, ((SassReg){file, (u8)index, 1})));
        *known = a->regs.len;
    }
    *value = *known - 1;
    return STATUS_OK;
}

static bool is_predicate(u8 file) { return file == SASS_P || file == SASS_UP; }

static Status push(SassAdapter *a, FlowOperand operand) {
    FlowInsn *insn = a->insn;
    if (insn->uses == UINT16_MAX) return STATUS_OK;
    insn->uses++;
    return vec_push(&a->operands, operand);
}

// One register; what reads as a constant is one.
static Status use_reg(SassAdapter *a, SassReg reg, u32 nth, bool is_signed) {
    FlowOperand operand = {.kind = FLOW_IMMEDIATE, .width = is_predicate(reg.file) ? 1 : 32, .is_signed = is_signed};
    if (reg.index == SASS_ZERO) {
        operand.value = is_predicate(reg.file);
        return push(a, operand);
    }
    operand.kind = FLOW_VALUE;
    TRY(value_of(a, reg.file, reg.index + nth, &operand.id));
    return push(a, operand);
}

static bool has_values(SassReg reg) { return reg.file != SASS_NO_FILE && reg.file != SASS_B && reg.index != SASS_ZERO; }

static Status use_all(SassAdapter *a, SassReg reg) {
    for (u32 k = 0; has_values(reg) && k < reg.count; k++) TRY(use_reg(a, reg, k, false));
    return STATUS_OK;
}

static Status define(SassAdapter *a, SassReg reg, u32 nth) {
    FlowOperand operand = {.kind = FLOW_VALUE, .width = is_predicate(reg.file) ? 1 : 32};
    TRY(value_of(a, reg.file, reg.index + nth, &operand.id));
    a->insn->defs++;
    return vec_push(&a->operands, operand);
}

// --- operands that are read by arithmetic --------------------------------------------------------------------------
// Where blocks and grids say how large they are, in constant bank 0 (ptxas 13.0 for sm_75 to sm_120).
static bool is_geometry(const SassAdapter *a, i64 offset, FlowOperand *operand) {
    i64 begin = a->source->module->sm >= 100 ? 0x360 : 0;
    i64 at = offset - begin;
    if (at < 0 || at >= 24 || at % 4) return false;
    *operand = (FlowOperand){.kind = FLOW_SREG, .width = 32, .component = (u8)(at / 4 % 3)};
    operand->id = at < 12 ? SREG_NTID : SREG_NCTAID;
    return true;
}

bool flow_sass_is_indexed(const SassOperand *o) { return o->reg.file != SASS_NO_FILE && o->reg.index != SASS_ZERO; }

// The word `nth` of a constant. The upper half of a parameter of 64 bits goes without saying with the lower one.
static FlowOperand constant_word(const SassAdapter *a, const SassOperand *o, u32 nth) {
    FlowOperand operand = {.kind = FLOW_OTHER, .width = 32};
    i64 offset = o->value + 4 * (i64)nth, at = offset - a->source->param_base;
    if (o->bank != 0 || flow_sass_is_indexed(o) || is_geometry(a, offset, &operand)) return operand;
    if (!a->source->param_base || at < 0) return operand;
    for (u32 p = 0; p < a->source->param_count; p++) {
        const FlowParam *param = &a->source->params[p];
        i64 inside = at - param->offset;
        if (inside < 0 || inside >= param->size) continue;
        bool wide = param->size == 8;
        if (wide && inside) return operand;
        operand = (FlowOperand){.kind = FLOW_PARAMETER_VALUE, .width = wide ? 64 : 32, .id = p, .value = inside};
    }
    return operand;
}

static const struct {
    const char *name;
    u8 sreg, component;
} special_registers[] = {
    {"SR_TID.X", SREG_TID, 0},
    {"SR_TID.Y", SREG_TID, 1},
    {"SR_TID.Z", SREG_TID, 2},
    {"SR_CTAID.X", SREG_CTAID, 0},
    {"SR_CTAID.Y", SREG_CTAID, 1},
    {"SR_CTAID.Z", SREG_CTAID, 2},
    {"SR_LANEID", SREG_LANEID, 0},
    {"SR_SMID", SREG_SMID, 0},
    {"SR_VIRTUALSMID", SREG_SMID, 0},
    {"SR_EQMASK", SREG_LANEMASK_EQ, 0},
    {"SR_LTMASK", SREG_LANEMASK_LT, 0},
    {"SR_LEMASK", SREG_LANEMASK_LE, 0},
    {"SR_GTMASK", SREG_LANEMASK_GT, 0},
    {"SR_GEMASK", SREG_LANEMASK_GE, 0},
    {"SR_CLOCKLO", SREG_CLOCK, 0},
    {"SR_CLOCKHI", SREG_CLOCK_HI, 0},
    {"SR_CgaCtaId", SREG_CLUSTER_CTARANK, 0},
};

FlowOperand flow_sass_special(const SassOperand *o) {
    for (u32 i = 0; i < WL_COUNT(special_registers); i++) {
        if (strcmp(o->text, special_registers[i].name) != 0) continue;
        u8 vector = ptx_sregs[special_registers[i].sreg].vector;
        return (FlowOperand){.kind = FLOW_SREG,
                             .width = 32,
                             .id = special_registers[i].sreg,
                             .component = vector > 1 ? special_registers[i].component : 0xff};
    }
    return (FlowOperand){.kind = strcmp(o->text, "SRZ") == 0 ? FLOW_IMMEDIATE : FLOW_OTHER, .width = 32};
}

Status flow_sass_use(SassAdapter *a, const SassOperand *o, u32 nth, bool is_signed) {
    switch ((SassOperandKind)o->kind) {
    case SASS_OPERAND_REG: return use_reg(a, o->reg, nth, is_signed);
    case SASS_OPERAND_IMMEDIATE:
        if (o->is_float) return push(a, (FlowOperand){.kind = FLOW_OTHER, .width = 32, .value = o->value});
        return flow_sass_immediate(a, nth ? 0 : o->value);
    case SASS_OPERAND_CONSTANT: return push(a, constant_word(a, o, nth));
    case SASS_OPERAND_SPECIAL: return push(a, flow_sass_special(o));
    default: return push(a, (FlowOperand){.kind = FLOW_OTHER, .width = 32});
    }
}

Status flow_sass_immediate(SassAdapter *a, i64 value) {
    return push(a, (FlowOperand){.kind = FLOW_IMMEDIATE, .width = 32, .is_signed = true, .value = value});
}

// --- definitions and uses ------------------------------------------------------------------------------------------
// PR, UPR with a mask of them.
static Status define_predicates(SassAdapter *a, const SassInsn *source, u8 file) {
    u32 mask = 0x7f;
    for (u32 i = 0; i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        if (o->kind == SASS_OPERAND_IMMEDIATE) mask = (u32)o->value & 0x7f;
    }
    for (u32 p = 0; p < 7; p++)
        if (mask >> p & 1) TRY(define(a, (SassReg){file, (u8)p, 1}, 0));
    return STATUS_OK;
}

static Status add_defs(SassAdapter *a, const SassInsn *source) {
    for (u32 i = 0; i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        if (!o->is_def) continue;
        if (o->kind == SASS_OPERAND_OTHER) TRY(define_predicates(a, source, o->text[0] == 'U' ? SASS_UP : SASS_P));
        for (u32 k = 0; has_values(o->reg) && k < o->reg.count; k++) TRY(define(a, o->reg, k));
    }
    return STATUS_OK;
}

// What `arith` does not compute with: upper halves, predicates, descriptors. All there is where it is opaque.
static Status add_other_uses(SassAdapter *a, const SassInsn *source) {
    for (u32 i = 0; i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        if (o->is_def || o->kind == SASS_OPERAND_ADDRESS) continue;
        bool is_constant = o->kind == SASS_OPERAND_IMMEDIATE || o->kind == SASS_OPERAND_CONSTANT;
        if (is_constant && a->insn->arith == FLOW_OPAQUE) TRY(flow_sass_use(a, o, 0, true));
        u32 first = a->insn->arith != FLOW_OPAQUE && o->kind == SASS_OPERAND_REG && !is_predicate(o->reg.file);
        bool all = a->insn->arith == FLOW_MOVE && a->insn->uses > 1;
        for (u32 k = first; !all && has_values(o->reg) && k < o->reg.count; k++) TRY(use_reg(a, o->reg, k, false));
        TRY(use_all(a, o->index));
        bool reads_all = o->kind == SASS_OPERAND_OTHER && (!strcmp(o->text, "PR") || !strcmp(o->text, "UPR"));
        for (u32 p = 0; reads_all && p < 7; p++)
            TRY(use_reg(a, (SassReg){o->text[0] == 'U' ? SASS_UP : SASS_P, (u8)p, 1}, 0, false));
    }
    return STATUS_OK;
}

// An opcode that is not known may leave what was there before.
static Status keep_results(SassAdapter *a, const SassInsn *source) {
    for (u32 i = 0; source->op == SASS_OP_UNKNOWN && i < source->operand_count; i++)
        if (a->sources[i].is_def) TRY(use_all(a, a->sources[i].reg));
    return STATUS_OK;
}

// --- memory --------------------------------------------------------------------------------------------------------
static Status add_address(SassAdapter *a, const SassOperand *o, bool second) {
    FlowInsn *insn = a->insn;
    bool base_is_index = !has_values(o->reg) && has_values(o->index);
    SassReg base = base_is_index ? o->index : o->reg, index = base_is_index ? o->reg : o->index;
    if (insn->uses < 0xf0 && !second) {
        insn->address_use = (u8)insn->uses;
        insn->address_offset = o->value;
        insn->address_shift = base_is_index ? 0 : o->scale;
    } else if (insn->uses < 0xf0) {
        insn->address2_use = (u8)insn->uses;
        insn->address2_offset = o->value;
    }
    if (base.file == SASS_NO_FILE) base = (SassReg){SASS_R, SASS_ZERO, 1};
    TRY(use_reg(a, base, 0, false));
    if (has_values(index) && !second && insn->uses < 0xf0) insn->address_index = (u8)(insn->uses + 1);
    TRY(use_all(a, index));
    for (u32 k = 1; has_values(base) && k < base.count; k++) TRY(use_reg(a, base, k, false));
    return use_all(a, o->handle);
}

// The address of an indexed constant is that of an ordinary operand.
static Status add_constant_address(SassAdapter *a, const SassOperand *o) {
    if (!has_values(o->reg)) return STATUS_OK;
    a->insn->address_use = (u8)a->insn->uses;
    a->insn->address_offset = o->value;
    return use_reg(a, o->reg, 0, false);
}

static Status add_addresses(SassAdapter *a, const SassInsn *source) {
    u32 found = 0;
    for (u32 i = 0; i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        bool first_constant = o->kind == SASS_OPERAND_CONSTANT && a->insn->is_load && !found;
        if (first_constant) TRY(add_constant_address(a, o));
        if (o->kind == SASS_OPERAND_ADDRESS) TRY(add_address(a, o, found++ > 0));
    }
    return STATUS_OK;
}

static void note_memory(SassAdapter *a, const SassInsn *source) {
    FlowInsn *insn = a->insn;
    u32 access = sass_op(source)->access, bytes = sass_access_bytes(source);
    insn->is_load = access & SASS_LOAD;
    insn->is_store = access & SASS_STORE;
    insn->is_atomic = access & SASS_ATOMIC;
    insn->is_barrier = access & SASS_BARRIER;
    insn->has_effects = insn->kind != FLOW_PLAIN || access & ~(u32)(SASS_LOAD | SASS_TEXTURE | SASS_MATRIX);
    insn->space = facts[source->op].space;
    insn->access_bytes = bytes < 256 ? (u8)bytes : 0;
    if (source->op == SASS_OP_LDGSTS) insn->space2 = SPACE_GLOBAL;
    for (u32 i = 0; insn->space == SPACE_CONST && i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        bool param = o->kind == SASS_OPERAND_CONSTANT && o->bank == 0 && a->source->param_base &&
                     o->value >= a->source->param_base;
        if (param) insn->space = SPACE_PARAM;
    }
}

// --- control -------------------------------------------------------------------------------------------------------
static Status add_target(SassAdapter *a, u32 insn) {
    a->insn->target_count++;
    return vec_push(&a->targets, insn);
}

static bool is_inside(const SassAdapter *a, const SassOperand *o) {
    return o->kind == SASS_OPERAND_TARGET && o->value >= 0 && (u64)o->value < (u64)a->function->count * SASS_INSN_BYTES;
}

// A predicate among the operands of a branch: with a guard of its own it is an ordinary use.
static Status add_condition(SassAdapter *a, const SassInsn *source) {
    for (u32 i = 0; i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        bool condition = o->kind == SASS_OPERAND_REG && is_predicate(o->reg.file) && has_values(o->reg);
        if (!condition || a->insn->guard != WL_NONE) continue;
        TRY(value_of(a, o->reg.file, o->reg.index, &a->insn->guard));
        a->insn->guard_negated = o->negated;
    }
    return STATUS_OK;
}

// BRA.DIV branches when the lanes are apart, which no register says.
static Status add_branch(SassAdapter *a, const SassInsn *source, u32 at) {
    for (u32 i = 0; i < source->operand_count; i++)
        if (is_inside(a, &a->sources[i])) TRY(add_target(a, (u32)a->sources[i].value / SASS_INSN_BYTES));
    if (source->op == SASS_OP_BRA) TRY(add_condition(a, source));
    if (sass_has(source, "DIV") || sass_has(source, "CONV")) {
        a->insn->kind = FLOW_SWITCH;
        TRY(add_target(a, at + 1));
    }
    return STATUS_OK;
}

static Status add_call(SassAdapter *a, const SassInsn *source, u32 at) {
    a->insn->divergence = DIV_DIVERGENT;
    for (u32 i = 0; i < source->operand_count; i++) {
        if (!is_inside(a, &a->sources[i])) continue;
        a->insn->kind = FLOW_SWITCH;
        TRY(add_target(a, (u32)a->sources[i].value / SASS_INSN_BYTES));
        return add_target(a, at + 1);
    }
    return STATUS_OK;
}

static Status add_control(SassAdapter *a, const SassInsn *source, u32 at) {
    switch ((FlowKind)a->insn->kind) {
    case FLOW_BRANCH: return add_branch(a, source, at);
    case FLOW_CALL: return add_call(a, source, at);
    default: return STATUS_OK;
    }
}

// DEPBAR.LE SB0, 0x1 names the barrier in an operand.
static u32 barriers_named(const SassAdapter *a, const SassInsn *source) {
    u32 mask = 0;
    for (u32 i = 0; source->op == SASS_OP_DEPBAR && i < source->operand_count; i++) {
        const char *text = a->sources[i].text;
        if (strncmp(text, "SB", 2) == 0 && text[2] >= '0' && text[2] < '0' + SASS_BARRIERS)
            mask |= 1u << (text[2] - '0');
    }
    return mask;
}

static FlowIssue issue_of(const SassAdapter *a, const SassInsn *source, u32 at) {
    SassControl c = sass_control(a->source->code + (size_t)at * SASS_INSN_BYTES);
    c.wait_mask |= (u8)barriers_named(a, source);
    return (FlowIssue){c.stall, c.write_barrier, c.read_barrier, c.wait_mask, c.reuse, c.yield};
}

// --- instructions --------------------------------------------------------------------------------------------------
static u8 divergence_of(const SassAdapter *a, const SassInsn *source) {
    u32 access = sass_op(source)->access;
    for (u32 i = 0; i < source->operand_count; i++)
        if (a->sources[i].is_def && (a->sources[i].reg.file == SASS_UR || a->sources[i].reg.file == SASS_UP))
            return DIV_UNIFORM;
    if (source->op == SASS_OP_VOTE) return DIV_UNIFORM;
    if (access & (SASS_ATOMIC | SASS_WARP)) return DIV_DIVERGENT;
    if (source->op == SASS_OP_S2R && a->sources[source->operand_count - 1u].kind == SASS_OPERAND_SPECIAL)
        return flow_sass_special(&a->sources[source->operand_count - 1u]).kind == FLOW_OTHER ? DIV_DIVERGENT
                                                                                             : DIV_OF_SOURCES;
    bool constant = facts[source->op].space == SPACE_CONST;
    return access & SASS_LOAD && !constant ? DIV_MEMORY : DIV_OF_SOURCES;
}

static Status adapt_insn(SassAdapter *a, const SassInsn *source, u32 at, FlowInsn *insn) {
    a->insn = insn;
    a->sources = source->operand_count ? a->source->module->operands.data + source->operands : NULL;
    *insn = (FlowInsn){.operands = a->operands.len,
                       .guard = WL_NONE,
                       .kind = facts[source->op].kind,
                       .unit = facts[source->op].unit,
                       .divergence = source->operand_count ? divergence_of(a, source) : DIV_OF_SOURCES,
                       .address_use = 0xff,
                       .address2_use = 0xff,
                       .targets = a->targets.len,
                       .callee = WL_NONE,
                       .loc = WL_NONE};
    if (sass_is_never(source)) return insn->kind = FLOW_PLAIN, STATUS_OK;
    if (has_values(source->guard)) {
        TRY(value_of(a, source->guard.file, source->guard.index, &insn->guard));
        insn->guard_negated = source->guard_not;
    }
    note_memory(a, source);
    TRY(add_defs(a, source));
    TRY(flow_sass_arith(a, source));
    TRY(add_addresses(a, source));
    TRY(add_other_uses(a, source));
    TRY(keep_results(a, source));
    return add_control(a, source, at);
}

// --- indirect branches ---------------------------------------------------------------------------------------------
// Where nothing else leads to: the begin of a block whose predecessor in the listing does not go on, and that is no
// target. Those after the branch are taken for its cases.
static Status add_cases(SassAdapter *a, FlowInsn *insns, FlowInsn *branch, u32 at) {
    u32 count = a->function->count;
    u8 *reached = mem_zero(count + 1, 1);
    if (!reached) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < a->targets.len; i++)
        if (a->targets.data[i] < count) reached[a->targets.data[i]] = 1;
    Status status = STATUS_OK;
    a->insn = branch;
    branch->targets = a->targets.len;
    for (u32 i = at + 1; i < count && status == STATUS_OK; i++) {
        const FlowInsn *before = &insns[i - 1];
        bool ends = before->kind != FLOW_PLAIN && before->kind != FLOW_CALL && before->guard == WL_NONE;
        const SassInsn *source = &a->source->module->insns.data[a->function->first + i];
        if (ends && !reached[i] && source->op != SASS_OP_NOP) status = add_target(a, i);
    }
    mem_free(reached);
    return status;
}

static Status add_jumps(SassAdapter *a, FlowInsn *branch, u32 at) {
    a->insn = branch;
    branch->targets = a->targets.len;
    for (u32 j = 0; j < a->source->jump_count; j++) {
        const FlowJump *jump = &a->source->jumps[j];
        bool here = jump->from / SASS_INSN_BYTES == at && jump->to / SASS_INSN_BYTES < a->function->count;
        if (here) TRY(add_target(a, jump->to / SASS_INSN_BYTES));
    }
    return STATUS_OK;
}

// What is known first: the cases of one branch are not those of another.
static Status adapt_switches(SassAdapter *a, FlowInsn *insns) {
    u32 count = a->function->count;
    for (u32 i = 0; i < count; i++)
        if (insns[i].kind == FLOW_SWITCH && !insns[i].target_count) TRY(add_jumps(a, &insns[i], i));
    for (u32 i = 0; i < count; i++)
        if (insns[i].kind == FLOW_SWITCH && !insns[i].target_count) TRY(add_cases(a, insns, &insns[i], i));
    return STATUS_OK;
}

// --- routines ------------------------------------------------------------------------------------------------------
static bool is_call(const SassAdapter *a, u32 at) {
    return a->source->module->insns.data[a->function->first + at].op == SASS_OP_CALL;
}

// The only call of what begins at `first`, WL_NONE: there are several; and where the next thing that is called begins.
static u32 only_call(const SassAdapter *a, const FlowInsn *insns, u32 first, u32 *end) {
    u32 only = WL_NONE, calls = 0;
    *end = a->function->count;
    for (u32 i = 0; i < a->function->count; i++) {
        if (insns[i].kind != FLOW_SWITCH || !is_call(a, i) || !insns[i].target_count) continue;
        u32 begin = a->targets.data[insns[i].targets];
        if (begin == first) only = i, calls++;
        if (begin > first && begin < *end) *end = begin;
    }
    return calls == 1 ? only : WL_NONE;
}

// A routine that is called at one place goes back there and nowhere else, as the long ways of divisions and square
// roots of many kernels: a loop that has such a call is not left by it.
static Status join_routine(SassAdapter *a, FlowInsn *insns, u32 call) {
    u32 end, first = a->targets.data[insns[call].targets], returns = 0;
    if (first <= call || only_call(a, insns, first, &end) != call) return STATUS_OK;
    for (u32 i = first; i < end; i++) {
        if (a->source->module->insns.data[a->function->first + i].op != SASS_OP_RET || insns[i].guard != WL_NONE)
            continue;
        a->insn = &insns[i];
        insns[i].divergence = DIV_UNIFORM;
        insns[i].targets = a->targets.len;
        TRY(add_target(a, call + 1));
        returns++;
    }
    if (returns) insns[call].target_count = 1, insns[call].divergence = DIV_UNIFORM;
    return STATUS_OK;
}

static Status adapt_routines(SassAdapter *a, FlowInsn *insns) {
    for (u32 i = 0; i < a->function->count; i++)
        if (insns[i].kind == FLOW_SWITCH && insns[i].target_count == 2 && is_call(a, i)) TRY(join_routine(a, insns, i));
    return STATUS_OK;
}

// --- all together --------------------------------------------------------------------------------------------------
static Status finish(SassAdapter *a, FlowInsn *insns, FlowIssue *issue, Arena *arena, FlowCode **code) {
    FlowOperand *operands = ARENA_ARRAY(arena, FlowOperand, a->operands.len + 1);
    u32 *targets = ARENA_ARRAY(arena, u32, a->targets.len + 1);
    u16 *bits = ARENA_ARRAY(arena, u16, a->regs.len + 1);
    SassReg *regs = ARENA_ARRAY(arena, SassReg, a->regs.len + 1);
    FlowParam *params = ARENA_ARRAY(arena, FlowParam, a->source->param_count + 1);
    FlowCode *result = ARENA_NEW(arena, FlowCode);
    if (!operands || !targets || !bits || !regs || !params || !result) return STATUS_NO_MEMORY;
    if (a->source->param_count) memcpy(params, a->source->params, sizeof *params * a->source->param_count);
    if (a->operands.len) memcpy(operands, a->operands.data, sizeof *operands * a->operands.len);
    if (a->targets.len) memcpy(targets, a->targets.data, sizeof *targets * a->targets.len);
    if (a->regs.len) memcpy(regs, a->regs.data, sizeof *regs * a->regs.len);
    for (u32 i = 0; i < a->regs.len; i++) bits[i] = is_predicate(regs[i].file) ? 1 : 32;
    *result = (FlowCode){.sass = a->source->module,
                         .func = a->source->function,
                         .is_entry = a->source->is_entry,
                         .params = params,
                         .param_count = a->source->param_count,
                         .param_base = a->source->param_base,
                         .insns = insns,
                         .insn_count = a->function->count,
                         .operands = operands,
                         .operand_count = a->operands.len,
                         .targets = targets,
                         .value_count = a->regs.len,
                         .value_bits = bits,
                         .value_regs = regs,
                         .issue = issue,
                         .carry = WL_NONE,
                         .its = true};
    *code = result;
    return STATUS_OK;
}

static Status adapt(SassAdapter *a, Arena *arena, FlowCode **code) {
    u32 count = a->function->count;
    FlowInsn *insns = ARENA_ARRAY(arena, FlowInsn, count + 1);
    bool controlled = a->source->code && a->source->code_size / SASS_INSN_BYTES >= count;
    FlowIssue *issue = controlled ? ARENA_ARRAY(arena, FlowIssue, count + 1) : NULL;
    if (!insns || (controlled && !issue)) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) {
        const SassInsn *insn = &a->source->module->insns.data[a->function->first + i];
        TRY(adapt_insn(a, insn, i, &insns[i]));
        if (issue) issue[i] = issue_of(a, insn, i);
    }
    TRY(adapt_switches(a, insns));
    TRY(adapt_routines(a, insns));
    return finish(a, insns, issue, arena, code);
}

Status flow_from_sass(const FlowSassSource *source, Arena *arena, FlowCode **code) {
    *code = NULL;
    if (source->function >= source->module->functions.len) return STATUS_INVALID;
    SassAdapter *a = mem_zero(1, sizeof *a);
    if (!a) return STATUS_NO_MEMORY;
    a->source = source;
    a->function = &source->module->functions.data[source->function];
    Status status = adapt(a, arena, code);
    vec_free(&a->operands);
    vec_free(&a->targets);
    vec_free(&a->regs);
    mem_free(a);
    return status;
}
