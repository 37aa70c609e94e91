// SPDX-License-Identifier: Apache-2.0
// Instructions: [@[!]p] mnemonic operands ;
#include <string.h>

#include "ptx/parse.h"

static u32 shape_of(const Operand *operand) {
    switch (operand->kind) {
    case OPERAND_VECTOR: return SHAPE_VECTOR;
    case OPERAND_ADDRESS: return SHAPE_ADDRESS;
    case OPERAND_GROUP: return operand->flags & OPERAND_PAREN ? SHAPE_GROUP : SHAPE_ADDRESS;
    case OPERAND_PAIR: return SHAPE_PAIR;
    case OPERAND_SINK: return SHAPE_SINK;
    default: return SHAPE_SCALAR;
    }
}

static int short_len(Str text) { return (int)(text.len < 100 ? text.len : 100); }

static bool form_error(Parser *p, FormProblem problem, Str mnemonic, Str where, const Form *form, u32 count) {
    int len = short_len(mnemonic);
    switch (problem) {
    case FORM_UNKNOWN_OP: return parse_error(p, mnemonic.data, "unknown instruction '%.*s'", len, mnemonic.data);
    case FORM_UNKNOWN_MOD:
        return parse_error(p, where.data, "'%.*s' does not fit here in '%.*s'", short_len(where), where.data, len,
                           mnemonic.data);
    case FORM_MISSING_MOD: return parse_error(p, mnemonic.data, "'%.*s' lacks a type or modifier", len, mnemonic.data);
    default: break;
    }
    u32 least, most;
    form_operand_range(form, &least, &most);
    if (count >= least && count <= most) {
        return parse_error(p, mnemonic.data, "the kinds of operands do not fit '%.*s'", len, mnemonic.data);
    }
    if (least == most) {
        return parse_error(p, mnemonic.data, "'%.*s' takes %u operands, not %u", len, mnemonic.data, least, count);
    }
    return parse_error(p, mnemonic.data, "'%.*s' takes %u to %u operands, not %u", len, mnemonic.data, least, most,
                       count);
}

static bool find_form(Parser *p, Str mnemonic, u32 shapes, u32 count, u32 *form) {
    u64 slot;
    *form = form_cache_find(&p->cache, p->forms.data, &p->m->texts, mnemonic, shapes, &slot);
    if (*form != WL_NONE) return true;
    Form fresh;
    Str where;
    FormProblem problem = form_decode(mnemonic, shapes, &fresh, &where);
    if (problem != FORM_OK) return form_error(p, problem, mnemonic, where, &fresh, count);
    *form = p->forms.len;
    if (!parse_intern(p, mnemonic, &fresh.text) || !PUSH(p, &p->forms, fresh)) return false;
    Status status = form_cache_add(&p->cache, slot, *form, shapes);
    return status == STATUS_OK || parse_no_memory(p);
}

// Operands up to ';' onto the scratch stack.
static bool parse_operands(Parser *p, bool call, u32 *shapes, u32 *count) {
    for (*count = 0;; ++*count) {
        lex_skip(&p->lex);
        if (*count == FORM_MAX_OPERANDS) return parse_error(p, p->lex.at, "more than %d operands", FORM_MAX_OPERANDS);
        Operand operand;
        if (!parse_operand(p, call, &operand) || !PUSH(p, &p->scratch, operand)) return false;
        *shapes |= shape_of(&operand) << (*count * SHAPE_BITS);
        if (*p->lex.at == ';') break;
        if (!parse_accept(p, ',')) return parse_expected(p, "',' or ';'");
    }
    ++*count;
    return true;
}

// ptxas takes braces around the one value of a load or store without .v2, .v4: {%r1} is %r1.
static void unwrap_single(const Parser *p, const Form *form, Operand *operands, u32 count) {
    for (u32 i = 0; i < count && i < form->spec_count; i++) {
        if (operands[i].kind != OPERAND_VECTOR || operands[i].count != 1 || form->specs[i].vector != 1) continue;
        const Operand *element = &p->operands.data[operands[i].ref];
        bool plain = element->kind == OPERAND_REG || element->kind == OPERAND_INT || element->kind == OPERAND_F32 ||
                     element->kind == OPERAND_F64;
        if (plain) operands[i] = *element;
    }
}

static bool is_call(Str mnemonic) {
    return mnemonic.len >= 4 && memcmp(mnemonic.data, "call", 4) == 0 && (mnemonic.len == 4 || mnemonic.data[4] == '.');
}

static bool parse_mnemonic(Parser *p, u32 guard, bool negated) {
    u32 line = p->lex.line, from = p->scratch.len, shapes = 0, count = 0, form, first;
    Str mnemonic = lex_mnemonic(&p->lex);
    if (!mnemonic.len) return parse_error(p, p->lex.at, "expected an instruction");
    lex_skip(&p->lex);
    if (*p->lex.at != ';' && !parse_operands(p, is_call(mnemonic), &shapes, &count)) return false;
    if (!find_form(p, mnemonic, shapes, count, &form) || !parse_expect(p, ';')) return false;
    unwrap_single(p, &p->forms.data[form], p->scratch.data + from, count);
    if (!parse_flush_operands(p, from, &first)) return false;
    Insn insn = {.form = form,
                 .operand = first,
                 .guard = guard,
                 .loc = p->loc,
                 .line = line,
                 .operands = (u8)count,
                 .guard_negated = negated};
    return PUSH(p, &p->insns, insn);
}

static bool parse_guard(Parser *p, u32 *guard, bool *negated) {
    const char *at = ++p->lex.at;
    lex_skip(&p->lex);
    *negated = parse_accept(p, '!');
    Str name;
    u32 number;
    if (!parse_name(p, "a predicate register", &name)) return false;
    Binding binding = symbol_find(p, name, &number);
    if (binding.kind != BIND_REG && binding.kind != BIND_RANGE)
        return parse_error(p, at, "expected a predicate register");
    *guard = binding.ref + (binding.kind == BIND_RANGE ? number : 0);
    return true;
}

bool parse_insn(Parser *p) {
    u32 guard = WL_NONE;
    bool negated = false;
    if (*p->lex.at == '@' && !parse_guard(p, &guard, &negated)) return false;
    return parse_mnemonic(p, guard, negated);
}
