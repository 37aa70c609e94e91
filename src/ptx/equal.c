// SPDX-License-Identifier: Apache-2.0
// module_equal: the same content, whatever the numbering of texts, forms and locs.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/ptx.h"

typedef struct Pair {
    const Module *a, *b;
    char *why;
    size_t why_size;
} Pair;

static bool differ(Pair *p, const char *format, ...) WL_PRINTF(2, 3);
static bool differ(Pair *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (p->why) vsnprintf(p->why, p->why_size, format, args);
    va_end(args);
    return false;
}

static bool same_text(const Pair *p, TextRef a, TextRef b) {
    if ((a == WL_NONE) != (b == WL_NONE)) return false;
    Str x = intern_str(&p->a->texts, a), y = intern_str(&p->b->texts, b);
    return x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
}

#define SAME(field) (x->field == y->field)
#define SAME_TEXT(field) same_text(p, x->field, y->field)

static bool same_reg(Pair *p, u32 i) {
    const Reg *x = &p->a->regs[i], *y = &p->b->regs[i];
    return SAME_TEXT(prefix) && SAME(number) && SAME(scope) && SAME(type) && SAME(vector);
}

static bool same_decl(Pair *p, u32 i) {
    const RegDecl *x = &p->a->reg_decls[i], *y = &p->b->reg_decls[i];
    return SAME(first) && SAME(count) && SAME_TEXT(prefix) && SAME(scope) && SAME(type) && SAME(vector) &&
           SAME(ranged) && SAME(insn);
}

static bool same_directive(Pair *p, u32 i) {
    const Directive *x = &p->a->directives[i], *y = &p->b->directives[i];
    if (!SAME_TEXT(name) || !SAME(value_count) || !SAME(insn) || !SAME(scope) || !SAME(is_text)) return false;
    for (u32 v = 0; v < x->value_count; v++) {
        u32 one = p->a->refs[x->values + v], other = p->b->refs[y->values + v];
        if (x->is_text ? !same_text(p, one, other) : one != other) return false;
    }
    return true;
}

static bool same_init(const Pair *p, const Var *x, const Var *y) {
    if (!SAME(init_size) || !SAME(reloc_count) || !SAME(dim_count)) return false;
    if (x->init_size && memcmp(p->a->init_bytes + x->init, p->b->init_bytes + y->init, x->init_size) != 0) return false;
    if (x->dim_count && memcmp(p->a->dims + x->dims, p->b->dims + y->dims, x->dim_count * sizeof(u32)) != 0)
        return false;
    for (u32 i = 0; i < x->reloc_count; i++) {
        const VarReloc *one = &p->a->relocs[x->reloc + i], *other = &p->b->relocs[y->reloc + i];
        if (one->offset != other->offset || one->size != other->size || one->shift != other->shift) return false;
        if (one->generic != other->generic || one->is_func != other->is_func) return false;
        if (one->target != other->target || one->addend != other->addend) return false;
    }
    return true;
}

static bool same_var(Pair *p, u32 i) {
    const Var *x = &p->a->vars[i], *y = &p->b->vars[i];
    return SAME_TEXT(name) && SAME(space) && SAME(type) && SAME(vector) && SAME(linkage) && SAME(align) && SAME(size) &&
           SAME(func) && SAME(scope) && SAME(ptr_space) && SAME(ptr_align) && SAME(managed) && SAME(unsized) &&
           SAME(reg) && SAME(insn) && SAME(attribute_count) && same_init(p, x, y);
}

static bool same_label(Pair *p, u32 i) {
    const Label *x = &p->a->labels[i], *y = &p->b->labels[i];
    if (!SAME_TEXT(name) || !SAME(func) || !SAME(insn) || !SAME(scope) || !SAME(kind) || !SAME(proto)) return false;
    if (!SAME(target_count)) return false;
    for (u32 t = 0; t < x->target_count; t++) {
        if (p->a->refs[x->targets + t] != p->b->refs[y->targets + t]) return false;
    }
    return true;
}

static bool same_scope(Pair *p, u32 i) {
    const Scope *x = &p->a->scopes[i], *y = &p->b->scopes[i];
    return SAME(parent) && SAME(func) && SAME(begin) && SAME(end);
}

static bool same_func(Pair *p, u32 i) {
    const Function *x = &p->a->funcs[i], *y = &p->b->funcs[i];
    return SAME_TEXT(name) && SAME(is_entry) && SAME(has_body) && SAME(is_prototype) && SAME(linkage) &&
           SAME(return_count) && SAME(param_count) && SAME(reg_count) && SAME(reg_decl_count) && SAME(var_count) &&
           SAME(insn_count) && SAME(label_count) && SAME(scope_count) && SAME(directive_count) && SAME(min_ctas) &&
           SAME(max_regs) && SAME(noreturn) && memcmp(x->max_threads, y->max_threads, sizeof x->max_threads) == 0 &&
           memcmp(x->required_threads, y->required_threads, sizeof x->required_threads) == 0;
}

static bool same_section(Pair *p, u32 i) {
    const Section *x = &p->a->sections[i], *y = &p->b->sections[i];
    return SAME_TEXT(name) && SAME_TEXT(body);
}

static bool same_file(Pair *p, u32 i) {
    const File *x = &p->a->files[i], *y = &p->b->files[i];
    return SAME(index) && SAME_TEXT(path) && SAME(timestamp) && SAME(size) && SAME(has_timestamp);
}

static bool same_loc(const Pair *p, LocRef one, LocRef other) {
    for (;;) {
        if (!one || !other) return one == other;
        const Loc *x = &p->a->locs[one], *y = &p->b->locs[other];
        if (!SAME(file) || !SAME(line) || !SAME(column) || !SAME(function_offset)) return false;
        if (!SAME_TEXT(function) || !SAME_TEXT(function_label)) return false;
        one = x->inlined_at;
        other = y->inlined_at;
    }
}

static bool has_elements(const Operand *x) {
    return x->kind == OPERAND_VECTOR || x->kind == OPERAND_GROUP || x->kind == OPERAND_PAIR;
}

static bool same_operand(const Pair *p, const Operand *x, const Operand *y, u32 depth) {
    if (!SAME(kind) || !SAME(flags) || !SAME(base) || !SAME(component)) return false;
    if (!has_elements(x)) return SAME(ref) && SAME(value);
    if (!SAME(count) || depth > 4) return false;
    for (u32 i = 0; i < x->count; i++) {
        if (!same_operand(p, &p->a->operands[x->ref + i], &p->b->operands[y->ref + i], depth + 1)) return false;
    }
    return true;
}

static bool same_insn(Pair *p, u32 i) {
    const Insn *x = &p->a->insns[i], *y = &p->b->insns[i];
    if (!SAME(operands) || !SAME(guard) || !SAME(guard_negated) || !same_loc(p, x->loc, y->loc)) return false;
    const Form *f = &p->a->forms[x->form], *g = &p->b->forms[y->form];
    if (f->op != g->op || !same_text(p, f->text, g->text)) return false;
    for (u32 o = 0; o < x->operands; o++) {
        if (!same_operand(p, insn_operand(p->a, x, o), insn_operand(p->b, y, o), 0)) return false;
    }
    return true;
}

static bool same_head(Pair *p) {
    const Module *x = p->a, *y = p->b;
    return SAME(version) && SAME_TEXT(target) && SAME_TEXT(target_options) && SAME(address_size);
}

typedef bool (*SameAt)(Pair *p, u32 i);

static bool same_all(Pair *p, const char *what, u32 count, u32 other_count, SameAt same) {
    if (count != other_count) return differ(p, "%u %s, %u in the other", count, what, other_count);
    for (u32 i = 0; i < count; i++) {
        if (!same(p, i)) return differ(p, "%s %u", what, i);
    }
    return true;
}

static bool same_insns(Pair *p) {
    for (u32 i = 0; i < p->a->insn_count && i < p->b->insn_count; i++) {
        if (!same_insn(p, i))
            return differ(p, "instruction at line %u, line %u in the other", p->a->insns[i].line, p->b->insns[i].line);
    }
    return p->a->insn_count == p->b->insn_count || differ(p, "number of instructions");
}

bool module_equal(const Module *a, const Module *b, char *why, size_t why_size) {
    Pair pair = {a, b, why, why_size}, *p = &pair;
    if (!same_head(p)) return differ(p, "version, target or address size");
    return same_all(p, "functions", a->func_count, b->func_count, same_func) &&
           same_all(p, "registers", a->reg_count, b->reg_count, same_reg) &&
           same_all(p, "register declarations", a->reg_decl_count, b->reg_decl_count, same_decl) &&
           same_all(p, "variables", a->var_count, b->var_count, same_var) &&
           same_all(p, "directives", a->directive_count, b->directive_count, same_directive) &&
           same_all(p, "labels", a->label_count, b->label_count, same_label) &&
           same_all(p, "scopes", a->scope_count, b->scope_count, same_scope) &&
           same_all(p, "sections", a->section_count, b->section_count, same_section) &&
           same_all(p, "files", a->file_count, b->file_count, same_file) && same_insns(p);
}
