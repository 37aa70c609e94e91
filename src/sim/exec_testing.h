// SPDX-License-Identifier: Apache-2.0
// For the tests of exec/: decodes a mnemonic by the grammar of ops.def, and calls the selected function on registers of
// its own.
#ifndef WL_SIM_EXEC_TESTING_H
#define WL_SIM_EXEC_TESTING_H

#include "sim/exec.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TESTING_REGS = 48, TESTING_PREDS = 16 };

// The tables of exec/ for the instruction sets that this processor has. Returns their number.
static inline u32 testing_tables(const ExecSelect *tables[2]) {
    u32 count = 0;
    tables[count++] = exec_table_base;
#if SIM_HAS_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables[count++] = exec_table_v3;
#endif
    return count;
}

// A frame of registers: r32 and r64 registers 0..; predicates 0 and 1 are false and true.
typedef struct TestFrame {
    _Alignas(64) u32 r32[TESTING_REGS][LANES];
    _Alignas(64) u64 r64[TESTING_REGS][LANES];
    u32 pred[TESTING_PREDS];
    Exec x;
} TestFrame;

static inline void testing_frame(TestFrame *t) {
    memset(t, 0, sizeof *t);
    t->x.base[AREA_R32] = (u8 *)t->r32;
    t->x.base[AREA_R64] = (u8 *)t->r64;
    t->x.pred = t->pred;
    t->pred[1] = FULL_MASK;
}
static inline SimOperand r32_operand(u32 n) { return SIM_OPERAND(AREA_R32, n * 128); }
static inline SimOperand r64_operand(u32 n) { return SIM_OPERAND(AREA_R64, n * 256); }

static inline const char *testing_class_name(u32 class) {
    static const char *const names[] = {
#define MOD_CLASS(name) #name,
#define MOD(class, token, text)
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
    };
    return names[class];
}
static inline u16 testing_token(u32 class, const char *text, size_t len) {
    for (u16 t = 1; t < MOD_TOKEN_COUNT; t++)
        if ((class == MOD_CLASS_COUNT || ptx_mods[t].class == class) && strlen(ptx_mods[t].text) == len + 1 &&
            !memcmp(ptx_mods[t].text + 1, text, len))
            return t;
    return MOD_TOKEN_NONE;
}
static inline bool testing_in_list(const char *list, size_t list_len, const char *text, size_t len) {
    for (const char *p = list, *end = list + list_len; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t n = (size_t)((comma ? comma : end) - p);
        if (n == len && !memcmp(p, text, len)) return true;
        p += n + 1;
    }
    return list_len == 0;
}

// One row of ops.def against the parts of a mnemonic after its name.
static inline bool testing_row(u32 op, const char *mnemonic, Form *form) {
    const OpInfo *info = &ptx_ops[op];
    size_t name_len = strlen(info->name);
    if (strncmp(mnemonic, info->name, name_len) || (mnemonic[name_len] && mnemonic[name_len] != '.')) return false;
    memset(form, 0, sizeof *form);
    form->op = (u16)op;
    form->vector = 1;
    const char *p = mnemonic + name_len;
    for (const char *g = info->mods; *g;) {
        while (*g == ' ') g++;
        size_t item = strcspn(g, " "), word = strcspn(g, " (?");
        const char *list = g[word] == '(' ? g + word + 1 : g;
        size_t list_len = g[word] == '(' ? strcspn(list, ")") : 0;
        bool optional = item && g[item - 1] == '?', matched = false;
        const char *part = *p == '.' ? p + 1 : p;
        size_t len = strcspn(part, ".");
        if (*p == '.') {
            if (!strncmp(g, "type", word)) {
                for (u8 t = 1; t < TYPE_COUNT; t++)
                    if (strlen(ptx_types[t].text) == len && !memcmp(ptx_types[t].text, part, len) &&
                        testing_in_list(list, list_len, part, len)) {
                        form->types[form->type_count++] = t;
                        matched = true;
                    }
            } else if (*g == '.') {
                u16 token =
                    word - 1 == len && !memcmp(g + 1, part, len) ? testing_token(MOD_CLASS_COUNT, part, len) : 0;
                if (token) form->mods[ptx_mods[token].class] = token, matched = true;
            } else {
                char class[32];
                for (size_t i = 0; i <= word; i++) class[i] = (char)(i < word ? toupper((unsigned char)g[i]) : 0);
                for (u32 c = 0; c < MOD_CLASS_COUNT; c++) {
                    if (strcmp(testing_class_name(c), class)) continue;
                    u16 token = testing_token(c, part, len);
                    if (token && testing_in_list(list, list_len, part, len)) form->mods[c] = token, matched = true;
                }
            }
        }
        if (matched)
            p = part + len;
        else if (!optional)
            return false;
        g += item;
    }
    return *p == 0;
}
static inline bool testing_form(const char *mnemonic, Form *form) {
    for (u32 op = 0; op < OP_COUNT; op++)
        if (ptx_ops[op].executable && testing_row(op, mnemonic, form)) return true;
    return false;
}

// An instruction with its operands still to be set.
static inline void testing_insn(const Form *form, SimInsn *in) {
    memset(in, 0, sizeof *in);
    in->form = form;
    in->form_op = form->op;
    in->dst = SIM_NO_OPERAND;
    for (u32 k = 0; k < 4; k++) in->src[k] = SIM_NO_OPERAND;
    in->guard = in->pred_dst = in->pred_dst2 = in->pred_src = WL_NONE;
}

#endif
