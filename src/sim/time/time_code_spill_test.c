// SPDX-License-Identifier: Apache-2.0
// What is stored and loaded where a kernel has fewer registers than values, against what ptxas 13.0 reports of the same
// PTX for sm_90 (`ptxas -v`, 2026-11-29): a loop of 96 loads and products with so many sums, `.maxnreg` registers.
#include <stdarg.h>
#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code.h"

enum { TEXT = 1 << 16, LOADS = 96 };

typedef struct Row {
    u32 sums, registers;
    u32 frame, stored, loaded;  // ptxas: bytes
} Row;

static const Row rows[] = {
    {16, 24, 104, 224, 216}, {24, 24, 176, 376, 356}, {24, 32, 0, 0, 0},       {32, 24, 240, 484, 464},
    {32, 32, 160, 312, 292}, {32, 40, 0, 0, 0},       {40, 32, 224, 388, 356}, {40, 40, 160, 256, 236},
    {40, 48, 0, 0, 0},       {48, 24, 224, 572, 560}, {48, 32, 176, 440, 428}, {48, 40, 128, 312, 304},
    {48, 48, 80, 188, 184},  {64, 24, 304, 648, 640}, {64, 32, 232, 476, 472}, {64, 40, 184, 348, 348},
    {64, 48, 144, 260, 260}, {64, 64, 72, 120, 120},  {96, 32, 416, 756, 756}, {96, 48, 336, 612, 612},
    {96, 64, 272, 484, 484},
};

static void add(char *text, const char *format, ...) {
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text + used, TEXT - used, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < TEXT - used);
}

static void write_kernel(char *text, u32 sums, u32 registers) {
    *text = 0;
    add(text, "%s.visible .entry k(.param .u64 p, .param .u32 q)\n.maxnreg %u\n{\n", PTX_HEAD, registers);
    add(text, ".reg .f32 %%f<400>;\n.reg .b64 %%d<8>;\n.reg .b32 %%r<8>;\n.reg .pred %%p<2>;\n");
    add(text,
        "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d3, %%r1, 4;\nadd.s64 %%d4, %%d1, %%d3;\n");
    for (u32 i = 0; i < sums; i++) add(text, "ld.global.f32 %%f%u, [%%d4+%u];\n", i, i * 4096);
    add(text, "ld.param.u32 %%r5, [q];\nL: bar.sync 0;\n");
    for (u32 i = 0; i < LOADS; i++) {
        add(text, "ld.global.f32 %%f%u, [%%d4+%u];\n", 200 + i, i * 8192);
        add(text, "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", i % sums, 200 + i, 200 + i, i % sums);
    }
    add(text, "sub.u32 %%r5, %%r5, 1;\nsetp.ne.u32 %%p1, %%r5, 0;\n@%%p1 bra L;\n");
    for (u32 i = 0; i < sums; i++) add(text, "st.global.f32 [%%d4+%u], %%f%u;\n", i * 4096 + 4, i);
    add(text, "ret;\n}\n");
}

typedef struct Spilled {
    u32 frame, stored, loaded;  // bytes
} Spilled;

static Spilled spilled(u32 sums, u32 registers, SimMachineCode known) {
    static char text[TEXT];
    TestDevice d;
    SimProgram *program;
    TimeCode *code;
    write_kernel(text, sums, registers);
    device_open(&d, text);
    assert_int_equal(program_build(d.module, 0, &program, &d.diag), STATUS_OK);
    assert_int_equal(time_code_build(program, &d.gpu, known, &code), STATUS_OK);
    Spilled found = {.frame = 4 * code->frame};
    u8 stored[SPILL_WORDS] = {0};
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 i = 0; i < code->op_count; i++) {
            const TimeOp *op = &code->ops[i];
            if (!op->constant || (op->kind != TIME_LOAD && op->kind != TIME_STORE)) continue;
            u32 word = time_spilled_word(op->constant), words = time_spilled_words(op->constant);
            assert_true(word + words <= code->frame);
            assert_true(op->kind == TIME_LOAD ? op->dst_count == 1 : op->src_count >= 1);
            if (pass == 0 && op->kind == TIME_STORE) found.stored += 4 * words, memset(stored + word, 1, words);
            if (pass == 0 && op->kind == TIME_LOAD) found.loaded += 4 * words;
            if (pass == 1) assert_true(stored[word]);  // nothing is loaded that was never stored
        }
    time_code_free(code);
    program_free(program);
    device_close(&d);
    return found;
}

// With `counted` it is known how many accesses machine code has, too.
static void compare(bool counted) {
    f64 stored = 0, loaded = 0, frame = 0, there = 0;
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        const Row *r = &rows[i];
        SimMachineCode known = {.registers = r->registers, .frame = r->frame};
        if (counted) known.local_accesses = (r->stored + r->loaded) / 4;
        Spilled ours = spilled(r->sums, r->registers, known);
        print_message("%u sums, %u registers: frame %u, stored %u, loaded %u; ptxas %u, %u, %u\n", r->sums,
                      r->registers, ours.frame, ours.stored, ours.loaded, r->frame, r->stored, r->loaded);
        assert_int_equal(ours.frame > 0, r->frame > 0);
        assert_true(ours.frame <= (counted ? 3 * r->frame : r->frame));
        if (counted) assert_in_range(ours.stored + ours.loaded, (r->stored + r->loaded) * 0.9, r->stored + r->loaded);
        stored += ours.stored, loaded += ours.loaded, frame += ours.frame, there += r->frame;
        assert_true(ours.stored <= r->stored * 3 / 2 && ours.stored * 3 >= r->stored);
    }
    print_message("all: frame %.0f of ptxas' %.0f, stored %.0f, loaded %.0f\n", frame, there, stored, loaded);
    assert_true(frame >= there / 2);
}

TEST(values_are_spilled_where_ptxas_spills) { compare(false); }
TEST(values_are_spilled_as_often_as_ptxas_spills_them) { compare(true); }

// Without machine code the launch bounds say how many registers there are.
TEST(values_are_spilled_within_launch_bounds) {
    Spilled few = spilled(48, 32, (SimMachineCode){0}), many = spilled(48, 96, (SimMachineCode){0});
    assert_true(few.frame > 0 && few.stored > 0 && few.loaded > 0);
    assert_int_equal(many.frame + many.stored + many.loaded, 0);
    Spilled none = spilled(48, 32, (SimMachineCode){.registers = 32});  // ptxas found a way
    assert_int_equal(none.frame + none.stored + none.loaded, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_spilled_where_ptxas_spills),
        cmocka_unit_test(values_are_spilled_as_often_as_ptxas_spills_them),
        cmocka_unit_test(values_are_spilled_within_launch_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
