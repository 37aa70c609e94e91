// SPDX-License-Identifier: Apache-2.0
// The frame of the parser: the module's directives, errors, and the hand-over of the arrays.
#include "ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool parse_error(Parser *p, const char *at, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    // `at` may lie on an earlier line: then the column is counted from that line's start.
    u32 line = p->lex.line;
    const char *start = p->lex.line_start;
    while (at < start) {
        line--;
        start--;
        while (start[-1] != '\n' && start[-1] != '\0') start--;
    }
    diag_text(p->diag, DIAG_ERROR, p->m->path, line, (u32)(at - start) + 1, "%s", text);
    p->errors++;
    return false;
}

bool parse_no_memory(Parser *p) {
    p->status = STATUS_NO_MEMORY;
    return false;
}

bool parse_accept(Parser *p, char c) {
    lex_skip(&p->lex);
    if (*p->lex.at != c || p->lex.at >= p->lex.end) return false;
    p->lex.at++;
    lex_skip(&p->lex);
    return true;
}

// What stands at `at`, for messages.
static void describe(const Parser *p, const char *at, char *text, size_t size) {
    if (at >= p->lex.end) {
        snprintf(text, size, "the end of the file");
        return;
    }
    int len = 0;
    while (len < 24 && at + len < p->lex.end && (u8)at[len] > ' ' && (u8)at[len] < 127 && !strchr(",;{}()[]", at[len]))
        len++;
    if (len)
        snprintf(text, size, "'%.*s'", len, at);
    else if ((u8)*at > ' ' && (u8)*at < 127)
        snprintf(text, size, "'%c'", *at);
    else
        snprintf(text, size, "byte 0x%02x", (u8)*at);
}

bool parse_expected(Parser *p, const char *what) {
    char found[40];
    describe(p, p->lex.at, found, sizeof found);
    return parse_error(p, p->lex.at, "expected %s before %s", what, found);
}

bool parse_expect(Parser *p, char c) { return parse_accept(p, c) || parse_expected(p, (char[]){'\'', c, '\'', 0}); }

bool parse_intern(Parser *p, Str text, u32 *id) {
    Status status = intern_add(&p->m->texts, text, id);
    if (status == STATUS_OK) return true;
    p->status = status;
    return false;
}

bool parse_name(Parser *p, const char *what, Str *name) {
    lex_skip(&p->lex);
    *name = lex_name(&p->lex);
    if (name->len) {
        lex_skip(&p->lex);
        return true;
    }
    return parse_expected(p, what);
}

bool parse_directive_values(Parser *p, Str name, Directive *directive) {
    *directive = (Directive){.values = p->refs.len, .insn = WL_NONE, .scope = WL_NONE};
    if (!parse_intern(p, name, &directive->name)) return false;
    for (;;) {
        lex_skip(&p->lex);
        u32 value = 0;
        if (*p->lex.at == '"') {
            const char *at = p->lex.at;
            Str text = lex_string(&p->lex);
            if (!text.data) return parse_error(p, at, "string without an end");
            if (!parse_intern(p, text, &value)) return false;
            directive->is_text = true;
        } else if (lex_class[(u8)*p->lex.at] & LEX_DIGIT) {
            if (!parse_u32(p, "a number", &value)) return false;
        } else {
            break;
        }
        if (!PUSH(p, &p->refs, value)) return false;
        if (!parse_accept(p, ',')) break;
    }
    directive->value_count = p->refs.len - directive->values;
    return true;
}

// ---- directives of the module

static bool parse_version(Parser *p) {
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    u32 parts[2] = {0};
    for (u32 i = 0; i < 2; i++) {
        if (!(lex_class[(u8)*p->lex.at] & LEX_DIGIT)) return parse_error(p, at, "expected a version such as 8.0");
        while (lex_class[(u8)*p->lex.at] & LEX_DIGIT && parts[i] < 1000)
            parts[i] = parts[i] * 10 + (u32)(*p->lex.at++ - '0');
        if (i == 0 && *p->lex.at++ != '.') return parse_error(p, at, "expected a version such as 8.0");
    }
    if (parts[0] > 99 || parts[1] > 9) return parse_error(p, at, "PTX version %u.%u is not known", parts[0], parts[1]);
    p->m->version = parts[0] * 10 + parts[1];
    return true;
}

static u32 target_number(Str target) {
    u32 number = 0;
    for (size_t i = 0; i < target.len && number < 1000; i++) {
        if (lex_class[(u8)target.data[i]] & LEX_DIGIT)
            number = number * 10 + (u32)(target.data[i] - '0');
        else if (number)
            break;
    }
    return number;
}

static bool parse_target(Parser *p) {
    Str first;
    if (!parse_name(p, "a target such as sm_75", &first)) return false;
    if (!parse_intern(p, first, &p->m->target)) return false;
    p->m->target_sm = target_number(first);
    char options[128] = "";
    while (parse_accept(p, ',')) {
        Str word;
        if (!parse_name(p, "a target option", &word)) return false;
        size_t len = strlen(options);
        if (len + word.len + 3 > sizeof options) return parse_error(p, word.data, "too many target options");
        snprintf(options + len, sizeof options - len, "%s%.*s", len ? ", " : "", (int)word.len, word.data);
    }
    if (!options[0]) return true;
    return parse_intern(p, (Str){options, strlen(options)}, &p->m->target_options);
}

static bool parse_address_size(Parser *p) {
    const char *at = p->lex.at;
    if (!parse_u32(p, "32 or 64", &p->m->address_size)) return false;
    if (p->m->address_size == 32 || p->m->address_size == 64) return true;
    return parse_error(p, at, "the address size is 32 or 64");
}

static bool add_global_directive(Parser *p, Directive directive) {
    directive.order = p->order++;
    return PUSH(p, &p->global_directives, p->directives.len) && PUSH(p, &p->directives, directive);
}

static bool parse_global_pragma(Parser *p, Str name) {
    Directive directive;
    return parse_directive_values(p, name, &directive) && add_global_directive(p, directive) && parse_expect(p, ';');
}

static bool parse_alias(Parser *p) {
    Directive directive = {.values = p->refs.len, .value_count = 2, .insn = WL_NONE, .scope = WL_NONE, .is_text = true};
    if (!parse_intern(p, STR("alias"), &directive.name)) return false;
    for (u32 i = 0; i < 2; i++) {
        Str name;
        u32 text;
        if (i && !parse_expect(p, ',')) return false;
        if (!parse_name(p, "a function name", &name) || !parse_intern(p, name, &text)) return false;
        if (!PUSH(p, &p->refs, text)) return false;
    }
    return add_global_directive(p, directive) && parse_expect(p, ';');
}

static const struct {
    const char *text;
    u8 linkage;
} linkages[] = {
    {".visible", LINKAGE_VISIBLE}, {".extern", LINKAGE_EXTERN}, {".weak", LINKAGE_WEAK}, {".common", LINKAGE_COMMON}};

static bool find_linkage(Str word, u8 *linkage) {
    for (u32 i = 0; i < WL_COUNT(linkages); i++) {
        if (!parse_is(word, linkages[i].text)) continue;
        *linkage = linkages[i].linkage;
        return true;
    }
    return false;
}

// A function or a variable: [linkage] .entry | .func | state space ...
static bool parse_declaration(Parser *p, Str word) {
    u8 linkage = LINKAGE_NONE, space;
    while (find_linkage(word, &linkage)) {
        lex_skip(&p->lex);
        word = lex_dotted(&p->lex);
    }
    if (parse_is(word, ".entry")) return parse_function(p, true, linkage);
    if (parse_is(word, ".func")) return parse_function(p, false, linkage);
    if (parse_space(word, &space) && space != SPACE_PARAM) return parse_variables(p, space, linkage);
    if (!word.len) return parse_error(p, p->lex.at, "expected a directive");
    return parse_error(p, word.data, "'%.*s' is not known here", (int)(word.len < 60 ? word.len : 60), word.data);
}

static bool parse_directive(Parser *p, Str word) {
    if (parse_is(word, ".version")) return parse_version(p);
    if (parse_is(word, ".target")) return parse_target(p);
    if (parse_is(word, ".address_size")) return parse_address_size(p);
    if (parse_is(word, ".file")) return parse_file(p);
    if (parse_is(word, ".loc")) return parse_loc(p);
    if (parse_is(word, ".section")) return parse_section(p);
    if (parse_is(word, ".pragma")) return parse_global_pragma(p, (Str){word.data + 1, word.len - 1});
    if (parse_is(word, ".alias")) return parse_alias(p);
    return parse_declaration(p, word);
}

static bool parse_item(Parser *p) {
    if (parse_accept(p, ';')) return true;
    if (p->lex.at[0] == '@' && p->lex.at[1] == '@') {  // DWARF lines of PTX 1.x: @@DWARF .byte ...
        while (*p->lex.at != '\n' && p->lex.at < p->lex.end) p->lex.at++;
        return true;
    }
    Str word = lex_dotted(&p->lex);
    if (word.len) return parse_directive(p, word);
    char found[40];
    describe(p, p->lex.at, found, sizeof found);
    return parse_error(p, p->lex.at, "expected a directive before %s", found);
}

static void parse_module(Parser *p) {
    for (;;) {
        lex_skip(&p->lex);
        if (p->lex.at >= p->lex.end || p->status != STATUS_OK || p->errors > MAX_ERRORS) return;
        Lexer before = p->lex;
        if (parse_item(p)) continue;
        p->func = WL_NONE;
        p->scratch.len = p->open.len = 0;
        p->lex = before;  // from the start of the item, so that braces are counted from there
        lex_resync_module(&p->lex);
    }
}

// ---- the arrays

// Moves a Vec to a pointer and a count of the module, without slack.
static void take(void **array, u32 *count, void *data, u32 len, size_t size) {
    *array = data;
    *count = len;
    if (!len) {
        mem_free(data);
        *array = NULL;
        return;
    }
    void *tight = mem_resize(data, len * size);
    if (tight) *array = tight;
}
#define TAKE(array, count, vec) \
    (take((void **)&m->array, &m->count, p->vec.data, p->vec.len, sizeof *p->vec.data), p->vec.data = NULL)

static void take_arrays(Parser *p) {
    Module *m = p->m;
    TAKE(forms, form_count, forms);
    TAKE(insns, insn_count, insns);
    TAKE(operands, operand_count, operands);
    TAKE(regs, reg_count, regs);
    TAKE(reg_decls, reg_decl_count, reg_decls);
    TAKE(vars, var_count, vars);
    TAKE(global_vars, global_var_count, global_vars);
    TAKE(global_directives, global_directive_count, global_directives);
    TAKE(funcs, func_count, funcs);
    TAKE(labels, label_count, labels);
    TAKE(scopes, scope_count, scopes);
    TAKE(locs, loc_count, locs);
    TAKE(files, file_count, files);
    TAKE(directives, directive_count, directives);
    TAKE(sections, section_count, sections);
    TAKE(relocs, reloc_count, relocs);
    TAKE(dims, dims_count, dims);
    TAKE(refs, refs_count, refs);
    TAKE(init_bytes, init_bytes_count, init_bytes);
}

static void free_scratch(Parser *p) {
    form_cache_free(&p->cache);
    vec_free(&p->bindings);
    vec_free(&p->heads);
    vec_free(&p->pendings);
    vec_free(&p->label_of);
    vec_free(&p->scratch);
    map_free(&p->loc_index);
    vec_free(&p->loc_keys);
    vec_free(&p->loc_next);
    vec_free(&p->open);
    vec_free(&p->func_directives);
    vec_free(&p->proto_vars);
    vec_free(&p->protos);
}

enum { PADDING = 32 };  // NULs behind the text, so that looking ahead needs no check

static Status parse_text(Parser *p, char *text, size_t len) {
    p->lex = (Lexer){.at = text, .end = text + len, .line_start = text, .line = 1};
    p->func = WL_NONE;
    if (!PUSH(p, &p->locs, (Loc){.function = WL_NONE, .function_label = WL_NONE}) || !PUSH(p, &p->loc_next, 0))
        return p->status;
    parse_module(p);
    if (p->status != STATUS_OK) return p->status;
    symbols_finish(p);
    debug_finish(p);
    if (p->status == STATUS_OK && !p->m->version && !p->errors)
        parse_error(p, p->lex.at, "no .version: this is not PTX");
    return p->status != STATUS_OK ? p->status : p->errors ? STATUS_INVALID : STATUS_OK;
}

Status ptx_parse(Str text, const char *path, Module **module, Diag *diag) {
    *module = NULL;
    const char *nul = text.len ? memchr(text.data, 0, text.len) : NULL;
    if (nul) text.len = (size_t)(nul - text.data);
    if (text.len > UINT32_MAX - PADDING) {
        diag_text(diag, DIAG_ERROR, path, 0, 0, "more than 4 GiB of PTX");
        return STATUS_LIMIT;
    }
    Parser *p = mem_zero(1, sizeof *p);
    Module *m = mem_zero(1, sizeof *m);
    char *copy = mem_alloc(text.len + PADDING + 1);
    Status status = STATUS_NO_MEMORY;
    if (p && m && copy) {
        copy[0] = '\0';  // lines before the first end here
        if (text.len) memcpy(copy + 1, text.data, text.len);
        memset(copy + 1 + text.len, 0, PADDING);
        *p = (Parser){.m = m, .diag = diag};
        m->path = mem_copy_str((Str){path ? path : "", path ? strlen(path) : 0});
        m->hash = hash_bytes(text.data, text.len);
        m->target = m->target_options = WL_NONE;
        m->address_size = 32;
        if (m->path) status = parse_text(p, copy + 1, text.len);
        take_arrays(p);
        free_scratch(p);
    }
    mem_free(copy);
    mem_free(p);
    if (status == STATUS_OK)
        *module = m;
    else
        module_free(m);
    return status;
}

Status ptx_load(Str text, const char *path, Module **module, Diag *diag) {
    TRY(ptx_parse(text, path, module, diag));
    Status status = ptx_verify(*module, diag);
    if (status == STATUS_OK) status = ptx_name_parameters(*module);
    if (status == STATUS_OK) return STATUS_OK;
    module_free(*module);
    *module = NULL;
    return status;
}
