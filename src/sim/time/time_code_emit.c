// SPDX-License-Identifier: Apache-2.0
// Machine instructions in program order: the steps of each needed PTX instruction with the values they read and write.
#include "sim/slow_path.h"
#include "sim/time/time_lower.h"

enum { GROUP_MAX = 16 };  // steps that wait for the same ones

static Status add_operand(TimeFunc *f, u32 value) { return vec_push(&f->operands, value); }

static Status new_value(TimeFunc *f, u16 bits, u32 *value) {
    *value = f->value_count++;
    return vec_push(&f->value_bits, bits);
}

// --- memory order -------------------------------------------------------------------------------------------------
static u8 order_of(const Form *form, TimeKind kind) {
    bool strong = form->mods[MOD_SEM] > SEM_WEAK || form->mods[MOD_COP] == COP_CV;
    switch (kind) {
    case TIME_MATH: return form_op(form)->flags & OPF_VOLATILE ? ORDER_FENCE : ORDER_FREE;
    case TIME_LOAD: return strong ? ORDER_FENCE : form->mods[MOD_NC] ? ORDER_FREE : ORDER_LOAD;
    case TIME_CONST:
    case TIME_FIXED:
    case TIME_IMMEDIATE: return ORDER_FREE;
    case TIME_TEXTURE: return form_op(form)->flags & OPF_STORE ? ORDER_STORE : ORDER_FREE;  // sured
    case TIME_STORE: return strong ? ORDER_FENCE : ORDER_STORE;
    case TIME_ATOMIC:
    case TIME_REDUCE: return form->mods[MOD_SEM] > SEM_RELAXED ? ORDER_FENCE : ORDER_STORE;
    case TIME_BRANCH:
    case TIME_EXIT:
    case TIME_BARRIER:
    case TIME_CLUSTER_ARRIVE:
    case TIME_CLUSTER_WAIT:
    case TIME_MBARRIER_WAIT:
    case TIME_SLEEP:
    case TIME_RUNTIME:
    case TIME_PRINT:
    case TIME_CLOCK: return ORDER_ALL;
    default: return ORDER_FENCE;
    }
}

// --- fences -------------------------------------------------------------------------------------------------------
static TimeFence by_scope(const Form *form) {
    switch (form->mods[MOD_SCOPE]) {
    case MOD_TOKEN_NONE:
    case SCOPE_CTA: return FENCE_CTA;
    case SCOPE_SYS: return FENCE_SYSTEM;
    default: return FENCE_GPU;  // a cluster's, too: MEMBAR.ALL.GPU [L]
    }
}

static TimeFence fence_of(const Form *form) {
    switch (form->op) {
    case OP_CP_BULK_WAIT: return FENCE_STORES;
    case OP_FENCE_RESTRICT:
    case OP_FENCE_MBARRIER_INIT: return FENCE_CTA;
    case OP_MEMBAR_PROXY:
    case OP_FENCE_PROXY: return form->space == SPACE_NONE || form->space == SPACE_GLOBAL ? FENCE_PROXY : FENCE_CTA;
    default: return by_scope(form);
    }
}

// Accesses, and arrivals at barriers, that order memory; those of mbarriers do within the CTA by themselves.
static bool releases(const Form *form) {
    u16 sem = form->mods[MOD_SEM];
    if (form->op == OP_BARRIER_CLUSTER_ARRIVE) return sem != SEM_RELAXED;
    bool access = form->op == OP_ST || form->op == OP_ATOM || form->op == OP_RED;
    bool orders = sem == SEM_RELEASE || sem == SEM_ACQ_REL || sem == SEM_SC;
    return orders && form_op(form)->flags & OPF_STORE && (access || by_scope(form) != FENCE_CTA);
}
static bool acquires(const Form *form) {
    u16 sem = form->mods[MOD_SEM];
    if (form->op == OP_BARRIER_CLUSTER_WAIT) return true;
    bool orders = sem == SEM_ACQUIRE || sem == SEM_ACQ_REL || sem == SEM_SC;
    return orders && form_op(form)->flags & OPF_LOAD && by_scope(form) != FENCE_CTA;
}

// --- one instruction ----------------------------------------------------------------------------------------------
// Of cp.async.wait_group and wgmma.wait_group: the groups that may be pending.
static u16 literal_operand(const TimeFunc *f, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    bool given = f->code->insns[insn].uses && uses[0].kind == FLOW_IMMEDIATE;
    return given && (u64)uses[0].value < UINT16_MAX ? (u16)uses[0].value : 0;
}

static MachineOp plain_op(const TimeFunc *f, u32 insn, u32 pc) {
    return (MachineOp){.pc = pc,
                       .operands = f->operands.len,
                       .kind = TIME_MATH,
                       .guard = f->picked[insn].guard,
                       .base = WL_NONE,
                       .symbol = WL_NONE};
}

static Status add_defs(TimeFunc *f, MachineOp *op, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    for (u32 k = 0; k < in->defs; k++) TRY(add_operand(f, f->code->operands[in->operands + k].id));
    op->defs += in->defs;
    return STATUS_OK;
}

static Status add_leaves(TimeFunc *f, MachineOp *op, u32 insn) {
    const Picked *p = &f->picked[insn];
    for (u32 k = 0; k < p->leaf_count; k++) {
        u32 value = f->leaves.data[p->leaves + k];
        TRY(add_operand(f, value));
        op->uses++;
        if (value == p->guard && op->uses <= UINT8_MAX) op->guard_use = (u8)op->uses;
    }
    return STATUS_OK;
}

// The results of the instructions that are issued as one with this one, all in its block: first its own.
static Status add_results(TimeFunc *f, MachineOp *op, u32 insn) {
    TRY(add_defs(f, op, insn));
    u32 end = time_merged_end(f, insn);
    for (u32 i = time_merged_first(f, insn); i < end; i++)
        if (i != insn && f->merged[i] == insn) TRY(add_defs(f, op, i));
    return STATUS_OK;
}

static bool reads(const TimeFunc *f, const MachineOp *op, u32 value) {
    for (u32 k = 0; k < op->uses; k++)
        if (f->operands.data[op->operands + op->defs + k] == value) return true;
    return false;
}

// What the instructions read that are issued as one with this one, besides its own sources; loads and stores have its
// address.
static Status add_merged_sources(TimeFunc *f, MachineOp *op, u32 insn) {
    u32 end = time_merged_end(f, insn);
    for (u32 i = time_merged_first(f, insn); i < end; i++) {
        const Picked *p = &f->picked[i];
        if (i == insn || f->merged[i] != insn || f->code->insns[i].is_load) continue;
        for (u32 k = 0; k < p->leaf_count; k++) {
            u32 value = f->leaves.data[p->leaves + k];
            if (value == p->base || reads(f, op, value)) continue;
            TRY(add_operand(f, value));
            op->uses++;
        }
    }
    return STATUS_OK;
}

static Status hidden_op(TimeFunc *f, u32 insn) {
    MachineOp op = plain_op(f, insn, insn);
    op.hidden = true;
    op.flow = f->code->insns[insn].kind;
    TRY(add_defs(f, &op, insn));
    TRY(add_leaves(f, &op, insn));
    return vec_push(&f->ops, op);
}

typedef struct Group {
    u32 values[GROUP_MAX], count;
} Group;

// The sources of a step: the PTX instruction's, or what the group of steps before it made; an access has both.
static Status add_sources(TimeFunc *f, MachineOp *op, u32 insn, const Group *before, bool memory) {
    for (u32 k = 0; k < before->count; k++) TRY(add_operand(f, before->values[k]));
    op->uses = (u16)before->count;
    return before->count == 0 || memory ? add_leaves(f, op, insn) : STATUS_OK;
}

// Loads that the L1 does not keep (PTX ISA 9.0, 8.6.1 and table 30).
static bool bypasses_l1(const Form *form) {
    u8 cop = form->mods[MOD_COP];
    bool shared = form->mods[MOD_SEM] > SEM_WEAK && form->mods[MOD_SCOPE] != SCOPE_CTA;  // with other SMs
    return shared || cop == COP_CV || cop == COP_CG;
}

static MemAtomic atomic_class(const Form *form) {
    if (form->mods[MOD_ATOM_OP] == ATOM_OP_CAS) return MEM_ATOMIC_SWAP;
    const TypeInfo *type = &ptx_types[form->type_count ? form->types[0] : TYPE_U32];
    if (type->class != TYPE_CLASS_FLOAT) return MEM_ATOMIC_INTEGER;
    return type->bits == 64 ? MEM_ATOMIC_DOUBLE : MEM_ATOMIC_FLOAT;
}

// ULDC (TIME_IMMEDIATE) or LDC, whose constant is at hand or has its line.
static void set_unit_of_constant(const GpuModel *gpu, MachineOp *op, TimeKind kind) {
    bool uniform = kind == TIME_IMMEDIATE;
    op->kind = (u8)kind;
    op->unit = uniform ? UNIT_UNIFORM : UNIT_ADU;
    op->interval = (u8)(uniform ? gpu->uniform_interval : gpu->adu_interval);
    op->latency = (u16)(uniform ? gpu->imc_latency : gpu->const_l1_latency);
    op->flags = (u8)((op->flags & ~TIME_SHORT) | (uniform ? 0 : TIME_SHORT));
}

static void set_indexed(const GpuModel *gpu, MachineOp *op, bool placed) {
    set_unit_of_constant(gpu, op, TIME_IMMEDIATE);
    op->order = ORDER_FREE;
    op->flags = (u8)((op->flags & ~TIME_MIO) | TIME_INDEXED | (placed ? TIME_PLACED : 0));
}

// `joined`: one lane asks for the warp.
static void set_access(const TimeFunc *f, MachineOp *op, u32 insn, TimeKind kind, bool joined) {
    const FlowInsn *in = &f->code->insns[insn];
    const Form *form = time_form(f, insn);
    op->kind = (u8)kind;
    op->order = order_of(form, kind);
    op->space = in->space;
    op->bytes = in->access_bytes;
    op->base = f->picked[insn].base;
    op->symbol = f->picked[insn].symbol;
    op->offset = f->picked[insn].offset;
    if (kind == TIME_CONST && time_is_indexed(f, insn)) set_indexed(f->lower->gpu, op, f->placed[insn]);
    if (kind == TIME_LOAD && bypasses_l1(form)) op->flags |= TIME_BYPASS;
    if ((kind == TIME_REDUCE || kind == TIME_ATOMIC) && joined) op->flags |= TIME_JOINED;
    if (kind == TIME_REDUCE || kind == TIME_ATOMIC) op->flags |= (u8)(atomic_class(form) << TIME_ATOMIC_SHIFT);
    if (kind == TIME_RUNTIME)
        op->extra = (u16)time_runtime_call(f, insn);
    else if (kind == TIME_GMMA)
        op->extra = f->serial_products;
    else if (kind == TIME_FENCE)
        op->extra = fence_of(form);
    else if (kind == TIME_ASYNC_WAIT || kind == TIME_GMMA_WAIT)
        op->extra = literal_operand(f, insn);
}

// The bank of parameters, for sm_90 [L]: size of CTA and grid, stack pointer, descriptor of global memory, parameters.
enum { BANK_NTID = 0, BANK_NCTAID = 12, BANK_STACK = 0x28, BANK_DESCRIPTOR = 0x208, BANK_PARAMETERS = 0x210 };

static Status set_constant(TimeFunc *f, MachineOp *op, TimeKind kind, u64 address) {
    const GpuModel *gpu = f->lower->gpu;
    if (!gpu->imc) return STATUS_OK;
    set_unit_of_constant(gpu, op, kind);
    if (f->lower->constants.len == UINT16_MAX) return STATUS_OK;  // of so many the others are at hand
    TRY(vec_push(&f->lower->constants, address));
    op->constant = (u16)f->lower->constants.len;
    return STATUS_OK;
}

// What the SM reads for the warp, in turns with constants (S2R).
static void set_special(const GpuModel *gpu, MachineOp *op) {
    op->kind = TIME_FIXED;
    op->special = true;
    op->unit = UNIT_ADU;
    op->interval = (u8)gpu->adu_interval;
    op->flags |= TIME_SHORT;
    op->latency = (u16)gpu->special_latency;
}

u64 time_constant_address(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    if (use->kind == FLOW_SREG)
        return CONSTANT_BANK + (use->id == SREG_NTID ? BANK_NTID : BANK_NCTAID) + 4u * use->component;
    u64 offset = (u64)time_insn(f, insn)->offset;
    return f->code->insns[insn].space == SPACE_CONST ? offset : CONSTANT_BANK + BANK_PARAMETERS + offset;
}

// A branch to where a register says: of a jump table, back from a function, through a pointer to one.
static bool is_indirect(const TimeFunc *f, u32 insn) {
    u32 flags = form_op(time_form(f, insn))->flags;
    return flags & (OPF_INDIRECT | OPF_RET) || (flags & OPF_CALL && time_insn(f, insn)->target == WL_NONE);
}

static bool is_copy(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    const FlowInsn *in = &f->code->insns[insn];
    return time_form(f, insn)->op == OP_MOV && in->defs == 1 && in->uses == 1 && use->kind == FLOW_VALUE &&
           in->guard == WL_NONE && f->picked[insn].leaf_count == 1;
}

static Status emit_move(TimeFunc *f, u32 pc, u32 value, bool uniform) {
    const GpuModel *gpu = f->lower->gpu;
    TRY(vec_push(&f->ops, (MachineOp){.pc = pc,
                                      .operands = f->operands.len,
                                      .defs = 1,
                                      .unit = uniform ? UNIT_UNIFORM : UNIT_ALU,
                                      .interval = (u8)(uniform ? gpu->uniform_interval : gpu->alu_interval),
                                      .latency = (u16)(gpu->alu_latency + 2 * uniform),
                                      .balanced = !uniform,
                                      .guard = WL_NONE,
                                      .base = WL_NONE,
                                      .symbol = WL_NONE}));
    return add_operand(f, value);
}

static Status emit_moves(TimeFunc *f, u32 pc, u32 count, bool uniform, Group *made) {
    for (u32 k = 0; k < count; k++) {
        u32 value;
        TRY(new_value(f, uniform ? 1 : 32, &value));
        made->values[made->count++] = value;
        TRY(emit_move(f, pc, value, uniform));
    }
    return STATUS_OK;
}

static Status emit_literals(TimeFunc *f, u32 insn, u32 pc, Group *made) {
    const TimeLiterals *all = &f->literals[insn];
    for (u32 i = 0; i < all->count; i++) {
        const TimeLiteral *l = &all->each[i];
        for (u32 k = 0; k < l->words; k++) {
            made->values[made->count++] = l->value + k;
            if (l->moved && !f->again) TRY(emit_move(f, pc, l->value + k, l->uniform));
        }
    }
    return STATUS_OK;
}

// Divisions and roots that round as IEEE 754 has it came with Fermi [PTX ISA, div, sqrt: target notes].
static bool takes_subroutine(const TimeFunc *f, u32 insn) {
    return f->lower->gpu->sm_version >= 20 && has_slow_path(time_form(f, insn));
}

// Step `i` of an atomic that is a loop around a compare-and-swap. Nothing moves into the loop.
static void set_spin(MachineOp *op, const TimeStep *step, u32 i, bool swapped, bool last) {
    bool load = step->unit == UNIT_LSU && !step->memory;
    if (i == 0 || last) op->order = ORDER_ALL;
    if (load) op->kind = TIME_SPIN_LOAD, op->space = SPACE_SHARED, op->flags = 0, op->latency = 0;
    if (step->memory) op->kind = TIME_SPIN_SWAP;
    if (step->branch && swapped) op->kind = TIME_SPIN_BRANCH;
    if (last) op->kind = TIME_SPIN_SYNC;
}

// ptxas says of a kernel that calls a function, wherever, that its asynchronous products are serialized (C7510, ptxas
// 13.0): each one is fenced, committed and waited for by itself, whatever the PTX has.
static bool has_serial_products(const TimeFunc *f) {
    bool products = false, calls = false;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        products |= time_kind(f, i) == TIME_GMMA;
        calls |= f->code->insns[i].kind == FLOW_CALL;
    }
    return products && calls;
}

// The last product of a group commits it: HGMMA with `gsb0`, no instruction of its own.
static bool commit_products(const TimeFunc *f, u32 insn) {
    u32 first = f->cfg->blocks[f->cfg->block_of[insn]].first;
    for (u32 i = f->ops.len; i-- > 0 && f->ops.data[i].pc >= first;)
        if (f->ops.data[i].kind == TIME_GMMA) {
            f->ops.data[i].extra = 1;
            return true;
        }
    return false;
}

static bool is_folded(const TimeFunc *f, u32 insn) {
    TimeKind kind = time_kind(f, insn);
    bool pause = kind == TIME_GMMA_COMMIT || kind == TIME_GMMA_WAIT || time_op(f, insn) == OP_WGMMA_FENCE;
    return pause && (f->serial_products || (kind == TIME_GMMA_COMMIT && commit_products(f, insn)));
}

static Status emit_pause(TimeFunc *f, u32 pc, TimeKind kind) {
    return vec_push(&f->ops, (MachineOp){.pc = pc,
                                         .kind = (u8)kind,
                                         .operands = f->operands.len,
                                         .unit = UNIT_ADU,
                                         .interval = (u8)f->lower->gpu->adu_interval,
                                         .latency = 3,
                                         .order = ORDER_FENCE,
                                         .guard = WL_NONE,
                                         .base = WL_NONE,
                                         .symbol = WL_NONE});
}

// Descriptors that are made in the loop of their product are moved to two uniform registers each (R2UR), or made there.
static u32 moved_descriptors(const TimeFunc *f, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 loop = f->loops->loop_of[f->cfg->block_of[insn]], count = 0;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        u32 def =
            uses[k].kind == FLOW_VALUE && f->code->value_bits[uses[k].id] == 64 ? f->sole_def[uses[k].id] : WL_NONE;
        count += def != WL_NONE && flow_loop_has(f->loops, loop, f->cfg->block_of[def]);
    }
    return count;
}

static Status emit_steps(TimeFunc *f, u32 insn, u32 pc);

static Status emit_product(TimeFunc *f, u32 insn, u32 pc) {
    Group moved = {.count = 0};
    TRY(emit_moves(f, pc, 2 * moved_descriptors(f, insn), true, &moved));
    if (f->serial_products) TRY(emit_pause(f, pc, TIME_MATH));
    TRY(emit_steps(f, insn, pc));
    return f->serial_products ? emit_pause(f, pc, TIME_GMMA_WAIT) : STATUS_OK;
}

// Whether the load is at the word: a condition that a load from the same base before it in its block may have found.
static Status emit_compare(TimeFunc *f, u32 insn, u32 pc, u32 word, u32 *value) {
    enum { WORD = 4 };
    const GpuModel *gpu = f->lower->gpu;
    const Picked *p = &f->picked[insn];
    i64 place = (i64)word * WORD - p->offset;
    for (u32 k = 0; k < f->compare_count; k++) {
        const ArrayCompare *c = &f->compares[k];
        if (c->base == p->base && c->place == place && time_is_same(f, p->base, c->insn, insn))
            return *value = c->value, STATUS_OK;
    }
    MachineOp op = plain_op(f, insn, pc);
    op.unit = UNIT_ALU;
    op.interval = (u8)gpu->alu_interval;
    op.latency = (u16)gpu->alu_latency;
    op.defs = 1;
    TRY(new_value(f, 1, value));
    TRY(add_operand(f, *value));
    TRY(add_leaves(f, &op, insn));
    if (p->base != WL_NONE && f->compare_count < ARRAY_COMPARES)
        f->compares[f->compare_count++] =
            (ArrayCompare){.insn = insn, .base = p->base, .place = place, .value = *value};
    return vec_push(&f->ops, op);
}

// Has the word moved, or loaded from the constant bank, if the load is at it, to where `result` is, which the last one
// leaves. WL_NONE: there was none.
static Status emit_choice(TimeFunc *f, u32 insn, u32 pc, u32 word, u32 result) {
    const ArrayWord *from = &f->array[word];
    Group made = {.count = 1};
    bool last = word + 1 == f->array_words;
    TRY(emit_compare(f, insn, pc, word, &made.values[0]));
    MachineOp op = plain_op(f, insn, pc);
    op.guard = WL_NONE;
    op.unit = UNIT_ALU;
    op.interval = (u8)f->lower->gpu->alu_interval;
    op.latency = (u16)f->lower->gpu->alu_latency;
    if (last) op.flow = f->code->insns[insn].kind;
    if (from->constant != WL_NONE)
        TRY(set_constant(f, &op, TIME_FIXED, time_constant_address(f, from->constant)));
    else
        made.values[made.count++] = from->value;
    if (result != WL_NONE) made.values[made.count++] = result;
    if (last) {
        TRY(add_defs(f, &op, insn));
    } else {
        u32 value;
        TRY(new_value(f, 32, &value));
        TRY(add_operand(f, value));
        op.defs = 1;
    }
    for (u32 k = 0; k < made.count; k++, op.uses++) TRY(add_operand(f, made.values[k]));
    return vec_push(&f->ops, op);
}

// One behind the other, as all are to the same register.
static Status emit_choices(TimeFunc *f, u32 insn, u32 pc) {
    const ArrayCompare *before = f->compare_count ? &f->compares[f->compare_count - 1] : NULL;
    u32 first = f->ops.len;
    if (before && (f->cfg->block_of[before->insn] != f->cfg->block_of[insn] || before->insn >= insn))
        f->compare_count = 0;
    for (u32 w = 0, result = WL_NONE; w < f->array_words; w++) {
        TRY(emit_choice(f, insn, pc, w, result));
        result = f->operands.data[f->ops.data[f->ops.len - 1].operands];
    }
    f->ops.data[first].flags |= TIME_FIRST;
    return STATUS_OK;
}

// `pc`: the instruction that it is issued with.
static Status emit_steps(TimeFunc *f, u32 insn, u32 pc) {
    if (f->chosen[insn]) return emit_choices(f, insn, pc);
    TimeSteps steps;
    TimeKind kind = time_kind(f, insn);
    u32 row = f->picked[insn].steps;
    const Module *m = f->lower->module;
    TimeVariant variant = time_variant(f, row);
    TRY(time_steps(f->lower, m->insns[f->function->insns + row].form, variant, &steps));
    Group before = {.count = 0}, group = {.count = 0}, literals = {.count = 0};
    if (steps.count == 1) TRY(emit_literals(f, insn, pc, &literals));
    TRY(emit_moves(f, pc, time_moves(f, insn, steps.count), false, &literals));
    bool joined = is_joined(variant) || time_edited(f, insn, EDIT_JOINED);
    u32 first = time_free_steps(f, insn, steps.count);
    for (u32 i = first, accessed = 0; i < steps.count; i++) {
        TimeStep step = f->lower->steps.data[steps.first + i];
        bool last = i + 1 == steps.count;
        if (first && step.branch && !last) continue;  // what needs no exact result needs no subroutine
        if (!step.parallel) before = group, group.count = 0;
        MachineOp op = plain_op(f, insn, pc);
        op.unit = step.unit;
        op.interval = step.interval;
        op.latency = step.latency;
        op.flags = (u8)(step.flags | (i == first ? TIME_FIRST : 0));
        op.balanced = step.balanced && !f->picked[insn].alone;
        if (op.unit == UNIT_FP64 && time_edited(f, insn, EDIT_AS_FLOAT)) time_as_float(f, &op);
        op.copy = is_copy(f, insn);
        if (variant == VARIANT_SPECIAL && f->lower->gpu->special_latency) set_special(f->lower->gpu, &op);
        if (step.branch) op.kind = TIME_BRANCH, op.order = ORDER_ALL;
        if (step.branch && takes_subroutine(f, insn)) op.kind = TIME_SLOW;
        // Where lanes are alike there is no BSYNC, though its block begins there all the same.
        bool meets = step.meets && !first && takes_subroutine(f, insn);
        if (meets && divergence_of_result(f->divergence, insn)) op.kind = TIME_MEET;
        if (last && kind == TIME_BRANCH && is_indirect(f, insn)) op.flags |= TIME_INDIRECT;
        if (step.memory || (last && kind != TIME_MATH && !accessed)) set_access(f, &op, insn, kind, joined);
        if (last && (kind == TIME_FIXED || kind == TIME_IMMEDIATE))
            TRY(set_constant(f, &op, kind, time_constant_address(f, insn)));
        accessed |= step.memory;
        if (last) {
            if (!step.branch) op.order = meets ? ORDER_ALL : order_of(time_form(f, insn), kind);
            op.flow = f->code->insns[insn].kind;
            TRY(add_results(f, &op, insn));
        } else {
            u32 value;
            TRY(new_value(f, 32, &value));
            TRY(add_operand(f, value));
            op.defs = 1;
            if (group.count < GROUP_MAX) group.values[group.count++] = value;
        }
        if (variant == VARIANT_SPIN || variant == VARIANT_SPIN_UNIFORM)
            set_spin(&op, &step, i, accessed && !step.memory, last);
        TRY(add_sources(f, &op, insn, &before, step.memory));
        if (last) TRY(add_merged_sources(f, &op, insn));
        if (variant == VARIANT_DIVIDED && i == first && f->reciprocals[insn] != WL_NONE) {
            TRY(add_operand(f, f->reciprocals[insn]));
            op.uses++;
        }
        for (u32 k = 0; k < literals.count; k++, op.uses++) TRY(add_operand(f, literals.values[k]));
        TRY(vec_push(&f->ops, op));
    }
    return STATUS_OK;
}

// MEMBAR before what releases, with ERRBAR and CGAERRBAR if not for the CTA; CCTL.IVALL behind what acquires, when that
// has its result [L].
static Status emit_order(TimeFunc *f, u32 insn, TimeKind kind, u16 extra) {
    const GpuModel *gpu = f->lower->gpu;
    MachineOp op = plain_op(f, insn, insn);
    op.kind = (u8)kind;
    op.unit = UNIT_ADU;
    op.interval = (u8)gpu->adu_interval;
    op.latency = (u16)gpu->alu_latency;
    op.order = ORDER_FENCE;
    op.extra = extra;
    if (kind == TIME_INVALIDATE) {
        const FlowInsn *in = &f->code->insns[insn];
        for (u32 k = 0; k < in->defs; k++) TRY(add_operand(f, f->code->operands[in->operands + k].id));
        op.uses = in->defs;
    }
    return vec_push(&f->ops, op);
}

static Status emit_release(TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    if (f->lower->gpu->sm_version < 70 || !releases(form)) return STATUS_OK;
    TimeFence fence = form->op == OP_BARRIER_CLUSTER_ARRIVE ? FENCE_GPU : by_scope(form);
    TRY(emit_order(f, insn, TIME_FENCE, fence));
    for (u32 k = 0; k < 2 && fence != FENCE_CTA; k++) TRY(emit_order(f, insn, TIME_MATH, 0));
    return STATUS_OK;
}

// Parameters of calls lie in registers; a branch to the next instruction is none; whole warps need no bar.warp.sync.
static bool is_hidden(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (time_is_free(f, insn) || f->gone[insn]) return true;
    const FlowOperand *uses = time_uses(f, insn);
    if (time_op(f, insn) == OP_BAR_WARP_SYNC && uses->kind == FLOW_IMMEDIATE && (u32)uses->value == UINT32_MAX)
        return true;
    if ((in->is_load || in->is_store) && in->space == SPACE_PARAM) {
        bool own = time_uses(f, insn)[in->address_use].kind == FLOW_PARAMETER && f->function->is_entry;
        return !own && time_uses(f, insn)[in->address_use].kind != FLOW_VALUE;
    }
    return f->no_branch[insn];
}

// BSSY and YIELD at the end of a block, BREAK and BSYNC at the begin of one.
static Status emit_sync(TimeFunc *f, u32 insn, u8 order) {
    const GpuModel *gpu = f->lower->gpu;
    bool closes = order == ORDER_ALL && gpu->sync_latency;
    return vec_push(&f->ops, (MachineOp){.pc = insn,
                                         .kind = closes ? TIME_SYNC : TIME_MATH,
                                         .operands = f->operands.len,
                                         .unit = UNIT_CBU,
                                         .interval = (u8)gpu->cbu_interval,
                                         .order = order,
                                         .guard = WL_NONE,
                                         .base = WL_NONE,
                                         .symbol = WL_NONE});
}

// What the turns of a loop do not come to again.
static bool has_entry(const TimeFunc *f, u32 b) {
    return time_is_loop(f, b) && time_block(f, f->cfg->blocks[b].first)->part == 0;
}

static Status emit_meets(TimeFunc *f, u32 insn, u32 b) {
    for (u32 k = 0; k < f->joins_left[b]; k++) TRY(emit_sync(f, insn, ORDER_FREE));
    return f->closes[b] && !has_entry(f, b) ? emit_sync(f, insn, ORDER_ALL) : STATUS_OK;
}

// Before a branch: a BSSY for each end of a region that begins here, and a YIELD.
static Status emit_partings(TimeFunc *f, u32 insn, u32 b) {
    u32 count = f->joins_opened[b] + (f->opens[b] ? 1u : 0);
    if (f->lower->gpu->sm_version >= 70 && flow_yields_at(&f->meets, b)) count++;
    for (u32 k = 0; k < count; k++) TRY(emit_sync(f, insn, ORDER_FREE));
    return STATUS_OK;
}

// Before a block that turns by itself: lanes that part before it meet there once, and those that part in it are
// expected behind it.
static Status emit_entry_meets(TimeFunc *f, u32 insn, u32 b) {
    u32 from = f->ops.len;
    if (!has_entry(f, b)) return STATUS_OK;
    if (f->closes[b]) TRY(emit_sync(f, insn, ORDER_ALL));
    for (u32 k = 0; k < f->entry_opens[b]; k++) TRY(emit_sync(f, insn, ORDER_FREE));
    for (u32 i = from; i < f->ops.len; i++) f->ops.data[i].version = VERSION_ENTRY;
    return STATUS_OK;
}

static Status emit_uniform(TimeFunc *f, u32 pc, u32 count) {
    const GpuModel *gpu = f->lower->gpu;
    for (u32 k = 0; k < count; k++)
        TRY(vec_push(&f->ops, (MachineOp){.pc = pc,
                                          .operands = f->operands.len,
                                          .unit = UNIT_UNIFORM,
                                          .interval = (u8)gpu->uniform_interval,
                                          .latency = (u16)gpu->alu_latency,
                                          .guard = WL_NONE,
                                          .base = WL_NONE,
                                          .symbol = WL_NONE}));
    return STATUS_OK;
}

// The window of shared memory, from the CTA's place in the cluster: S2UR, UMOV, ULEA.
static Status emit_window(TimeFunc *f, u32 pc) {
    const GpuModel *gpu = f->lower->gpu;
    u32 first = f->ops.len, place;
    if (gpu->sm_version < 90) return STATUS_OK;
    TRY(emit_uniform(f, pc, 3));
    if (!gpu->special_latency) return STATUS_OK;
    TRY(new_value(f, 0, &place));
    for (u32 k = 0; k < 3; k += 2) {
        f->ops.data[first + k].operands = f->operands.len;
        TRY(add_operand(f, place));
    }
    f->ops.data[first].defs = f->ops.data[first + 2].uses = 1;
    set_special(gpu, &f->ops.data[first]);
    return STATUS_OK;
}

static Status emit_bank(TimeFunc *f, u32 pc, TimeKind kind, u32 offset) {
    TRY(emit_uniform(f, pc, 1));
    return set_constant(f, &f->ops.data[f->ops.len - 1], kind, CONSTANT_BANK + offset);
}

// A constant before instruction `pc`, with the one `beside` it (WL_NONE: none) in the same registers.
static Status emit_loaded(TimeFunc *f, u32 insn, u32 beside, u32 pc) {
    TRY(emit_steps(f, insn, pc));
    if (beside == WL_NONE) return STATUS_OK;
    MachineOp *op = &f->ops.data[f->ops.len - 1];
    TRY(add_operand(f, f->code->operands[f->code->insns[beside].operands].id));
    op->defs++;
    return STATUS_OK;
}

static u32 divisor_leaf(const TimeFunc *f, u32 insn) {
    const Picked *p = &f->picked[insn];
    u32 divisor = time_uses(f, insn)[1].id;
    for (u32 k = 0; k < p->leaf_count; k++)
        if (f->leaves.data[p->leaves + k] == divisor) return divisor;
    return p->leaf_count ? f->leaves.data[p->leaves + p->leaf_count - 1] : WL_NONE;
}

// What a division in a loop has before it, whose value it reads there: one step waits for the other.
static Status emit_reciprocal(TimeFunc *f, u32 insn, u32 pc) {
    TimeSteps steps;
    const Module *m = f->lower->module;
    TRY(time_steps(f->lower, m->insns[f->function->insns + insn].form, VARIANT_RECIPROCAL, &steps));
    for (u32 i = 0, before = divisor_leaf(f, insn); i < steps.count; i++, before = f->reciprocals[insn]) {
        TimeStep step = f->lower->steps.data[steps.first + i];
        MachineOp op = plain_op(f, insn, pc);
        op.unit = step.unit;
        op.interval = step.interval;
        op.latency = step.latency;
        op.flags = step.flags;
        op.balanced = step.balanced;
        op.defs = 1;
        op.uses = before != WL_NONE;
        TRY(new_value(f, 32, &f->reciprocals[insn]));
        TRY(add_operand(f, f->reciprocals[insn]));
        if (before != WL_NONE) TRY(add_operand(f, before));
        TRY(vec_push(&f->ops, op));
    }
    return STATUS_OK;
}

Status time_emit_sunk(TimeFunc *f, u32 insn) {
    u64 sm = f->lower->gpu->sm_version;
    for (u32 p = f->sunk_at[insn]; p != WL_NONE; p = f->sunk_places[p].next) {
        u32 c = f->sunk_places[p].constant;
        if (f->sunk_places[p].reciprocal)
            TRY(emit_reciprocal(f, c, insn));
        else if (c < f->code->insn_count)
            TRY(emit_loaded(f, c, f->sunk_places[p].beside, insn));
        else if (c == f->code->insn_count + SUNK_DESCRIPTOR)
            TRY(sm >= 80 ? emit_bank(f, insn, TIME_IMMEDIATE, BANK_DESCRIPTOR) : STATUS_OK);
        else if (c == f->code->insn_count + SUNK_LEADER)
            TRY(emit_uniform(f, insn, 5));
        else
            TRY(emit_window(f, insn));
    }
    return STATUS_OK;
}

bool time_is_emitted(const TimeFunc *f, u32 insn) {
    bool part = f->merged[insn] != WL_NONE && f->merged[insn] != insn;
    bool free = time_is_free(f, insn) && f->code->insns[insn].kind == FLOW_PLAIN;
    return f->picked[insn].needed && !f->sunk[insn] && !part && !free;
}

Status time_emit_insn(TimeFunc *f, u32 insn) {
    for (u32 k = time_call_moves(f, insn), value; k; k--) {
        TRY(new_value(f, 32, &value));
        TRY(emit_move(f, insn, value, false));
    }
    if (is_hidden(f, insn)) return hidden_op(f, insn);
    if (is_folded(f, insn)) return STATUS_OK;
    if (time_kind(f, insn) == TIME_GMMA) return emit_product(f, insn, insn);
    TRY(emit_release(f, insn));
    TRY(emit_steps(f, insn, insn));
    bool ends = f->lower->gpu->sm_version >= 70 && acquires(time_form(f, insn));
    return ends ? emit_order(f, insn, TIME_INVALIDATE, 0) : STATUS_OK;
}

Status time_emit(TimeFunc *f) {
    f->value_count = f->code->value_count;
    f->serial_products = has_serial_products(f);
    bool *uniform = ARENA_ARRAY(&f->lower->scratch, bool, f->value_count + 1);
    if (!uniform) return STATUS_NO_MEMORY;
    time_find_uniform(f, uniform);
    for (u32 v = 0; v < f->value_count; v++) {
        u32 def = f->sole_def[v], bits = bitset_has(&f->lower_only, v) ? 32 : f->code->value_bits[v];
        bool sunk = def != WL_NONE && f->sunk[def] && f->hoisted[def] == WL_NONE;
        TRY(vec_push(&f->value_bits, bits > 1 && (uniform[v] || sunk) ? 0 : bits));
    }
    TRY(time_keep_literals(f));
    if (f->function->is_entry) TRY(emit_bank(f, 0, TIME_FIXED, BANK_STACK));  // the stack pointer [L]
    for (u32 i = 0; i < f->code->insn_count; i++) {
        u32 b = f->cfg->block_of[i];
        const FlowBlock *block = &f->cfg->blocks[b];
        if (i == block->first) TRY(emit_entry_meets(f, i, b));
        if (i == block->first && f->unrolled[b] && time_block(f, i)->part == 0) TRY(time_emit_unrolled(f, b));
        if (i == block->first) TRY(emit_meets(f, i, b));
        if (i == block->first + block->count - 1) TRY(emit_partings(f, i, b));
        TRY(time_emit_sunk(f, i));
        if (time_is_emitted(f, i)) TRY(time_emit_insn(f, i));
    }
    return STATUS_OK;
}
