// SPDX-License-Identifier: Apache-2.0
// How far loads go before the products that need them, in loops that keep sums in registers, against what ptxas 13.0
// makes of the same PTX for sm_90 (2026-11-23): how many loads before the first product, and how many instructions
// between a load and the first product that uses it.
#include <stdarg.h>
#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code.h"

enum { TEXT = 1 << 18, LOADS = 64, TILE = 8, STEPS = 8, SOURCES = 4096 };

typedef struct Text {
    char *at;
    size_t room;
} Text;

static void add(Text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->at, t->room, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < t->room);
    t->at += n;
    t->room -= (size_t)n;
}

typedef struct Bounds {
    u32 threads, ctas, shared;  // 0: nothing said
} Bounds;

static void begin_kernel(Text *t, u32 sums, Bounds b) {
    add(t, "%s.visible .entry k(.param .u64 p, .param .u32 q)\n", PTX_HEAD);
    if (b.threads) add(t, ".maxntid %u, 1, 1\n", b.threads);
    if (b.ctas) add(t, ".minnctapersm %u\n", b.ctas);
    add(t, "{\n.reg .f32 %%f<999>;\n.reg .b64 %%d<8>;\n.reg .b32 %%r<8>;\n.reg .pred %%p<2>;\n");
    add(t, ".shared .align 16 .b8 words[%u];\n", b.shared);
    add(t, "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\nshl.b32 %%r2, %%r1, "
           "2;\n");
    add(t, "mov.u32 %%r3, words;\nadd.u32 %%r4, %%r3, %%r2;\nmul.wide.u32 %%d3, %%r1, 4;\nadd.s64 %%d4, %%d1, %%d3;\n");
    for (u32 i = 0; i < sums; i++) add(t, "ld.global.f32 %%f%u, [%%d4+%u];\n", i, i * 4096);
    add(t, "ld.param.u32 %%r5, [q];\nL: bar.sync 0;\n");
}

static void end_kernel(Text *t, u32 sums) {
    add(t, "sub.u32 %%r5, %%r5, 1;\nsetp.ne.u32 %%p1, %%r5, 0;\n@%%p1 bra L;\n");
    for (u32 i = 0; i < sums; i++) add(t, "st.global.f32 [%%d4+%u], %%f%u;\n", i * 4096 + 4, i);
    add(t, "ret;\n}\n");
}

// Each load is for one product.
static void write_sums(Text *t, u32 sums, u32 loads, Bounds b) {
    begin_kernel(t, sums, b);
    for (u32 i = 0; i < loads; i++) {
        add(t, "ld.global.f32 %%f%u, [%%d4+%u];\n", 200 + i, i * 8192);
        add(t, "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", i % sums, 200 + i, 200 + i, i % sums);
    }
    end_kernel(t, sums);
}

// A tile of 8 x 8 sums, eight steps of 16 loads from shared memory and 64 products.
static void write_tile(Text *t) {
    begin_kernel(t, TILE * TILE, (Bounds){256, 0, 16384});
    for (u32 step = 0; step < STEPS; step++)
        for (u32 y = 0; y < TILE; y++) {
            add(t, "ld.shared.f32 %%f%u, [%%r4+%u];\n", 200 + step * 16 + y, (step * 16 + y) * 64);
            for (u32 x = 0; x < TILE; x++) {
                u32 column = 208 + step * 16 + x, sum = y * TILE + x;
                if (y == 0) add(t, "ld.shared.f32 %%f%u, [%%r4+%u];\n", column, (step * 16 + 8 + x) * 64 + 4);
                add(t, "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", sum, 200 + step * 16 + y, column, sum);
            }
        }
    end_kernel(t, TILE * TILE);
}

typedef struct Built {
    TestDevice device;
    SimProgram *program;
    TimeCode *code;
    const TimeBlock *loop;
} Built;

static u32 products_of(const TimeCode *code, const TimeBlock *block) {
    u32 found = 0;
    for (u32 i = 0; i < block->op_count; i++) found += code->ops[block->ops + i].unit == UNIT_FMA;
    return found;
}

static void build(Built *b, const char *text) {
    device_open(&b->device, text);
    assert_int_equal(program_build(b->device.module, 0, &b->program, &b->device.diag), STATUS_OK);
    assert_int_equal(time_code_build(b->program, &b->device.gpu, (SimMachineCode){0}, &b->code), STATUS_OK);
    b->loop = NULL;
    u32 most = 0;
    for (u32 i = 0; i < b->code->block_count; i++) {  // the one with most products
        const TimeBlock *block = &b->code->blocks[i];
        u32 products = products_of(b->code, block);
        if (!b->loop || products > most) b->loop = block, most = products;
    }
}

static void drop(Built *b) {
    time_code_free(b->code);
    program_free(b->program);
    device_close(&b->device);
}

static u32 loads_before_a_product(const Built *b) {
    u32 loads = 0;
    for (const TimeOp *op = b->code->ops + b->loop->ops; op->unit != UNIT_FMA; op++) loads += op->kind == TIME_LOAD;
    return loads;
}

TEST(loads_take_the_registers_that_cost_no_occupancy) {
    static const struct {
        u32 sums, threads, ptxas;
    } rows[] = {{8, 128, 17},  {8, 1024, 17}, {40, 128, 9},  {40, 256, 18}, {40, 1024, 18},
                {72, 128, 16}, {72, 256, 47}, {72, 512, 47}, {110, 128, 9}, {110, 512, 10}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        char *text = malloc(TEXT);
        Built b;
        write_sums(&(Text){text, TEXT}, rows[i].sums, LOADS, (Bounds){rows[i].threads, 0, 16384});
        build(&b, text);
        u32 loads = loads_before_a_product(&b);
        print_message("%u sums, %u threads: %u loads, ptxas %u\n", rows[i].sums, rows[i].threads, loads, rows[i].ptxas);
        assert_true(loads + 2 >= rows[i].ptxas && loads <= rows[i].ptxas + 2);
        drop(&b);
        free(text);
    }
}

// Two sums, 96 loads: what bounds and shared memory leave an SM of CTAs decides how many registers loads may take.
TEST(bounds_and_shared_memory_say_how_many_registers_loads_may_take) {
    static const struct {
        Bounds bounds;
        u32 ptxas;
    } rows[] = {{{0, 0, 1024}, 21},    {{0, 0, 40960}, 21},   {{128, 0, 16384}, 21}, {{128, 0, 20480}, 38},
                {{128, 0, 24576}, 44}, {{128, 0, 32768}, 65}, {{128, 0, 40960}, 78}, {{256, 0, 20480}, 21},
                {{256, 0, 32768}, 28}, {{256, 0, 40960}, 38}, {{256, 0, 48000}, 51}, {{64, 0, 32768}, 96},
                {{160, 0, 32768}, 51}, {{224, 0, 32768}, 28}, {{128, 4, 1024}, 96},  {{128, 8, 1024}, 51},
                {{128, 12, 1024}, 28}, {{128, 16, 1024}, 21}, {{256, 2, 1024}, 96},  {{256, 4, 1024}, 51}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        char *text = malloc(TEXT);
        Built b;
        write_sums(&(Text){text, TEXT}, 2, 96, rows[i].bounds);
        build(&b, text);
        u32 loads = loads_before_a_product(&b), ptxas = rows[i].ptxas;
        print_message("%u threads, %u CTAs, %u bytes: %u loads, ptxas %u\n", rows[i].bounds.threads,
                      rows[i].bounds.ctas, rows[i].bounds.shared, loads, ptxas);
        assert_true(loads + 2 >= ptxas && loads <= ptxas + ptxas / 8);
        drop(&b);
        free(text);
    }
}

// A chain of sums, a load at an address made of it, its use, and products that need none of this.
static void write_chain(Text *t, const char *space, u32 chain, u32 products) {
    begin_kernel(t, 22, (Bounds){128, 0, 16384});
    for (u32 i = 0; i < chain; i++) add(t, "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n");
    add(t, "cvt.rzi.u32.f32 %%r6, %%f0;\nmul.wide.u32 %%d5, %%r6, 4;\nadd.s64 %%d6, %%d1, %%d5;\n");
    add(t, "add.u32 %%r7, %%r6, %%r4;\nld.%s.f32 %%f200, [%s];\n", space, space[0] == 'g' ? "%d6" : "%r7");
    add(t, "add.rn.f32 %%f0, %%f0, %%f200;\n");
    for (u32 i = 0; i < products; i++) add(t, "mul.rn.f32 %%f%u, %%f%u, %%f1;\n", 2 + i % 20, 2 + i % 20);
    end_kernel(t, 22);
}

// Products before the loop's load.
static u32 products_before_the_load(const char *space, u32 chain, u32 products) {
    char *text = malloc(TEXT);
    Built b;
    write_chain(&(Text){text, TEXT}, space, chain, products);
    build(&b, text);
    const TimeOp *op = b.code->ops + b.loop->ops;
    u32 found = 0;
    for (; op->kind != TIME_LOAD; op++) found += op->unit == UNIT_FMA;
    drop(&b);
    free(text);
    return found - chain;
}

// ptxas: none of 8, 24 or 100 before a load of global memory; of 24, 19 before one of shared memory.
TEST(what_a_load_of_global_memory_needs_goes_before_everything_else) {
    static const u32 chains[] = {3, 10, 40}, products[] = {8, 24, 100};
    for (u32 i = 0; i < WL_COUNT(chains); i++)
        for (u32 k = 0; k < WL_COUNT(products); k++)
            assert_int_equal(products_before_the_load("global", chains[i], products[k]), 0);
    assert_true(products_before_the_load("shared", 3, 24) >= 17);
}

static bool reads(const TimeCode *code, const TimeOp *op, u16 reg) {
    const u16 *sources = code->regs + op->regs + op->dst_count;
    for (u32 k = 0; k < op->src_count; k++)
        if (sources[k] == reg) return true;
    return false;
}

// Of one load from shared memory, and of eight of them, the products between the first one and its use, ptxas: 39.
TEST(a_load_of_shared_memory_is_waited_for_40_cycles) {
    for (u32 loads = 1; loads <= 8; loads *= 8) {
        char *text = malloc(TEXT);
        Text t = {text, TEXT};
        begin_kernel(&t, 102, (Bounds){128, 0, 16384});
        for (u32 i = 0; i < loads; i++) add(&t, "ld.shared.f32 %%f%u, [%%r4+%u];\n", 400 + i, i * 512);
        for (u32 i = 0; i < loads; i++) add(&t, "add.rn.f32 %%f0, %%f0, %%f%u;\n", 400 + i);
        for (u32 i = 0; i < 100; i++) add(&t, "mul.rn.f32 %%f%u, %%f%u, %%f1;\n", 2 + i, 2 + i);
        end_kernel(&t, 102);
        Built b;
        build(&b, text);
        const TimeOp *op = b.code->ops + b.loop->ops, *first;
        while (op->kind != TIME_LOAD) op++;
        for (first = op++; !reads(b.code, op, b.code->regs[first->regs]);) op++;
        print_message("%u loads: %u instructions behind the first\n", loads, (u32)(op - first - 1));
        assert_true(op - first - 1 >= 37 && op - first - 1 <= 41);
        drop(&b);
        free(text);
    }
}

// Of each load the instructions until its first product, ascending.
static u32 distances(const Built *b, u32 *found) {
    u32 loaded[SOURCES] = {0}, count = 0;
    const TimeOp *ops = b->code->ops + b->loop->ops;
    for (u32 i = 0; i < b->loop->op_count; i++) {
        const u16 *regs = b->code->regs + ops[i].regs;
        for (u32 k = ops[i].dst_count; k < (u32)ops[i].dst_count + ops[i].src_count; k++) {
            u32 from = regs[k] < SOURCES ? loaded[regs[k]] : 0;
            if (from) found[count++] = i + 1 - from, loaded[regs[k]] = 0;
        }
        for (u32 k = 0; k < ops[i].dst_count; k++)
            if (regs[k] < SOURCES) loaded[regs[k]] = ops[i].kind == TIME_LOAD ? i + 1 : 0;
    }
    return count;
}

static int ascending(const void *a, const void *b) {
    return *(const u32 *)a < *(const u32 *)b ? -1 : *(const u32 *)a > *(const u32 *)b;
}

// ptxas: 10 instructions at least, half of the loads 28 and more. What a loop carries from turn to turn and what is
// read behind it count as alive once: with two for each sum no load fitted before its turn.
TEST(loads_of_later_steps_are_spread_among_products) {
    char *text = malloc(TEXT);
    Built b;
    write_tile(&(Text){text, TEXT});
    build(&b, text);
    u32 *found = malloc(sizeof *found * b.loop->op_count * 4), count = distances(&b, found);
    assert_int_equal(count, STEPS * 2 * TILE);
    qsort(found, count, sizeof *found, ascending);
    print_message("%u loads: at least %u instructions before, half of them %u\n", count, found[0], found[count / 2]);
    assert_true(found[0] >= 9 && found[count / 2] >= 26);
    free(found);
    drop(&b);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_take_the_registers_that_cost_no_occupancy),
                                       cmocka_unit_test(bounds_and_shared_memory_say_how_many_registers_loads_may_take),
                                       cmocka_unit_test(what_a_load_of_global_memory_needs_goes_before_everything_else),
                                       cmocka_unit_test(a_load_of_shared_memory_is_waited_for_40_cycles),
                                       cmocka_unit_test(loads_of_later_steps_are_spread_among_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
