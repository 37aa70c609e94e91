// SPDX-License-Identifier: Apache-2.0
// Linking in passes: scan all objects (link_scan.c); find each symbol's definition; rename private clashes; print
// prototypes, variables (what an initialiser mentions first), functions, files, strings.
#include "binary/link.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "binary/link_scan.h"

typedef struct Symbol {
    u32 decl;  // the declaration that counts: the definition when there is one
    bool defined;
    bool prototype;  // FUNC, ENTRY: must be declared before the bodies
    u8 state;        // VAR: 0 not printed, 1 on the stack, 2 printed
} Symbol;

typedef struct Linker {
    LinkScan scan;
    const PtxObject *objects;
    u32 count;
    Map globals;  // key(object, name): the object declares that name with a linkage
    Map found;    // key(object or SHARED, name) -> index in symbols
    Map renamed;  // key(object, name) -> new name, interned
    Map files;    // key(object, number) -> new number
    Vec(Symbol) symbols;
    Vec(LinkDecl) new_files;  // the merged .file list
    LinkText *out;
    Diag *diag;
} Linker;

enum { SHARED = 0 };  // the `owner` of symbols with a linkage; object i owns its private ones as i + 1

static u64 key(u32 owner, u32 name) { return (u64)owner << 32 | name; }

// ---- output ----

static Status put(Linker *l, Str text) {
    if (!text.len) return STATUS_OK;
    if (text.len >= INT32_MAX || l->out->len >= INT32_MAX) return STATUS_LIMIT;
    TRY(vec_reserve(l->out, text.len));
    memcpy(l->out->data + l->out->len, text.data, text.len);
    l->out->len += (u32)text.len;
    return STATUS_OK;
}

static Status puts_(Linker *l, const char *text) { return put(l, (Str){text, strlen(text)}); }

static Status put_number(Linker *l, u32 number) {
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    return puts_(l, text);
}

// What stands for `token` in the output; `after` is the character behind it, `start` whether an instruction begins
// here.
static Str replacement(Linker *l, u32 object, const LinkToken *token, char after, bool start) {
    if (token->kind != LINK_WORD || after == '.' || (start && after != ':')) return token->text;
    u32 name = intern_find(&l->scan.names, token->text);
    const u64 *to = name == WL_NONE ? NULL : map_get(&l->renamed, key(object, name));
    return to ? intern_str(&l->scan.names, (u32)*to) : token->text;
}

// Copies text of an object with its names and .loc file numbers replaced. `body`: instructions may start after ; { }
static Status put_text(Linker *l, u32 object, Str text, bool body) {
    LinkLexer lexer = {text.data, text.data + text.len, 1};
    const char *done = text.data;
    bool file = false, start = false;
    for (LinkToken token = link_next(&lexer); token.kind != LINK_END; token = link_next(&lexer)) {
        if (token.kind == LINK_BAD) break;
        char after = lexer.at < lexer.end ? *lexer.at : 0;
        TRY(put(l, (Str){done, (size_t)(token.text.data - done)}));
        const u64 *number = file ? map_get(&l->files, key(object, link_number(&token))) : NULL;
        if (number)
            TRY(put_number(l, (u32)*number));
        else
            TRY(put(l, replacement(l, object, &token, after, start)));
        file = link_is(&token, ".loc") || link_is(&token, "inlined_at");
        start = body && token.kind == LINK_PUNCT && strchr(";{}:", *token.text.data);
        done = lexer.at;
    }
    return put(l, (Str){done, (size_t)(text.data + text.len - done)});
}

// ---- symbols ----

static bool is_code(const LinkDecl *decl) { return decl->kind == DECL_FUNC || decl->kind == DECL_ENTRY; }
static bool has_name(const LinkDecl *decl) { return decl->name != WL_NONE && decl->kind != DECL_ALIAS; }

// An object may declare a name with a linkage in one place and without in another.
static u32 owner_of(Linker *l, u32 object, u32 name) {
    return map_get(&l->globals, key(object, name)) ? SHARED : object + 1;
}

static Symbol *find_symbol(Linker *l, u32 object, u32 name) {
    const u64 *at = map_get(&l->found, key(owner_of(l, object, name), name));
    return at ? &l->symbols.data[*at] : NULL;
}

static Status note_globals(Linker *l) {
    for (u32 i = 0; i < l->scan.decls.len; i++) {
        const LinkDecl *decl = &l->scan.decls.data[i];
        if (has_name(decl) && decl->linkage != DECL_STATIC) TRY(map_put(&l->globals, key(decl->object, decl->name), 1));
    }
    return STATUS_OK;
}

// How much a declaration counts: 0 a mere mention, then common, weak, strong definitions.
static u32 weight(const LinkDecl *decl) {
    if (decl->linkage == DECL_EXTERN || (is_code(decl) && !decl->body)) return 0;
    return decl->linkage == DECL_COMMON ? 1 : decl->linkage == DECL_WEAK ? 2 : 3;
}

static Status clash(Linker *l, const LinkDecl *a, const LinkDecl *b, const char *what) {
    const char *first = l->objects[a->object].name;
    diag_text(l->diag, DIAG_ERROR, l->objects[b->object].name, b->line, 0, "'%s' is %s in %s, line %u",
              intern_text(&l->scan.names, b->name), what, first ? first : "another object", a->line);
    return STATUS_INVALID;
}

// Two declarations of one symbol: which one counts.
static Status merge(Linker *l, Symbol *symbol, u32 index) {
    const LinkDecl *old = &l->scan.decls.data[symbol->decl], *decl = &l->scan.decls.data[index];
    if (old->kind != decl->kind) return clash(l, old, decl, "declared as something else");
    u32 before = weight(old), now = weight(decl);
    if (before == 3 && now == 3) return clash(l, old, decl, "defined already");
    bool wider = before == now && now < 2 && decl->number > old->number;  // the larger .align of equals
    bool vague = old->linkage == DECL_STATIC || (old->linkage == DECL_EXTERN && decl->linkage != DECL_STATIC);
    bool linked = !now && !before && vague && decl->linkage != old->linkage;  // a prototype that says its linkage
    if (now > before || wider || linked) symbol->decl = index;
    return STATUS_OK;
}

static Status resolve(Linker *l) {
    for (u32 i = 0; i < l->scan.decls.len; i++) {
        const LinkDecl *decl = &l->scan.decls.data[i];
        if (!has_name(decl)) continue;
        u64 at = key(owner_of(l, decl->object, decl->name), decl->name);
        const u64 *found = map_get(&l->found, at);
        if (found) {
            TRY(merge(l, &l->symbols.data[*found], i));
        } else {
            TRY(map_put(&l->found, at, l->symbols.len));
            TRY(vec_push(&l->symbols, (Symbol){.decl = i}));
        }
        if (is_code(decl) && !decl->body) find_symbol(l, decl->object, decl->name)->prototype = true;
    }
    for (u32 i = 0; i < l->symbols.len; i++) {
        Symbol *symbol = &l->symbols.data[i];
        symbol->defined = weight(&l->scan.decls.data[symbol->decl]) > 0;
    }
    for (u32 i = 0; i + 1 < l->scan.references.len; i += 2) {
        Symbol *symbol = find_symbol(l, l->scan.references.data[i], l->scan.references.data[i + 1]);
        if (symbol) symbol->prototype = true;
    }
    return STATUS_OK;
}

// ---- private names ----

// "name$2", or with a higher number when that exists.
static Status fresh_name(Linker *l, u32 name, u32 number, u32 *fresh) {
    for (;; number++) {
        char suffix[16];
        int len = snprintf(suffix, sizeof suffix, "$%u", number);
        Str old = intern_str(&l->scan.names, name);
        char *text = arena_zero(&l->scan.names.arena, old.len + (size_t)len + 1, 1);
        if (!text) return STATUS_NO_MEMORY;
        memcpy(text, old.data, old.len);
        memcpy(text + old.len, suffix, (size_t)len);
        Str made = {text, old.len + (size_t)len};
        if (intern_find(&l->scan.names, made) == WL_NONE) return intern_add(&l->scan.names, made, fresh);
    }
}

// The first object with a private name keeps it, unless a shared symbol has it; the others get a new one.
static Status rename_private(Linker *l) {
    Map taken = {0};  // name -> owner
    Status status = STATUS_OK;
    for (u32 i = 0; i < l->symbols.len && status == STATUS_OK; i++) {
        const LinkDecl *decl = &l->scan.decls.data[l->symbols.data[i].decl];
        if (owner_of(l, decl->object, decl->name) == SHARED) status = map_put(&taken, decl->name, SHARED);
    }
    for (u32 i = 0; i < l->symbols.len && status == STATUS_OK; i++) {
        const LinkDecl *decl = &l->scan.decls.data[l->symbols.data[i].decl];
        u32 owner = owner_of(l, decl->object, decl->name), name = decl->name, fresh = 0;
        if (owner == SHARED) continue;
        if (!map_get(&taken, name)) {
            status = map_put(&taken, name, owner);
            continue;
        }
        status = fresh_name(l, name, owner, &fresh);
        if (status == STATUS_OK) status = map_put(&l->renamed, key(decl->object, name), fresh);
    }
    map_free(&taken);
    return status;
}

static Status number_files(Linker *l) {
    Map seen = {0};  // hash of the text -> index + 1
    Status status = STATUS_OK;
    for (u32 i = 0; i < l->scan.decls.len && status == STATUS_OK; i++) {
        const LinkDecl *decl = &l->scan.decls.data[i];
        if (decl->kind != DECL_FILE) continue;
        u64 hash = hash_bytes(decl->rest.data, decl->rest.len);
        const u64 *same = map_get(&seen, hash);
        u32 number = same ? (u32)*same : l->new_files.len + 1;
        status = map_put(&l->files, key(decl->object, decl->number), number);
        if (same || status != STATUS_OK) continue;
        status = vec_push(&l->new_files, *decl);
        if (status == STATUS_OK) status = map_put(&seen, hash, number);
    }
    map_free(&seen);
    return status;
}

// ---- printing ----

static Status put_header(Linker *l) {
    char text[160];
    const PtxHeader *header = &l->scan.header;
    char variant[2] = {header->variant, 0};
    snprintf(text, sizeof text, "//\n// Linked by Warplens from %u objects\n//\n\n.version %u.%u\n.target sm_%u%s",
             l->count, header->isa / 10, header->isa % 10, header->sm, variant);
    TRY(puts_(l, text));
    for (u32 i = 0; i < l->scan.options.len; i++) {
        TRY(puts_(l, ", "));
        TRY(put(l, intern_str(&l->scan.names, l->scan.options.data[i])));
    }
    snprintf(text, sizeof text, "\n.address_size %u\n\n", header->address_size ? header->address_size : 32);
    TRY(puts_(l, text));
    for (u32 i = 0; i < l->scan.decls.len; i++) {
        if (l->scan.decls.data[i].kind != DECL_OTHER) continue;
        TRY(put(l, l->scan.decls.data[i].head));
        TRY(puts_(l, "\n"));
    }
    return STATUS_OK;
}

static Status put_prototypes(Linker *l) {
    for (u32 i = 0; i < l->symbols.len; i++) {
        const Symbol *symbol = &l->symbols.data[i];
        const LinkDecl *decl = &l->scan.decls.data[symbol->decl];
        if (!is_code(decl) || !symbol->prototype) continue;
        TRY(puts_(l, decl_linkage_words[decl->linkage]));
        TRY(put_text(l, decl->object, decl->head, false));
        if (decl->noreturn) TRY(puts_(l, " .noreturn"));
        TRY(puts_(l, ";\n"));
    }
    return STATUS_OK;
}

static Status put_variable(Linker *l, const LinkDecl *decl) {
    TRY(puts_(l, decl_linkage_words[decl->linkage]));
    TRY(put(l, decl->head));
    TRY(puts_(l, " "));
    TRY(put_text(l, decl->object, decl->rest, false));
    return puts_(l, ";\n");
}

typedef struct Visit {
    u32 symbol;
    LinkLexer lexer;  // where the look through its initialiser stands
} Visit;

// The next variable that the one on top of the stack mentions and that is not printed yet; WL_NONE at the end.
static u32 next_mentioned(Linker *l, Visit *visit) {
    u32 object = l->scan.decls.data[l->symbols.data[visit->symbol].decl].object;
    for (LinkToken token = link_next(&visit->lexer); token.kind != LINK_END && token.kind != LINK_BAD;
         token = link_next(&visit->lexer)) {
        if (token.kind != LINK_WORD) continue;
        u32 name = intern_find(&l->scan.names, token.text);
        Symbol *symbol = name == WL_NONE ? NULL : find_symbol(l, object, name);
        if (!symbol || symbol->state || l->scan.decls.data[symbol->decl].kind != DECL_VAR) continue;
        return (u32)(symbol - l->symbols.data);
    }
    return WL_NONE;
}

// Prints a variable after those that its initialiser mentions. Iterative: chains may be long.
static Status put_in_order(Linker *l, u32 first) {
    Vec(Visit) stack = {0};
    Status status = STATUS_OK;
    u32 next = first;
    do {
        if (next != WL_NONE) {
            Str rest = l->scan.decls.data[l->symbols.data[next].decl].rest;
            l->symbols.data[next].state = 1;
            status = vec_push(&stack, (Visit){next, {rest.data, rest.data + rest.len, 1}});
            if (status != STATUS_OK) break;
        }
        Visit *top = &stack.data[stack.len - 1];
        next = next_mentioned(l, top);
        if (next != WL_NONE) continue;
        l->symbols.data[top->symbol].state = 2;
        status = put_variable(l, &l->scan.decls.data[l->symbols.data[top->symbol].decl]);
        stack.len--;
    } while (stack.len && status == STATUS_OK);
    vec_free(&stack);
    return status;
}

static Status put_variables(Linker *l) {
    for (u32 i = 0; i < l->symbols.len; i++) {
        const Symbol *symbol = &l->symbols.data[i];
        if (l->scan.decls.data[symbol->decl].kind == DECL_VAR && !symbol->state) TRY(put_in_order(l, i));
    }
    return STATUS_OK;
}

static Status put_functions(Linker *l) {
    for (u32 i = 0; i < l->scan.decls.len; i++) {
        const LinkDecl *decl = &l->scan.decls.data[i];
        if (!is_code(decl) || !decl->body || find_symbol(l, decl->object, decl->name)->decl != i) continue;
        TRY(puts_(l, "\n"));
        TRY(puts_(l, decl_linkage_words[decl->linkage]));
        TRY(put_text(l, decl->object, decl->head, false));
        TRY(put_text(l, decl->object, decl->rest, true));
        TRY(puts_(l, "\n"));
    }
    return STATUS_OK;
}

// An alias whose name another object defines is dropped; of several, the first counts.
static Status put_aliases(Linker *l) {
    Map seen = {0};
    Status status = STATUS_OK;
    for (u32 i = 0; i < l->scan.decls.len && status == STATUS_OK; i++) {
        const LinkDecl *decl = &l->scan.decls.data[i];
        if (decl->kind != DECL_ALIAS) continue;
        const Symbol *symbol = find_symbol(l, decl->object, decl->name);
        u64 at = key(owner_of(l, decl->object, decl->name), decl->name);
        if ((symbol && symbol->defined) || map_get(&seen, at)) continue;
        status = map_put(&seen, at, 1);
        LinkToken name = {LINK_WORD, intern_str(&l->scan.names, decl->name), 0}, target = {LINK_WORD, decl->rest, 0};
        Str texts[] = {STR(".alias "), replacement(l, decl->object, &name, 0, false), STR(", "),
                       replacement(l, decl->object, &target, 0, false), STR(";\n")};
        for (u32 t = 0; t < WL_COUNT(texts) && status == STATUS_OK; t++) status = put(l, texts[t]);
    }
    map_free(&seen);
    return status;
}

static Status put_files(Linker *l) {
    for (u32 i = 0; i < l->new_files.len; i++) {
        TRY(puts_(l, ".file "));
        TRY(put_number(l, i + 1));
        TRY(puts_(l, " "));
        TRY(put(l, l->new_files.data[i].rest));
        TRY(puts_(l, "\n"));
    }
    return STATUS_OK;
}

static Status put_strings(Linker *l) {
    bool any = false;
    for (u32 i = 0; i < l->scan.decls.len; i++) {
        const LinkDecl *decl = &l->scan.decls.data[i];
        if (decl->kind != DECL_STRINGS) continue;
        if (!any) TRY(puts_(l, ".section .debug_str\n{\n"));
        any = true;
        TRY(put_text(l, decl->object, decl->rest, false));
    }
    return any ? puts_(l, "}\n") : STATUS_OK;
}

static Status link_all(Linker *l) {
    static Status (*const passes[])(Linker *) = {
        note_globals,  resolve,       rename_private, number_files, put_header,  put_prototypes,
        put_variables, put_functions, put_aliases,    put_files,    put_strings,
    };
    for (u32 i = 0; i < l->count; i++) TRY(link_scan(&l->scan, &l->objects[i], i, l->diag));
    for (u32 i = 0; i < WL_COUNT(passes); i++) TRY(passes[i](l));
    return STATUS_OK;
}

static void linker_free(Linker *l) {
    link_scan_free(&l->scan);
    map_free(&l->globals);
    map_free(&l->found);
    map_free(&l->renamed);
    map_free(&l->files);
    vec_free(&l->symbols);
    vec_free(&l->new_files);
}

Status ptx_link(const PtxObject *objects, u32 count, LinkText *out, Diag *diag) {
    *out = (LinkText){0};
    Linker linker = {.objects = objects, .count = count, .out = out, .diag = diag};
    Status status = count == 0 ? STATUS_INVALID : count == 1 ? put(&linker, objects[0].text) : link_all(&linker);
    linker_free(&linker);
    if (status == STATUS_OK) status = vec_push(out, '\0');
    if (status != STATUS_OK) {
        vec_free(out);
        return status;
    }
    out->len--;
    return STATUS_OK;
}
