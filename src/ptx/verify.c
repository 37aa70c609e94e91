// SPDX-License-Identifier: Apache-2.0
// What ptxas would refuse: operand kinds and types, versions, labels, calls. The rules for registers and literals are
// those of PTX ISA 9.4, checked against what ptxas 13.0 does.
#include <stdarg.h>
#include <stdio.h>

#include "ptx/ptx.h"

enum { MAX_REPORTS = 200 };

typedef struct Verifier {
    const Module *m;
    Diag *diag;
    const Insn *insn;
    const Form *form;
    u32 errors;
} Verifier;

static bool fail_at(Verifier *v, u32 line, const char *format, ...) WL_PRINTF(3, 4);
static bool fail_at(Verifier *v, u32 line, const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_text(v->diag, DIAG_ERROR, v->m->path, line, 0, "%s", text);
    v->errors++;
    return false;
}

static const char *mnemonic(const Verifier *v) { return module_text(v->m, v->form->text); }

static bool fail_operand(Verifier *v, u32 index, const char *what) {
    return fail_at(v, v->insn->line, "operand %u of '%.100s' %s", index + 1, mnemonic(v), what);
}

// ---- types

// May a register of type `reg` stand where the instruction wants `type`?
static bool type_fits(u8 reg, u8 type, bool wide) {
    if (type == TYPE_NONE) return true;
    const TypeInfo *r = &ptx_types[reg], *t = &ptx_types[type];
    if (t->class == TYPE_CLASS_PRED || r->class == TYPE_CLASS_PRED) return t->class == r->class;
    if (wide ? r->bits < t->bits : r->bits != t->bits) return false;
    bool r_int = r->class == TYPE_CLASS_UINT || r->class == TYPE_CLASS_SINT;
    bool t_int = t->class == TYPE_CLASS_UINT || t->class == TYPE_CLASS_SINT;
    if (r->class == TYPE_CLASS_BITS || t->class == TYPE_CLASS_BITS) return true;
    if (t->elements > 1 || type == TYPE_BF16 || type == TYPE_TF32) return r_int || r->class == t->class;
    if (r_int || t_int) return r_int && t_int;
    return r->bits == t->bits;
}

static bool is_float(u8 type) { return ptx_types[type].class == TYPE_CLASS_FLOAT && ptx_types[type].elements == 1; }

static bool literal_fits(u8 kind, u8 type) {
    if (type == TYPE_NONE || ptx_types[type].class == TYPE_CLASS_BITS) return true;
    return kind == OPERAND_INT ? !is_float(type) : ptx_types[type].class == TYPE_CLASS_FLOAT;
}

// Special registers go through mov and cvt only.
static bool sreg_fits(const Verifier *v, const Operand *operand, u8 type) {
    const SregInfo *sreg = &ptx_sregs[operand->ref];
    u16 op = v->form->op;
    if (op == OP_CVT_INT || op == OP_CVT_F) return true;
    if (op == OP_MOV_VECTOR_SREG) return sreg->vector == 4;
    if (op != OP_MOV || type == TYPE_NONE) return op == OP_MOV_UNPACK;
    u16 bits = ptx_types[sreg->type].bits, want = ptx_types[type].bits;
    return bits == want || (want == 16 && bits == 32);
}

static bool takes_symbols(u16 op) {
    return op == OP_MOV || op == OP_CVTA || op == OP_ISSPACEP || op == OP_MAPA || op == OP_GETCTARANK || op == OP_ST ||
           op == OP_ISTYPEP || op == OP_CALL || op == OP_MOV_UNPACK;
}

// ---- operands

static bool check_scalar(Verifier *v, u32 index, const Operand *operand, u8 type, const OperandSpec *spec) {
    switch ((OperandKind)operand->kind) {
    case OPERAND_REG: {
        const Reg *reg = &v->m->regs[operand->ref];
        if (operand->component >= COMPONENT_B0) return true;  // part of a register, video instructions
        if (reg->vector > 1 && !operand->component) return fail_operand(v, index, "is a whole vector");
        if (type_fits(reg->type, type, spec->wide)) return true;
        return fail_at(v, v->insn->line, "operand %u of '%.100s': a .%s register cannot hold .%s", index + 1,
                       mnemonic(v), ptx_types[reg->type].text, ptx_types[type].text);
    }
    case OPERAND_INT:
    case OPERAND_F32:
    case OPERAND_F64:
        if (spec->access == ACCESS_WRITE) return fail_operand(v, index, "is written: it must be a register");
        return literal_fits(operand->kind, type) || fail_operand(v, index, "is a literal of another kind of type");
    case OPERAND_SREG:
        if (spec->access == ACCESS_WRITE) return fail_operand(v, index, "is written: it must be a register");
        if (ptx_sregs[operand->ref].isa > v->m->version) return fail_operand(v, index, "needs a newer .version");
        return sreg_fits(v, operand, type) || fail_operand(v, index, "cannot be this special register");
    case OPERAND_VAR:
    case OPERAND_FUNC:
        if (spec->access == ACCESS_WRITE) return fail_operand(v, index, "is written: it must be a register");
        if (!takes_symbols(v->form->op)) return fail_operand(v, index, "must be a register");
        return (type == TYPE_NONE || !is_float(type)) || fail_operand(v, index, "is an address");
    case OPERAND_SINK: return spec->access == ACCESS_WRITE || fail_operand(v, index, "is read: it cannot be '_'");
    case OPERAND_LABEL: return v->form->op == OP_MOV || fail_operand(v, index, "cannot be a label");
    default: return fail_operand(v, index, "has the wrong form");
    }
}

// mov.b64 {a, b}: the elements are equally wide and fill the type.
static bool check_pack(Verifier *v, u32 index, const Operand *operand) {
    u32 bits = 0;
    for (u32 i = 0; i < operand->count; i++) {
        const Operand *element = &v->m->operands[operand->ref + i];
        if (element->kind == OPERAND_REG)
            bits += ptx_types[v->m->regs[element->ref].type].bits;
        else
            bits += ptx_types[v->form->types[0]].bits / operand->count;
    }
    if (bits == ptx_types[v->form->types[0]].bits) return true;
    return fail_operand(v, index, "does not fill the type");
}

static bool check_vector(Verifier *v, u32 index, const Operand *operand, const OperandSpec *spec) {
    if (spec->vector && operand->count != spec->vector) {
        return fail_at(v, v->insn->line, "operand %u of '%.100s' has %u elements, not %u", index + 1, mnemonic(v),
                       operand->count, spec->vector);
    }
    for (u32 i = 0; i < operand->count; i++) {
        if (!check_scalar(v, index, &v->m->operands[operand->ref + i], spec->type, spec)) return false;
    }
    bool packs = v->form->op == OP_MOV_PACK || v->form->op == OP_MOV_UNPACK;
    return !packs || check_pack(v, index, operand);
}

static bool check_base(Verifier *v, u32 index, u8 kind, const Operand *operand) {
    if (kind == OPERAND_REG) {
        u8 class = ptx_types[v->m->regs[operand->ref].type].class;
        bool usable = class == TYPE_CLASS_UINT || class == TYPE_CLASS_SINT || class == TYPE_CLASS_BITS;
        return usable || fail_operand(v, index, "has an address register that is not an integer");
    }
    if (kind == OPERAND_INT || kind == OPERAND_SINK) return true;
    if (kind != OPERAND_VAR) return fail_operand(v, index, "is not an address");
    u8 space = v->m->vars[operand->ref].space, want = v->form->space;
    bool plain = v->form->op == OP_LD || v->form->op == OP_ST || v->form->op == OP_ATOM || v->form->op == OP_RED;
    bool same = want == SPACE_NONE || want == space || (want == SPACE_SHARED_CLUSTER && space == SPACE_SHARED);
    return !plain || same || fail_operand(v, index, "is in another state space than the instruction says");
}

static bool check_address(Verifier *v, u32 index, const Operand *operand) {
    if (operand->kind == OPERAND_ADDRESS) return check_base(v, index, operand->base, operand);
    const Operand *first = &v->m->operands[operand->ref];
    return check_base(v, index, first->kind == OPERAND_ADDRESS ? first->base : first->kind, first);
}

static bool check_target(Verifier *v, u32 index, const Operand *operand, const OperandSpec *spec) {
    bool call = v->form->op == OP_CALL;
    if (operand->kind == OPERAND_LABEL) {
        u8 kind = v->m->labels[operand->ref].kind;
        bool fits = v->form->op == OP_BRA   ? kind == LABEL_CODE
                    : v->form->op == OP_BRX ? kind == LABEL_BRANCH_TARGETS
                                            : kind >= LABEL_CALL_TARGETS;
        return fits || fail_operand(v, index, "is another kind of label");
    }
    if (call && operand->kind == OPERAND_FUNC) return true;
    if (call && operand->kind == OPERAND_REG && (spec->kinds & TAKES_REG)) return true;
    if (call && operand->kind == OPERAND_VAR) return true;  // .calltargets kept in a table by old compilers
    return fail_operand(v, index, call ? "is not a function" : "is not a label");
}

static bool check_pair(Verifier *v, u32 index, const Operand *operand, const OperandSpec *spec) {
    const Operand *first = &v->m->operands[operand->ref], *second = first + 1;
    OperandSpec predicate = {.access = ACCESS_WRITE, .type = TYPE_PRED, .kinds = TAKES_PRED, .vector = 1};
    bool good = first->kind == OPERAND_VECTOR ? check_vector(v, index, first, spec)
                                              : check_scalar(v, index, first, spec->type, spec);
    return good && check_scalar(v, index, second, TYPE_PRED, &predicate);
}

static bool check_operand(Verifier *v, u32 index) {
    const Operand *operand = insn_operand(v->m, v->insn, index);
    const OperandSpec *spec = &v->form->specs[index];
    switch ((OperandKind)operand->kind) {
    case OPERAND_VECTOR: return check_vector(v, index, operand, spec);
    case OPERAND_PAIR: return check_pair(v, index, operand, spec);
    case OPERAND_ADDRESS: return check_address(v, index, operand);
    case OPERAND_GROUP: return operand->flags & OPERAND_PAREN || check_address(v, index, operand);
    default: break;
    }
    if (spec->access == ACCESS_TARGET) return check_target(v, index, operand, spec);
    return check_scalar(v, index, operand, spec->type, spec);
}

// ---- instructions

static bool check_versions(Verifier *v) {
    const OpInfo *op = form_op(v->form);
    if (op->isa > v->m->version) {
        return fail_at(v, v->insn->line, "'%.100s' needs .version %u.%u", mnemonic(v), op->isa / 10, op->isa % 10);
    }
    if (op->sm > v->m->target_sm) return fail_at(v, v->insn->line, "'%.100s' needs .target sm_%u", mnemonic(v), op->sm);
    return true;
}

static bool check_rounding(Verifier *v) {
    u8 to = v->form->types[0], from = v->form->types[1];
    bool to_int = !is_float(to), from_int = !is_float(from);
    bool narrows = !to_int && !from_int && ptx_types[to].bits < ptx_types[from].bits;
    if (v->form->mods[MOD_RND] || (to_int == from_int && !narrows)) return true;
    return fail_at(v, v->insn->line, "'%.100s' needs a rounding modifier", mnemonic(v));
}

static u32 group_count(const Verifier *v, u8 access) {
    for (u32 i = 0; i < v->insn->operands; i++) {
        const Operand *operand = insn_operand(v->m, v->insn, i);
        if (operand->kind == OPERAND_GROUP && v->form->specs[i].access == access) return operand->count;
    }
    return 0;
}

static bool check_call(Verifier *v) {
    for (u32 i = 0; i < v->insn->operands; i++) {
        const Operand *operand = insn_operand(v->m, v->insn, i);
        if (operand->kind != OPERAND_FUNC) continue;
        const Function *callee = &v->m->funcs[operand->ref];
        u32 results = group_count(v, ACCESS_WRITE), arguments = group_count(v, ACCESS_READ);
        if (results == callee->return_count && arguments == callee->param_count) return true;
        return fail_at(v, v->insn->line, "'%.100s' takes %u arguments and gives %u results, not %u and %u",
                       module_text(v->m, callee->name), callee->param_count, callee->return_count, arguments, results);
    }
    return true;
}

static bool check_particular(Verifier *v) {
    switch (v->form->op) {
    case OP_CVT_F: return check_rounding(v);
    case OP_CALL: return check_call(v);
    default: return true;
    }
}

static void check_insn(Verifier *v, const Insn *insn) {
    v->insn = insn;
    v->form = insn_form(v->m, insn);
    if (insn->guard != WL_NONE && v->m->regs[insn->guard].type != TYPE_PRED) {
        fail_at(v, insn->line, "the guard of '%.100s' is not a predicate", mnemonic(v));
    }
    if (!check_versions(v)) return;
    for (u32 i = 0; i < insn->operands; i++) {
        if (!check_operand(v, i)) return;
    }
    check_particular(v);
}

// ---- labels, variables, module

static void check_label(Verifier *v, const Label *label) {
    for (u32 i = 0; label->kind == LABEL_BRANCH_TARGETS && i < label->target_count; i++) {
        const Label *target = &v->m->labels[v->m->refs[label->targets + i]];
        if (target->kind != LABEL_CODE)
            fail_at(v, label->line, "'%.100s' lists something that is not a place", module_text(v->m, label->name));
    }
}

static void check_var(Verifier *v, const Var *var) {
    const char *name = module_text(v->m, var->name);
    bool can_start = var->space == SPACE_GLOBAL || var->space == SPACE_CONST;
    if (var->init_size && !can_start)
        fail_at(v, var->line, "'%.100s' cannot have an initial value: it is not .global or .const", name);
    bool dynamic = var->space == SPACE_SHARED && var->linkage == LINKAGE_EXTERN;
    if (var->unsized && var->space == SPACE_LOCAL && !dynamic) fail_at(v, var->line, "'%.100s' has no size", name);
    for (u32 i = 0; i < var->reloc_count; i++) {
        const VarReloc *reloc = &v->m->relocs[var->reloc + i];
        u32 least = v->m->address_size / 8;
        if (reloc->size != 1 && reloc->size < least)
            fail_at(v, var->line, "an address does not fit in the elements of '%.100s'", name);
    }
}

static void check_head(Verifier *v) {
    const Module *m = v->m;
    if (m->version < 10 || m->version > 90) {
        diag_text(v->diag, DIAG_WARNING, m->path, 0, 0, "PTX version %u.%u is newer than what is known",
                  m->version / 10, m->version % 10);
    }
    if (m->target == WL_NONE) fail_at(v, 0, "no .target");
}

Status ptx_verify(const Module *module, Diag *diag) {
    Verifier verifier = {.m = module, .diag = diag}, *v = &verifier;
    check_head(v);
    for (u32 i = 0; i < module->label_count; i++) check_label(v, &module->labels[i]);
    for (u32 i = 0; i < module->var_count; i++) check_var(v, &module->vars[i]);
    for (u32 i = 0; i < module->insn_count && v->errors < MAX_REPORTS; i++) check_insn(v, &module->insns[i]);
    return v->errors ? STATUS_INVALID : STATUS_OK;
}
