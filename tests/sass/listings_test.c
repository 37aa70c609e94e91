// SPDX-License-Identifier: Apache-2.0
// What nvdisasm and ptxas say of the kernels of this folder against what is read: opcodes, sizes, control words, and
// control flow (nvdisasm -bbcfg, as edges.py writes it down).
#include "base/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "binary/cubin.h"
#include "flow/flow.h"
#include "sass/control.h"

typedef struct Sample {
    FileData cubin_file, json_file;
    Cubin cubin;
    SassModule sass;
} Sample;

static const char *const names[] = {"app", "kernels_80", "kernels_90", "kernels_120"};

static FileData read_file(const char *name, const char *suffix) {
    char path[96];
    FileData file;
    snprintf(path, sizeof path, "tests/sass/%s.%s", name, suffix);
    assert_int_equal(file_read(path, &file, NULL), STATUS_OK);
    return file;
}

static void open_sample(Sample *s, const char *name) {
    Diag diag = {0};
    s->cubin_file = read_file(name, "cubin");
    s->json_file = read_file(name, "json");
    Str json = {(char *)s->json_file.data, s->json_file.size};
    assert_int_equal(cubin_open(&s->cubin, s->cubin_file.data, s->cubin_file.size, name, &diag), STATUS_OK);
    assert_int_equal(sass_read(&s->sass, json, name, &diag), STATUS_OK);
    assert_int_equal(diag.entries.len, 0);
    diag_free(&diag);
}

static void close_sample(Sample *s) {
    sass_free(&s->sass);
    cubin_close(&s->cubin);
    file_release(&s->cubin_file);
    file_release(&s->json_file);
}

static const CubinFunction *function_in(const Sample *s, const SassFunction *f) {
    const CubinFunction *function = cubin_find_function(&s->cubin, (Str){f->name, strlen(f->name)});
    assert_non_null(function);
    return function;
}

TEST(every_opcode_and_size_is_known) {
    for (u32 n = 0; n < WL_COUNT(names); n++) {
        Sample s;
        open_sample(&s, names[n]);
        assert_int_equal(s.sass.sm, s.cubin.sm);
        assert_int_equal(s.sass.functions.len, s.cubin.functions.len);
        for (u32 i = 0; i < s.sass.insns.len; i++)
            if (s.sass.insns.data[i].op == SASS_OP_UNKNOWN) fail_msg("%s: %s", names[n], s.sass.insns.data[i].name);
        for (u32 f = 0; f < s.sass.functions.len; f++) {
            const SassFunction *function = &s.sass.functions.data[f];
            assert_int_equal(function->count * SASS_INSN_BYTES, function_in(&s, function)->code_size);
        }
        close_sample(&s);
    }
}

// An instruction that raises a barrier is one that takes as long as it takes; and whoever waits has somebody to wait
// for.
TEST(control_words_make_sense) {
    for (u32 n = 0; n < WL_COUNT(names); n++) {
        Sample s;
        open_sample(&s, names[n]);
        for (u32 f = 0; f < s.sass.functions.len; f++) {
            const SassFunction *function = &s.sass.functions.data[f];
            const u8 *code = function_in(&s, function)->code;
            u32 raised = 0, waited = 0;
            for (u32 i = 0; i < function->count; i++) {
                const SassInsn *insn = &s.sass.insns.data[function->first + i];
                SassControl c = sass_control(code + (size_t)i * SASS_INSN_BYTES);
                assert_true(c.write_barrier != 6 && c.read_barrier != 6);
                if (c.write_barrier < SASS_BARRIERS) {
                    assert_true(sass_op(insn)->time >= SASS_TIME_UNIFORM || sass_op(insn)->time == SASS_TIME_DOUBLE);
                    raised |= 1u << c.write_barrier;
                }
                if (c.read_barrier < SASS_BARRIERS) raised |= 1u << c.read_barrier;
                waited |= c.wait_mask;
            }
            assert_int_equal(waited & ~raised, 0);
        }
        close_sample(&s);
    }
}

// --- control flow ----------------------------------------------------------------------------------------------------
// Where instruction `i` goes, as "17 28 " in ascending order.
static void describe(const Cfg *cfg, u32 i, char *text, size_t size) {
    const FlowBlock *block = &cfg->blocks[cfg->block_of[i]];
    u32 to[32], count = 0;
    if (i + 1 < block->first + block->count) {
        to[count++] = i + 1;
    } else {
        for (u32 e = 0; e < block->succ_count && count < WL_COUNT(to); e++)
            to[count++] = cfg->blocks[cfg->edges[block->succs + e]].first;
    }
    text[0] = '\0';
    for (u32 round = 0; round < count; round++) {
        u32 least = 0;
        for (u32 k = 1; k < count; k++)
            if (to[k] < to[least]) least = k;
        snprintf(text + strlen(text), size - strlen(text), "%u ", to[least]);
        to[least] = UINT32_MAX;
    }
}

typedef struct Graph {
    Arena arena;
    Cfg *cfg;
    const SassFunction *function;
} Graph;

static Graph make_graph(const Sample *s, u32 f) {
    Graph g = {.function = &s->sass.functions.data[f]};
    const CubinFunction *function = function_in(s, g.function);
    FlowJump jumps[64];
    assert_true(function->jump_count <= WL_COUNT(jumps));
    for (u32 j = 0; j < function->jump_count; j++) {
        const CubinJump *jump = &s->cubin.jumps.data[function->first_jump + j];
        jumps[j] = (FlowJump){jump->from, jump->to};
    }
    FlowSassSource source = {.module = &s->sass, .function = f, .jumps = jumps, .jump_count = function->jump_count};
    FlowCode *code;
    assert_int_equal(flow_from_sass(&source, &g.arena, &code), STATUS_OK);
    assert_int_equal(flow_cfg(code, &g.arena, &g.cfg), STATUS_OK);
    return g;
}

// The routine or function of this name, and where it begins in its function.
static bool find_part(const Sample *s, const char *name, u32 *function, u32 *begin) {
    for (*function = 0; *function < s->sass.functions.len; ++*function) {
        const SassFunction *f = &s->sass.functions.data[*function];
        *begin = 0;
        if (strcmp(f->name, name) == 0) return true;
        for (u32 r = 0; r < f->routine_count; r++) {
            const SassRoutine *routine = &s->sass.routines.data[f->first_routine + r];
            *begin = routine->offset / SASS_INSN_BYTES;
            if (strcmp(routine->name, name) == 0) return true;
        }
    }
    return false;
}

// Ours knows more: routines are called, those called once return, and what @!PT guards is never done.
static bool is_other(const Sample *s, const SassFunction *function, u32 at) {
    const SassInsn *insn = &s->sass.insns.data[function->first + at];
    return insn->op == SASS_OP_CALL || insn->op == SASS_OP_RET || sass_is_never(insn);
}

// One function of the file: `lines` behind its head up to the next head. Returns where that is.
static const char *check_part(const Sample *s, const char *head) {
    char name[128], want[256], got[256];
    u32 count, function, begin = 0, at, others = 0;
    assert_int_equal(sscanf(head, "%127s %u", name, &count), 2);
    assert_true(find_part(s, name, &function, &begin));
    Graph g = make_graph(s, function);
    const char *line = strchr(head, '\n') + 1;
    u32 next = 0;
    for (; *line == ' '; line = strchr(line, '\n') + 1) {
        want[0] = '\0';
        int taken = 0;
        assert_int_equal(sscanf(line, " %u ->%n", &at, &taken), 1);
        for (const char *to = line + taken; *to != '\n';) {
            char *end;
            u32 number = (u32)strtoul(to, &end, 10);
            snprintf(want + strlen(want), sizeof want - strlen(want), "%u ", number + begin);
            to = end;
        }
        describe(g.cfg, begin + at, got, sizeof got);
        if (!is_other(s, g.function, begin + at)) assert_string_equal(got, want);
        for (; next < at; next++, others++) {  // those not listed go on
            snprintf(want, sizeof want, "%u ", begin + next + 1);
            describe(g.cfg, begin + next, got, sizeof got);
            if (!is_other(s, g.function, begin + next)) assert_string_equal(got, want);
        }
        next = at + 1;
    }
    assert_true(next == count && others > 0);
    arena_free(&g.arena);
    return line;
}

TEST(control_flow_is_that_of_nvdisasm) {
    for (u32 n = 1; n < WL_COUNT(names); n++) {
        Sample s;
        open_sample(&s, names[n]);
        FileData edges = read_file(names[n], "edges");
        u32 parts = 0;
        for (const char *at = (const char *)edges.data; *at; parts++) at = check_part(&s, at);
        assert_true(parts >= s.sass.functions.len);
        file_release(&edges);
        close_sample(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_and_size_is_known),
        cmocka_unit_test(control_words_make_sense),
        cmocka_unit_test(control_flow_is_that_of_nvdisasm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
