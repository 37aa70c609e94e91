// SPDX-License-Identifier: Apache-2.0
#include "ptx/form.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ITEMS = 24, MAX_SPECS = 12 };

typedef enum ItemKind { ITEM_MOD, ITEM_SPACE, ITEM_VECTOR, ITEM_TYPE, ITEM_BAD } ItemKind;

typedef struct Item {  // one word of a modifier grammar
    u8 kind;           // ItemKind
    u8 class;          // ITEM_MOD
    bool optional, used;
    u16 token;  // ITEM_MOD: the only token allowed, MOD_TOKEN_NONE = any of the class
    Str list;   // between the parentheses; empty = everything
} Item;

typedef struct Row {  // modifier grammar of one row, cut into items
    Item items[MAX_ITEMS];
    u32 count;
} Row;

typedef struct SpaceText {
    const char *text;  // with the dot
    const char *word;  // the name in grammar lists
    u8 space;
} SpaceText;

static const SpaceText spaces[] = {
    {".const", "const", SPACE_CONST},
    {".global", "global", SPACE_GLOBAL},
    {".local", "local", SPACE_LOCAL},
    {".param", "param", SPACE_PARAM},
    {".param::entry", "param", SPACE_PARAM},
    {".param::func", "param", SPACE_PARAM},
    {".shared", "shared", SPACE_SHARED},
    {".shared::cta", "shared", SPACE_SHARED},
    {".shared::cluster", "shared_cluster", SPACE_SHARED_CLUSTER},
};

static bool str_is(Str text, const char *other) {
    return strlen(other) == text.len && memcmp(text.data, other, text.len) == 0;
}

// Is `word` one of the comma-separated words of `list`?
static bool in_list(Str list, Str word) {
    const char *end = list.data + list.len;
    for (const char *at = list.data; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (!comma) comma = end;
        if ((size_t)(comma - at) == word.len && memcmp(at, word.data, word.len) == 0) return true;
        at = comma + 1;
    }
    return false;
}

static const char *const class_names[MOD_CLASS_COUNT] = {
#define MOD_CLASS(name) [MOD_##name] = #name,
#define MOD(class, token, text)
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
};

static bool equal_ignoring_case(Str word, const char *upper) {
    if (strlen(upper) != word.len) return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        if (c >= 'a' && c <= 'z') c = (char)(c - 'a' + 'A');
        if (c != upper[i]) return false;
    }
    return true;
}

static u16 find_token(u32 class, Str text) {
    for (u16 i = 1; i < MOD_TOKEN_COUNT; i++) {
        if ((class == MOD_CLASS_COUNT || ptx_mods[i].class == class) && str_is(text, ptx_mods[i].text)) return i;
    }
    return MOD_TOKEN_NONE;
}

static u8 find_type(Str text) {
    for (u8 i = 1; i < TYPE_COUNT; i++) {
        if (str_is(text, ptx_types[i].text)) return i;
    }
    return TYPE_NONE;
}

static void item_of_word(Str word, Item *item) {
    *item = (Item){.kind = ITEM_BAD};
    if (word.data[0] == '.') {
        item->token = find_token(MOD_CLASS_COUNT, word);
        item->class = ptx_mods[item->token].class;
        if (item->token) item->kind = ITEM_MOD;
        return;
    }
    if (str_is(word, "space")) item->kind = ITEM_SPACE;
    if (str_is(word, "vec")) item->kind = ITEM_VECTOR;
    if (str_is(word, "type")) item->kind = ITEM_TYPE;
    for (u8 class = 0; class < MOD_CLASS_COUNT && item->kind == ITEM_BAD; class ++) {
        if (!equal_ignoring_case(word, class_names[class])) continue;
        item->kind = ITEM_MOD;
        item->class = class;
    }
}

static void row_of_grammar(const char *grammar, Row *row) {
    row->count = 0;
    for (const char *at = grammar; *at && row->count < MAX_ITEMS;) {
        size_t len = strcspn(at, "( ?");
        Item *item = &row->items[row->count++];
        item_of_word((Str){at, len}, item);
        at += len;
        if (*at == '(') {
            item->list = (Str){at + 1, strcspn(at + 1, ")")};
            at += item->list.len + 2;
        }
        if (*at == '?') item->optional = true, at++;
        while (*at == ' ') at++;
    }
}

static const SpaceText *find_space(Str token) {
    for (u32 i = 0; i < WL_COUNT(spaces); i++) {
        if (str_is(token, spaces[i].text)) return &spaces[i];
    }
    return NULL;
}

static u8 vector_of(Str token) {
    if (token.len != 3 || token.data[1] != 'v') return 0;
    char digit = token.data[2];
    return digit == '2' || digit == '4' || digit == '8' ? (u8)(digit - '0') : 0;
}

// Does `item` take `token` (with its dot)? Then notes it in the form.
static bool item_take(Item *item, Str token, Form *form) {
    Str word = {token.data + 1, token.len - 1};
    switch (item->kind) {
    case ITEM_TYPE: {
        u8 type = find_type(word);
        if (!type || (item->list.len && !in_list(item->list, word)) || form->type_count == FORM_MAX_TYPES) return false;
        form->types[form->type_count++] = type;
        return true;
    }
    case ITEM_SPACE: {
        const SpaceText *space = find_space(token);
        if (!space || !in_list(item->list, (Str){space->word, strlen(space->word)})) return false;
        *(form->space == SPACE_NONE ? &form->space : &form->space2) = space->space;
        return true;
    }
    case ITEM_VECTOR: {
        u8 vector = vector_of(token);
        if (!vector || !in_list(item->list, word)) return false;
        form->vector = vector;
        return true;
    }
    case ITEM_MOD: {
        u16 found = find_token(item->class, token);
        if (!found || (item->token && item->token != found)) return false;
        if (item->list.len && !in_list(item->list, word)) return false;
        form->mods[item->class] = found;
        return true;
    }
    default: return false;
    }
}

// The first free item that takes the token. Types keep their order among themselves, and so do spaces: a required one
// that does not take the token bars those behind it.
static bool row_take(Row *row, Str token, Form *form) {
    bool barred[ITEM_BAD + 1] = {false};
    for (u32 i = 0; i < row->count; i++) {
        Item *item = &row->items[i];
        if (item->used || barred[item->kind]) continue;
        if (item_take(item, token, form)) {
            item->used = true;
            return true;
        }
        barred[item->kind] = !item->optional && (item->kind == ITEM_TYPE || item->kind == ITEM_SPACE);
    }
    return false;
}

static Str next_token(const char **at, const char *end) {
    const char *from = *at;
    const char *to = memchr(from + 1, '.', (size_t)(end - from - 1));
    *at = to ? to : end;
    return (Str){from, (size_t)(*at - from)};
}

// Matches all modifiers of `rest` (".global.u32") with the row. On failure `bad` is the first that did not fit, or is
// empty when a required one is missing.
static bool match_mods(u16 op, Str rest, Form *form, Str *bad) {
    Row row;
    row_of_grammar(ptx_ops[op].mods, &row);
    const char *end = rest.data + rest.len;
    for (const char *at = rest.data; at < end;) {
        Str token = next_token(&at, end);
        if (row_take(&row, token, form)) continue;
        *bad = token;
        return false;
    }
    *bad = (Str){end, 0};
    for (u32 i = 0; i < row.count; i++) {
        if (!row.items[i].optional && !row.items[i].used) return false;
    }
    return true;
}

// ---- signatures

typedef struct SigItem {
    char access;
    bool optional;
    bool absent;  // depends on a modifier that is not there
    OperandSpec spec;
} SigItem;

static u8 wider(u8 type) {
    switch (type) {
    case TYPE_U16: return TYPE_U32;
    case TYPE_S16: return TYPE_S32;
    case TYPE_U32: return TYPE_U64;
    case TYPE_S32: return TYPE_S64;
    default: return TYPE_NONE;
    }
}

static bool sig_type(Str word, const Form *form, u8 *type) {
    *type = TYPE_NONE;
    if (str_is(word, "*")) return true;
    if (str_is(word, "2*0")) {
        *type = wider(form->types[0]);
        return true;
    }
    if (word.len == 1 && word.data[0] >= '0' && word.data[0] < '0' + FORM_MAX_TYPES) {
        *type = form->types[word.data[0] - '0'];
        return true;
    }
    *type = find_type(word);
    return *type != TYPE_NONE;
}

typedef struct AccessInfo {
    char letter;
    u8 access, kinds;
} AccessInfo;

static const AccessInfo accesses[] = {
    {'d', ACCESS_WRITE, TAKES_REG},      {'s', ACCESS_READ, TAKES_REG | TAKES_IMM | TAKES_SYMBOL},
    {'b', ACCESS_READ_WRITE, TAKES_REG}, {'p', ACCESS_WRITE, TAKES_PRED},
    {'q', ACCESS_READ, TAKES_PRED},      {'m', ACCESS_ADDRESS, TAKES_ADDRESS},
    {'l', ACCESS_TARGET, TAKES_LABEL},   {'f', ACCESS_TARGET, TAKES_LABEL | TAKES_REG},
    {'g', ACCESS_READ, TAKES_VECTOR},    {'v', ACCESS_READ, TAKES_VECTOR},
};

static bool sig_access(char letter, SigItem *item) {
    for (u32 i = 0; i < WL_COUNT(accesses); i++) {
        if (accesses[i].letter != letter) continue;
        item->access = letter;
        item->spec.access = accesses[i].access;
        item->spec.kinds = accesses[i].kinds;
        return true;
    }
    return false;
}

// What follows a '?': nothing, or the class of modifiers that brings the operand.
static bool sig_option(Str word, const Form *form, SigItem *item) {
    if (!word.len) {
        item->optional = item->spec.optional = true;
        return true;
    }
    for (u32 class = 0; class < MOD_CLASS_COUNT; class ++) {
        if (!equal_ignoring_case(word, class_names[class])) continue;
        item->absent = form->mods[class] == MOD_TOKEN_NONE;
        return true;
    }
    return false;
}

// One signature entry, "d:0xV~|p?". False when it is not well formed.
static bool sig_item(Str text, const Form *form, SigItem *item) {
    *item = (SigItem){0};
    if (text.len < 3 || text.data[1] != ':' || !sig_access(text.data[0], item)) return false;
    const char *at = text.data + 2, *end = text.data + text.len;
    const char *type = at;
    while (at < end && !strchr("~?|", *at) &&
           !(at[0] == 'x' && at + 1 < end && strchr("V*248", at[1]) && (at + 2 == end || strchr("~?|", at[2]))))
        at++;
    if (!sig_type((Str){type, (size_t)(at - type)}, form, &item->spec.type)) return false;
    item->spec.vector = item->access == 'v' || item->access == 'g' ? 0 : 1;
    if (at < end && *at == 'x') {
        item->spec.vector = at[1] == 'V' ? form->vector : at[1] == '*' ? 0 : (u8)(at[1] - '0');
        item->spec.kinds |= TAKES_VECTOR;  // xV without .v2, .v4: ld.b32 {%r1}, [a] is ld.b32 %r1, [a]
        at += 2;
    }
    for (; at < end; at++) {
        if (*at == '~')
            item->spec.wide = true;
        else if (*at == '?')
            return sig_option((Str){at + 1, (size_t)(end - at - 1)}, form, item);
        else if (*at == '|' && at + 1 < end && at[1] == 'p')
            item->spec.kinds |= TAKES_PAIR, at++;
        else
            return false;
    }
    return true;
}

static u32 sig_items(const char *sig, const Form *form, SigItem *items) {
    u32 count = 0;
    for (const char *at = sig; *at && count < MAX_SPECS;) {
        size_t len = strcspn(at, ",");
        if (!sig_item((Str){at, len}, form, &items[count])) return WL_NONE;
        count += !items[count].absent;
        at += len;
        while (*at == ',' || *at == ' ') at++;
    }
    return count;
}

static bool shape_fits(const SigItem *item, u32 shape) {
    bool writes = item->spec.access == ACCESS_WRITE;
    switch (shape) {
    case SHAPE_SCALAR:
        return item->access != 'v' && item->access != 'g' && item->access != 'm' && item->spec.vector <= 1;
    case SHAPE_VECTOR: return item->access != 'g' && (item->spec.kinds & TAKES_VECTOR);
    case SHAPE_ADDRESS: return item->access == 'm';
    case SHAPE_GROUP: return item->access == 'g';
    case SHAPE_PAIR: return (item->spec.kinds & TAKES_PAIR) != 0;
    case SHAPE_SINK: return writes;
    default: return false;
    }
}

// Gives the operands from `shapes` on to the items from `item` on, leaving out optional ones where that helps.
static bool assign(const SigItem *items, u32 count, u32 item, u32 shapes, u8 *chosen, u32 operand) {
    if (item == count) return shapes == 0;
    bool fits = shapes && shape_fits(&items[item], shapes & 7);
    if (fits && operand < FORM_MAX_OPERANDS) {
        chosen[operand] = (u8)item;
        if (assign(items, count, item + 1, shapes >> SHAPE_BITS, chosen, operand + 1)) return true;
    }
    return items[item].optional && assign(items, count, item + 1, shapes, chosen, operand);
}

static u32 shape_count(u32 shapes) {
    u32 count = 0;
    for (; shapes; shapes >>= SHAPE_BITS) count++;
    return count;
}

static bool match_sig(u16 op, u32 shapes, Form *form) {
    SigItem items[MAX_SPECS];
    u8 chosen[FORM_MAX_OPERANDS] = {0};
    u32 count = sig_items(ptx_ops[op].sig, form, items);
    if (count == WL_NONE || !assign(items, count, 0, shapes, chosen, 0)) return false;
    form->spec_count = (u8)shape_count(shapes);
    for (u32 i = 0; i < form->spec_count; i++) {
        form->specs[i] = items[chosen[i]].spec;
        if (!form->specs[i].optional) form->spec_required = (u8)(i + 1);
        bool before_target = items[chosen[i]].access == 'g' && chosen[i] == 0;
        if (before_target) form->specs[i].access = ACCESS_WRITE;  // (results), f, (arguments)
    }
    return true;
}

// ---- rows

static FormProblem match_row(u16 op, Str mnemonic, u32 shapes, Form *form, Str *bad) {
    *form = (Form){.op = op, .vector = 1};
    size_t len = strlen(ptx_ops[op].name);
    if (!match_mods(op, (Str){mnemonic.data + len, mnemonic.len - len}, form, bad)) {
        return bad->len ? FORM_UNKNOWN_MOD : FORM_MISSING_MOD;
    }
    return match_sig(op, shapes, form) ? FORM_OK : FORM_OPERANDS;
}

// Tries all rows of one name. Of several failures the one that got farthest is reported.
static FormProblem match_name(Str name, Str mnemonic, u32 shapes, Form *form, Str *where) {
    FormProblem best = FORM_UNKNOWN_OP;
    Form best_form = {0};
    for (u16 op = 0; op < OP_COUNT; op++) {
        if (!str_is(name, ptx_ops[op].name)) continue;
        Str bad = {0};
        FormProblem problem = match_row(op, mnemonic, shapes, form, &bad);
        if (problem == FORM_OK) return FORM_OK;
        bool farther = problem > best || (problem == FORM_UNKNOWN_MOD && best == problem && bad.data > where->data);
        if (!farther) continue;
        best = problem;
        best_form = *form;
        *where = bad;
    }
    *form = best_form;
    return best;
}

FormProblem form_decode(Str mnemonic, u32 shapes, Form *form, Str *where) {
    *where = mnemonic;
    FormProblem first = FORM_UNKNOWN_OP;
    Form first_form = {0};
    for (size_t len = mnemonic.len; len > 0;) {
        Str at = mnemonic;
        FormProblem problem = match_name((Str){mnemonic.data, len}, mnemonic, shapes, form, &at);
        if (problem == FORM_OK) return FORM_OK;
        if (problem != FORM_UNKNOWN_OP && first == FORM_UNKNOWN_OP) first = problem, first_form = *form, *where = at;
        while (len > 0 && mnemonic.data[len - 1] != '.') len--;
        if (len > 0) len--;
    }
    *form = first_form;
    return first;
}

void form_operand_range(const Form *form, u32 *least, u32 *most) {
    SigItem items[MAX_SPECS];
    u32 count = sig_items(ptx_ops[form->op].sig, form, items);
    *least = 0;
    *most = count;
    for (u32 i = 0; i < count; i++) *least += !items[i].optional;
}

bool form_check_row(u16 op, char *problem, size_t size) {
    Row row;
    row_of_grammar(ptx_ops[op].mods, &row);
    for (u32 i = 0; i < row.count; i++) {
        const Item *item = &row.items[i];
        const char *end = item->list.data + item->list.len;
        snprintf(problem, size, "%s: modifier word %u", ptx_ops[op].name, i + 1);
        if (item->kind == ITEM_BAD) return false;
        for (const char *at = item->list.data; at < end;) {
            const char *comma = memchr(at, ',', (size_t)(end - at));
            if (!comma) comma = end;
            char text[64];
            snprintf(text, sizeof text, ".%.*s", (int)(comma - at), at);
            Str token = {text, strlen(text)}, word = {text + 1, strlen(text) - 1};
            snprintf(problem, size, "%s: modifier word %u, %s", ptx_ops[op].name, i + 1, text);
            bool known = item->kind == ITEM_MOD      ? find_token(item->class, token) != MOD_TOKEN_NONE
                         : item->kind == ITEM_VECTOR ? vector_of(token) != 0
                         : item->kind == ITEM_SPACE  ? find_space(token) || str_is(word, "shared_cluster")
                                                     : find_type(word) != TYPE_NONE;
            if (!known) return false;
            at = comma + 1;
        }
    }
    SigItem items[MAX_SPECS];
    Form form = {.op = op, .vector = 1};
    snprintf(problem, size, "%s: signature", ptx_ops[op].name);
    u32 count = sig_items(ptx_ops[op].sig, &form, items);
    return count != WL_NONE && count <= FORM_MAX_OPERANDS;
}

// ---- cache

static u64 cache_slot(Str mnemonic, u32 shapes) {
    return hash_bytes(mnemonic.data, mnemonic.len) ^ (u64)shapes * 0x9e3779b97f4a7c15ull;
}

u32 form_cache_find(const FormCache *cache, const Form *forms, const Intern *texts, Str mnemonic, u32 shapes,
                    u64 *slot) {
    for (*slot = cache_slot(mnemonic, shapes);; (*slot)++) {
        const u64 *found = map_get(&cache->index, *slot);
        if (!found) return WL_NONE;
        u32 form = (u32)*found;
        Str text = intern_str(texts, forms[form].text);
        bool same = text.len == mnemonic.len && memcmp(text.data, mnemonic.data, text.len) == 0;
        if (same && cache->shapes.data[form] == shapes) return form;
    }
}

Status form_cache_add(FormCache *cache, u64 slot, u32 form, u32 shapes) {
    TRY(vec_push(&cache->shapes, shapes));
    return map_put(&cache->index, slot, form);
}

void form_cache_free(FormCache *cache) {
    map_free(&cache->index);
    vec_free(&cache->shapes);
}
