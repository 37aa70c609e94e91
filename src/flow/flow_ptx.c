// SPDX-License-Identifier: Apache-2.0
// The adapter from PTX: what each instruction defines, uses, computes and touches, read off its form's operand specs.
#include "base/vec.h"
#include "flow/flow_util.h"

#include <string.h>

// What is the same for every instruction of a form; computed when the form is first met.
typedef struct FormFacts {
    bool known;
    bool carry_in, carry_out;
    bool uniform;  // .uni
    u8 kind;       // FlowKind
    u8 arith;      // FlowArith
    u8 compare;    // FlowCompare
} FormFacts;

typedef struct Adapter {
    const Module *module;
    const Function *function;
    FuncRef func;
    FormFacts *facts;  // per form
    Vec(FlowOperand) operands;
    Vec(u32) targets;
    u32 carry;
} Adapter;

static const struct {
    const char *name;
    u8 arith;  // FlowArith
} arith_of_name[] = {
    {"mov", FLOW_MOVE},        {"cvta", FLOW_MOVE},    {"cvt", FLOW_CONVERT}, {"add", FLOW_ADD},
    {"sub", FLOW_SUB},         {"mul", FLOW_MUL},      {"mad", FLOW_MULADD},  {"mul24", FLOW_MUL},
    {"mad24", FLOW_MULADD},    {"neg", FLOW_NEGATE},   {"and", FLOW_AND},     {"or", FLOW_OR},
    {"shl", FLOW_SHIFT_LEFT},  {"selp", FLOW_SELECT},  {"min", FLOW_MIN},     {"max", FLOW_MAX},
    {"shr", FLOW_SHIFT_RIGHT}, {"setp", FLOW_COMPARE},
};

static const u8 compare_of_token[MOD_TOKEN_COUNT] = {
    [CMP_EQ] = FLOW_EQUAL,   [CMP_NE] = FLOW_NOT_EQUAL,     [CMP_LT] = FLOW_LESS,          [CMP_LE] = FLOW_LESS_EQUAL,
    [CMP_LO] = FLOW_LESS,    [CMP_LS] = FLOW_LESS_EQUAL,    [CMP_GE] = FLOW_GREATER_EQUAL, [CMP_GT] = FLOW_GREATER,
    [CMP_HI] = FLOW_GREATER, [CMP_HS] = FLOW_GREATER_EQUAL,
};

static u8 kind_of_flags(u32 flags) {
    if (flags & OPF_CALL) return FLOW_CALL;
    if (flags & OPF_BRANCH) return flags & OPF_INDIRECT ? FLOW_SWITCH : FLOW_BRANCH;
    if (flags & OPF_RET) return FLOW_RET;
    if (flags & OPF_EXIT) return FLOW_EXIT;
    return flags & OPF_TRAP ? FLOW_TRAP : FLOW_PLAIN;
}

// Scalar integers or untyped bits throughout; not predicates.
static bool has_integer_types(const Form *form) {
    for (u32 i = 0; i < form->type_count; i++) {
        const TypeInfo *type = &ptx_types[form->types[i]];
        bool integer =
            type->class == TYPE_CLASS_UINT || type->class == TYPE_CLASS_SINT || type->class == TYPE_CLASS_BITS;
        if (!integer || type->elements != 1) return false;
    }
    return true;
}

static u8 arith_of_form(const Form *form) {
    u8 arith = FLOW_OPAQUE;
    for (u32 i = 0; i < WL_COUNT(arith_of_name); i++)
        if (strcmp(arith_of_name[i].name, form_op(form)->name) == 0) arith = arith_of_name[i].arith;
    if (arith == FLOW_OPAQUE || !has_integer_types(form)) return FLOW_OPAQUE;
    bool narrow = arith == FLOW_CONVERT && (ptx_types[form->types[0]].bits < 32 || ptx_types[form->types[1]].bits < 32);
    if (narrow) return FLOW_OPAQUE;
    bool exact = form->mods[MOD_MUL_HALF] != MUL_HALF_HI && !form->mods[MOD_SAT] && !form->mods[MOD_RELU];
    return exact ? arith : FLOW_OPAQUE;
}

static const FormFacts *form_facts(Adapter *a, u32 index) {
    FormFacts *facts = &a->facts[index];
    if (facts->known) return facts;
    const Form *form = &a->module->forms[index];
    u32 flags = form_op(form)->flags;
    facts->known = true;
    facts->carry_in = flags & OPF_CARRY_IN;
    facts->carry_out = (flags & OPF_CARRY_OUT) && form->mods[MOD_CC];
    facts->uniform = form->mods[MOD_UNI];
    facts->kind = kind_of_flags(flags);
    facts->arith = arith_of_form(form);
    if (facts->arith == FLOW_COMPARE) facts->compare = compare_of_token[form->mods[MOD_CMP]];
    return facts;
}

static bool is_own_param(const Adapter *a, VarRef var) {
    return var >= a->function->params && var - a->function->params < a->function->param_count;
}

static u32 value_of_reg(const Adapter *a, RegRef reg) { return reg - a->function->regs; }

static Status add_operand(Adapter *a, FlowInsn *insn, FlowOperand operand, bool is_def) {
    TRY(vec_push(&a->operands, operand));
    if (is_def)
        insn->defs++;
    else
        insn->uses++;
    return STATUS_OK;
}

static FlowOperand reg_operand(const Adapter *a, const Operand *operand, const OperandSpec *spec) {
    const Reg *reg = &a->module->regs[operand->ref];
    return (FlowOperand){.kind = FLOW_VALUE,
                         .width = (u8)ptx_types[reg->type].bits,
                         .is_signed = ptx_types[spec->type].class == TYPE_CLASS_SINT,
                         .id = value_of_reg(a, operand->ref)};
}

// A scalar that is read.
static FlowOperand read_operand(const Adapter *a, const Operand *operand, const OperandSpec *spec) {
    u8 width = (u8)ptx_types[spec->type].bits;
    bool is_signed = ptx_types[spec->type].class == TYPE_CLASS_SINT;
    switch (operand->kind) {
    case OPERAND_REG: return reg_operand(a, operand, spec);
    case OPERAND_INT:
        return (FlowOperand){
            .kind = FLOW_IMMEDIATE, .width = width, .is_signed = is_signed, .value = (i64)operand->value};
    case OPERAND_SREG:
        return (FlowOperand){.kind = FLOW_SREG, .component = operand->component, .width = width, .id = operand->ref};
    case OPERAND_VAR:
        return (FlowOperand){.kind = FLOW_SYMBOL, .width = width, .id = operand->ref, .value = (i64)operand->value};
    default: return (FlowOperand){.kind = FLOW_OTHER, .width = width, .value = (i64)operand->value};
    }
}

// The write to one component of a vector register leaves the others as they are.
static bool is_partial(const Adapter *a, const Operand *operand) {
    return operand->component != 0 && a->module->regs[operand->ref].vector > 1;
}

static Status add_defs(Adapter *a, FlowInsn *insn, const Operand *operand, const OperandSpec *spec) {
    switch (operand->kind) {
    case OPERAND_REG: return add_operand(a, insn, reg_operand(a, operand, spec), true);
    case OPERAND_VECTOR:
    case OPERAND_GROUP:
    case OPERAND_PAIR:
        for (u32 i = 0; i < operand->count; i++) TRY(add_defs(a, insn, &a->module->operands[operand->ref + i], spec));
        return STATUS_OK;
    default: return STATUS_OK;  // sinks; .param variables that take what a call returns are memory
    }
}

static Status add_partial_uses(Adapter *a, FlowInsn *insn, const Operand *operand, const OperandSpec *spec) {
    switch (operand->kind) {
    case OPERAND_REG:
        return is_partial(a, operand) ? add_operand(a, insn, reg_operand(a, operand, spec), false) : STATUS_OK;
    case OPERAND_VECTOR:
    case OPERAND_GROUP:
    case OPERAND_PAIR:
        for (u32 i = 0; i < operand->count; i++)
            TRY(add_partial_uses(a, insn, &a->module->operands[operand->ref + i], spec));
        return STATUS_OK;
    default: return STATUS_OK;
    }
}

// The first address is the access; the second one as well when the form names two spaces. Others (mbarriers) are uses.
static Status add_address(Adapter *a, FlowInsn *insn, const Operand *operand, bool has_second) {
    static const OperandSpec pointer = {.type = TYPE_U64};
    FlowOperand base = {.kind = FLOW_IMMEDIATE, .width = 64};
    if (operand->base == OPERAND_REG) {
        base = reg_operand(a, operand, &pointer);
    } else if (operand->base == OPERAND_VAR) {
        base = (FlowOperand){.kind = is_own_param(a, operand->ref) ? FLOW_PARAMETER : FLOW_SYMBOL,
                             .width = (u8)a->module->address_size,
                             .id = operand->ref};
    }
    if (insn->address_use == 0xff && insn->uses < 0xff) {
        insn->address_use = (u8)insn->uses;
        insn->address_offset = (i64)operand->value;
    } else if (has_second && insn->address2_use == 0xff && insn->uses < 0xff) {
        insn->address2_use = (u8)insn->uses;
        insn->address2_offset = (i64)operand->value;
    } else {
        base.value = (i64)operand->value;
    }
    return add_operand(a, insn, base, false);
}

static Status add_uses(Adapter *a, FlowInsn *insn, const Operand *operand, const OperandSpec *spec) {
    switch (operand->kind) {
    case OPERAND_NONE:
    case OPERAND_SINK:
    case OPERAND_LABEL: return STATUS_OK;
    case OPERAND_ADDRESS: return add_address(a, insn, operand, spec->access == ACCESS_ADDRESS && insn->space2);
    case OPERAND_VECTOR:
    case OPERAND_GROUP:
    case OPERAND_PAIR:
        for (u32 i = 0; i < operand->count; i++) TRY(add_uses(a, insn, &a->module->operands[operand->ref + i], spec));
        return STATUS_OK;
    default: return add_operand(a, insn, read_operand(a, operand, spec), false);
    }
}

static const OperandSpec *spec_of(const Form *form, u32 index) {
    static const OperandSpec any = {.access = ACCESS_READ};
    return index < form->spec_count ? &form->specs[index] : &any;
}

static Status add_target(Adapter *a, FlowInsn *insn, const Operand *operand) {
    if (operand->kind != OPERAND_LABEL) return STATUS_OK;
    const Module *m = a->module;
    const Label *label = &m->labels[operand->ref];
    if (label->kind == LABEL_CODE) {
        insn->target_count++;
        return vec_push(&a->targets, label->insn);
    }
    if (label->kind != LABEL_BRANCH_TARGETS) return STATUS_OK;
    for (u32 i = 0; i < label->target_count; i++) {
        insn->target_count++;
        TRY(vec_push(&a->targets, m->labels[m->refs[label->targets + i]].insn));
    }
    return STATUS_OK;
}

// call (returned), callee, (arguments), list-or-prototype: registers before the callee are written, after it read.
static Status add_call(Adapter *a, FlowInsn *insn, const Insn *source) {
    static const OperandSpec any = {.access = ACCESS_READ};
    const Module *m = a->module;
    u32 callee = 0;
    while (callee < source->operands && insn_operand(m, source, callee)->kind == OPERAND_GROUP) callee++;
    for (u32 i = 0; i < callee && i + 1 < source->operands; i++)
        TRY(add_defs(a, insn, insn_operand(m, source, i), &any));
    for (u32 i = callee; i < source->operands; i++) {
        const Operand *operand = insn_operand(m, source, i);
        if (operand->kind == OPERAND_FUNC && i == callee) {
            insn->callee = operand->ref;
            insn->noreturn = m->funcs[operand->ref].noreturn;
        } else {
            TRY(add_uses(a, insn, operand, &any));
        }
    }
    return STATUS_OK;
}

static Status add_operands(Adapter *a, FlowInsn *insn, const Insn *source) {
    const Module *m = a->module;
    const Form *form = insn_form(m, source);
    for (u32 i = 0; i < source->operands; i++) {
        const OperandSpec *spec = spec_of(form, i);
        if (spec->access == ACCESS_WRITE || spec->access == ACCESS_READ_WRITE)
            TRY(add_defs(a, insn, insn_operand(m, source, i), spec));
    }
    const FormFacts *facts = form_facts(a, source->form);
    FlowOperand carry = {.kind = FLOW_VALUE, .width = 1, .id = a->carry};
    if (facts->carry_out) TRY(add_operand(a, insn, carry, true));
    for (u32 i = 0; i < source->operands; i++) {
        const OperandSpec *spec = spec_of(form, i);
        const Operand *operand = insn_operand(m, source, i);
        if (spec->access == ACCESS_TARGET) {
            TRY(add_target(a, insn, operand));
            if (operand->kind == OPERAND_REG) TRY(add_uses(a, insn, operand, spec));
        } else if (spec->access == ACCESS_WRITE) {
            TRY(add_partial_uses(a, insn, operand, spec));
        } else {
            TRY(add_uses(a, insn, operand, spec));
        }
    }
    return facts->carry_in ? add_operand(a, insn, carry, false) : STATUS_OK;
}

static u8 access_bytes(const Adapter *a, const Insn *source) {
    const Form *form = insn_form(a->module, source);
    if (strcmp(form_op(form)->name, "cp.async") == 0 && source->operands > 2) {
        const Operand *size = insn_operand(a->module, source, 2);
        return size->kind == OPERAND_INT && size->value <= 16 ? (u8)size->value : 0;
    }
    if (strcmp(form_op(form)->name, "ldmatrix") == 0 || strcmp(form_op(form)->name, "stmatrix") == 0) return 16;
    u32 flags = form_op(form)->flags;
    if (!(flags & (OPF_LOAD | OPF_STORE | OPF_ATOMIC)) || flags & (OPF_ASYNC | OPF_TEXTURE | OPF_SURFACE | OPF_MATRIX))
        return 0;
    u32 bytes = form->type_count ? type_bytes(form->types[0]) * (form->vector ? form->vector : 1) : 0;
    return bytes < 256 ? (u8)bytes : 0;
}

static void note_memory(const Adapter *a, FlowInsn *insn, const Insn *source) {
    const Form *form = insn_form(a->module, source);
    u32 flags = form_op(form)->flags;
    insn->is_load = flags & OPF_LOAD;
    insn->is_store = flags & OPF_STORE;
    insn->is_atomic = flags & OPF_ATOMIC;
    insn->is_barrier = flags & OPF_BARRIER;
    insn->polls =
        insn->is_atomic || (insn->is_load && (form->mods[MOD_SEM] > SEM_WEAK || form->mods[MOD_COP] == COP_CV));
    if (insn->address_use != 0xff) insn->space = form->space;
    if (insn->address2_use == 0xff) insn->space2 = SPACE_NONE;
    insn->access_bytes = insn->address_use == 0xff ? 0 : access_bytes(a, source);
}

// The vocabulary only fits instructions of the plain shape: one scalar result, and as many sources as it has.
static u8 checked_arith(const Adapter *a, const FlowInsn *insn, u8 arith) {
    const FlowOperand *operands = a->operands.data + insn->operands;
    if (arith != FLOW_OPAQUE) return insn->defs == 1 && insn->uses == flow_arith_uses[arith] ? arith : FLOW_OPAQUE;
    bool loads_param = insn->is_load && insn->space == SPACE_PARAM && insn->address_use == 0 && insn->defs > 0 &&
                       operands[insn->defs].kind == FLOW_PARAMETER;
    return loads_param ? FLOW_LOAD_PARAM : FLOW_OPAQUE;
}

enum {
    EFFECT_FLAGS = OPF_BRANCH | OPF_CALL | OPF_RET | OPF_EXIT | OPF_TRAP | OPF_STORE | OPF_ATOMIC | OPF_BARRIER |
                   OPF_FENCE | OPF_WARP_SYNC | OPF_ASYNC | OPF_CONVERGENT | OPF_VOLATILE
};

static Status adapt_insn(Adapter *a, const Insn *source, FlowInsn *insn) {
    const OpInfo *op = form_op(insn_form(a->module, source));
    const FormFacts *facts = form_facts(a, source->form);
    *insn = (FlowInsn){
        .operands = a->operands.len,
        .guard = source->guard == WL_NONE ? WL_NONE : value_of_reg(a, source->guard),
        .guard_negated = source->guard_negated,
        .kind = facts->kind,
        .compare = facts->compare,
        .divergence = facts->uniform ? DIV_UNIFORM : op->divergence,
        .unit = op->unit,
        .space2 = insn_form(a->module, source)->space2,
        .address_use = 0xff,
        .address2_use = 0xff,
        .has_effects = op->flags & EFFECT_FLAGS,
        .targets = a->targets.len,
        .callee = WL_NONE,
        .loc = source->loc,
    };
    if (insn->kind == FLOW_CALL) {
        insn->divergence = DIV_DIVERGENT;  // what a call returns is not followed
        TRY(add_call(a, insn, source));
    } else {
        TRY(add_operands(a, insn, source));
    }
    note_memory(a, insn, source);
    insn->arith = checked_arith(a, insn, facts->arith);
    return STATUS_OK;
}

static u16 *value_widths(const Adapter *a, Arena *arena) {
    u16 *bits = ARENA_ARRAY(arena, u16, a->function->reg_count + 1);
    if (!bits) return NULL;
    for (u32 i = 0; i < a->function->reg_count; i++) {
        const Reg *reg = &a->module->regs[a->function->regs + i];
        bits[i] = (u16)(ptx_types[reg->type].bits * (reg->vector ? reg->vector : 1));
    }
    bits[a->carry] = 1;
    return bits;
}

// As the compiler lays them out, one behind the other (PTX ISA, "Kernel Function Parameters").
static FlowParam *place_params(const Adapter *a, Arena *arena) {
    u32 count = a->function->is_entry ? a->function->param_count : 0;
    FlowParam *params = ARENA_ARRAY(arena, FlowParam, count + 1);
    u64 at = 0;
    for (u32 i = 0; params && i < count; i++) {
        const Var *var = &a->module->vars[a->function->params + i];
        u64 align = var->align ? var->align : 1;
        at = (at + align - 1) / align * align;
        params[i] = (FlowParam){(u32)at, (u32)var->size};
        at += var->size;
    }
    return params;
}

static Status finish(Adapter *a, FlowInsn *insns, Arena *arena, FlowCode **code) {
    FlowOperand *operands = ARENA_ARRAY(arena, FlowOperand, a->operands.len + 1);
    u32 *targets = ARENA_ARRAY(arena, u32, a->targets.len + 1);
    u16 *bits = value_widths(a, arena);
    FlowParam *params = place_params(a, arena);
    FlowCode *result = ARENA_NEW(arena, FlowCode);
    if (!operands || !targets || !bits || !params || !result) return STATUS_NO_MEMORY;
    if (a->operands.len) memcpy(operands, a->operands.data, sizeof *operands * a->operands.len);
    if (a->targets.len) memcpy(targets, a->targets.data, sizeof *targets * a->targets.len);
    *result = (FlowCode){
        .module = a->module,
        .func = a->func,
        .is_entry = a->function->is_entry,
        .params = params,
        .param_count = a->function->is_entry ? a->function->param_count : 0,
        .first_param = a->function->params,
        .insns = insns,
        .insn_count = a->function->insn_count,
        .operands = operands,
        .operand_count = a->operands.len,
        .targets = targets,
        .value_count = a->function->reg_count + 1,
        .value_bits = bits,
        .carry = a->carry,
        .its = a->module->target_sm >= 70,
    };
    *code = result;
    return STATUS_OK;
}

static Status adapt(Adapter *a, Arena *arena, FlowCode **code) {
    const Function *function = a->function;
    FlowInsn *insns = ARENA_ARRAY(arena, FlowInsn, function->insn_count + 1);
    if (!insns) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < function->insn_count; i++)
        TRY(adapt_insn(a, &a->module->insns[function->insns + i], &insns[i]));
    return finish(a, insns, arena, code);
}

Status flow_from_ptx(const Module *module, FuncRef func, Arena *arena, FlowCode **code) {
    *code = NULL;
    if (func >= module->func_count || !module->funcs[func].has_body) return STATUS_INVALID;
    const Function *function = &module->funcs[func];
    Adapter a = {.module = module, .function = function, .func = func, .carry = function->reg_count};
    a.facts = mem_zero(module->form_count + 1, sizeof *a.facts);
    Status status = a.facts ? adapt(&a, arena, code) : STATUS_NO_MEMORY;
    mem_free(a.facts);
    vec_free(&a.operands);
    vec_free(&a.targets);
    return status;
}
