// SPDX-License-Identifier: Apache-2.0
// The frame of a random kernel: numbers, text, registers, statements, and what a launch needs.
#include "random_gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/test_values.h"

const char random_head[] = ".version 8.6\n.target sm_90\n.address_size 64\n"
                           ".const .align 16 .b32 random_const[16] = {0x00000000, 0x3f800000, 0xffffffff, 0x80000000, "
                           "0x12345678, 0x9abcdef0, 0x7f800000, 0x00000001, 0x3ff00000, 0x7fffffff, 0x0000ffff, "
                           "0xff00ff00, 0x40490fdb, 0xc0000000, 0x00800000, 0xdeadbeef};\n";

// --- numbers ------------------------------------------------------------------------------------------------------
u64 gen_random(Gen *g) { return value_random(&g->state); }
u32 gen_below(Gen *g, u32 n) { return (u32)((gen_random(g) >> 32) * n >> 32); }
bool gen_chance(Gen *g, u32 percent) { return gen_below(g, 100) < percent; }

// --- text ---------------------------------------------------------------------------------------------------------
static bool reserve(Gen *g, size_t more) {
    if (g->len + more <= g->cap) return true;
    size_t cap = (g->cap + more) * 2;
    char *text = g->failed ? NULL : realloc(g->text, cap);
    if (!text) return g->failed = true, false;
    g->text = text, g->cap = cap;
    return true;
}
void gen_emit(Gen *g, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && reserve(g, (size_t)n + 1)) {
        vsnprintf(g->text + g->len, (size_t)n + 1, format, again);
        g->len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}
void gen_expand(Gen *g, const char *pattern, char *text, size_t size) {
    size_t n = 0;
    while (*pattern && n + 1 < size) {
        if (*pattern != '{') {
            text[n++] = *pattern++;
            continue;
        }
        u32 count = 1;
        const char *p = ++pattern, *close = strchr(p, '}');
        for (const char *c = p; c < close; c++) count += *c == ',';
        for (u32 skip = gen_below(g, count); skip; skip--) p = strchr(p, ',') + 1;
        while (*p != ',' && *p != '}' && n + 1 < size) text[n++] = *p++;
        pattern = close + 1;
    }
    text[n] = 0;
}

// --- registers ----------------------------------------------------------------------------------------------------
Name gen_pool(Gen *g, RandomClass c) {
    static const u32 sizes[] = {POOL_16, POOL_32, POOL_64, POOL_PRED};
    Name n;
    snprintf(n.s, sizeof n.s, "%%%c%u", "hrdp"[c], gen_below(g, sizes[c]));
    return n;
}
Name gen_temp(Gen *g, RandomClass c) {
    Name n;
    snprintf(n.s, sizeof n.s, "%%%c%u", "gteq"[c], g -> temps[c]++);
    if (g->temps[c] > g->temps_max[c]) g->temps_max[c] = g->temps[c];
    return n;
}
u32 gen_label(Gen *g) { return g->labels++; }

// --- statements ---------------------------------------------------------------------------------------------------
typedef enum StatementKind {
    S_OPERATION,
    S_CARRY,
    S_MOVE,
    S_SPECIAL,
    S_UNIFORM,
    S_INPUT,
    S_LOCAL,
    S_SLOT,
    S_COPY_ASYNC,
    S_ACCUMULATE,
    S_READ_ACC,
    S_EXCHANGE,
    S_SPECIALISE,
    S_BARRIER_REDUCE,
    S_WARP,
    S_IF,
    S_LOOP,
    S_SWITCH,
    S_CALL,
    S_BREAK,
    S_EXIT,
    S_COUNT
} StatementKind;

static const u8 weights[S_COUNT] = {
    [S_OPERATION] = 100, [S_CARRY] = 5,    [S_MOVE] = 6,       [S_SPECIAL] = 3,        [S_UNIFORM] = 3,
    [S_INPUT] = 12,      [S_LOCAL] = 6,    [S_SLOT] = 7,       [S_COPY_ASYNC] = 2,     [S_ACCUMULATE] = 6,
    [S_READ_ACC] = 2,    [S_EXCHANGE] = 5, [S_SPECIALISE] = 1, [S_BARRIER_REDUCE] = 2, [S_WARP] = 14,
    [S_IF] = 9,          [S_LOOP] = 5,     [S_SWITCH] = 2,     [S_CALL] = 5,           [S_BREAK] = 4,
    [S_EXIT] = 1,
};

static bool fits(const Gen *g, const Scope *s, StatementKind kind) {
    switch (kind) {
    case S_UNIFORM:
    case S_READ_ACC:
    case S_EXCHANGE:
    case S_SPECIALISE:
    case S_BARRIER_REDUCE: return s->converged && !s->function;
    case S_COPY_ASYNC: return !s->function;
    case S_WARP: return s->warp;
    case S_IF:
    case S_SWITCH: return s->depth < 5;
    case S_LOOP: return s->depth < 4 && s->weight <= 40;
    case S_CALL: return g->functions > 0 && s->weight <= 40 && s->warp;
    case S_BREAK: return s->break_label != WL_NONE;
    case S_EXIT: return s->may_exit && !s->function;
    default: return true;
    }
}

static void statement_of(Gen *g, Scope *s, StatementKind kind) {
    switch (kind) {
    case S_CARRY: gen_carry_chain(g); break;
    case S_MOVE: gen_move(g); break;
    case S_SPECIAL: gen_special(g); break;
    case S_UNIFORM: gen_uniform(g); break;
    case S_INPUT: gen_load_input(g, s->function); break;
    case S_LOCAL: gen_local(g); break;
    case S_SLOT: gen_slot(g, s->function); break;
    case S_COPY_ASYNC: gen_copy_async(g); break;
    case S_ACCUMULATE: gen_accumulate(g, s); break;
    case S_READ_ACC: gen_read_shared_acc(g); break;
    case S_EXCHANGE: gen_exchange(g); break;
    case S_SPECIALISE: gen_specialise(g); break;
    case S_BARRIER_REDUCE: gen_barrier_reduce(g); break;
    case S_WARP: gen_warp(g, s); break;
    case S_IF: gen_if(g, s); break;
    case S_LOOP: gen_loop(g, s); break;
    case S_SWITCH: gen_switch(g, s); break;
    case S_CALL: gen_call(g, s); break;
    case S_BREAK: gen_break(g, s); break;
    case S_EXIT: gen_exit(g, s); break;
    default: gen_operation(g, s); break;
    }
}

static void statement(Gen *g, Scope *s) {
    u32 total = 0, number = g->statements++;
    for (u32 k = 0; k < S_COUNT; k++) total += fits(g, s, k) ? weights[k] : 0;
    u32 pick = gen_below(g, total), kind = 0;
    for (;; kind++) {
        u32 w = fits(g, s, kind) ? weights[kind] : 0;
        if (pick < w) break;
        pick -= w;
    }
    size_t begin = g->len;
    u32 temps[CLASS_COUNT];
    memcpy(temps, g->temps, sizeof temps);
    statement_of(g, s, kind);
    memcpy(g->temps, temps, sizeof temps);
    if (g->cut && number < g->cut->count && g->cut->mask[number]) g->len = begin;
}
void gen_statements(Gen *g, Scope *scope, u32 count) {
    for (u32 i = 0; i < count; i++) statement(g, scope);
}

// --- program ------------------------------------------------------------------------------------------------------
static void choose_shape(Gen *g) {
    static const u16 shapes[][3] = {{32, 1, 1},  {64, 1, 1}, {128, 1, 1}, {33, 1, 1}, {96, 1, 1},
                                    {100, 1, 1}, {8, 4, 2},  {5, 3, 3},   {32, 2, 1}, {1, 1, 1},
                                    {16, 16, 1}, {7, 1, 1},  {256, 1, 1}, {31, 1, 1}, {4, 8, 1},
                                    {3, 5, 7},   {65, 2, 1}, {192, 1, 1}, {17, 3, 1}, {512, 1, 1}};
    static const u16 grids[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}, {1, 2, 2}, {1, 1, 3}};
    RandomProgram *p = g->program;
    u32 b = gen_below(g, WL_COUNT(shapes)), q = gen_below(g, WL_COUNT(grids));
    u32 threads = 1;
    for (u32 i = 0; i < 3; i++) p->block[i] = shapes[b][i], threads *= shapes[b][i];
    u32 ctas = (u32)grids[q][0] * grids[q][1] * grids[q][2];
    if (threads * ctas > RANDOM_THREADS) q = 0, ctas = 1;
    for (u32 i = 0; i < 3; i++) p->grid[i] = grids[q][i];
    p->threads = threads * ctas;
}

static void declare_registers(Gen *g) {
    gen_emit(g, ".reg .b32 %%r<%u>;\n.reg .b64 %%d<%u>;\n.reg .b16 %%h<%u>;\n.reg .pred %%p<%u>;\n.reg .b32 %%u<%u>;\n",
             POOL_32, POOL_64, POOL_16, POOL_PRED, POOL_UNIFORM);
    gen_emit(g, ".reg .b32 %%t<%u>;\n.reg .b64 %%e<%u>;\n.reg .b16 %%g<%u>;\n.reg .pred %%q<%u>;\n",
             g->temps_max[C32] + 1, g->temps_max[C64] + 1, g->temps_max[C16] + 1, g->temps_max[CPRED] + 1);
    gen_emit(g,
             ".reg .b64 %%in, %%acc, %%slot, %%out, %%la, %%lgen, %%sgen;\n.reg .b32 %%lt, %%gt, %%lane, %%nt, %%m, "
             "%%depth, %%sh;\n.local .align 16 .b8 loc[%u];\n",
             LOCAL_BYTES);
}

static void prologue(Gen *g) {
    RandomProgram *p = g->program;
    gen_emit(g, ".shared .align 16 .b8 %s_sh[%u];\n", p->name, SHARED_BYTES);
    gen_emit(
        g,
        "mov.u32 %%t0, %%tid.z;\nmov.u32 %%t1, %%ntid.y;\nmov.u32 %%t2, %%tid.y;\nmad.lo.u32 %%t0, %%t0, %%t1, %%t2;\n"
        "mov.u32 %%t1, %%ntid.x;\nmov.u32 %%t2, %%tid.x;\nmad.lo.u32 %%lt, %%t0, %%t1, %%t2;\n"
        "mov.u32 %%t3, %%ntid.y;\nmul.lo.u32 %%nt, %%t1, %%t3;\nmov.u32 %%t3, %%ntid.z;\nmul.lo.u32 %%nt, %%nt, %%t3;\n"
        "mov.u32 %%t0, %%ctaid.z;\nmov.u32 %%t1, %%nctaid.y;\nmov.u32 %%t2, %%ctaid.y;\nmad.lo.u32 %%t0, %%t0, %%t1, "
        "%%t2;\n"
        "mov.u32 %%t1, %%nctaid.x;\nmov.u32 %%t2, %%ctaid.x;\nmad.lo.u32 %%u0, %%t0, %%t1, %%t2;\n"
        "mad.lo.u32 %%gt, %%u0, %%nt, %%lt;\nmov.u32 %%lane, %%laneid;\n");
    // Lanes of this warp: all, or what is left of the block.
    gen_emit(g, "and.b32 %%t0, %%lt, 0xffffffe0;\nsub.u32 %%t0, %%nt, %%t0;\nmin.u32 %%t0, %%t0, 32;\nbmsk.clamp.b32 "
                "%%m, 0, %%t0;\n");
    gen_emit(g,
             "ld.param.u64 %%in, [%s_in];\nld.param.u64 %%acc, [%s_acc];\nld.param.u64 %%slot, "
             "[%s_slots];\nld.param.u64 %%out, [%s_out];\n",
             p->name, p->name, p->name, p->name);
    gen_emit(g,
             "mad.wide.u32 %%slot, %%gt, %u, %%slot;\nmad.wide.u32 %%out, %%gt, %u, %%out;\nmov.u32 %%sh, %s_sh;\n"
             "cvt.u64.u32 %%sgen, %%sh;\ncvta.shared.u64 %%sgen, %%sgen;\n",
             RANDOM_SLOT, RANDOM_ROW * 8, p->name);
    gen_emit(g, "ld.param.u32 %%u1, [%s_p32];\nld.param.u8 %%u2, [%s_p8];\n", p->name, p->name);
    gen_emit(g,
             "mul.lo.u32 %%t0, %%gt, 144;\nand.b32 %%t0, %%t0, 0x1ff0;\nmin.u32 %%t0, %%t0, %u;\ncvt.u64.u32 %%e0, "
             "%%t0;\nadd.u64 %%e0, %%e0, %%in;\n",
             RANDOM_INPUT - 128);
    for (u32 i = 0; i < POOL_32; i++) gen_emit(g, "ld.global.b32 %%r%u, [%%e0+%u];\n", i, 4 * i);
    for (u32 i = 0; i < POOL_64; i++) gen_emit(g, "ld.global.b64 %%d%u, [%%e0+%u];\n", i, 32 + 8 * i);
    for (u32 i = 0; i < POOL_16; i++) gen_emit(g, "ld.global.b16 %%h%u, [%%e0+%u];\n", i, 96 + 2 * i);
}
// Predicates and the local array, from the registers.
static void pool_rest(Gen *g) {
    for (u32 i = 0; i < POOL_PRED; i++) gen_emit(g, "setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", i, i, i + POOL_PRED);
    for (u32 i = 0; i < LOCAL_BYTES / 16; i++)
        gen_emit(g, "st.local.v4.b32 [loc+%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", 16 * i, i, i + 1, i + 2, i + 3);
    gen_emit(g, "mov.u64 %%la, loc;\ncvta.local.u64 %%lgen, %%la;\n");
}

void gen_results(Gen *g) {
    for (u32 i = 0; i < POOL_32; i += 4)
        gen_emit(g, "st.global.v4.b32 [%%out+%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", 4 * i, i, i + 1, i + 2, i + 3);
    for (u32 i = 0; i < POOL_64; i += 2)
        gen_emit(g, "st.global.v2.b64 [%%out+%u], {%%d%u, %%d%u};\n", 32 + 8 * i, i, i + 1);
    gen_emit(g, "st.global.v4.b16 [%%out+80], {%%h0, %%h1, %%h2, %%h3};\n");
    for (u32 i = 0; i < POOL_PRED; i++)
        gen_emit(g, "selp.u32 %%t%u, 1, 0, %%p%u;\nst.global.u8 [%%out+%u], %%t%u;\n", i, i, 88 + i, i);
    gen_emit(g, "st.global.v2.u32 [%%out+96], {%%u0, %%u1};\nst.global.u32 [%%out+104], %%u2;\n");
    for (u32 i = 0; i < LOCAL_BYTES / 16; i++)
        gen_emit(g, "ld.local.v2.b64 {%%e0, %%e1}, [loc+%u];\nxor.b64 %%e0, %%e0, %%e1;\n%s", 16 * i,
                 i ? "mad.lo.u64 %e2, %e2, 31, %e0;\n" : "mov.b64 %e2, %e0;\n");
    gen_emit(g, "st.global.b64 [%%out+112], %%e2;\n");
}

static void kernel_head(Gen *g) {
    const char *n = g->program->name;
    gen_emit(g,
             ".visible .entry %s(.param .u64 %s_in, .param .u64 %s_acc, .param .u64 %s_slots, .param .u64 %s_out, "
             ".param .u8 %s_p8, .param .u16 %s_p16, .param .u32 %s_p32, .param .u64 %s_p64, "
             ".param .align 8 .b8 %s_bytes[16])\n{\n",
             n, n, n, n, n, n, n, n, n, n);
}

// The registers are declared first and known last: the body is made apart.
static void with_registers(Gen *g, size_t begin) {
    size_t size = g->len - begin;
    char *body = malloc(size + 1);
    if (!body || g->failed) {
        g->failed = true;
        free(body);
        return;
    }
    memcpy(body, g->text + begin, size);
    body[size] = 0;
    g->len = begin;
    declare_registers(g);
    gen_emit(g, "%s", body);
    free(body);
}

static void kernel(Gen *g) {
    static const u16 sizes[] = {3, 6, 10, 15, 20, 25, 30, 40, 50, 60, 80, 120, 250};
    Scope scope = {
        .mask = {"%m"}, .warp = true, .converged = true, .may_exit = true, .weight = 1, .break_label = WL_NONE};
    kernel_head(g);
    size_t begin = g->len;
    memset(g->temps, 0, sizeof g->temps);
    for (u32 c = 0; c < CLASS_COUNT; c++) g->temps_max[c] = 4;
    prologue(g);
    pool_rest(g);
    gen_shared_init(g);
    gen_statements(g, &scope, sizes[gen_below(g, WL_COUNT(sizes))]);
    gen_results(g);
    gen_emit(g, "ret;\n");
    with_registers(g, begin);
    gen_emit(g, "}\n");
}

void gen_function_body(Gen *g, Scope *scope, u32 count, void (*head)(Gen *), void (*tail)(Gen *)) {
    size_t begin = g->len;
    memset(g->temps, 0, sizeof g->temps);
    for (u32 c = 0; c < CLASS_COUNT; c++) g->temps_max[c] = 4;
    head(g);
    pool_rest(g);
    gen_statements(g, scope, count);
    tail(g);
    with_registers(g, begin);
}

bool random_program(u64 seed, const RandomCut *cut, RandomProgram *program) {
    Gen g = {.program = program, .state = seed * 0x2545f4914f6cdd1dull + RANDOM_VERSION, .cut = cut};
    memset(program, 0, sizeof *program);
    program->seed = seed;
    snprintf(program->name, sizeof program->name, "k%llu", (unsigned long long)seed);
    choose_shape(&g);
    u32 functions = gen_chance(&g, 40) ? 1 + gen_below(&g, MAX_FUNCS) : 0;
    for (u32 i = 0; i < functions; i++) {
        gen_function(&g, i);
        g.functions = i + 1;
    }
    kernel(&g);
    program->text = g.text;
    program->size = g.len;
    program->statements = g.statements;
    if (g.failed) random_free(program);
    return !g.failed;
}
void random_free(RandomProgram *program) {
    free(program->text);
    program->text = NULL;
}

// --- data ---------------------------------------------------------------------------------------------------------
static u64 data_word(u64 *state) {
    static const u32 special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0x7fffffff, 1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x3f000000,
                                  0x4f000000, 0xcf000000, 0x3c003c00, 0x7c00fc00, 0x3f803f80, 0xffffffff, 0x40000000};
    u64 a = value_random(state), b = value_random(state);
    f32 f = (f32)((f64)(i64)a * 0x1p-60);
    f64 d = (f64)(i64)a * 0x1p-58;
    u32 f_bits;
    u64 d_bits;
    memcpy(&f_bits, &f, 4);
    memcpy(&d_bits, &d, 8);
    switch (b & 7) {
    case 0: return special[a % WL_COUNT(special)] | (u64)special[(a >> 32) % WL_COUNT(special)] << 32;
    case 1: return (u64)special[a % WL_COUNT(special)] << 32 | (u32)(b >> 32);
    case 2: return f_bits | (u64)(f_bits ^ 0x80000000u) << 32;
    case 3: return d_bits;
    case 4: return a >> (b >> 8 & 63);
    case 5: return (u64)((i64)a >> (b >> 8 & 63));
    default: return a;
    }
}
static void fill(u64 *state, u8 *bytes, size_t size) {
    for (size_t i = 0; i < size; i += 8) {
        u64 w = data_word(state);
        memcpy(bytes + i, &w, 8);
    }
}
void random_data(const RandomProgram *program, u8 *input, u8 *acc, u8 *slots, RandomParams *params) {
    u64 state = program->seed ^ 0x5bd1e995u;
    fill(&state, input, RANDOM_INPUT);
    fill(&state, acc, RANDOM_ACC);
    memset(acc + RANDOM_ACC / 2, 0, RANDOM_ACC / 2);  // sums of floats, which are exact from 0
    fill(&state, slots, (size_t)program->threads * RANDOM_SLOT);
    params->p8 = (u8)value_random(&state);
    params->p16 = (u16)value_random(&state);
    params->p32 = (u32)value_random(&state);
    params->p64 = value_random(&state);
    fill(&state, params->bytes, sizeof params->bytes);
}
static u64 fold(u64 h, const void *data, size_t size) {
    const u8 *p = data;
    for (size_t i = 0; i < size; i += 8) {
        u64 w;
        memcpy(&w, p + i, 8);
        h = value_hash(h, w);
    }
    return h;
}
u64 random_hash(const RandomProgram *program, const u8 *acc, const u8 *slots, const u64 *out) {
    u64 h = fold(VALUE_HASH_START, acc, RANDOM_ACC);
    h = fold(h, slots, (size_t)program->threads * RANDOM_SLOT);
    return fold(h, out, (size_t)program->threads * RANDOM_ROW * 8);
}
