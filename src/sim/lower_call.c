// SPDX-License-Identifier: Apache-2.0
// Calls: who is called, and which bytes go where. Parameters of a frame come first, results before arguments, in the
// order of the prototype, so that a call through a pointer knows the places without knowing the callee.
#include <string.h>

#include "sim/builtin.h"
#include "sim/lower.h"

static const Operand *group_element(const Lower *lo, const Operand *group, u32 i) {
    return &lo->m->operands[group->ref + i];
}

// Adds the arguments (or results) of one parenthesised list against the variables `vars` of the prototype.
static void add_args(Lower *lo, const Operand *group, u32 vars, u32 var_count, const u32 *offsets) {
    for (u32 i = 0; i < group->count; i++) {
        const Operand *o = group_element(lo, group, i);
        const Var *formal = i < var_count ? &lo->m->vars[vars + i] : NULL;
        SimArg arg = {.callee = formal ? offsets[vars + i] : 0};
        u32 bits;
        if (o->kind == OPERAND_VAR) {
            const Var *actual = &lo->m->vars[o->ref];
            arg.caller = lo->var_offset[o->ref];
            arg.size = (u32)(formal ? formal->size : actual->size);
        } else {
            arg.is_reg = true;
            arg.caller = lower_source(lo, o, formal ? formal->type : TYPE_B32, &bits);
            arg.size = formal ? (u32)formal->size : bits / 8;
        }
        if (vec_push(&lo->args, arg) != STATUS_OK) lo->status = STATUS_NO_MEMORY;
    }
}

static FuncRef prototype_of(const Lower *lo, const Operand *o) {
    if (!o || o->kind != OPERAND_LABEL) return WL_NONE;
    const Label *label = &lo->m->labels[o->ref];
    if (label->kind == LABEL_PROTOTYPE) return label->proto;
    if (label->kind == LABEL_CALL_TARGETS && label->target_count) return lo->m->refs[label->targets];
    return WL_NONE;
}

typedef struct CallOperands {
    const Operand *results, *callee, *args, *prototype;
} CallOperands;

static CallOperands call_operands(const Lower *lo) {
    CallOperands c = {0};
    for (u32 i = 0; i < lo->insn->operands; i++) {
        const Operand *o = insn_operand(lo->m, lo->insn, i);
        if (o->kind == OPERAND_GROUP && !c.callee)
            c.results = o;
        else if (o->kind == OPERAND_GROUP)
            c.args = o;
        else if (!c.callee)
            c.callee = o;
        else
            c.prototype = o;
    }
    return c;
}

bool lower_call(Lower *lo, SimInsn *in) {
    const Module *m = lo->m;
    CallOperands c = call_operands(lo);
    SimCall call = {0};
    FuncRef proto = prototype_of(lo, c.prototype);
    in->target = WL_NONE;
    if (c.callee->kind == OPERAND_FUNC) {
        FuncRef callee = c.callee->ref;
        const char *name = module_text(m, m->funcs[callee].name);
        if (!m->funcs[callee].has_body) {
            FuncRef body = module_find_function(m, (Str){name, strlen(name)});
            if (body != WL_NONE && m->funcs[body].has_body) callee = body;
        }
        proto = callee;
        if (!m->funcs[callee].has_body) {
            call.builtin = builtin_find(name) + 1;
            if (call.builtin == 0)
                return lower_refuse(lo, "calls a function that is not defined in this module"), false;
            lo->program->launches_graphs |= call.builtin == BUILTIN_GRAPH_LAUNCH + 1;
        } else {
            in->target = callee;  // replaced by the function's index when all are known
        }
    } else {
        u32 bits;
        in->src[0] = lower_source(lo, c.callee, TYPE_U64, &bits);
        lo->indirect = true;
        if (proto == WL_NONE) return lower_refuse(lo, "is an indirect call without a prototype"), false;
    }
    const Function *f = &m->funcs[proto];
    u32 *offsets = lo->formal_offset;
    param_layout(m, f, offsets);
    call.args = lo->args.len;
    if (c.args) add_args(lo, c.args, f->params, f->param_count, offsets);
    call.arg_count = lo->args.len - call.args;
    call.results = lo->args.len;
    if (c.results) add_args(lo, c.results, f->returns, f->return_count, offsets);
    call.result_count = lo->args.len - call.results;
    in->list = lo->calls.len;
    if (vec_push(&lo->calls, call) != STATUS_OK) lo->status = STATUS_NO_MEMORY;
    return true;
}
