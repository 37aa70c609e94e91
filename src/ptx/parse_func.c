// SPDX-License-Identifier: Apache-2.0
// Functions: headers, the directives behind them, bodies.
#include <string.h>

#include "ptx/parse.h"

// ---- headers

// ( a, b ): the variables go to `vars` as long as they are unbound; the opening parenthesis was taken.
static bool parse_parameters(Parser *p, FuncRef func, u32 *count) {
    *count = 0;
    if (parse_accept(p, ')')) return true;
    do {
        Var var;
        bool named;
        if (!parse_parameter(p, &var, &named)) return false;
        var.func = func;
        ++*count;
        if (!PUSH(p, &p->vars, var)) return false;
    } while (parse_accept(p, ','));
    return parse_expect(p, ')');
}

// Makes the parameters visible in the body; those in registers become registers.
static bool bind_parameters(Parser *p, u32 first, u32 count) {
    u32 scope = p->open.data[p->open.len - 1].scope;
    u32 anonymous = intern_find(&p->m->texts, STR("_"));
    for (u32 i = first; i < first + count; i++) {
        Var *var = &p->vars.data[i];
        var->scope = scope;
        if (var->name == anonymous) continue;
        u8 kind = BIND_VAR;
        u32 ref = i;
        if (var->space == SPACE_REG) {
            kind = BIND_REG;
            ref = var->reg = p->regs.len;
            Reg reg = {
                .prefix = var->name, .number = WL_NONE, .scope = scope, .type = var->type, .vector = var->vector};
            if (!PUSH(p, &p->regs, reg)) return false;
        }
        if (!symbol_bind(p, p->lex.at, kind, var->name, ref, 0)) return false;
    }
    return true;
}

static bool set_threads(const Parser *p, const Directive *directive, u32 *threads) {
    for (u32 i = 0; i < 3; i++) threads[i] = i < directive->value_count ? p->refs.data[directive->values + i] : 1;
    return directive->value_count >= 1 && directive->value_count <= 3;
}

typedef enum HeaderKind { HEADER_FLAG, HEADER_COUNT, HEADER_SIZES, HEADER_PRAGMA } HeaderKind;

static const struct {
    const char *text;
    u8 kind;  // HeaderKind: no value, one, up to three, a string
} headers[] = {
    {".maxntid", HEADER_SIZES},
    {".reqntid", HEADER_SIZES},
    {".minnctapersm", HEADER_COUNT},
    {".maxnctapersm", HEADER_COUNT},
    {".maxnreg", HEADER_COUNT},
    {".noreturn", HEADER_FLAG},
    {".pragma", HEADER_PRAGMA},
    {".explicitcluster", HEADER_FLAG},
    {".reqnctapercluster", HEADER_SIZES},
    {".maxclusterrank", HEADER_COUNT},
    {".blocksareclusters", HEADER_FLAG},
    {".abi_preserve", HEADER_COUNT},
    {".abi_preserve_control", HEADER_COUNT},
};

static void apply_directive(const Parser *p, Str word, const Directive *directive, Function *func) {
    u32 value = directive->value_count ? p->refs.data[directive->values] : 0;
    if (parse_is(word, ".maxntid")) set_threads(p, directive, func->max_threads);
    if (parse_is(word, ".reqntid")) set_threads(p, directive, func->required_threads);
    if (parse_is(word, ".reqnctapercluster")) set_threads(p, directive, func->required_cluster);
    if (parse_is(word, ".maxclusterrank")) func->max_cluster = value;
    if (parse_is(word, ".explicitcluster")) func->explicit_cluster = true;
    if (parse_is(word, ".minnctapersm")) func->min_ctas = value;
    if (parse_is(word, ".maxnreg")) func->max_regs = value;
    if (parse_is(word, ".noreturn")) func->noreturn = true;
}

static bool parse_header_attributes(Parser *p) {
    u32 first, count;
    if (!parse_attributes(p, &first, &count)) return false;
    for (u32 i = first; i < first + count; i++) {
        if (!PUSH(p, &p->func_directives, p->directives.data[i])) return false;
    }
    p->directives.len = first;
    return true;
}

static bool parse_header_directive(Parser *p, Str word, Function *func) {
    if (parse_is(word, ".attribute")) return parse_header_attributes(p);
    u32 found = 0;
    while (found < WL_COUNT(headers) && !parse_is(word, headers[found].text)) found++;
    if (found == WL_COUNT(headers)) {
        return parse_error(p, word.data, "'%.*s' is not known here", (int)(word.len < 60 ? word.len : 60), word.data);
    }
    Directive directive;
    if (!parse_directive_values(p, (Str){word.data + 1, word.len - 1}, &directive)) return false;
    u32 count = directive.value_count;
    bool fits[] = {[HEADER_FLAG] = count == 0,
                   [HEADER_COUNT] = count == 1,
                   [HEADER_SIZES] = count >= 1 && count <= 3,
                   [HEADER_PRAGMA] = count >= 1 && directive.is_text};
    if (!fits[headers[found].kind] || (directive.is_text && headers[found].kind != HEADER_PRAGMA)) {
        return parse_error(p, word.data, "wrong values for '%.*s'", (int)word.len, word.data);
    }
    apply_directive(p, word, &directive, func);
    if (headers[found].kind == HEADER_PRAGMA && !parse_expect(p, ';')) return false;
    return PUSH(p, &p->func_directives, directive);
}

static bool parse_header_directives(Parser *p, Function *func) {
    for (;;) {
        lex_skip(&p->lex);
        Str word = lex_dotted(&p->lex);
        if (!word.len) return true;
        if (!parse_header_directive(p, word, func)) return false;
    }
}

// [.attribute(..)] [(results)] name [(parameters)] directives
static bool parse_header(Parser *p, bool is_entry, u8 linkage, Function *func, Str *name) {
    FuncRef ref = p->funcs.len;
    *func = (Function){.is_entry = is_entry,
                       .linkage = linkage,
                       .returns = p->vars.len,
                       .params = p->vars.len,
                       .line = p->lex.line,
                       .order = p->order++};
    p->func_directives.len = 0;
    lex_skip(&p->lex);
    while (*p->lex.at == '.') {  // .attribute and .noreturn may stand here too
        Str word = lex_dotted(&p->lex);
        if (!word.len) return parse_error(p, p->lex.at, "expected a function name");
        if (!parse_header_directive(p, word, func)) return false;
        lex_skip(&p->lex);
    }
    if (!is_entry && parse_accept(p, '(') && !parse_parameters(p, ref, &func->return_count)) return false;
    if (!parse_name(p, "a function name", name) || !parse_intern(p, *name, &func->name)) return false;
    func->params = p->vars.len;
    if (parse_accept(p, '(') && !parse_parameters(p, ref, &func->param_count)) return false;
    return parse_header_directives(p, func);
}

// ---- bodies

static bool parse_target_list(Parser *p, u8 kind, Label *label) {
    u8 pending = kind == LABEL_BRANCH_TARGETS ? PENDING_LABEL_REF : PENDING_FUNC_REF;
    label->kind = kind;
    label->targets = p->refs.len;
    do {
        Str name;
        if (!parse_name(p, "a label or function", &name) || !symbol_pend(p, name, pending, p->refs.len)) return false;
        if (!PUSH(p, &p->refs, WL_NONE)) return false;
    } while (parse_accept(p, ','));
    label->target_count = p->refs.len - label->targets;
    return parse_expect(p, ';');
}

// .callprototype [(results)] _ [(parameters)] [.noreturn ...];
static bool parse_prototype(Parser *p, Label *label) {
    Function proto, *slot;
    u32 vars = p->vars.len, directives = p->func_directives.len;
    FuncRef ref = p->funcs.len;
    proto = (Function){.is_prototype = true, .line = p->lex.line};
    Str name;
    if (parse_accept(p, '(') && !parse_parameters(p, ref, &proto.return_count)) return false;
    // Any name stands for `_`.
    if (!parse_name(p, "_", &name) || !parse_intern(p, STR("_"), &proto.name)) return false;
    if (parse_accept(p, '(') && !parse_parameters(p, ref, &proto.param_count)) return false;
    if (!parse_header_directives(p, &proto) || !parse_expect(p, ';')) return false;
    // Its variables wait aside: those of the body must lie side by side.
    proto.returns = p->proto_vars.len;
    for (u32 i = vars; i < p->vars.len; i++) {
        if (!PUSH(p, &p->proto_vars, p->vars.data[i])) return false;
    }
    p->vars.len = vars;
    proto.directives = p->directives.len;
    proto.directive_count = p->func_directives.len - directives;
    for (u32 i = directives; i < p->func_directives.len; i++) {
        if (!PUSH(p, &p->directives, p->func_directives.data[i])) return false;
    }
    p->func_directives.len = directives;
    label->kind = LABEL_PROTOTYPE;
    label->proto = ref;
    if (!PUSH(p, &p->protos, ref) || !PUSH(p, &p->funcs, proto)) return false;
    slot = &p->funcs.data[ref];
    slot->insns = p->insns.len;
    return true;
}

static bool parse_label(Parser *p, Str name) {
    Label label = {
        .func = p->func, .insn = parse_insn_index(p), .proto = WL_NONE, .line = p->lex.line, .order = p->order++};
    label.scope = p->open.data[p->open.len - 1].scope;
    if (!parse_intern(p, name, &label.name)) return false;
    lex_skip(&p->lex);
    if (*p->lex.at == '.') {
        const char *at = p->lex.at;
        Str word = lex_dotted(&p->lex);
        if (parse_is(word, ".branchtargets")) {
            if (!parse_target_list(p, LABEL_BRANCH_TARGETS, &label)) return false;
        } else if (parse_is(word, ".calltargets")) {
            if (!parse_target_list(p, LABEL_CALL_TARGETS, &label)) return false;
        } else if (parse_is(word, ".callprototype")) {
            if (!parse_prototype(p, &label)) return false;
        } else {
            p->lex.at = at;  // another directive: the label stands alone
        }
    }
    return PUSH(p, &p->labels, label);
}

static bool parse_body_pragma(Parser *p) {
    Directive directive;
    if (!parse_directive_values(p, STR("pragma"), &directive)) return false;
    directive.insn = parse_insn_index(p);
    directive.order = p->order++;
    directive.scope = p->open.data[p->open.len - 1].scope;
    return PUSH(p, &p->func_directives, directive) && parse_expect(p, ';');
}

static bool parse_body_directive(Parser *p) {
    const char *at = p->lex.at;
    Str word = lex_dotted(&p->lex);
    u8 space;
    if (parse_is(word, ".loc")) return parse_loc(p);
    if (parse_is(word, ".reg")) return parse_reg_decl(p);
    if (parse_space(word, &space)) return parse_variables(p, space, LINKAGE_NONE);
    if (parse_is(word, ".pragma")) return parse_body_pragma(p);
    if (parse_is(word, ".file")) return parse_file(p);
    if (parse_is(word, ".extern")) {
        lex_skip(&p->lex);
        word = lex_dotted(&p->lex);
        if (parse_space(word, &space)) return parse_variables(p, space, LINKAGE_EXTERN);
    }
    return parse_error(p, at, "'%.*s' is not known here", (int)(word.len < 60 ? word.len : 60), at);
}

// A label, an instruction or a directive.
static bool parse_statement(Parser *p) {
    char c = *p->lex.at;
    if (c == '.') return parse_body_directive(p);
    if (lex_class[(u8)c] & LEX_FIRST) {
        Lexer before = p->lex;
        Str name = lex_name(&p->lex);
        while (*p->lex.at == ' ' || *p->lex.at == '\t') p->lex.at++;
        if (p->lex.at[0] == ':' && p->lex.at[1] != ':') {
            p->lex.at++;
            return parse_label(p, name);
        }
        p->lex = before;
    }
    return parse_insn(p);
}

// Up to the '}' of the outermost block. Every problem is reported and stepped over.
static bool parse_body(Parser *p, u32 depth) {
    while (p->open.len > depth) {
        lex_skip(&p->lex);
        if (p->lex.at >= p->lex.end) return parse_error(p, p->lex.at, "the file ends inside a function");
        bool good = true;
        Lexer before = p->lex;
        switch (*p->lex.at) {
        case '{': p->lex.at++, good = scope_open(p); break;
        case '}': p->lex.at++, good = scope_close(p); break;
        case ';': p->lex.at++; break;
        default:
            good = parse_statement(p);
            if (good) break;
            p->scratch.len = 0;
            p->lex = before;  // from the start of the statement, so that braces are counted from there
            lex_resync(&p->lex);
            good = true;
        }
        if (!good || p->status != STATUS_OK || p->errors > MAX_ERRORS) return false;
    }
    return true;
}

static bool flush_prototypes(Parser *p) {
    u32 base = p->vars.len;
    for (u32 i = 0; i < p->proto_vars.len; i++) {
        if (!PUSH(p, &p->vars, p->proto_vars.data[i])) return false;
    }
    for (u32 i = 0; i < p->protos.len; i++) {
        Function *proto = &p->funcs.data[p->protos.data[i]];
        proto->returns += base;
        proto->params = proto->returns + proto->return_count;
    }
    p->proto_vars.len = p->protos.len = 0;
    return true;
}

static bool flush_directives(Parser *p) {
    Function *func = &p->funcs.data[p->func];
    func->directives = p->directives.len;
    func->directive_count = p->func_directives.len;
    for (u32 i = 0; i < p->func_directives.len; i++) {
        if (!PUSH(p, &p->directives, p->func_directives.data[i])) return false;
    }
    p->func_directives.len = 0;
    return true;
}

static void begin_arrays(const Parser *p, Function *func) {
    func->regs = p->regs.len;
    func->reg_decls = p->reg_decls.len;
    func->vars = p->vars.len;
    func->insns = p->insns.len;
    func->labels = p->labels.len;
    func->scopes = p->scopes.len;
}

static void end_arrays(const Parser *p, Function *func) {
    func->reg_count = p->regs.len - func->regs;
    func->reg_decl_count = p->reg_decls.len - func->reg_decls;
    func->var_count = p->vars.len - func->vars;
    func->insn_count = p->insns.len - func->insns;
    func->label_count = p->labels.len - func->labels;
    func->scope_count = p->scopes.len - func->scopes;
}

static bool parse_definition(Parser *p, const Function *func) {
    u32 depth = p->open.len;
    p->loc = 0;
    if (!scope_open(p)) return false;
    if (!bind_parameters(p, func->returns, func->return_count) || !bind_parameters(p, func->params, func->param_count))
        return false;
    if (!parse_body(p, depth)) return false;
    end_arrays(p, &p->funcs.data[p->func]);
    return true;
}

bool parse_function(Parser *p, bool is_entry, u8 linkage) {
    Function func;
    Str name;
    if (!parse_header(p, is_entry, linkage, &func, &name)) return false;
    func.has_body = parse_accept(p, '{');
    if (!func.has_body && !parse_expect(p, ';')) return false;
    begin_arrays(p, &func);
    p->func = p->funcs.len;
    if (!PUSH(p, &p->funcs, func) || !symbol_bind(p, name.data, BIND_FUNC, func.name, p->func, 0)) return false;
    if (func.has_body && !parse_definition(p, &func)) return false;
    bool good = flush_prototypes(p) && flush_directives(p);
    p->func = WL_NONE;
    return good;
}
