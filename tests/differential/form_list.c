// SPDX-License-Identifier: Apache-2.0
// The grammar of ops.def, expanded.
#include "form.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VARIANTS = 4 };

// What has no forms: whole kinds of instructions, and single ones.
static const struct {
    u32 flags;
    const char *why;
} excluded_kinds[] = {
    {OPF_MATRIX, "matrices: exec_cases.inc and exec_matrix_test.c"},
    {OPF_TEXTURE | OPF_SURFACE, "texture_test.c"},
    {OPF_BRANCH | OPF_CALL | OPF_RET | OPF_EXIT | OPF_TRAP, "control flow: random programs"},
    {OPF_BARRIER, "barriers: random programs"},
    {OPF_ASYNC, "asynchronous: random programs, async_test.c, tests/sim"},
    {OPF_FENCE, "no value: order only"},
    {OPF_VOLATILE, "no value"},
};
static const struct {
    u16 op;
    const char *why;
} excluded[] = {
    {OP_MOV_PACK, "random programs: mov of pieces"},
    {OP_MOV_UNPACK, "random programs: mov of pieces"},
    {OP_ISTYPEP, "texture_test.c"},
    {OP_TENSORMAP_REPLACE, "tensor maps: tests/sim"},
    {OP_MOV_VECTOR, "exec_value_test.c"},
    {OP_MOV_VECTOR_SREG, "exec_value_test.c"},
    {OP_CVTA, "addresses: random programs use it for every space"},
    {OP_ISSPACEP, "addresses: tests/sim/memory.cu"},
    {OP_MAPA, "addresses: cluster tests"},
    {OP_GETCTARANK, "addresses: cluster tests"},
    {OP_PREFETCH, "changes nothing"},
    {OP_PREFETCH_EVICT, "changes nothing"},
    {OP_PREFETCH_TENSORMAP, "changes nothing"},
    {OP_PREFETCHU, "changes nothing"},
    {OP_APPLYPRIORITY, "changes nothing"},
    {OP_CREATEPOLICY_RANGE, "its value is opaque"},
    {OP_CREATEPOLICY_FRACTIONAL, "its value is opaque"},
    {OP_CREATEPOLICY_CVT, "its value is opaque"},
    {OP_SHFL, "not for sm_70 and later: exec_value_test.c"},
    {OP_VOTE, "not for sm_70 and later: exec_value_test.c"},
    {OP_VOTE_BALLOT, "not for sm_70 and later: exec_value_test.c"},
    {OP_BRKPT, "ends the program"},
};

const char *form_excluded(u32 op) {
    const OpInfo *info = &ptx_ops[op];
    if (info->sm > 90) return "for later GPUs than the H200";
    if (op == OP_ACTIVEMASK) return NULL;
    for (u32 i = 0; i < WL_COUNT(excluded_kinds); i++)
        if (info->flags & excluded_kinds[i].flags) return excluded_kinds[i].why;
    if (!strncmp(info->name, "mbarrier.", 9)) return "barrier objects: random programs, async_test.c";
    for (u32 i = 0; i < WL_COUNT(excluded); i++)
        if (excluded[i].op == op) return excluded[i].why;
    return NULL;
}

bool form_approximate(const FormCase *form) {
    static const u16 ops[] = {OP_RSQRT, OP_RSQRT_F64, OP_SIN,  OP_COS,      OP_LG2,
                              OP_EX2,   OP_EX2_HALF,  OP_TANH, OP_TANH_HALF};
    for (u32 i = 0; i < WL_COUNT(ops); i++)
        if (ops[i] == form->op) return true;
    return form->mods[MOD_APPROX] != MOD_TOKEN_NONE;
}

typedef struct Walk {
    const OpInfo *info;
    void (*each)(void *context, const FormCase *form);
    void *context;
} Walk;

static bool is_memory(const OpInfo *info) { return info->flags & (OPF_LOAD | OPF_STORE | OPF_ATOMIC); }

static const char *class_name(u32 class) {
    static const char *const names[] = {
#define MOD_CLASS(name) #name,
#define MOD(class, token, text)
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
    };
    return names[class];
}

typedef struct Item {  // of a row's grammar
    const char *name, *list, *end;
    size_t name_len, list_len;
    bool optional;
} Item;
static Item read_item(const char *p) {
    Item it = {.name = p};
    size_t len = strcspn(p, " ");
    it.name_len = strcspn(p, " (?");
    if (p[it.name_len] == '(') it.list = p + it.name_len + 1, it.list_len = strcspn(it.list, ")");
    it.optional = len && p[len - 1] == '?';
    it.end = p + len;
    while (*it.end == ' ') it.end++;
    return it;
}
static bool listed(const Item *it, const char *text) {
    size_t len = strlen(text);
    if (!it->list) return true;
    for (const char *p = it->list, *end = p + it->list_len; p < end;) {
        size_t n = strcspn(p, ",)");
        if (n == len && !memcmp(p, text, n)) return true;
        p += n + 1;
    }
    return false;
}

static void walk(const Walk *w, const FormCase *form);
static void walk_with(const Walk *w, const FormCase *form, const char *text, const char *next,
                      const FormCase *changed) {
    FormCase f = *changed;
    size_t n = strlen(form->mnemonic);
    if (n + strlen(text) + 2 > sizeof f.mnemonic) return;
    snprintf(f.mnemonic + n, sizeof f.mnemonic - n, "%s%s", *text == '.' ? "" : ".", text);
    f.item = next;
    walk(w, &f);
}

// Of a memory operation, one optional modifier at a time, and few types with it. A scope belongs to its .relaxed.
static bool few(const Walk *w, const FormCase *f) {
    if (!is_memory(w->info)) return true;
    u32 extras = f->extras - (f->mods[MOD_SCOPE] && f->mods[MOD_SEM]);
    return extras < 2;
}
static bool plain_type(const Walk *w, const FormCase *f, u8 type) {
    static const u8 some[] = {TYPE_U8, TYPE_B32, TYPE_U32, TYPE_F64, TYPE_F16X2};
    if (!is_memory(w->info) || !f->extras) return true;
    return memchr(some, type, sizeof some) != NULL;
}

static void walk_types(const Walk *w, const FormCase *form, const Item *it) {
    for (u8 t = 1; t < TYPE_COUNT; t++) {
        if (!listed(it, ptx_types[t].text) || !plain_type(w, form, t)) continue;
        FormCase f = *form;
        f.types[f.type_count++] = t;
        walk_with(w, form, ptx_types[t].text, it->end, &f);
    }
}
static void walk_spaces(const Walk *w, const FormCase *form, const Item *it) {
    static const char *const names[FS_COUNT][2] = {[FS_GLOBAL] = {"global", "global"},
                                                   [FS_SHARED] = {"shared", "shared"},
                                                   [FS_CLUSTER] = {"shared_cluster", "shared::cluster"},
                                                   [FS_LOCAL] = {"local", "local"},
                                                   [FS_CONST] = {"const", "const"},
                                                   [FS_PARAM] = {"param", "param"}};
    for (u8 s = FS_GLOBAL; s < FS_COUNT; s++) {
        if (!listed(it, names[s][0])) continue;
        FormCase f = *form;
        f.space = s, f.spaces++;
        walk_with(w, form, names[s][1], it->end, &f);
    }
}
static void walk_vectors(const Walk *w, const FormCase *form, const Item *it) {
    u8 most = w->info->flags & OPF_ATOMIC ? 8 : 4;  // of loads and stores v8 is for later GPUs
    for (u8 n = 2; n <= most; n = (u8)(n * 2)) {
        char text[4] = {'v', (char)('0' + n), 0};
        if (!listed(it, text)) continue;
        FormCase f = *form;
        f.vector = n;
        walk_with(w, form, text, it->end, &f);
    }
}
static void walk_tokens(const Walk *w, const FormCase *form, const Item *it) {
    bool literal = *it->name == '.';
    for (u16 t = 1; t < MOD_TOKEN_COUNT; t++) {
        const char *text = ptx_mods[t].text, *name = class_name(ptx_mods[t].class);
        if (literal) {
            if (strlen(text) != it->name_len || memcmp(text, it->name, it->name_len)) continue;
        } else {
            size_t i = 0;
            while (i < it->name_len && name[i] == toupper((unsigned char)it->name[i])) i++;
            if (i < it->name_len || name[i] || !listed(it, text + 1)) continue;
        }
        FormCase f = *form;
        f.mods[ptx_mods[t].class] = t;
        f.extras += it->optional && is_memory(w->info);
        if (few(w, &f)) walk_with(w, form, text, it->end, &f);
        if (literal) return;
    }
}
static void walk(const Walk *w, const FormCase *form) {
    if (!*form->item) {
        if (form->op == OP_CVT_F && ptx_types[form->types[0]].class != TYPE_CLASS_FLOAT &&
            ptx_types[form->types[1]].class != TYPE_CLASS_FLOAT)
            return;  // CVT_INT's
        for (u8 v = 0; v < MOST_VARIANTS; v++) {
            static char text[FORM_TEXT];
            FormCase f = *form;
            f.variant = v;
            if (form_text(&f, 0, text, sizeof text)) w->each(w->context, &f);
        }
        return;
    }
    Item it = read_item(form->item);
    if (it.optional) {
        FormCase f = *form;
        f.item = it.end;
        walk(w, &f);
    }
    if (!strncmp(it.name, "type", it.name_len))
        walk_types(w, form, &it);
    else if (!strncmp(it.name, "space", it.name_len))
        walk_spaces(w, form, &it);
    else if (!strncmp(it.name, "vec", it.name_len))
        walk_vectors(w, form, &it);
    else
        walk_tokens(w, form, &it);
}
void form_each(u32 op, void (*each)(void *context, const FormCase *form), void *context) {
    if (!ptx_ops[op].executable || form_excluded(op)) return;
    Walk w = {&ptx_ops[op], each, context};
    FormCase f = {.op = (u16)op, .vector = 1, .item = ptx_ops[op].mods};
    snprintf(f.mnemonic, sizeof f.mnemonic, "%s", ptx_ops[op].name);
    walk(&w, &f);
}
