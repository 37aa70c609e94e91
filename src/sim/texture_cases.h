// SPDX-License-Identifier: Apache-2.0
// The textures, points and fetches whose results on an H200 texture_cases.inc has: what a program for a GPU must make
// to record them, and texture_gpu_test.c to compare.
#ifndef WL_SIM_TEXTURE_CASES_H
#define WL_SIM_TEXTURE_CASES_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

enum { CASE_POINTS = 128 };

typedef struct TextureCase {
    const char *resource, *fetch, *format;
    u64 hash;
} TextureCase;
static const TextureCase texture_cases[] = {
#include "sim/texture_cases.inc"
};

typedef enum CaseResourceKind { CASE_LINEAR, CASE_PITCH, CASE_PLAIN, CASE_LAYERED, CASE_CUBE } CaseResourceKind;
typedef struct CaseResource {
    const char *name;
    CaseResourceKind kind;
    u32 number;                // goes into the texels
    u32 width, height, depth;  // texels; the third is layers or faces of layered ones and cubes
} CaseResource;
static const CaseResource case_resources[] = {
    {"lin", CASE_LINEAR, 0, 37, 0, 0}, {"1d", CASE_PLAIN, 1, 37, 0, 0},    {"2d", CASE_PLAIN, 2, 19, 13, 0},
    {"3d", CASE_PLAIN, 3, 11, 7, 5},   {"a1d", CASE_LAYERED, 4, 23, 0, 6}, {"a2d", CASE_LAYERED, 5, 9, 7, 6},
    {"cube", CASE_CUBE, 6, 8, 8, 6},   {"acube", CASE_CUBE, 7, 8, 8, 12},  {"pitch", CASE_PITCH, 9, 16, 13, 0}};

typedef struct CaseFormat {
    const char *name;
    u8 channels, bits, kind;  // SimChannelKind
    bool normalized;
    bool all_modes;  // else clamped coordinates only
} CaseFormat;
static const CaseFormat case_formats[] = {
    {"f32", 1, 32, CHANNEL_FLOAT, false, true},     {"f32x4", 4, 32, CHANNEL_FLOAT, false, true},
    {"f16x2", 2, 16, CHANNEL_FLOAT, false, true},   {"u8x4n", 4, 8, CHANNEL_UNSIGNED, true, true},
    {"s8n", 1, 8, CHANNEL_SIGNED, true, false},     {"u16x2n", 2, 16, CHANNEL_UNSIGNED, true, false},
    {"s16x4n", 4, 16, CHANNEL_SIGNED, true, false}, {"u8", 1, 8, CHANNEL_UNSIGNED, false, false},
    {"s16x2", 2, 16, CHANNEL_SIGNED, false, false}, {"u32x4", 4, 32, CHANNEL_UNSIGNED, false, false}};

// T stands for the type of the results. Registers: %d1 texture, %f1..3 coordinates, %r5 layer, %r6..8 whole
// coordinates, %f4 level, %f5..10 gradients; results in %r1..4.
static const struct {
    const char *name, *text;
} case_fetches[] = {
    {"t1d", "tex.1d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1}];"},
    {"t2d", "tex.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}];"},
    {"t3d", "tex.3d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}];"},
    {"a1d", "tex.a1d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1}];"},
    {"a2d", "tex.a2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1,%f2,%f2}];"},
    {"cube", "tex.cube.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}];"},
    {"acube", "tex.acube.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1,%f2,%f3}];"},
    {"i1d", "tex.1d.v4.T.s32 {%r1,%r2,%r3,%r4}, [%d1, {%r6}];"},
    {"i2d", "tex.2d.v4.T.s32 {%r1,%r2,%r3,%r4}, [%d1, {%r6,%r7}];"},
    {"i3d", "tex.3d.v4.T.s32 {%r1,%r2,%r3,%r4}, [%d1, {%r6,%r7,%r8,%r8}];"},
    {"l1d", "tex.level.1d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1}], %f4;"},
    {"l2d", "tex.level.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}], %f4;"},
    {"l3d", "tex.level.3d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}], %f4;"},
    {"la2d", "tex.level.a2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1,%f2,%f2}], %f4;"},
    {"lcube", "tex.level.cube.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}], %f4;"},
    {"g1d", "tex.grad.1d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1}], {%f5}, {%f6};"},
    {"g2d", "tex.grad.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}], {%f5,%f6}, {%f7,%f8};"},
    {"g3d",
     "tex.grad.3d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}], {%f5,%f6,%f7,%f7}, {%f8,%f9,%f10,%f10};"},
    {"ga2d", "tex.grad.a2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1,%f2,%f2}], {%f5,%f6}, {%f7,%f8};"},
    {"b2d", "tex.base.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}];"},
    {"o1d", "tex.1d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1}], {2};"},
    {"o2d", "tex.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}], {-2,3};"},
    {"o3d", "tex.3d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}], {1,-1,2,2};"},
    {"p2d", "tex.2d.v4.T.f32 {%r1,%r2,%r3,%r4}|%p1, [%d1, {%f1,%f2}]; selp.b32 %r4, %r4, 0xbad, %p1;"},
    {"rr", "tld4.r.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}];"},
    {"rg", "tld4.g.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}];"},
    {"rb", "tld4.b.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}];"},
    {"ra", "tld4.a.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}];"},
    {"rl", "tld4.r.a2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%f1,%f2,%f2}];"},
    {"rc", "tld4.r.cube.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2,%f3,%f3}];"},
    {"ro", "tld4.g.2d.v4.T.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f1,%f2}], {1,-2};"},
    {"h2d", "tex.2d.v4.f16.f32 {%h1,%h2,%h3,%h4}, [%d1, {%f1,%f2}]; mov.b32 %r1, {%h1,%h2}; mov.b32 %r2, {%h3,%h4};"},
    {"hh2d", "tex.2d.v2.f16x2.f32 {%r1,%r2}, [%d1, {%f1,%f2}];"},
    {"hl2d", "tex.level.2d.v4.f16.f32 {%h1,%h2,%h3,%h4}, [%d1, {%f1,%f2}], %f4; mov.b32 %r1, {%h1,%h2}; mov.b32 %r2, "
             "{%h3,%h4};"},
};

// --- what goes in ---------------------------------------------------------------------------------------------------
static inline u32 case_mix(u32 x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static inline u32 case_texel_bytes(const CaseFormat *f) { return (u32)f->channels * f->bits / 8; }
static inline u32 case_texels(const CaseResource *r) {
    return r->width * (r->height ? r->height : 1) * (r->depth ? r->depth : 1);
}
static inline void case_fill(u8 *data, const CaseResource *r, const CaseFormat *f) {
    u32 size = case_texels(r) * case_texel_bytes(f), seed = r->number * 100 + case_texel_bytes(f);
    if (f->kind == CHANNEL_FLOAT && f->bits == 32) {
        for (u32 i = 0; i < size / 4; i++) {
            f32 value = (f32)(case_mix(i * 7919u + seed) & 0xffff) / 4096.0f - 8;
            memcpy(data + i * 4, &value, 4);
        }
    } else if (f->kind == CHANNEL_FLOAT) {
        for (u32 i = 0; i < size / 2; i++) {
            u16 half = (u16)(case_mix(i * 31u + seed) & 0xbfff);
            if ((half & 0x7c00) > 0x5000) half &= 0x83ff | 0x3c00;
            memcpy(data + i * 2, &half, 2);
        }
    } else {
        for (u32 i = 0; i < size; i++) data[i] = (u8)case_mix(i * 131u + seed);
    }
}

typedef struct CasePoint {
    f32 at[3], level;
    i32 whole[3], layer;
    f32 gradients[8];
} CasePoint;

static inline f32 case_coordinate(const CaseResource *r, bool normalized, u32 h, f32 size) {
    static const f32 special[] = {0,        -0.0f,    1,         -1,       0.5f,
                                  2,        -0.5f,    0.25f,     1e-8f,    1e30f,
                                  -1e30f,   INFINITY, -INFINITY, NAN,      1.0f - 1.0f / (1 << 23),
                                  0.99999f, 3.5f,     -2.75f,    100.125f, 16777216.f};
    u32 choice = h >> 28;
    f32 unit = normalized ? size : 1;
    if (r->kind == CASE_CUBE) return (f32)((i32)(h & 0xfffff) - 0x80000) / (f32)0x80000;
    if (choice < 2) return special[case_mix(h) % 20];
    if (choice < 5) return (f32)((i32)(h % (u32)(4 * (i32)size * 2 + 1)) - 4 * (i32)size) * 0.5f / unit * 0.5f;
    return ((f32)(h & 0xfffff) / 1048576.0f * 3 - 1) * (normalized ? 1 : size);
}
static inline void case_points(const CaseResource *r, bool normalized, u32 seed, CasePoint *points) {
    f32 size[3] = {(f32)r->width, (f32)(r->height ? r->height : 1), (f32)(r->depth ? r->depth : 1)};
    for (u32 n = 0; n < CASE_POINTS; n++) {
        CasePoint *p = &points[n];
        for (u32 d = 0; d < 3; d++) {
            u32 h = case_mix(seed * 77777 + n * 3 + d), range = (u32)size[d] * 2;
            p->at[d] = case_coordinate(r, normalized, h, size[d]);
            p->whole[d] = (i32)(case_mix(n * 7 + 1 + d + seed) % range) - (i32)size[d] / 2;
        }
        if (r->kind == CASE_CUBE && n % 32 == 0)
            p->at[0] = 1, p->at[1] = (f32)((i32)(n / 32 % 3) - 1), p->at[2] = (f32)((i32)(n / 96 % 3) - 1);
        p->level = (f32)(case_mix(n + seed * 5) % 1400) / 100.0f - 3;
        if (n % 16 == 0) p->level = (f32)(n / 16 % 8);
        if (n == 5) p->level = NAN;
        p->layer = (i32)(case_mix(n * 7 + 4) % 9) - 1;
        for (u32 d = 0; d < 8; d++) {
            u32 h = case_mix(n * 11 + d + seed * 31);
            p->gradients[d] = ((f32)(h >> 8 & 0xffff) / 65536.0f * 2 - 1) * exp2f((f32)((i32)(h % 9) - 6));
            if ((h >> 24) % 16 == 0) p->gradients[d] = 0;
        }
    }
}

// Is this mode one of the resource and format?
static inline bool case_has_mode(const CaseResource *r, const CaseFormat *f, bool normalized, u32 filter, u32 address) {
    bool whole = !f->normalized && f->kind != CHANNEL_FLOAT;
    if (whole && filter != FILTER_POINT) return false;
    if (!normalized && address != ADDRESS_CLAMP && address != ADDRESS_BORDER) return false;
    if (r->kind == CASE_LINEAR && (normalized || filter != FILTER_POINT || address != ADDRESS_CLAMP)) return false;
    if (r->kind == CASE_CUBE && (!normalized || address > ADDRESS_CLAMP)) return false;
    return f->all_modes || address == ADDRESS_CLAMP;
}

static inline SimTexture case_texture(const CaseResource *r, const CaseFormat *f) {
    bool layers = r->kind == CASE_LAYERED || r->kind == CASE_CUBE;
    SimTexture t = {.width = r->width,
                    .height = r->height,
                    .depth = layers ? 0 : r->depth,
                    .layers = layers ? r->depth : 0,
                    .pitch = (u64)r->width * case_texel_bytes(f),
                    .channels = f->channels,
                    .channel_bits = f->bits,
                    .channel_kind = f->kind,
                    .read_normalized = f->normalized,
                    .linear_memory = r->kind == CASE_LINEAR,
                    .cubemap = r->kind == CASE_CUBE,
                    .border = {0.6f, -1.5f, 2, 0.25f}};
    t.slice = t.pitch * (r->height ? r->height : 1);
    return t;
}

// A kernel around a fetch: one thread for each point.
static const char case_frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fetch(.param .u64 t, .param .u64 points, .param .u64 out) {\n"
    "  .reg .b64 %%d<9>; .reg .b32 %%r<11>; .reg .f32 %%f<13>; .reg .b16 %%h<5>; .reg .pred %%p<3>;\n"
    "  ld.param.u64 %%d1, [t]; ld.param.u64 %%d2, [points]; ld.param.u64 %%d3, [out]; mov.u32 %%r9, %%tid.x;\n"
    "  mul.wide.u32 %%d4, %%r9, 64; add.u64 %%d2, %%d2, %%d4; mul.wide.u32 %%d4, %%r9, 16; add.u64 %%d3, %%d3, %%d4;\n"
    "  ld.global.v4.f32 {%%f1,%%f2,%%f3,%%f4}, [%%d2]; ld.global.v4.u32 {%%r6,%%r7,%%r8,%%r5}, [%%d2+16];\n"
    "  ld.global.v4.f32 {%%f5,%%f6,%%f7,%%f8}, [%%d2+32]; ld.global.v2.f32 {%%f9,%%f10}, [%%d2+48];\n"
    "  mov.u32 %%r1, 77; mov.u32 %%r2, 77; mov.u32 %%r3, 77; mov.u32 %%r4, 77;\n"
    "  %s\n"
    "  st.global.v4.u32 [%%d3], {%%r1,%%r2,%%r3,%%r4}; ret;\n}\n";

// The fetch's PTX, with the type of the results in place of T.
static inline void case_ptx(char *ptx, size_t size, const char *fetch, const CaseFormat *f) {
    char insn[512];
    const char *type = f->normalized || f->kind == CHANNEL_FLOAT ? "f32" : f->kind == CHANNEL_SIGNED ? "s32" : "u32";
    const char *text = NULL;
    for (u32 i = 0; i < WL_COUNT(case_fetches); i++)
        if (strcmp(case_fetches[i].name, fetch) == 0) text = case_fetches[i].text;
    if (!text) text = "trap;";
    const char *hole = strstr(text, ".T.");
    if (hole)
        snprintf(insn, sizeof insn, "%.*s.%s.%s", (int)(hole - text), text, type, hole + 3);
    else
        snprintf(insn, sizeof insn, "%s", text);
    snprintf(ptx, size, case_frame, insn);
}

static inline u64 case_hash_words(const u32 *words, u32 count) {
    u64 h = 0xcbf29ce484222325ull;
    for (u32 i = 0; i < count; i++) h = (h ^ words[i]) * 0x100000001b3ull;
    return h;
}

#endif
