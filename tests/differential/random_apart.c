// SPDX-License-Identifier: Apache-2.0
// A program whose instructions ptxas cannot join: an exclusive-or with a zero that is read at run time stands behind
// every instruction with a result, and guards are branches. It computes what the program computes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_gen.h"

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
