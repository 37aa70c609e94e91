// SPDX-License-Identifier: Apache-2.0
// Names and scopes. Registers and variables are declared before they are used; labels and functions need not be, so
// operands that name something unknown wait (Pending) until their scope closes, then until the next one outward does.
#include <string.h>

#include "ptx/parse.h"

static u32 *head_of(Parser *p, u32 text) {
    if (text >= p->heads.len) {
        u32 old = p->heads.len, want = text + 1 - old;
        if (want < old) want = old;  // grow by doubling
        if (vec_reserve(&p->heads, want) != STATUS_OK) {
            parse_no_memory(p);
            return NULL;
        }
        memset(p->heads.data + old, 0, want * sizeof(u32));
        p->heads.len = old + want;
    }
    return &p->heads.data[text];
}

static bool ends_in_digit(Str name) { return name.len && lex_class[(u8)name.data[name.len - 1]] & LEX_DIGIT; }

// The binding of the same kind of name in the same scope, NULL when there is none.
static Binding *bound_here(Parser *p, u32 head, u8 kind) {
    for (u32 i = head; i; i = p->bindings.data[i - 1].outer) {
        Binding *old = &p->bindings.data[i - 1];
        if (old->depth != p->open.len) return NULL;
        if ((old->kind == BIND_RANGE) == (kind == BIND_RANGE)) return old;
    }
    return NULL;
}

// May `ref` be declared although `old` is? Functions and external variables may, until they are defined.
static bool redeclares(const Parser *p, const Binding *old, u8 kind, u32 ref) {
    if (kind != old->kind) return false;
    if (kind == BIND_FUNC) return !p->funcs.data[ref].has_body || !p->funcs.data[old->ref].has_body;
    if (kind != BIND_VAR) return false;
    return p->vars.data[ref].linkage == LINKAGE_EXTERN || p->vars.data[old->ref].linkage == LINKAGE_EXTERN;
}

static bool is_definition(const Parser *p, u8 kind, u32 ref) {
    return kind == BIND_FUNC ? p->funcs.data[ref].has_body : p->vars.data[ref].linkage != LINKAGE_EXTERN;
}

bool symbol_bind(Parser *p, const char *at, u8 kind, u32 text, u32 ref, u32 count) {
    u32 *head = head_of(p, text);
    if (!head) return false;
    Str name = intern_str(&p->m->texts, text);
    Binding *old = bound_here(p, *head, kind);
    if (old && redeclares(p, old, kind, ref)) {
        if (is_definition(p, kind, ref)) old->ref = ref;
        return true;
    }
    if (old) return parse_error(p, at, "'%.*s' is declared twice", (int)(name.len < 100 ? name.len : 100), name.data);
    if (kind != BIND_RANGE && ends_in_digit(name)) p->numbered_names[(u8)name.data[0]]++;
    Binding binding = {.kind = kind, .text = text, .ref = ref, .count = count, .depth = p->open.len, .outer = *head};
    if (!PUSH(p, &p->bindings, binding)) return false;
    *head = p->bindings.len;
    return true;
}

static void unbind(Parser *p, u32 keep) {
    while (p->bindings.len > keep) {
        const Binding *binding = &p->bindings.data[--p->bindings.len];
        p->heads.data[binding->text] = binding->outer;
        Str name = intern_str(&p->m->texts, binding->text);
        if (binding->kind != BIND_RANGE && ends_in_digit(name)) p->numbered_names[(u8)name.data[0]]--;
    }
}

// Splits "%r12" into its prefix and 12. False when it is not of this form.
static bool split_number(Str name, Str *prefix, u32 *number) {
    size_t len = name.len;
    while (len > 1 && lex_class[(u8)name.data[len - 1]] & LEX_DIGIT) len--;
    size_t count = name.len - len;
    if (count == 0 || count > 9 || (count > 1 && name.data[len] == '0')) return false;
    *prefix = (Str){name.data, len};
    *number = 0;
    for (size_t i = len; i < name.len; i++) *number = *number * 10 + (u32)(name.data[i] - '0');
    return true;
}

static u32 prefix_text(Parser *p, Str prefix) {
    if (prefix.len >= 8) return intern_find(&p->m->texts, prefix);
    u64 key = 0;
    memcpy(&key, prefix.data, 8);  // the text is padded
    key &= (1ull << prefix.len * 8) - 1;
    PrefixSlot *slot = &p->prefixes[(key * 0x9e3779b97f4a7c15ull) >> 58];
    if (slot->key == key) return slot->text;
    u32 text = intern_find(&p->m->texts, prefix);
    if (text != WL_NONE) *slot = (PrefixSlot){key, text};
    return text;
}

static const Binding *find_binding(const Parser *p, u32 text, bool range, u32 number) {
    if (text >= p->heads.len) return NULL;
    for (u32 i = p->heads.data[text]; i; i = p->bindings.data[i - 1].outer) {
        const Binding *binding = &p->bindings.data[i - 1];
        if (range ? binding->kind == BIND_RANGE && number < binding->count : binding->kind != BIND_RANGE)
            return binding;
    }
    return NULL;
}

Binding symbol_find(Parser *p, Str name, u32 *number) {
    Str prefix;
    const Binding *ranged = NULL, *plain = NULL;
    if (split_number(name, &prefix, number)) ranged = find_binding(p, prefix_text(p, prefix), true, *number);
    if (!ranged || p->numbered_names[(u8)name.data[0]])
        plain = find_binding(p, intern_find(&p->m->texts, name), false, 0);
    if (plain && (!ranged || plain->depth > ranged->depth)) return *plain;
    return ranged ? *ranged : (Binding){0};
}

bool symbol_pend(Parser *p, Str name, u8 kind, u32 at) {
    Pending pending = {.at = at, .line = p->lex.line, .kind = kind};
    pending.column = name.data >= p->lex.line_start ? lex_column(&p->lex, name.data) : 0;
    return parse_intern(p, name, &pending.text) && PUSH(p, &p->pendings, pending);
}

// ---- scopes

bool scope_open(Parser *p) {
    if (p->open.len >= MAX_DEPTH) return parse_error(p, p->lex.at, "blocks are nested deeper than %d", MAX_DEPTH);
    Scope scope = {.parent = p->open.len ? p->open.data[p->open.len - 1].scope : WL_NONE,
                   .func = p->func,
                   .begin = parse_insn_index(p),
                   .order = p->order++};
    OpenScope open = {p->scopes.len, p->bindings.len, p->pendings.len, p->labels.len};
    return PUSH(p, &p->scopes, scope) && PUSH(p, &p->open, open);
}

static void resolve(Parser *p, const Pending *pending, u8 kind, u32 ref) {
    if (pending->kind == PENDING_LABEL_REF || pending->kind == PENDING_FUNC_REF) {
        p->refs.data[pending->at] = ref;
        return;
    }
    Operand *operand = &p->operands.data[pending->at];
    operand->ref = ref;
    if (operand->kind == OPERAND_ADDRESS)
        operand->base = kind;
    else
        operand->kind = kind;
}

// Makes label_of hold the labels of `scope`, or forget them.
static bool mark_labels(Parser *p, const OpenScope *open, bool mark) {
    for (u32 i = open->labels; i < p->labels.len; i++) {
        const Label *label = &p->labels.data[i];
        if (label->scope != open->scope) continue;
        while (p->label_of.len <= label->name) {
            if (!PUSH(p, &p->label_of, 0)) return false;
        }
        u32 *slot = &p->label_of.data[label->name];
        if (mark && *slot) {
            diag_text(p->diag, DIAG_ERROR, p->m->path, label->line, 0, "label '%.100s' is defined twice in this block",
                      module_text(p->m, label->name));
            p->errors++;
        }
        *slot = mark ? i + 1 : 0;
    }
    return true;
}

bool scope_close(Parser *p) {
    OpenScope open = p->open.data[p->open.len - 1];
    if (!mark_labels(p, &open, true)) return false;
    u32 kept = open.pendings;
    for (u32 i = open.pendings; i < p->pendings.len; i++) {
        Pending pending = p->pendings.data[i];
        if (pending.at == WL_NONE) continue;  // of an instruction that had an error
        bool may_be_label = pending.kind == PENDING_OPERAND || pending.kind == PENDING_LABEL_REF;
        u32 label = may_be_label && pending.text < p->label_of.len ? p->label_of.data[pending.text] : 0;
        if (label)
            resolve(p, &pending, OPERAND_LABEL, label - 1);
        else
            p->pendings.data[kept++] = pending;
    }
    p->pendings.len = kept;
    if (!mark_labels(p, &open, false)) return false;
    unbind(p, open.bindings);
    p->scopes.data[open.scope].end = parse_insn_index(p);
    p->scopes.data[open.scope].order_end = p->order++;
    p->open.len--;
    return true;
}

static bool pending_error(Parser *p, const Pending *pending) {
    diag_text(p->diag, DIAG_ERROR, p->m->path, pending->line, pending->column, "'%.100s' is not declared",
              module_text(p->m, pending->text));
    p->errors++;
    return p->errors <= MAX_ERRORS;
}

static bool resolve_global(Parser *p, const Pending *pending) {
    const Binding *binding = find_binding(p, pending->text, false, 0);
    bool is_func = binding && binding->kind == BIND_FUNC;
    bool fits = is_func ? pending->kind != PENDING_LABEL_REF
                        : binding && binding->kind == BIND_VAR &&
                              (pending->kind == PENDING_OPERAND || pending->kind == PENDING_RELOC);
    if (!fits) return pending_error(p, pending);
    if (p->errors) return true;  // the module is not kept, and what was to be resolved may be missing
    if (pending->kind == PENDING_RELOC) {
        p->relocs.data[pending->at].target = binding->ref;
        p->relocs.data[pending->at].is_func = is_func;
    } else {
        resolve(p, pending, is_func ? OPERAND_FUNC : OPERAND_VAR, binding->ref);
    }
    return true;
}

// The definition that a declaration stands for, else the function itself.
static u32 definition(const Parser *p, u32 func) {
    const Binding *binding = func < p->funcs.len ? find_binding(p, p->funcs.data[func].name, false, 0) : NULL;
    return binding && binding->kind == BIND_FUNC ? binding->ref : func;
}

bool symbols_finish(Parser *p) {
    for (u32 i = 0; i < p->pendings.len; i++) {
        if (p->pendings.data[i].at != WL_NONE && !resolve_global(p, &p->pendings.data[i])) return false;
    }
    for (u32 i = 0; i < p->operands.len; i++) {
        Operand *operand = &p->operands.data[i];
        if (operand->kind == OPERAND_FUNC) operand->ref = definition(p, operand->ref);
    }
    for (u32 i = 0; i < p->relocs.len; i++) {
        VarReloc *reloc = &p->relocs.data[i];
        if (reloc->is_func) reloc->target = definition(p, reloc->target);
    }
    return true;
}
