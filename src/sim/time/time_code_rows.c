// SPDX-License-Identifier: Apache-2.0
// The rows of timing.def with the figures of a GPU, and the kind of each instruction.
#include "sim/slow_path.h"
#include "sim/time/time_lower.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct StepRow {
    const char *name;
    u8 unit, flags;
} StepRow;

enum {
#define TIME_STEP(name, unit, latency, interval, flags) STEP_##name,
#include "sim/time/timing.def"
#undef TIME_STEP
    STEP_COUNT
};

static const StepRow step_rows[STEP_COUNT] = {
#define TIME_STEP(name, unit, latency, interval, flags) {#name, UNIT_##unit, flags},
#include "sim/time/timing.def"
#undef TIME_STEP
};

static void step_figures(const GpuModel *gpu, u64 *latency, u64 *interval) {
    u32 at = 0;
#define G(key) gpu->key
#define TIME_STEP(name, unit, cycles, taken, flags) latency[at] = cycles, interval[at++] = taken;
#include "sim/time/timing.def"
#undef TIME_STEP
#undef G
}

typedef struct FormRow {
    u16 op, mod;
    u8 variant;  // TimeVariant
    u64 to, from;
    const char *steps;
} FormRow;

static const FormRow form_rows[] = {
#define T(type) (1ull << TYPE_##type)
#define ANY 0
#define TIME_ROW(op, to, from, mod, steps) {OP_##op, mod, VARIANT_PLAIN, to, from, steps},
#define TIME_VARIANT(op, variant, to, mod, steps) {OP_##op, mod, VARIANT_##variant, to, 0, steps},
#include "sim/time/timing.def"
#undef TIME_ROW
#undef TIME_VARIANT
#undef ANY
#undef T
};

static bool has_mod(const Form *form, u16 mod) { return !mod || form->mods[ptx_mods[mod].class] == mod; }

static bool has_type(const Form *form, u32 index, u64 set) {
    return !set || (index < form->type_count && set >> form->types[index] & 1);
}

static bool is_access(const Form *form) {
    const OpInfo *op = form_op(form);
    bool texture = op->unit == UNIT_TEX && op->flags & (OPF_LOAD | OPF_STORE);
    return (op->flags & (OPF_LOAD | OPF_STORE) || op->unit == UNIT_TMA || texture);
}

static const char *default_steps(const Form *form) {
    if (is_access(form)) return "mem";
    u8 unit = form_op(form)->unit;
    if (unit == UNIT_LSU) return "mio";
    return unit == UNIT_CBU ? "cbu" : unit == UNIT_ADU ? "adu" : "alu";
}

static const char *steps_of_form(const GpuModel *gpu, const Form *form, TimeVariant variant) {
    if (variant == VARIANT_PLAIN && gpu->sm_version < 70) variant = VARIANT_EARLIER;
    for (u32 i = 0; i < WL_COUNT(form_rows); i++) {
        const FormRow *row = &form_rows[i];
        if (row->op == form->op && (row->variant == VARIANT_PLAIN || row->variant == variant) &&
            has_type(form, 0, row->to) && has_type(form, 1, row->from) && has_mod(form, row->mod))
            return row->steps;
    }
    return default_steps(form);
}

// --- matrices ---------------------------------------------------------------------------------------------------
// Multiply-adds of a matrix instruction in those of one 16x8x16 product of f16, per scheduler.
// Rates against f16: NVIDIA H100 Tensor Core GPU Architecture, table 2; f64 at a sixteenth.
static u64 matrix_products(const Form *form) {
    u16 mod = form->mods[MOD_WGMMA_SHAPE] ? form->mods[MOD_WGMMA_SHAPE] : form->mods[MOD_SHAPE];
    const char *text = mod ? ptx_mods[mod].text : ".m16n8k16";
    char *at = NULL;
    u64 m = strtoul(text + 2, &at, 10), n = strtoul(at + 1, &at, 10), k = strtoul(at + 1, &at, 10);
    if (form->mods[MOD_WGMMA_SHAPE]) m /= 4;  // a quarter on the unit of each scheduler
    if (form->op == OP_WMMA_MMA || form->op == OP_WMMA_MMA_F16) n /= 2;
    u32 bits = form->type_count > 1 ? ptx_types[form->types[1]].bits : 16;
    if (form->op == OP_WMMA_MMA_F16) bits = 16;
    u64 sixteenths = m * n * k * 16 / (16 * 8 * 16);
    if (bits == 64) return sixteenths * 16;
    return bits >= 16  ? sixteenths * (bits == 32 || form->types[1] == TYPE_TF32 ? 2 : 1)
           : bits == 8 ? sixteenths / 2
           : bits == 1 ? sixteenths / 16
                       : sixteenths / 2;
}

// An asynchronous product reads shared memory at the rate of that, B and most often A: 128 bytes a cycle, which is
// longer than the product where N is less than 64 (bench/hwref/h200-wgmma.tsv: m64n8k16 18 cycles, m64n32k16 24).
static u64 source_cycles(const Form *form) {
    enum { BYTES = 128 };
    const u16 mod = form->mods[MOD_WGMMA_SHAPE];
    char *at = NULL;
    u64 m = mod ? strtoul(ptx_mods[mod].text + 2, &at, 10) : 0, n = mod ? strtoul(at + 1, &at, 10) : 0,
        k = mod ? strtoul(at + 1, &at, 10) : 0, bits = form->type_count > 1 ? ptx_types[form->types[1]].bits : 16;
    if (form->type_count > 1 && form->types[1] == TYPE_TF32) bits = 32;
    return (m + n) * k * bits / 8 / BYTES;
}

static void scale_matrix(const Form *form, const GpuModel *gpu, TimeStep *step) {
    u64 sixteenths = matrix_products(form);
    u64 cycles = (gpu->tensor_interval * sixteenths + 15) / 16;
    if (cycles < 1) cycles = 1;
    u64 latency = gpu->tensor_latency + (cycles > gpu->tensor_interval ? cycles - gpu->tensor_interval : 0);
    if (form->op == OP_WGMMA || form->op == OP_WGMMA_SP) {
        latency = gpu->gmma_latency + cycles;
        if (source_cycles(form) > cycles) cycles = source_cycles(form);
    }
    step->interval = cycles > UINT8_MAX ? UINT8_MAX : (u8)cycles;
    step->latency = latency > UINT16_MAX ? UINT16_MAX : (u16)latency;
}

// --- steps ------------------------------------------------------------------------------------------------------
static TimeStep step_named(const TimeLower *lower, const Form *form, const char *name, size_t len) {
    u64 latency[STEP_COUNT], interval[STEP_COUNT];
    step_figures(lower->gpu, latency, interval);
    if (len == 3 && memcmp(name, "mem", 3) == 0)
        return (TimeStep){.unit = form_op(form)->unit, .interval = 1, .memory = true};
    u32 at = 0;
    while (at < STEP_COUNT && (strlen(step_rows[at].name) != len || memcmp(step_rows[at].name, name, len) != 0)) at++;
    assert(at < STEP_COUNT);  // a row of timing.def names a step that it lacks
    TimeStep step = {.unit = step_rows[at].unit,
                     .flags = step_rows[at].flags,
                     .latency = (u16)latency[at],
                     .interval = (u8)interval[at],
                     .balanced = at == STEP_iadd || at == STEP_isum,
                     .branch = at == STEP_bra,
                     .meets = at == STEP_meet};
    if (at == STEP_mma) scale_matrix(form, lower->gpu, &step);
    return step;
}

static Status add_steps(TimeLower *lower, const Form *form, const char *text) {
    bool parallel = false;
    while (*text) {
        size_t len = strcspn(text, " |*+");
        TimeStep step = step_named(lower, form, text, len);
        step.parallel = parallel;
        text += len;
        char *end = (char *)text;
        u32 repeat = *text == '*' ? (u32)strtoul(text + 1, &end, 10) : 1;
        text = end;
        if (*text == '+') step.latency += (u16)strtoul(text + 1, &end, 10);
        text = end;
        for (u32 i = 0; i < repeat; i++) {
            TRY(vec_push(&lower->steps, step));
            step.parallel = false;
        }
        parallel = *text == '|';
        if (*text) text++;
    }
    return STATUS_OK;
}

Status time_steps(TimeLower *lower, u32 form, TimeVariant variant, TimeSteps *steps) {
    TimeSteps *row = &lower->rows[form * VARIANT_COUNT + variant];
    if (row->count == WL_NONE) {
        row->first = lower->steps.len;
        TRY(add_steps(lower, &lower->module->forms[form],
                      steps_of_form(lower->gpu, &lower->module->forms[form], variant)));
        row->count = lower->steps.len - row->first;
    }
    *steps = *row;
    return STATUS_OK;
}

// Of instructions whose steps were looked up before.
u32 time_step_count(const TimeFunc *f, u32 insn) {
    u32 row = f->picked[insn].steps, form = f->lower->module->insns[f->function->insns + row].form;
    u32 count = f->lower->rows[form * VARIANT_COUNT + time_variant(f, row)].count;
    return count == WL_NONE ? 1 : count;
}

// --- kinds ------------------------------------------------------------------------------------------------------
static const struct {
    u16 op;
    u8 kind;
} kind_rows[] = {
    {OP_CP_ASYNC, TIME_ASYNC},
    {OP_CP_ASYNC_COMMIT, TIME_ASYNC_COMMIT},
    {OP_CP_ASYNC_WAIT, TIME_ASYNC_WAIT},
    {OP_CP_ASYNC_WAIT_ALL, TIME_ASYNC_WAIT},
    {OP_CP_ASYNC_MBARRIER, TIME_MBARRIER},
    {OP_CP_BULK_COMMIT, TIME_MATH},
    {OP_CP_BULK_WAIT, TIME_FENCE},
    {OP_MBARRIER_TEST_WAIT, TIME_MBARRIER_WAIT},
    {OP_MBARRIER_TRY_WAIT, TIME_MBARRIER_WAIT},
    {OP_MBARRIER_INIT, TIME_MBARRIER},
    {OP_MBARRIER_INVAL, TIME_MBARRIER},
    {OP_MBARRIER_EXPECT_TX, TIME_MBARRIER},
    {OP_MBARRIER_COMPLETE_TX, TIME_MBARRIER},
    {OP_MBARRIER_ARRIVE, TIME_MBARRIER},
    {OP_MBARRIER_ARRIVE_DROP, TIME_MBARRIER},
    {OP_WGMMA, TIME_GMMA},
    {OP_WGMMA_SP, TIME_GMMA},
    {OP_WGMMA_COMMIT, TIME_GMMA_COMMIT},
    {OP_WGMMA_WAIT, TIME_GMMA_WAIT},
    {OP_WGMMA_FENCE, TIME_MATH},
    {OP_NANOSLEEP, TIME_SLEEP},
    {OP_BAR_ARRIVE, TIME_ARRIVE},
    {OP_BARRIER_ARRIVE, TIME_ARRIVE},
    {OP_BARRIER_CLUSTER_ARRIVE, TIME_CLUSTER_ARRIVE},
    {OP_BARRIER_CLUSTER_WAIT, TIME_CLUSTER_WAIT},
    {OP_BAR_WARP_SYNC, TIME_MATH},
    {OP_GRIDDEPCONTROL, TIME_MATH},
};

static bool has_result(const TimeFunc *f, u32 insn) {  // of an atomic: the program knows whether it is read
    const SimInsn *in = time_insn(f, insn);
    return f->code->insns[insn].defs && (in->dst != SIM_NO_OPERAND || in->list_count);
}

// Whether all lanes give the same operand.
static bool is_alike(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    for (u32 k = 0; k < in->uses; k++)
        if (divergence_of_use(f->divergence, insn, in->operands + in->defs + k)) return false;
    return true;
}

// ATOMS.POPC.INC: shared memory itself joins the lanes that add one.
static bool is_increment(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const FlowOperand *data = &time_uses(f, insn)[in->uses - 1u];
    return in->space == SPACE_SHARED && data->kind == FLOW_IMMEDIATE && data->value == 1;
}

static TimeVariant spin_variant(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    bool whole = ptx_types[form->types[0]].class == TYPE_CLASS_FLOAT && time_bits(f, insn, 0) >= 32;
    bool packed = form->types[0] == TYPE_F16X2 || form->types[0] == TYPE_BF16X2;
    return whole && !packed && !divergence_of_address(f->divergence, insn) ? VARIANT_SPIN_UNIFORM : VARIANT_SPIN;
}

// Atomics of all lanes on one word that ptxas turns into one of the warp: integers of 32 bits, and sums of an operand
// that is the same for all of 64 bits in global memory [90 atomics compiled by ptxas 13.0 for sm_90].
static TimeVariant atomic_variant(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const Form *form = time_form(f, insn);
    bool shared = in->space == SPACE_SHARED || in->space == SPACE_SHARED_CLUSTER, alike = is_alike(f, insn);
    TimeVariant apart = shared && spins_in_shared(form) ? spin_variant(f, insn) : VARIANT_PLAIN;
    u16 op = form->mods[MOD_ATOM_OP];
    const TypeInfo *type = &ptx_types[form->types[0]];
    bool sum = op == ATOM_OP_ADD, word = type->bits == 32, longer = type->bits == 64 && sum && alike && !shared;
    bool joins =
        sum || op == ATOM_OP_MIN || op == ATOM_OP_MAX || op == ATOM_OP_AND || op == ATOM_OP_OR || op == ATOM_OP_XOR;
    if (type->class == TYPE_CLASS_FLOAT || !joins || !(word || longer)) return apart;
    if (in->space == SPACE_SHARED_CLUSTER || divergence_of_address(f->divergence, insn)) return apart;
    if (has_result(f, insn)) return !sum ? apart : alike ? VARIANT_COUNTED : VARIANT_SCANNED;
    if (sum && is_increment(f, insn)) return apart;
    return alike ? VARIANT_ALIKE : VARIANT_UNIFORM;
}

static TimeVariant special_variant(u32 sreg) {
    if (sreg == SREG_NTID || sreg == SREG_NCTAID) return VARIANT_CONSTANT;
    return sreg >= SREG_CLOCK && sreg <= SREG_GLOBALTIMER_HI ? VARIANT_CLOCK : VARIANT_SPECIAL;
}

// A load of __constant__ memory whose address is known when the code is made, and which is no operand (imc).
static bool is_fixed_constant(const TimeFunc *f, const FlowInsn *in, const FlowOperand *uses) {
    return f->lower->gpu->imc && in->is_load && in->space == SPACE_CONST && uses[in->address_use].kind != FLOW_VALUE;
}

// Which way ptxas 13.0 has constants with fixed addresses come for sm_90 [L, 371 public programs]: of __constant__
// variables 13,516 by ULDC and 40 by LDC; parameters of 32 bits 2,861 and 1,565, of 64 bits (mostly addresses, which
// are added in vector registers) 3,753 and 9,855; sizes of CTA and grid 1,303 and 776.
static TimeKind constant_kind(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return in->arith == FLOW_LOAD_PARAM && in->access_bytes > 4 ? TIME_FIXED : TIME_IMMEDIATE;
}

// bfe and bfi of whole bytes or halves; bfe of the lowest bits.
static bool is_bytes(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    bool insert = form->op == OP_BFI;
    if ((form->op != OP_BFE && !insert) || time_bits(f, insn, 0) != 32) return false;
    const FlowOperand *at = time_uses(f, insn) + (insert ? 2 : 1), *length = at + 1;
    if (at->kind != FLOW_IMMEDIATE || length->kind != FLOW_IMMEDIATE) return false;
    bool whole = (length->value == 8 || length->value == 16) && at->value % length->value == 0;
    bool extends = ptx_types[form->types[0]].class == TYPE_CLASS_SINT;
    return (whole && !extends) || (!insert && at->value == 0);
}

// The operand whose being a number spares instructions: of multiply-adds the factor.
static const FlowOperand *literal_operand_of(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return time_uses(f, insn) + (time_form(f, insn)->op == OP_MAD_INT ? 1u : in->uses - 1u);
}

// A byte of several that were loaded at once becomes a number.
static bool is_byte_of_more(const TimeFunc *f, u32 insn) {
    const FlowOperand *byte = time_uses(f, insn);
    return time_form(f, insn)->op == OP_CVT_F && time_is_part(f, byte) && time_bits(f, f->sole_def[byte->id], 0) == 8;
}

TimeVariant time_variant(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const FlowOperand *uses = time_uses(f, insn);
    if (in->is_atomic) return atomic_variant(f, insn);
    if (in->arith == FLOW_LOAD_PARAM) return VARIANT_CONSTANT;
    if (in->uses == 0) return VARIANT_PLAIN;
    if (is_fixed_constant(f, in, uses)) return VARIANT_CONSTANT;
    if (uses[0].kind == FLOW_SREG) return special_variant(uses[0].id);
    if (bitset_has(&f->same_division, insn)) return VARIANT_DIVISION;
    if (bitset_has(&f->same_divisor, insn)) return VARIANT_DIVISOR;
    if (f->divided && f->divided[insn] != WL_NONE) return VARIANT_DIVIDED;
    if (time_is_narrow(f, insn) || is_byte_of_more(f, insn)) return VARIANT_NARROW;
    if (time_has_word(f, insn)) return VARIANT_WORD;
    u32 def = uses[0].kind == FLOW_VALUE ? f->sole_def[uses[0].id] : WL_NONE;
    if (is_bytes(f, insn) || (def != WL_NONE && time_takes_bytes(f, insn, def))) return VARIANT_BYTES;
    u8 last = literal_operand_of(f, insn)->kind;
    return in->uses > 1 && (last == FLOW_IMMEDIATE || last == FLOW_OTHER) ? VARIANT_LITERAL : VARIANT_PLAIN;
}

static TimeKind access_kind(const TimeFunc *f, const Form *form, u32 insn) {
    u32 flags = form_op(form)->flags;
    if (form_op(form)->unit == UNIT_TMA) return TIME_BULK;
    if (form_op(form)->unit == UNIT_TEX)
        return (flags & (OPF_STORE | OPF_ATOMIC)) == OPF_STORE ? TIME_STORE : TIME_TEXTURE;
    if (flags & OPF_ATOMIC) return has_result(f, insn) ? TIME_ATOMIC : TIME_REDUCE;
    if (flags & OPF_LOAD && form->space == SPACE_PARAM && f->function->is_entry && f->lower->gpu->imc)
        return TIME_FIXED;
    if (flags & OPF_LOAD) return form->space == SPACE_CONST || form->space == SPACE_PARAM ? TIME_CONST : TIME_LOAD;
    return TIME_STORE;
}

u32 time_builtin(const TimeFunc *f, u32 insn) {
    const SimInsn *in = time_insn(f, insn);
    bool call = form_op(time_form(f, insn))->flags & OPF_CALL && in->target == WL_NONE && in->kind == SIM_CALL;
    return call ? f->lower->program->calls[in->list].builtin : 0;
}

u32 time_runtime_call(const TimeFunc *f, u32 insn) {
    const GpuModel *gpu = f->lower->gpu;
    switch (time_builtin(f, insn)) {
    case BUILTIN_MALLOC + 1: return gpu->heap_malloc ? CALL_MALLOC : WL_NONE;
    case BUILTIN_FREE + 1: return gpu->heap_malloc ? CALL_FREE : WL_NONE;
    case BUILTIN_CDP_LAUNCH + 1:
    case BUILTIN_CDP_LAUNCH_PT + 1: return gpu->child_launch ? CALL_LAUNCH : WL_NONE;
    default: return WL_NONE;
    }
}

bool time_calls(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    bool division = form->op == OP_DIV_INT || form->op == OP_REM;
    if (!f->picked[insn].needed) return false;
    return f->code->insns[insn].kind == FLOW_CALL || has_slow_path(form) ||
           (division && ptx_types[form->types[0]].bits != 32);
}

bool time_calls_between(const TimeFunc *f, u32 first, u32 end) {
    for (u32 i = first; i < end; i++)
        if (time_calls(f, i)) return true;
    return false;
}

static bool is_print_call(const TimeFunc *f, u32 insn) {
    return f->lower->gpu->print && time_builtin(f, insn) == BUILTIN_VPRINTF + 1;
}

TimeKind time_kind(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    u32 flags = form_op(form)->flags;
    if (f->lower->gpu->imc && time_variant(f, insn) == VARIANT_CONSTANT) return constant_kind(f, insn);
    for (u32 i = 0; i < WL_COUNT(kind_rows); i++)
        if (kind_rows[i].op == form->op) return kind_rows[i].kind;
    if (flags & OPF_EXIT || (flags & OPF_RET && f->function->is_entry)) return TIME_EXIT;
    if (flags & OPF_CALL && time_runtime_call(f, insn) != WL_NONE) return TIME_RUNTIME;
    if (flags & OPF_CALL && is_print_call(f, insn)) return TIME_PRINT;
    if (flags & (OPF_BRANCH | OPF_CALL | OPF_RET | OPF_TRAP)) return TIME_BRANCH;
    if (flags & OPF_BARRIER) return TIME_BARRIER;
    if (is_access(form) && f->code->insns[insn].arith != FLOW_LOAD_PARAM) return access_kind(f, form, insn);
    if (flags & OPF_FENCE) return TIME_FENCE;
    return time_variant(f, insn) == VARIANT_CLOCK ? TIME_CLOCK : TIME_MATH;
}
