// SPDX-License-Identifier: Apache-2.0
// suld, sust and sured against what an H200 loaded and left behind (surface_cases.inc): all geometries, element sizes,
// vectors and clamping modes, inside and outside of the surface.
#include "sim/device_testing.h"

enum { POINTS = 64 };

typedef struct SurfaceCase {
    const char *access, *geometry, *mode, *format;
    u64 hash;
} SurfaceCase;
static const SurfaceCase cases[] = {
#include "sim/surface_cases.inc"
};

typedef struct Geometry {
    const char *name, *coordinates;
    u32 number, width, height, depth;  // texels; depth is layers of a1d and a2d
} Geometry;
static const Geometry geometries[] = {{"1d", "{%r1}", 0, 21, 0, 0},
                                      {"2d", "{%r1, %r2}", 1, 21, 9, 0},
                                      {"3d", "{%r1, %r2, %r3, %r3}", 2, 13, 6, 5},
                                      {"a1d", "{%r4, %r1}", 3, 17, 0, 6},
                                      {"a2d", "{%r4, %r1, %r2, %r2}", 4, 11, 5, 4}};

typedef struct Format {
    const char *name;
    u8 channels, bits, kind;
} Format;
static const Format formats[] = {{"u8", 1, 8, CHANNEL_UNSIGNED},   {"u8x4", 4, 8, CHANNEL_UNSIGNED},
                                 {"s16x2", 2, 16, CHANNEL_SIGNED}, {"f16x4", 4, 16, CHANNEL_FLOAT},
                                 {"f32", 1, 32, CHANNEL_FLOAT},    {"u32x2", 2, 32, CHANNEL_UNSIGNED},
                                 {"f32x4", 4, 32, CHANNEL_FLOAT}};

// In the order of the hashes. `load` and `store` are what stands between braces; values in %r5..8, results in %r9..12.
typedef struct Element {
    const char *text;
    u32 bytes;
    const char *load, *after, *before, *store;
} Element;
#define HALVES "mov.b32 {%h0, %h1}, %r5; mov.b32 {%h2, %h3}, %r6;"
#define QUADS "mov.b64 %d4, {%r5, %r6}; mov.b64 %d5, {%r7, %r8};"
static const Element elements[] = {
    {"b8", 1, "%h0", "cvt.u32.u16 %r9, %h0;", "cvt.u16.u32 %h0, %r5;", "%h0"},
    {"b16", 2, "%h0", "cvt.u32.u16 %r9, %h0;", "cvt.u16.u32 %h0, %r5;", "%h0"},
    {"b32", 4, "%r9", "", "", "%r5"},
    {"b64", 8, "%d4", "mov.b64 {%r9, %r10}, %d4;", QUADS, "%d4"},
    {"v2.b8", 2, "%h0, %h1", "mov.b32 %r9, {%h0, %h1};", HALVES, "%h0, %h1"},
    {"v4.b8", 4, "%h0, %h1, %h2, %h3", "mov.b32 %r9, {%h0, %h1}; mov.b32 %r10, {%h2, %h3};", HALVES,
     "%h0, %h1, %h2, %h3"},
    {"v2.b16", 4, "%h0, %h1", "mov.b32 %r9, {%h0, %h1};", HALVES, "%h0, %h1"},
    {"v4.b16", 8, "%h0, %h1, %h2, %h3", "mov.b32 %r9, {%h0, %h1}; mov.b32 %r10, {%h2, %h3};", HALVES,
     "%h0, %h1, %h2, %h3"},
    {"v2.b32", 8, "%r9, %r10", "", "", "%r5, %r6"},
    {"v4.b32", 16, "%r9, %r10, %r11, %r12", "", "", "%r5, %r6, %r7, %r8"},
    {"v2.b64", 16, "%d4, %d5", "mov.b64 {%r9, %r10}, %d4; mov.b64 {%r11, %r12}, %d5;", QUADS, "%d4, %d5"}};
static const struct {
    const char *operation, *type;
    u32 bytes;
} reductions[] = {{"add", "u32", 4}, {"min", "u32", 4}, {"max", "u32", 4}, {"min", "s32", 4},
                  {"max", "s32", 4}, {"and", "b32", 4}, {"or", "b32", 4},  {"add", "u64", 8}};

// One thread accesses point after point, so that overlapping stores have an order.
static const char frame[] = PTX_HEAD
    ".visible .entry k(.param .u64 s, .param .u64 points, .param .u64 out) {\n"
    "  .reg .b64 %%d<9>; .reg .b32 %%r<20>; .reg .b16 %%h<5>; .reg .pred %%p;\n"
    "  ld.param.u64 %%d1, [s]; ld.param.u64 %%d2, [points]; ld.param.u64 %%d3, [out]; mov.u32 %%r15, 0;\n"
    "next:\n"
    "  ld.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%d2]; ld.global.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%d2+16];\n"
    "  mov.u32 %%r9, 77; mov.u32 %%r10, 77; mov.u32 %%r11, 77; mov.u32 %%r12, 77;\n"
    "  %s\n"
    "  st.global.v4.u32 [%%d3], {%%r9, %%r10, %%r11, %%r12};\n"
    "  add.u64 %%d2, %%d2, 32; add.u64 %%d3, %%d3, 16; add.u32 %%r15, %%r15, 1; setp.lt.u32 %%p, %%r15, 64; @%%p bra "
    "next;\n"
    "  ret;\n}\n";

static u32 mix(u32 x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

typedef struct Point {
    i32 at[3], layer;
    u32 value[4];
} Point;

static i32 coordinate(u32 h, u32 size, bool beyond) { return (i32)(beyond ? h % (3 * size) - size : h % size); }

// Some outside, unless that traps.
static void make_points(const Geometry *g, u32 texel, u32 bytes, bool traps, Point *points) {
    u32 seed = g->number * 1000 + texel * 7 + bytes, elements_wide = g->width * texel / bytes;
    u32 height = g->height ? g->height : 1, depth = g->depth ? g->depth : 1;
    for (u32 i = 0; i < POINTS; i++) {
        Point *p = &points[i];
        u32 h = mix(seed * 99 + i);
        p->at[0] = coordinate(h, elements_wide, !traps && i % 4 == 3) * (i32)bytes;
        p->at[1] = coordinate(mix(h), height, !traps && i % 8 == 5);
        p->at[2] = coordinate(mix(h + 1), depth, !traps && i % 8 == 6);
        p->layer = g->number >= 3 ? p->at[2] : 0;
        for (u32 k = 0; k < 4; k++) p->value[k] = mix(h + 10 + k);
    }
}

static u64 run(const char *insn, const Geometry *g, const Format *f, u32 bytes, bool traps) {
    static u8 texels[8192];
    char ptx[4096];
    Point points[POINTS];
    TestDevice d;
    u32 texel = (u32)f->channels * f->bits / 8;
    bool layers = g->number >= 3;
    SimTexture t = {.width = g->width,
                    .height = g->height,
                    .depth = layers ? 0 : g->depth,
                    .layers = layers ? g->depth : 0,
                    .pitch = (u64)g->width * texel,
                    .channels = f->channels,
                    .channel_bits = f->bits,
                    .channel_kind = f->kind};
    t.slice = t.pitch * (g->height ? g->height : 1);
    u32 size = (u32)t.slice * (g->depth ? g->depth : 1);
    assert_true(size <= sizeof texels);
    for (u32 i = 0; i < size; i++) texels[i] = (u8)mix(i * 31 + texel);
    snprintf(ptx, sizeof ptx, frame, insn);
    device_open(&d, ptx);
    make_points(g, texel, bytes, traps, points);
    t.data = device_memory(&d, texels, size);
    struct {
        u64 surface, points, out;
    } params = {0, device_memory(&d, points, sizeof points), device_memory(&d, NULL, POINTS * 16)};
    assert_int_equal(sim_texture_create(d.sim, &t, &params.surface), STATUS_OK);
    device_run(&d, "k", 1, 1, &params);
    u64 hash = 0xcbf29ce484222325ull;
    const u32 *out = device_view(&d, params.out, POINTS * 16);
    const u8 *left = device_view(&d, t.data, size);
    for (u32 i = 0; i < POINTS * 4; i++) hash = (hash ^ out[i]) * 0x100000001b3ull;
    for (u32 i = 0; i < size; i++) hash = (hash ^ left[i]) * 0x100000001b3ull;
    device_close(&d);
    return hash;
}

static u64 run_accesses(const SurfaceCase *c, const Geometry *g, const Format *f) {
    u32 texel = (u32)f->channels * f->bits / 8;
    bool traps = strcmp(c->mode, "trap") == 0;
    u64 hash = 0;
    for (u32 i = 0; i < WL_COUNT(elements); i++) {
        char insn[512];
        const Element *e = &elements[i];
        if (e->bytes > texel || texel % e->bytes) continue;
        if (c->access[0] == 'l')
            snprintf(insn, sizeof insn, "suld.b.%s.%s.%s {%s}, [%%d1, %s]; %s", g->name, e->text, c->mode, e->load,
                     g->coordinates, e->after);
        else
            snprintf(insn, sizeof insn, "%s sust.b.%s.%s.%s [%%d1, %s], {%s};", e->before, g->name, e->text, c->mode,
                     g->coordinates, e->store);
        hash = hash * 31 + run(insn, g, f, e->bytes, traps);
    }
    return hash;
}

static u64 run_reductions(const SurfaceCase *c, const Geometry *g, const Format *f) {
    u32 texel = (u32)f->channels * f->bits / 8;
    u64 hash = 0;
    for (u32 i = 0; i < WL_COUNT(reductions); i++) {
        char insn[512];
        if (reductions[i].bytes != texel) continue;
        bool wide = reductions[i].bytes == 8;
        snprintf(insn, sizeof insn, "%s sured.b.%s.%s.%s.%s [%%d1, %s], %s;", wide ? QUADS : "",
                 reductions[i].operation, g->name, reductions[i].type, c->mode, g->coordinates, wide ? "%d4" : "%r5");
        hash = hash * 31 + run(insn, g, f, texel, false);
    }
    return hash;
}

TEST(same_as_an_h200) {
    u32 wrong = 0;
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        const SurfaceCase *c = &cases[i];
        const Geometry *g = NULL;
        const Format *f = NULL;
        for (u32 k = 0; k < WL_COUNT(geometries); k++)
            if (strcmp(geometries[k].name, c->geometry) == 0) g = &geometries[k];
        for (u32 k = 0; k < WL_COUNT(formats); k++)
            if (strcmp(formats[k].name, c->format) == 0) f = &formats[k];
        assert_true(g && f);
        u64 hash = c->access[0] == 'r' ? run_reductions(c, g, f) : run_accesses(c, g, f);
        if (hash == c->hash) continue;
        print_error("%s.%s.%s of %s: not what the GPU gave\n", c->access, c->geometry, c->mode, c->format);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
