// SPDX-License-Identifier: Apache-2.0
// Source positions: .file, .loc with inlining, and .section, whose .debug_str holds the names of inlined functions.
#include <stdio.h>
#include <string.h>

#include "ptx/parse.h"

// ---- .file

bool parse_file(Parser *p) {
    File file = {0};
    lex_skip(&p->lex);
    if (!parse_u32(p, "a file number", &file.index)) return false;
    const char *at = p->lex.at;
    if (*at != '"') return parse_error(p, at, "expected a file name");
    Str path = lex_string(&p->lex);
    if (!path.data) return parse_error(p, at, "string without an end");
    if (!parse_intern(p, path, &file.path)) return false;
    if (parse_accept(p, ',')) {
        file.has_timestamp = true;
        if (!parse_integer(p, "a time", &file.timestamp) || !parse_expect(p, ',') ||
            !parse_integer(p, "a size", &file.size))
            return false;
    }
    return PUSH(p, &p->files, file);
}

// ---- .loc

static bool plain_number(Parser *p, u32 *value) {
    while (*p->lex.at == ' ' || *p->lex.at == '\t') p->lex.at++;
    const char *at = p->lex.at;
    u64 number = 0;
    while (lex_class[(u8)*p->lex.at] & LEX_DIGIT && number <= UINT32_MAX)
        number = number * 10 + (u64)(*p->lex.at++ - '0');
    if (p->lex.at == at || number > UINT32_MAX) return parse_error(p, at, "expected a file, line or column number");
    *value = (u32)number;
    return true;
}

static bool parse_triple(Parser *p, Loc *loc) {
    return plain_number(p, &loc->file) && plain_number(p, &loc->line) && plain_number(p, &loc->column);
}

static bool same_triple(const Loc *a, const Loc *b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

// The entry of loc's triple in loc_keys, made when there is none.
static LocKey *find_key(Parser *p, const Loc *loc) {
    u64 hash = hash_u64((u64)loc->file << 48 ^ (u64)loc->line << 16 ^ loc->column);
    for (;; hash++) {
        const u64 *found = map_get(&p->loc_index, hash);
        if (!found) break;
        LocKey *key = &p->loc_keys.data[*found];
        if (same_triple(&p->locs.data[key->first], loc)) return key;
    }
    if (map_put(&p->loc_index, hash, p->loc_keys.len) != STATUS_OK || !PUSH(p, &p->loc_keys, (LocKey){0})) {
        parse_no_memory(p);
        return NULL;
    }
    return &p->loc_keys.data[p->loc_keys.len - 1];
}

static bool same_loc(const Loc *a, const Loc *b) {
    return same_triple(a, b) && a->function_label == b->function_label && a->function_offset == b->function_offset &&
           a->inlined_at == b->inlined_at;
}

// The Loc equal to `loc`, added when there is none; it becomes the latest of its triple.
static bool add_loc(Parser *p, const Loc *loc, LocRef *ref) {
    LocKey *key = find_key(p, loc);
    if (!key) return false;
    *ref = key->latest && same_loc(&p->locs.data[key->latest], loc) ? key->latest : key->first;
    while (*ref && !same_loc(&p->locs.data[*ref], loc)) *ref = p->loc_next.data[*ref];
    if (!*ref) {
        *ref = p->locs.len;
        if (!PUSH(p, &p->locs, *loc) || !PUSH(p, &p->loc_next, key->first)) return false;
        key->first = *ref;
    }
    key->latest = *ref;
    return true;
}

enum { MAX_INLINING = 256 };

// A template that calls itself is written as
//     .loc 1 28 88, function_name S3, inlined_at 1 28 88
// for every instruction of S3: the latest Loc of the triple may then be S3's own, or of what S3 has inlined. A function
// that is already among the frames of that call is the same frame again, not one deeper.
static LocRef frame_again(const Parser *p, const Loc *loc, LocRef site) {
    for (LocRef ref = site; ref; ref = p->locs.data[ref].inlined_at) {
        const Loc *frame = &p->locs.data[ref];
        bool same_function =
            frame->function_label == loc->function_label && frame->function_offset == loc->function_offset;
        if (same_function && same_triple(&p->locs.data[frame->inlined_at], &p->locs.data[site]))
            return frame->inlined_at;
    }
    return site;
}

// Where so many calls are inlined into each other, the innermost takes the place of the one around it.
static LocRef within_limit(const Parser *p, LocRef site) {
    u32 depth = 0;
    for (LocRef ref = site; ref; ref = p->locs.data[ref].inlined_at) depth++;
    return depth > MAX_INLINING ? p->locs.data[site].inlined_at : site;
}

static bool call_site(Parser *p, const Loc *triple, LocRef *ref) {
    LocKey *key = find_key(p, triple);
    if (!key) return false;
    *ref = key->latest;
    return *ref || add_loc(p, triple, ref);
}

// function_name LABEL[+OFFSET], inlined_at FILE LINE COLUMN
static bool parse_inlining(Parser *p, Loc *loc) {
    lex_skip(&p->lex);
    Str word, label;
    const char *at = p->lex.at;
    if (!parse_name(p, "function_name", &word)) return false;
    if (!parse_is(word, "function_name")) return parse_error(p, at, "expected function_name");
    if (!parse_name(p, "a label", &label) || !parse_intern(p, label, &loc->function_label)) return false;
    if (parse_accept(p, '+') && !parse_u32(p, "an offset", &loc->function_offset)) return false;
    if (!parse_expect(p, ',')) return false;
    at = p->lex.at;
    if (!parse_name(p, "inlined_at", &word)) return false;
    if (!parse_is(word, "inlined_at")) return parse_error(p, at, "expected inlined_at");
    Loc site = {.function = WL_NONE, .function_label = WL_NONE};
    LocRef latest;
    if (!parse_triple(p, &site) || !call_site(p, &site, &latest)) return false;
    loc->inlined_at = within_limit(p, frame_again(p, loc, latest));
    return true;
}

bool parse_loc(Parser *p) {
    Loc loc = {.function = WL_NONE, .function_label = WL_NONE};
    if (!parse_triple(p, &loc)) return false;
    while (*p->lex.at == ' ' || *p->lex.at == '\t') p->lex.at++;
    if (*p->lex.at == ',') {
        p->lex.at++;
        if (!parse_inlining(p, &loc)) return false;
    }
    return add_loc(p, &loc, &p->loc);
}

// ---- .section

// The text between the braces; they nest only in comments and strings, which debug sections do not have.
bool parse_section(Parser *p) {
    lex_skip(&p->lex);
    Str word = lex_dotted(&p->lex);
    Str name;
    Section section;
    if (word.len)
        name = word;
    else if (!parse_name(p, "a section name", &name))
        return false;
    if (!parse_intern(p, name, &section.name)) return false;
    lex_skip(&p->lex);
    if (*p->lex.at != '{') return parse_error(p, p->lex.at, "expected '{'");
    const char *from = p->lex.at + 1;
    const char *to = memchr(from, '}', (size_t)(p->lex.end - from));
    if (!to) return parse_error(p, p->lex.at, "section without an end");
    for (const char *at = from; (at = memchr(at, '\n', (size_t)(to - at))); at++)
        p->lex.line++, p->lex.line_start = at + 1;
    p->lex.at = to + 1;
    return parse_intern(p, (Str){from, (size_t)(to - from)}, &section.body) && PUSH(p, &p->sections, section);
}

// ---- names of inlined functions

typedef struct Strings {  // .debug_str: its bytes, and where each label stands
    Vec(u8) bytes;
    Map labels;
} Strings;

static bool read_bytes(Lexer *lex, Strings *strings) {
    for (;;) {
        lex_skip(lex);
        Literal value = lex_number(lex);
        if (value.kind != LITERAL_INT || vec_push(&strings->bytes, (u8)value.bits) != STATUS_OK) return false;
        lex_skip(lex);
        if (*lex->at != ',') return true;
        lex->at++;
    }
}

static void read_strings(const Module *m, Str body, Strings *strings) {
    Lexer lex = {.at = body.data, .end = body.data + body.len, .line_start = body.data, .line = 1};
    for (;;) {
        lex_skip(&lex);
        if (lex.at >= lex.end) return;
        Str word = lex_dotted(&lex);
        if (parse_is(word, ".b8")) {
            if (!read_bytes(&lex, strings)) return;
            continue;
        }
        Str name = lex_name(&lex);
        lex_skip(&lex);
        if (!name.len || *lex.at != ':') return;
        lex.at++;
        u32 text = intern_find(&m->texts, name);
        if (text != WL_NONE && map_put(&strings->labels, text, strings->bytes.len) != STATUS_OK) return;
    }
}

static bool name_locs(Parser *p, const Strings *strings) {
    for (u32 i = 1; i < p->locs.len; i++) {
        Loc *loc = &p->locs.data[i];
        const u64 *label = loc->function_label == WL_NONE ? NULL : map_get(&strings->labels, loc->function_label);
        if (!label || *label + loc->function_offset >= strings->bytes.len) continue;
        const u8 *from = strings->bytes.data + *label + loc->function_offset;
        size_t room = strings->bytes.len - *label - loc->function_offset;
        const u8 *nul = memchr(from, 0, room);
        if (nul && !parse_intern(p, (Str){(const char *)from, (size_t)(nul - from)}, &loc->function)) return false;
    }
    return true;
}

bool debug_finish(Parser *p) {
    u32 name = intern_find(&p->m->texts, STR(".debug_str"));
    Strings strings = {0};
    for (u32 i = 0; i < p->sections.len; i++) {
        if (p->sections.data[i].name == name)
            read_strings(p->m, intern_str(&p->m->texts, p->sections.data[i].body), &strings);
    }
    bool good = name_locs(p, &strings);
    vec_free(&strings.bytes);
    map_free(&strings.labels);
    return good;
}
