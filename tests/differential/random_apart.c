// SPDX-License-Identifier: Apache-2.0
#include "random_apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_gen.h"
#include "random_record.h"

typedef struct RegisterKind {
    const char *letters, *type, *zero;
} RegisterKind;
static const RegisterKind kinds[] = {
    {"rtu", "b32", "%z32"}, {"de", "b64", "%z64"}, {"hg", "b16", "%z16"}, {"pq", "pred", "%zp"}};
static const char digits[] = "0123456789";

static void take_apart(Gen *g, const char *operand, size_t size) {
    for (const char *s = operand; (size_t)(s - operand) + 2 < size; s++) {
        size_t number = strspn(s + 2, digits);
        if (*s != '%' || !number) continue;
        for (u32 k = 0; k < WL_COUNT(kinds); k++)
            if (strchr(kinds[k].letters, s[1]))
                gen_emit(g, "xor.%s %.*s, %.*s, %s;\n", kinds[k].type, (int)number + 2, s, (int)number + 2, s,
                         kinds[k].zero);
    }
}
// The instruction of a line, behind its guard.
static const char *instruction(const char *line, const char *end) {
    const char *blank = *line == '@' ? memchr(line, ' ', (size_t)(end - line)) : NULL;
    return blank ? blank + 1 : line;
}
// Its first operand, where that can be a result.
static const char *first_operand(const char *insn, const char *end, size_t *size) {
    const char *s = *insn == '.' ? NULL : memchr(insn, ' ', (size_t)(end - insn));
    if (!s || (s[1] != '%' && s[1] != '{')) return NULL;
    *size = strcspn(s + 1, s[1] == '{' ? "}" : ",;");
    return s + 1;
}
static void declare_zeros(Gen *g, const char *zero) {
    gen_emit(g, ".reg .b64 %%z64;\n.reg .b32 %%z32;\n.reg .b16 %%z16;\n.reg .pred %%zp;\n");
    gen_emit(g,
             "ld.volatile.global.b64 %%z64, [%s];\ncvt.u32.u64 %%z32, %%z64;\ncvt.u16.u64 %%z16, %%z64;\n"
             "setp.ne.u64 %%zp, %%z64, 0;\n",
             zero);
}

bool random_apart(RandomProgram *program) {
    static const char last_declaration[] = ".local ", entry[] = ".visible .entry ";
    Gen g = {0};
    char zero[RANDOM_NAME + 8];
    const u32 *block = program->block;
    snprintf(zero, sizeof zero, "%s_zero", program->name);
    gen_emit(&g, ".global .align 8 .b64 %s;\n", zero);
    for (const char *line = program->text, *end; *line; line = end + 1) {
        size_t size = 0;
        end = strchr(line, '\n');
        const char *insn = instruction(line, end), *operand = first_operand(insn, end, &size);
        bool guarded = operand && insn != line;
        if (guarded) {
            bool negated = line[1] == '!';
            const char *guard = line + 1 + negated;
            gen_emit(&g, "@%s%.*sbra over%u;\n", negated ? "" : "!", (int)(insn - guard), guard, g.labels);
            line = insn;
        }
        gen_emit(&g, "%.*s\n", (int)(end - line), line);
        if (!strncmp(line, entry, sizeof entry - 1))  // so that its registers suffice
            gen_emit(&g, ".maxntid %u, %u, %u\n", block[0], block[1], block[2]);
        if (!strncmp(line, last_declaration, sizeof last_declaration - 1)) declare_zeros(&g, zero);
        if (guarded) gen_emit(&g, "over%u:\n", g.labels++);
        if (operand) take_apart(&g, operand, size);
    }
    free(program->text);
    program->text = g.text, program->size = g.len;
    if (g.failed) random_free(program);
    return !g.failed;
}

// --- what is listed -----------------------------------------------------------------------------------------------
ApartReason random_apart_reason(u64 seed) {
    static const struct {
        u32 program;
        ApartReason reason;
    } listed[] = {
#define APART(program, reason) {program, APART_##reason},
#include "random_apart.inc"
#undef APART
    };
    for (u32 i = 0; i < WL_COUNT(listed); i++)
        if (seed == RANDOM_FIRST + (u64)listed[i].program) return listed[i].reason;
    return APART_NONE;
}

// Registers of the pools that hold a floating-point number made of an integer.
typedef struct Made {
    bool r[POOL_32], h[POOL_16];
} Made;

static bool *place_of(Made *made, const char *reg) {
    u32 n = (u32)(reg[2] - '0');
    if (reg[1] == 'r' && n < POOL_32) return &made->r[n];
    return reg[1] == 'h' && n < POOL_16 ? &made->h[n] : NULL;
}
static bool begins(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }
// cvt.rn.f32.u64, and set.lt.f32.s32, which makes 1 or 0.
static bool makes(const char *insn) {
    size_t name = strcspn(insn, " ");
    const char *type32 = strstr(insn, ".f32.");
    if (begins(insn, "set.")) return type32 && type32 < insn + name;
    if (!begins(insn, "cvt.r")) return false;
    const char *type = insn + 7, *from = strchr(type, '.');
    return (begins(type, "f32") || begins(type, "f16") || begins(type, "bf16")) && (from[1] == 'u' || from[1] == 's');
}
// Bits of what an instruction's name ends in: st.global.v2.u8.
static u32 type_bits(const char *insn) {
    const char *end = insn + strcspn(insn, " "), *number = end;
    while (number[-1] >= '0' && number[-1] <= '9') number--;
    return (u32)strtoul(number, NULL, 10);
}
static bool stores(Made *made, const char *insn) {
    u32 bits = begins(insn, "st.") ? type_bits(insn) : 64;
    const char *value = bits < 32 ? strchr(insn, ']') : NULL;
    for (; value && *value != '\n'; value++) {
        const bool *place = *value == '%' ? place_of(made, value) : NULL;
        if (place && *place && bits < (value[1] == 'r' ? 32u : 16u)) return true;
    }
    return false;
}
static bool shifts(Made *made, const char *insn) {
    if (!begins(insn, "shl.") && !begins(insn, "shr.")) return false;
    const char *amount = insn + strcspn(insn, ";\n");
    while (*amount != ' ') amount--;
    const bool *place = amount[1] == '%' ? place_of(made, amount + 1) : NULL;
    return type_bits(insn) == 64 && place && *place;
}
static bool loses_guard(const char *line, const char *insn) {
    size_t name = strcspn(insn, " ");
    const char *four = memchr(insn, '4', name);
    return insn != line && *insn == 'v' && four && four[1] == '.' && name > 4 && begins(insn + name - 4, ".add");
}

void random_lose_guards(RandomProgram *program) {
    for (char *line = program->text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *insn = instruction(line, end);
        if (loses_guard(line, insn)) memset(line, ' ', (size_t)(insn - line));
    }
}

bool random_apart_shows(const RandomProgram *program, ApartReason reason) {
    const u32 *block = program->block;
    Made made = {0};
    if (reason == APART_REGISTERS) return block[0] * block[1] * block[2] == RANDOM_BLOCK;
    for (const char *line = program->text, *end; *line; line = end + 1) {
        size_t size = 0;
        end = strchr(line, '\n');
        const char *insn = instruction(line, end), *operand = first_operand(insn, end, &size);
        if (reason == APART_STORED && stores(&made, insn)) return true;
        if (reason == APART_SHIFTED && shifts(&made, insn)) return true;
        if (reason == APART_GUARDED && loses_guard(line, insn)) return true;
        for (const char *s = operand; s && s < operand + size; s++) {
            bool *place = *s == '%' ? place_of(&made, s) : NULL;
            if (place) *place = makes(insn) || (*place && insn != line);
        }
    }
    return false;
}
