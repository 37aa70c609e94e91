// SPDX-License-Identifier: Apache-2.0
// The grammar of ops.def, expanded.
#include "form.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VARIANTS = 4 };

static const struct {
    u16 op;
    const char *why;
} excluded[] = {
    {OP_MOV_PACK, "random programs: mov of pieces"},
    {OP_MOV_UNPACK, "random programs: mov of pieces"},
    {OP_CVTA, "addresses; random programs use it for every space"},
    {OP_ISSPACEP, "addresses; tests/sim/memory.cu"},
    {OP_PREFETCH, "changes nothing"},
    {OP_PREFETCH_EVICT, "changes nothing"},
    {OP_PREFETCH_TENSORMAP, "changes nothing"},
    {OP_PREFETCHU, "changes nothing"},
    {OP_APPLYPRIORITY, "changes nothing"},
    {OP_DISCARD, "leaves memory undefined"},
    {OP_CP_ASYNC, "random programs; async_test.c"},
    {OP_CP_ASYNC_COMMIT, "random programs; async_test.c"},
    {OP_CP_ASYNC_WAIT, "random programs; async_test.c"},
    {OP_CP_ASYNC_WAIT_ALL, "random programs; async_test.c"},
    {OP_CP_ASYNC_MBARRIER, "async_test.c"},
    {OP_TEX, "texture_test.c"},
    {OP_TEX_OFFSET, "texture_test.c"},
    {OP_TEX_MIP, "texture_test.c"},
    {OP_TEX_GRAD, "texture_test.c"},
    {OP_TLD4, "texture_test.c"},
    {OP_TXQ, "texture_test.c"},
    {OP_TXQ_LEVEL, "texture_test.c"},
    {OP_SULD, "texture_test.c"},
    {OP_SUST, "texture_test.c"},
    {OP_SURED, "texture_test.c"},
    {OP_SUQ, "texture_test.c"},
    {OP_BRA, "control flow: random programs"},
    {OP_BRX, "control flow: random programs"},
    {OP_CALL, "control flow: random programs"},
    {OP_RET, "control flow: random programs"},
    {OP_EXIT, "control flow: random programs"},
    {OP_BAR_SYNC, "barriers: random programs"},
    {OP_BAR_ARRIVE, "barriers: random programs"},
    {OP_BAR_RED_POPC, "barriers: random programs"},
    {OP_BAR_RED, "barriers: random programs"},
    {OP_BARRIER_SYNC, "barriers: random programs"},
    {OP_BARRIER_ARRIVE, "barriers: random programs"},
    {OP_BARRIER_RED_POPC, "barriers: random programs"},
    {OP_BARRIER_RED, "barriers: random programs"},
    {OP_BAR_WARP_SYNC, "barriers: random programs"},
    {OP_BARRIER_CLUSTER_ARRIVE, "barriers: cluster tests"},
    {OP_BARRIER_CLUSTER_WAIT, "barriers: cluster tests"},
    {OP_MEMBAR, "no value: order only"},
    {OP_MEMBAR_PROXY, "no value: order only"},
    {OP_FENCE, "no value: order only"},
    {OP_FENCE_RESTRICT, "no value: order only"},
    {OP_FENCE_MBARRIER_INIT, "no value: order only"},
    {OP_FENCE_PROXY, "no value: order only"},
    {OP_FENCE_PROXY_RELEASE, "no value: order only"},
    {OP_SHFL, "not for sm_70 and later: warp_ops tests"},
    {OP_VOTE, "not for sm_70 and later: warp_ops tests"},
    {OP_VOTE_BALLOT, "not for sm_70 and later: warp_ops tests"},
    {OP_GRIDDEPCONTROL, "no value"},
    {OP_MBARRIER_INIT, "random programs; async_test.c"},
    {OP_MBARRIER_INVAL, "async_test.c"},
    {OP_MBARRIER_EXPECT_TX, "async_test.c"},
    {OP_MBARRIER_COMPLETE_TX, "async_test.c"},
    {OP_MBARRIER_ARRIVE, "random programs; async_test.c"},
    {OP_MBARRIER_ARRIVE_DROP, "async_test.c"},
    {OP_MBARRIER_TEST_WAIT, "random programs; async_test.c"},
    {OP_MBARRIER_TRY_WAIT, "random programs; async_test.c"},
    {OP_MBARRIER_PENDING, "async_test.c"},
    {OP_WMMA_LOAD, "matrices: exec_cases.inc and exec_matrix_test.c"},
    {OP_WMMA_STORE, "matrices: exec_cases.inc and exec_matrix_test.c"},
    {OP_WMMA_MMA_F16, "matrices: exec_cases.inc"},
    {OP_WMMA_MMA, "matrices: exec_cases.inc"},
    {OP_MMA, "matrices: exec_cases.inc"},
    {OP_LDMATRIX, "matrices: exec_matrix_test.c"},
    {OP_STMATRIX, "matrices: exec_matrix_test.c"},
    {OP_MOVMATRIX, "matrices: exec_cases.inc"},
    {OP_BRKPT, "ends the program"},
    {OP_NANOSLEEP, "no value"},
    {OP_PMEVENT, "no value"},
    {OP_TRAP, "ends the program"},
};

const char *form_excluded(u32 op) {
    for (u32 i = 0; i < WL_COUNT(excluded); i++)
        if (excluded[i].op == op) return excluded[i].why;
    return NULL;
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
    for (u8 n = 2; n <= 8; n = (u8)(n * 2)) {
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
