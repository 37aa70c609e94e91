// SPDX-License-Identifier: Apache-2.0
#include "binary/link_scan.h"

#include <string.h>

const char *const decl_linkage_words[] = {"", ".visible ", ".extern ", ".weak ", ".common "};

enum { OPTIONS_MAX = 64 };

// ---- tokens ----

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

// Past blanks and comments; false at an open comment.
static bool skip_blanks(LinkLexer *lexer) {
    while (lexer->at < lexer->end) {
        const char *at = lexer->at;
        size_t left = (size_t)(lexer->end - at);
        if (*at == '\n') lexer->line++;
        if (*at == ' ' || (*at >= '\t' && *at <= '\r')) {
            lexer->at++;
        } else if (left > 1 && at[0] == '/' && at[1] == '/') {
            const char *stop = memchr(at, '\n', left);
            lexer->at = stop ? stop : lexer->end;
        } else if (left > 1 && at[0] == '/' && at[1] == '*') {
            const char *stop = memmem(at + 2, left - 2, "*/", 2);
            if (!stop) return false;
            for (; at < stop; at++) lexer->line += *at == '\n';
            lexer->at = stop + 2;
        } else {
            return true;
        }
    }
    return true;
}

static const char *word_end(const char *at, const char *end) {
    while (at < end && (is_letter(*at) || is_digit(*at))) at++;
    return at;
}

static const char *number_end(const char *at, const char *end) {
    bool exponent = !(end - at > 1 && at[0] == '0' && is_letter(at[1]));  // not 0x.., 0f.., 0d..
    for (const char *start = at; at < end; at++) {
        bool sign = exponent && (*at == '+' || *at == '-') && at > start && (at[-1] == 'e' || at[-1] == 'E');
        if (!is_letter(*at) && !is_digit(*at) && *at != '.' && !sign) break;
    }
    return at;
}

// .b32, .shared::cta, .2d
static const char *directive_end(const char *at, const char *end) {
    at = word_end(at + 1, end);
    while (end - at > 2 && at[0] == ':' && at[1] == ':' && is_letter(at[2])) at = word_end(at + 2, end);
    return at;
}

static const char *string_end(const char *at, const char *end) {
    for (at++; at < end && *at != '"' && *at != '\n'; at++)
        if (*at == '\\' && end - at > 1 && at[1] != '\n') at++;
    return at < end && *at == '"' ? at + 1 : NULL;
}

LinkToken link_next(LinkLexer *lexer) {
    bool open = !skip_blanks(lexer);
    LinkToken token = {LINK_END, {lexer->at, 0}, lexer->line};
    if (open) token.kind = LINK_BAD;
    if (open || lexer->at == lexer->end || !*lexer->at) return token;
    const char *at = lexer->at, *end = lexer->end, *stop = at + 1;
    bool more = end - at > 1;
    if (is_letter(*at) || (*at == '%' && more && (is_letter(at[1]) || is_digit(at[1])))) {
        token.kind = LINK_WORD;
        stop = word_end(at + 1, end);
    } else if (is_digit(*at)) {
        token.kind = LINK_NUMBER;
        stop = number_end(at, end);
    } else if (*at == '.' && more && (is_letter(at[1]) || is_digit(at[1]))) {
        token.kind = LINK_DIRECTIVE;
        stop = directive_end(at, end);
    } else if (*at == '"') {
        token.kind = LINK_STRING;
        stop = string_end(at, end);
        if (!stop) token.kind = LINK_BAD, stop = end;
    } else {
        token.kind = LINK_PUNCT;
    }
    token.text.len = (size_t)(stop - at);
    lexer->at = stop;
    return token;
}

LinkToken link_peek(const LinkLexer *lexer) {
    LinkLexer copy = *lexer;
    return link_next(&copy);
}

bool link_is(const LinkToken *token, const char *text) {
    size_t len = strlen(text);
    return token->text.len == len && memcmp(token->text.data, text, len) == 0;
}

u32 link_number(const LinkToken *token) {
    u64 value = 0;
    for (size_t i = 0; i < token->text.len; i++) {
        if (!is_digit(token->text.data[i])) return 0;
        value = value * 10 + (u64)(token->text.data[i] - '0');
        if (value > UINT32_MAX) return 0;
    }
    return (u32)value;
}

static bool is_punct(const LinkToken *token, char c) { return token->kind == LINK_PUNCT && *token->text.data == c; }

// ---- the header ----

static void read_version(const LinkToken *token, PtxHeader *header) {
    const char *dot = memchr(token->text.data, '.', token->text.len);
    if (!dot) return;
    LinkToken major = {LINK_NUMBER, {token->text.data, (size_t)(dot - token->text.data)}, 0};
    LinkToken minor = {LINK_NUMBER, {dot + 1, token->text.len - major.text.len - 1}, 0};
    header->isa = link_number(&major) * 10 + link_number(&minor);
}

// sm_90a
static void read_target(const LinkToken *token, PtxHeader *header) {
    Str text = token->text;
    if (text.len < 4 || memcmp(text.data, "sm_", 3)) return;
    char last = text.data[text.len - 1];
    bool variant = last == 'a' || last == 'f';
    LinkToken number = {LINK_NUMBER, {text.data + 3, text.len - 3 - variant}, 0};
    header->sm = link_number(&number);
    header->variant = variant ? last : 0;
}

Status ptx_read_header(Str text, PtxHeader *header) {
    *header = (PtxHeader){0};
    LinkLexer lexer = {text.data, text.data + text.len, 1};
    for (LinkToken token = link_next(&lexer); token.kind == LINK_DIRECTIVE; token = link_next(&lexer)) {
        LinkToken value = link_next(&lexer);
        if (link_is(&token, ".version")) {
            read_version(&value, header);
        } else if (link_is(&token, ".target")) {
            read_target(&value, header);
            while (link_peek(&lexer).kind == LINK_PUNCT && *link_peek(&lexer).text.data == ',')
                link_next(&lexer), link_next(&lexer);
        } else if (link_is(&token, ".address_size")) {
            header->address_size = link_number(&value);
        } else {
            break;
        }
    }
    return header->isa && header->sm ? STATUS_OK : STATUS_INVALID;
}

// ---- declarations ----

typedef struct Scanner {
    LinkScan *scan;
    const PtxObject *object;
    u32 index;
    LinkLexer lexer;
    Diag *diag;
} Scanner;

static Status fail(Scanner *s, u32 line, const char *text) {
    diag_text(s->diag, DIAG_ERROR, s->object->name, line, 0, "cannot link this PTX: %s", text);
    return STATUS_INVALID;
}

static Str span(const char *from, const char *to) { return (Str){from, (size_t)(to - from)}; }

// Past the token that closes what `open` opened, at any depth of (), [] and {}.
static Status skip_group(Scanner *s, u32 line) {
    for (u32 depth = 1; depth;) {
        LinkToken token = link_next(&s->lexer);
        if (token.kind == LINK_END || token.kind == LINK_BAD) return fail(s, line, "a bracket is not closed");
        if (token.kind != LINK_PUNCT) continue;
        if (strchr("([{", *token.text.data)) depth++;
        if (strchr(")]}", *token.text.data)) depth--;
    }
    return STATUS_OK;
}

static Status add_named(Scanner *s, LinkDecl decl, Str name) {
    decl.object = s->index;
    TRY(intern_add(&s->scan->names, name, &decl.name));
    return vec_push(&s->scan->decls, decl);
}

static Status add_plain(Scanner *s, LinkDecl decl) {
    decl.object = s->index;
    decl.name = WL_NONE;
    return vec_push(&s->scan->decls, decl);
}

// .func (.param .b32 r) name (.param .b32 a) .noreturn { ... }   or ;   `start` is at .func or .entry
static Status scan_function(Scanner *s, LinkToken start, DeclLinkage linkage) {
    LinkDecl decl = {.kind = link_is(&start, ".func") ? DECL_FUNC : DECL_ENTRY, .linkage = linkage, .line = start.line};
    Str name = {0};
    const char *head_end = NULL;
    for (bool params = false;;) {
        LinkToken token = link_next(&s->lexer);
        if (token.kind == LINK_END || token.kind == LINK_BAD) return fail(s, start.line, "a function without an end");
        if (token.kind == LINK_WORD && !name.data) name = token.text, head_end = s->lexer.at;
        if (token.kind == LINK_DIRECTIVE && link_is(&token, ".noreturn")) decl.noreturn = true;
        if (is_punct(&token, ';')) break;
        if (is_punct(&token, '{')) decl.body = true;
        if (is_punct(&token, '(') || decl.body) TRY(skip_group(s, token.line));
        if (is_punct(&token, '(') && name.data && !params) params = true, head_end = s->lexer.at;
        if (decl.body) break;
    }
    if (!name.data) return fail(s, start.line, "a function without a name");
    decl.head = span(start.text.data, head_end);
    decl.rest = span(head_end, s->lexer.at);
    return add_named(s, decl, name);
}

// One declarator, from its name up to the , or ; behind it. *last tells which.
static Status scan_declarator(Scanner *s, LinkDecl decl, LinkToken name, bool *last) {
    for (bool init = false;;) {
        const char *stop = s->lexer.at;
        LinkToken token = link_next(&s->lexer);
        if (token.kind == LINK_END || token.kind == LINK_BAD) return fail(s, name.line, "a declaration without an end");
        *last = is_punct(&token, ';');
        if (*last || is_punct(&token, ',')) {
            decl.rest = span(name.text.data, stop);
            return add_named(s, decl, name.text);
        }
        if (is_punct(&token, '=')) init = true;
        if (token.kind == LINK_WORD && init) {
            u32 id;
            TRY(intern_add(&s->scan->names, token.text, &id));
            TRY(vec_push(&s->scan->references, s->index));
            TRY(vec_push(&s->scan->references, id));
        }
        if (token.kind != LINK_PUNCT || !strchr("([{", *token.text.data)) continue;
        if (!init) TRY(skip_group(s, token.line));
        for (u32 depth = init; depth;) {  // an initialiser list: note what it mentions
            token = link_next(&s->lexer);
            if (token.kind == LINK_END || token.kind == LINK_BAD) return fail(s, name.line, "an open initialiser");
            if (token.kind == LINK_PUNCT) {
                depth += strchr("([{", *token.text.data) != NULL;
                depth -= strchr(")]}", *token.text.data) != NULL;
            }
            if (token.kind != LINK_WORD) continue;
            u32 id;
            TRY(intern_add(&s->scan->names, token.text, &id));
            TRY(vec_push(&s->scan->references, s->index));
            TRY(vec_push(&s->scan->references, id));
        }
    }
}

// .global .align 4 .u32 a[2] = {1, 2}, b;   `start` is at .global
static Status scan_variable(Scanner *s, LinkToken start, DeclLinkage linkage) {
    LinkDecl decl = {.kind = DECL_VAR, .linkage = linkage, .line = start.line};
    const char *head_end = s->lexer.at;
    LinkToken token = link_next(&s->lexer);
    for (bool align = false; token.kind != LINK_WORD; token = link_next(&s->lexer)) {
        if (token.kind == LINK_END || token.kind == LINK_BAD || is_punct(&token, ';'))
            return fail(s, start.line, "a declaration without a name");
        if (is_punct(&token, '(')) TRY(skip_group(s, token.line));
        if (align) decl.number = link_number(&token);
        align = token.kind == LINK_DIRECTIVE && link_is(&token, ".align");
        head_end = s->lexer.at;
    }
    decl.head = span(start.text.data, head_end);
    for (bool last = false;; token = link_next(&s->lexer)) {
        if (token.kind != LINK_WORD) return fail(s, token.line, "a declaration without a name");
        TRY(scan_declarator(s, decl, token, &last));
        if (last) return STATUS_OK;
    }
}

static Status scan_target(Scanner *s, PtxHeader *header) {
    LinkToken token = link_next(&s->lexer);
    for (read_target(&token, header); link_peek(&s->lexer).text.len && *link_peek(&s->lexer).text.data == ',';) {
        link_next(&s->lexer);
        token = link_next(&s->lexer);
        u32 id;
        if (token.kind != LINK_WORD) return fail(s, token.line, ".target");
        if (link_is(&token, "debug")) continue;
        TRY(intern_add(&s->scan->names, token.text, &id));
        bool seen = s->scan->options.len >= OPTIONS_MAX;
        for (u32 i = 0; i < s->scan->options.len; i++) seen |= s->scan->options.data[i] == id;
        if (!seen) TRY(vec_push(&s->scan->options, id));
    }
    return STATUS_OK;
}

// .file 1 "path", 123, 456
static Status scan_file(Scanner *s, LinkToken start) {
    LinkToken number = link_next(&s->lexer), path = link_next(&s->lexer);
    if (number.kind != LINK_NUMBER || path.kind != LINK_STRING) return fail(s, start.line, ".file");
    while (link_peek(&s->lexer).kind == LINK_PUNCT && *link_peek(&s->lexer).text.data == ',')
        link_next(&s->lexer), link_next(&s->lexer);
    LinkDecl decl = {.kind = DECL_FILE, .line = start.line, .number = link_number(&number)};
    decl.rest = span(path.text.data, s->lexer.at);
    return add_plain(s, decl);
}

// .section .debug_str { labels and bytes }; other sections are left out
static Status scan_section(Scanner *s, LinkToken start) {
    LinkToken name = link_next(&s->lexer), open = link_next(&s->lexer);
    if (!is_punct(&open, '{')) return fail(s, start.line, ".section");
    LinkLexer inside = s->lexer;
    TRY(skip_group(s, start.line));
    if (!link_is(&name, ".debug_str")) return STATUS_OK;
    LinkDecl decl = {.kind = DECL_STRINGS, .line = start.line, .rest = span(inside.at, s->lexer.at - 1)};
    TRY(add_plain(s, decl));
    inside.end = s->lexer.at - 1;
    for (LinkToken token = link_next(&inside); token.kind != LINK_END; token = link_next(&inside)) {
        LinkToken next = link_peek(&inside);
        if (token.kind != LINK_WORD || !is_punct(&next, ':')) continue;
        TRY(add_named(s, (LinkDecl){.kind = DECL_LABEL, .line = token.line}, token.text));
    }
    return STATUS_OK;
}

// .alias f, g;
static Status scan_alias(Scanner *s, LinkToken start) {
    LinkToken alias = link_next(&s->lexer);
    LinkToken comma = link_next(&s->lexer);
    LinkToken target = link_next(&s->lexer);
    LinkToken end = link_next(&s->lexer);
    bool good = alias.kind == LINK_WORD && target.kind == LINK_WORD && is_punct(&comma, ',') && is_punct(&end, ';');
    if (!good) return fail(s, start.line, ".alias");
    return add_named(s, (LinkDecl){.kind = DECL_ALIAS, .line = start.line, .rest = target.text}, alias.text);
}

// Anything else up to its ; is kept as it is.
static Status scan_other(Scanner *s, LinkToken start) {
    for (LinkToken token = link_next(&s->lexer); !is_punct(&token, ';'); token = link_next(&s->lexer)) {
        if (token.kind == LINK_END || token.kind == LINK_BAD || is_punct(&token, '{'))
            return fail(s, start.line, "a statement that does not belong here");
    }
    return add_plain(s, (LinkDecl){.kind = DECL_OTHER, .line = start.line, .head = span(start.text.data, s->lexer.at)});
}

static bool linkage_of(const LinkToken *token, DeclLinkage *linkage) {
    for (u32 i = DECL_VISIBLE; i <= DECL_COMMON; i++) {
        Str word = {decl_linkage_words[i], strlen(decl_linkage_words[i]) - 1};
        if (token->text.len != word.len || memcmp(token->text.data, word.data, word.len)) continue;
        *linkage = (DeclLinkage)i;
        return true;
    }
    return false;
}

static Status scan_statement(Scanner *s, LinkToken token, PtxHeader *header) {
    static const char *const spaces[] = {".global", ".const", ".shared", ".local", ".tex", ".param"};
    if (token.kind != LINK_DIRECTIVE) return fail(s, token.line, "a declaration was expected here");
    DeclLinkage linkage = DECL_STATIC;
    while (linkage_of(&token, &linkage)) token = link_next(&s->lexer);
    if (link_is(&token, ".func") || link_is(&token, ".entry")) return scan_function(s, token, linkage);
    for (u32 i = 0; i < WL_COUNT(spaces); i++)
        if (link_is(&token, spaces[i])) return scan_variable(s, token, linkage);
    if (link_is(&token, ".file")) return scan_file(s, token);
    if (link_is(&token, ".section")) return scan_section(s, token);
    if (link_is(&token, ".alias")) return scan_alias(s, token);
    if (link_is(&token, ".target")) return scan_target(s, header);
    bool version = link_is(&token, ".version");
    if (!version && !link_is(&token, ".address_size")) return scan_other(s, token);
    LinkToken value = link_next(&s->lexer);
    if (version)
        read_version(&value, header);
    else
        header->address_size = link_number(&value);
    return STATUS_OK;
}

static u64 target_rank(const PtxHeader *header) { return (u64)header->sm * 256 + (u8)header->variant; }

static Status merge_header(Scanner *s, const PtxHeader *header) {
    PtxHeader *all = &s->scan->header;
    if (!header->isa || !header->sm) return fail(s, 1, "no .version or no .target");
    if (all->address_size && header->address_size && all->address_size != header->address_size)
        return fail(s, 1, "objects differ in .address_size");
    if (header->isa > all->isa) all->isa = header->isa;
    if (header->address_size) all->address_size = header->address_size;
    if (target_rank(header) <= target_rank(all)) return STATUS_OK;
    all->sm = header->sm;
    all->variant = header->variant;
    return STATUS_OK;
}

Status link_scan(LinkScan *scan, const PtxObject *object, u32 index, Diag *diag) {
    Str text = object->text;
    Scanner s = {scan, object, index, {text.data, text.data + text.len, 1}, diag};
    PtxHeader header = {0};
    for (LinkToken token = link_next(&s.lexer); token.kind != LINK_END; token = link_next(&s.lexer)) {
        if (is_punct(&token, '@')) {  // @@DWARF lines of old compilers
            const char *stop = memchr(s.lexer.at, '\n', (size_t)(s.lexer.end - s.lexer.at));
            s.lexer.at = stop ? stop : s.lexer.end;
        } else {
            TRY(scan_statement(&s, token, &header));
        }
    }
    return merge_header(&s, &header);
}

void link_scan_free(LinkScan *scan) {
    intern_free(&scan->names);
    vec_free(&scan->decls);
    vec_free(&scan->options);
    vec_free(&scan->references);
    *scan = (LinkScan){0};
}
