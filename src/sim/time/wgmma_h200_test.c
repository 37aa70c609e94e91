// SPDX-License-Identifier: Apache-2.0
// Asynchronous products of a warpgroup on gpus/h200.gpu, against what an H200 takes for a turn of a loop that fences,
// asks for some, commits and waits for them (bench/hwref/h200-wgmma.tsv, 2026-11-23).
#include "sim/time/loop_testing.h"

enum { TURNS = 16, MORE_TURNS = 32, TEXT = 1 << 15, GROUP_THREADS = 128 };

__attribute__((format(printf, 2, 0))) static size_t put(char *text, const char *format, u32 number) {
    return (size_t)snprintf(text, 64, format, number);  // NOLINT: one of a few literals
}

static void write_product(char *text, u32 n) {
    text += strlen(text);
    text += put(text, "wgmma.mma_async.sync.aligned.m64n%uk16.f32.f16.f16 {", n);
    for (u32 i = 0; i < n / 2; i++) text += put(text, i ? ", %%f%u" : "%%f%u", i);
    strcpy(text, "}, %d4, %d5, 1, 1, 1, 0, 0;\n");
}

typedef enum Waits { BEHIND_ALL, BEHIND_EACH, WITH_A_CALL } Waits;

// WITH_A_CALL: as BEHIND_ALL, and somewhere else the kernel calls a function.
static void write_kernel(char *text, u32 n, u32 products, Waits waits) {
    bool each = waits == BEHIND_EACH;
    static const char fence[] = "wgmma.fence.sync.aligned;\n";
    static const char wait[] = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    strcpy(text, ".version 8.0\n.target sm_90a\n.address_size 64\n"
                 ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                 ".visible .entry k(.param .u64 out, .param .u32 turns) {\n.reg .b64 %d<8>;\n.reg .b32 %r<4>;\n"
                 ".reg .f32 %f<128>;\n.reg .pred %p<2>;\n.shared .align 1024 .b8 words[49152];\n"
                 "ld.param.u64 %d1, [out];\nld.param.u32 %r1, [turns];\nmov.u32 %r2, 0;\nst.shared.u32 [words], %r2;\n"
                 "mov.u64 %d4, 0x1000080000;\nmov.u64 %d5, 0x1000080200;\n");
    for (u32 i = 0; i < n / 2; i++) put(text + strlen(text), "mov.f32 %%f%u, 0f00000000;\n", i);
    strcat(text, "bar.sync 0;\nmov.u64 %d2, %clock64;\nTURN:\n");
    for (u32 i = 0; i < products; i++) {
        if (i == 0 || each) strcat(text, fence);
        write_product(text, n);
        if (i + 1 == products || each) strcat(text, wait);
    }
    static const char call[] = "setp.ne.u32 %p1, %r1, 12345;\n@%p1 bra OVER;\n{\n.param .b64 a;\n.param .b64 b;\n"
                               ".param .b32 r;\nst.param.b64 [a], %d1;\nst.param.b64 [b], %d1;\n"
                               "call.uni (r), vprintf, (a, b);\n}\nOVER:\n";
    strcat(text, "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra TURN;\nmov.u64 %d3, %clock64;\n"
                 "sub.s64 %d3, %d3, %d2;\nst.global.u64 [%d1], %d3;\nst.global.f32 [%d1+8], %f0;\n");
    if (waits == WITH_A_CALL) strcat(text, call);
    strcat(text, "ret;\n}\n");
}

static u64 play(u32 n, u32 products, Waits waits, u32 turns, u32 groups) {
    static char text[TEXT];
    write_kernel(text, n, products, waits);
    return loop_cycles(&(LoopTest){
        .text = text, .kernel = "k", .threads = groups * GROUP_THREADS, .launches = 1, .bytes = 16, .values = {turns}});
}

// A product takes N/2 cycles of the tensor unit, or as long as its sources take to come from shared memory; the warps
// of another warpgroup wait for it. A kernel that calls a function has its products one by one (ptxas, C7510). A group
// is over 63 cycles behind the time that its products take.
TEST(products_follow_each_other_in_the_tensor_unit) {
    static const struct {
        u32 n, products, groups;
        Waits waits;
        f64 h200, tolerance;
    } rows[] = {
        {8, 1, 1, BEHIND_ALL, 76, 0.1},      {8, 8, 1, BEHIND_ALL, 193, 0.05},     {32, 4, 1, BEHIND_ALL, 151, 0.05},
        {64, 4, 1, BEHIND_ALL, 191, 0.05},   {64, 8, 1, BEHIND_ALL, 319, 0.05},    {128, 1, 1, BEHIND_ALL, 136, 0.1},
        {128, 4, 1, BEHIND_ALL, 319, 0.05},  {128, 8, 1, BEHIND_ALL, 575, 0.05},   {256, 4, 1, BEHIND_ALL, 575, 0.05},
        {128, 4, 2, BEHIND_ALL, 512, 0.05},  {128, 8, 2, BEHIND_ALL, 1024, 0.05},  {256, 2, 2, BEHIND_ALL, 512, 0.05},
        {64, 4, 1, BEHIND_EACH, 350, 0.15},  {64, 8, 1, BEHIND_EACH, 690, 0.15},   {128, 4, 1, BEHIND_EACH, 478, 0.15},
        {8, 4, 2, BEHIND_ALL, 144, 0.05},    {256, 8, 1, BEHIND_EACH, 1556, 0.15}, {64, 8, 1, WITH_A_CALL, 690, 0.15},
        {128, 4, 1, WITH_A_CALL, 478, 0.15},
    };
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        u64 more = play(rows[i].n, rows[i].products, rows[i].waits, TURNS + MORE_TURNS, rows[i].groups),
            base = play(rows[i].n, rows[i].products, rows[i].waits, TURNS, rows[i].groups);
        f64 cycles = (f64)(more - base) / MORE_TURNS, h200 = rows[i].h200;
        print_message("m64n%uk16, %u products, %u warpgroups%s: %.1f, an H200 %.1f\n", rows[i].n, rows[i].products,
                      rows[i].groups, rows[i].waits == BEHIND_ALL ? "" : ", each waited for", cycles, h200);
        assert_true(cycles > h200 * (1 - rows[i].tolerance) && cycles < h200 * (1 + rows[i].tolerance));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_follow_each_other_in_the_tensor_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
