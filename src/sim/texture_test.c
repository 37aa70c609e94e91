// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces: kernels against a plain double-precision reference of the formulas in the CUDA Programming
// Guide, appendix "Texture Fetching", and against values that an H200 returned.
#include <math.h>

#include "sim/device_testing.h"
#include "sim/texture_fetch.h"

enum { POINTS = 512 };

typedef struct Point {
    f32 at[3];
    u32 layer;
} Point;

static u32 mix(u32 x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// The texels of the H200 runs.
static void fill(u8 *data, const SimTexture *t, u32 texels) {
    for (u32 i = 0; i < texels * t->channels; i++) {
        u32 r = mix(i * 7919u + t->width * 31 + t->height);
        f32 value = (f32)(r & 0xffff) / 4096.0f - 8;
        if (t->channel_kind == CHANNEL_FLOAT)
            memcpy(data + i * 4, &value, 4);
        else
            memcpy(data + i * t->channel_bits / 8, &r, t->channel_bits / 8);
    }
}

// --- a kernel around one instruction -------------------------------------------------------------------------------
typedef struct Bench {
    TestDevice d;
    SimTexture t;
    u8 data[8192];
    u64 handle;
    u32 out[POINTS][4];
} Bench;

static const char frame[] = PTX_HEAD
    ".visible .entry fetch(.param .u64 h, .param .u64 points, .param .u64 out) {\n"
    "  .reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .b16 %%h<9>; .reg .pred %%p<3>;\n"
    "  ld.param.u64 %%d1, [h]; ld.param.u64 %%d2, [points]; ld.param.u64 %%d3, [out];\n"
    "  mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
    "  mul.wide.u32 %%d4, %%r1, 16; add.u64 %%d5, %%d2, %%d4; add.u64 %%d6, %%d3, %%d4;\n"
    "  ld.global.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%%d5]; mov.b32 %%r5, %%f4;\n"
    "  cvt.rmi.s32.f32 %%r6, %%f1; cvt.rmi.s32.f32 %%r7, %%f2; cvt.rmi.s32.f32 %%r8, %%f3;\n"
    "  mov.u32 %%r1, 77; mov.u32 %%r2, 77; mov.u32 %%r3, 77; mov.u32 %%r4, 77;\n"
    "  %s\n"
    "  st.global.v4.u32 [%%d6], {%%r1, %%r2, %%r3, %%r4};\n  ret;\n}\n";

static void bench_open(Bench *b, const char *insn, SimTexture t, u32 texels) {
    char ptx[4096];
    snprintf(ptx, sizeof ptx, frame, insn);
    device_open(&b->d, ptx);
    u32 size = t.channels * t.channel_bits / 8;
    t.pitch = (u64)t.width * size;
    t.slice = t.pitch * (t.height ? t.height : 1);
    assert_true(texels * size <= sizeof b->data);
    fill(b->data, &t, texels);
    t.data = device_memory(&b->d, b->data, (u64)texels * size);
    b->t = t;
    assert_int_equal(sim_texture_create(b->d.sim, &t, &b->handle), STATUS_OK);
}

static void bench_run(Bench *b, const Point *points, u32 count) {
    struct {
        u64 h, points, out;
    } params = {b->handle, device_memory(&b->d, points, sizeof *points * count),
                device_memory(&b->d, NULL, 16 * count)};
    device_run(&b->d, "fetch", (count + 63) / 64, count < 64 ? count : 64, &params);
    memcpy(b->out, device_view(&b->d, params.out, 16 * count), 16 * count);
}

static f32 as_float(u32 bits) {
    f32 value;
    memcpy(&value, &bits, 4);
    return value;
}

// --- the reference -------------------------------------------------------------------------------------------------
// Channel 0 of a float texture, `dims` coordinates.
static f64 texel(const Bench *b, const i64 at[3], u32 dims, u32 layer) {
    const i64 size[3] = {b->t.width, b->t.height ? b->t.height : 1, b->t.depth ? b->t.depth : 1};
    i64 index = 0;
    for (u32 d = dims; d-- > 0;) {
        i64 i = at[d], n = size[d];
        switch (b->t.address[d]) {
        case ADDRESS_WRAP: i = ((i % n) + n) % n; break;
        case ADDRESS_MIRROR: i = ((i % (2 * n)) + 2 * n) % (2 * n), i = i < n ? i : 2 * n - 1 - i; break;
        case ADDRESS_CLAMP: i = i < 0 ? 0 : i >= n ? n - 1 : i; break;
        default:
            if (i < 0 || i >= n) return b->t.border[0];
            break;
        }
        index = index * n + i;
    }
    f32 value;
    index += (i64)layer * size[0] * size[1];
    memcpy(&value, b->data + index * b->t.channels * 4, 4);
    return value;
}

static f64 reference(const Bench *b, const Point *p, u32 dims, u32 layer) {
    const f64 size[3] = {b->t.width, b->t.height, b->t.depth};
    i64 low[3] = {0};
    f64 fraction[3] = {0}, sum = 0;
    bool linear = b->t.filter == FILTER_LINEAR;
    for (u32 d = 0; d < dims; d++) {
        f64 at = p->at[d] * (b->t.normalized_coords ? size[d] : 1) - (linear ? 0.5 : 0);
        low[d] = (i64)floor(at);
        fraction[d] = linear ? at - floor(at) : 0;
    }
    for (u32 corner = 0; corner < 1u << dims; corner++) {
        i64 at[3] = {0};
        f64 weight = 1;
        for (u32 d = 0; d < dims; d++) {
            at[d] = low[d] + (corner >> d & 1);
            weight *= corner >> d & 1 ? fraction[d] : 1 - fraction[d];
        }
        if (weight != 0) sum += weight * texel(b, at, dims, layer);
    }
    return sum;
}

static void random_points(Point *points, const SimTexture *t) {
    const f32 size[3] = {(f32)t->width, (f32)t->height, (f32)t->depth};
    for (u32 i = 0; i < POINTS; i++) {
        for (u32 d = 0; d < 3; d++) {
            f32 u = (f32)(mix(i * 3 + d + 1) & 0xfffff) / 1048576.0f * 3 - 1;
            points[i].at[d] = t->normalized_coords ? u : u * size[d];
        }
        points[i].layer = mix(i + 99) % 6;
    }
}

// Weights have 8 bits: a fetch is off by at most `steps` / 256 of the range of the texels, [-8, 8].
static void compare(const char *insn, SimTexture t, u32 dims, bool layered, f64 steps) {
    static Bench b;
    Point points[POINTS];
    u32 layers = layered ? t.layers : 1;
    t.channels = t.channels ? t.channels : 1;
    t.channel_bits = 32;
    t.channel_kind = CHANNEL_FLOAT;
    bench_open(&b, insn, t, t.width * (t.height ? t.height : 1) * (t.depth ? t.depth : 1) * layers);
    random_points(points, &t);
    bench_run(&b, points, POINTS);
    for (u32 i = 0; i < POINTS; i++) {
        u32 layer = layered ? (points[i].layer < layers ? points[i].layer : layers - 1) : 0;
        f64 wanted = reference(&b, &points[i], dims, layer), got = as_float(b.out[i][0]);
        if (fabs(wanted - got) > 16 * steps / 256 + 1e-5) fail_msg("%s: point %u: %g, wanted %g", insn, i, got, wanted);
    }
    device_close(&b.d);
}

#define RESULT "{%r1, %r2, %r3, %r4}"

TEST(nearest_in_all_modes) {
    for (u8 mode = ADDRESS_WRAP; mode <= ADDRESS_BORDER; mode++) {
        SimTexture t = {.width = 5,
                        .height = 4,
                        .depth = 3,
                        .address = {mode, mode, mode},
                        .normalized_coords = true,
                        .border = {2.5f}};
        compare("tex.3d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2, %f3, %f3}];", t, 3, false, 0);
        t.depth = 0, t.channels = 4;
        compare("tex.2d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2}];", t, 2, false, 0);
    }
    SimTexture t = {.width = 7, .height = 5, .address = {ADDRESS_CLAMP, ADDRESS_CLAMP}};
    compare("tex.2d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2}];", t, 2, false, 0);
}

TEST(linear_in_all_modes) {
    for (u8 mode = ADDRESS_WRAP; mode <= ADDRESS_BORDER; mode++) {
        SimTexture t = {.width = 5,
                        .address = {mode, mode, mode},
                        .normalized_coords = true,
                        .filter = FILTER_LINEAR,
                        .border = {-3}};
        t.address[1] = ADDRESS_CLAMP;  // what it does to one dimension is one_dimension_is_filtered_as_two's
        compare("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1}]; mov.b32 %r1, %f1;", t, 1, false, 0.5);
        t.height = 4;
        t.address[1] = mode;
        compare("tex.2d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2}];", t, 2, false, 2);
        t.depth = 3;
        compare("tex.3d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2, %f3, %f3}];", t, 3, false, 5);
    }
}

TEST(layers_are_clamped) {
    SimTexture t = {.width = 5, .layers = 4, .address = {ADDRESS_CLAMP, ADDRESS_CLAMP}, .filter = FILTER_LINEAR};
    compare("tex.a1d.v4.u32.f32 " RESULT ", [%d1, {%r5, %f1}];", t, 1, true, 0.5);
    t.height = 3;
    compare("tex.a2d.v4.u32.f32 " RESULT ", [%d1, {%r5, %f1, %f2, %f2}];", t, 2, true, 2);
    compare("tex.level.a2d.v4.u32.f32 " RESULT ", [%d1, {%r5, %f1, %f2, %f2}], %f1;", t, 2, true, 2);
}

// --- values of the hardware ----------------------------------------------------------------------------------------
typedef struct Golden {
    f32 at[3], wanted;
} Golden;

static void check_golden(const char *insn, SimTexture t, u32 texels, const Golden *golden, u32 count) {
    static Bench b;
    Point points[POINTS] = {0};
    bench_open(&b, insn, t, texels);
    for (u32 i = 0; i < count; i++) memcpy(points[i].at, golden[i].at, sizeof points[i].at);
    bench_run(&b, points, count);
    for (u32 i = 0; i < count; i++)
        if (as_float(b.out[i][0]) != golden[i].wanted)
            fail_msg("%s: point %u: %a, wanted %a", insn, i, as_float(b.out[i][0]), golden[i].wanted);
    device_close(&b.d);
}

TEST(values_of_an_h200) {
    static const Golden plane[] = {
        {{0x1.9648p-1, -0x1.a6df4p-2}, 0x1.00cdccp+2},
        {{0x1.b1c73p+0, 0x1.7fbap-4}, -0x1.e524ap+1},
        {{0x1.2e5b2p+0, -0x1.78348p-2}, -0x1.5571fp+2},
        {{0x1.2ff77p+0, 0x1.5dbe2p-1}, -0x1.4b7938p+2},
    };
    SimTexture t = {.width = 7,
                    .height = 5,
                    .channels = 4,
                    .channel_bits = 32,
                    .channel_kind = CHANNEL_FLOAT,
                    .address = {ADDRESS_WRAP, ADDRESS_MIRROR},
                    .filter = FILTER_LINEAR,
                    .normalized_coords = true};
    check_golden("tex.2d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2}];", t, 35, plane, WL_COUNT(plane));
    static const Golden bytes[] = {
        {{0x1.1c7ae8p+2, 0x1.8dd96p+1}, 0x1.781178p-2},
        {{0x1.1cf878p+1, 0x1.59bc48p+1}, 0x1.2dd92ep-2},
        {{0x1.779a3p+1, 0x1.d317ap-1}, 0x1.b709b8p-3},
        {{0x1.624588p+1, 0x1.6ce7ap+1}, 0x1.9a859ap-2},
    };
    SimTexture u = {.width = 7,
                    .height = 5,
                    .channels = 4,
                    .channel_bits = 8,
                    .channel_kind = CHANNEL_UNSIGNED,
                    .address = {ADDRESS_CLAMP, ADDRESS_CLAMP},
                    .filter = FILTER_LINEAR,
                    .read_normalized = true};
    check_golden("tex.2d.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2}];", u, 35, bytes, WL_COUNT(bytes));
    static const Golden cube[] = {
        {{0x1p+0, -0x1.379fcp-1, -0x1.8588cp-1}, -0x1.6621ap+1},
        {{0x1.97b44p-1, -0x1p+0, -0x1.0b114p-1}, -0x1.0951ep-1},
        {{0x1.d0f3p-2, -0x1.28118p-1, 0x1p+0}, -0x1.2de34p+0},
        {{0x1.d53e8p-2, 0x1.f3f6p-4, 0x1.1d1bp-1}, -0x1.14964p+2},
    };
    SimTexture c = {.width = 6,
                    .height = 6,
                    .layers = 6,
                    .channels = 1,
                    .channel_bits = 32,
                    .channel_kind = CHANNEL_FLOAT,
                    .address = {ADDRESS_CLAMP, ADDRESS_CLAMP, ADDRESS_CLAMP},
                    .filter = FILTER_LINEAR,
                    .normalized_coords = true,
                    .cubemap = true};
    check_golden("tex.cube.v4.u32.f32 " RESULT ", [%d1, {%f1, %f2, %f3, %f3}];", c, 216, cube, WL_COUNT(cube));
}

// --- formats -------------------------------------------------------------------------------------------------------
TEST(integers_and_missing_channels) {
    static Bench b;
    Point points[4] = {{{0}}, {{1}}, {{2}}, {{3}}};
    SimTexture t = {
        .width = 4, .channels = 2, .channel_bits = 8, .channel_kind = CHANNEL_SIGNED, .linear_memory = true};
    bench_open(&b, "tex.1d.v4.s32.s32 " RESULT ", [%d1, {%r6}];", t, 4);
    bench_run(&b, points, 4);
    for (u32 i = 0; i < 4; i++) {
        assert_int_equal((i32)b.out[i][0], (i8)b.data[2 * i]);
        assert_int_equal((i32)b.out[i][1], (i8)b.data[2 * i + 1]);
        assert_int_equal(b.out[i][2] | b.out[i][3], 0);
    }
    device_close(&b.d);
}

TEST(linear_memory_ends_in_zeros) {
    static Bench b;
    Point points[4] = {{{-1}}, {{4}}, {{3}}, {{1e9f}}};
    SimTexture t = {
        .width = 4, .channels = 1, .channel_bits = 32, .channel_kind = CHANNEL_UNSIGNED, .linear_memory = true};
    bench_open(&b, "tex.1d.v4.u32.s32 " RESULT ", [%d1, {%r6}];", t, 4);
    bench_run(&b, points, 4);
    u32 last;
    memcpy(&last, b.data + 12, 4);
    assert_int_equal(b.out[0][0] | b.out[1][0] | b.out[3][0], 0);
    assert_int_equal(b.out[2][0], last);
    device_close(&b.d);
}

TEST(normalised_reads) {
    static Bench b;
    Point points[8];
    for (u32 i = 0; i < 8; i++) points[i] = (Point){.at = {(f32)i + 0.5f}};
    SimTexture t = {.width = 8,
                    .channels = 1,
                    .channel_bits = 16,
                    .channel_kind = CHANNEL_SIGNED,
                    .read_normalized = true,
                    .address = {ADDRESS_CLAMP}};
    bench_open(&b, "tex.1d.v4.u32.f32 " RESULT ", [%d1, {%f1}];", t, 8);
    i16 lowest = -32768;
    memcpy(b.data, &lowest, 2);
    memcpy(device_view(&b.d, b.t.data, 2), &lowest, 2);
    bench_run(&b, points, 8);
    for (u32 i = 0; i < 8; i++) {
        i16 value;
        memcpy(&value, b.data + 2 * i, 2);
        assert_true(as_float(b.out[i][0]) == fmaxf((f32)value / 32767.0f, -1));
    }
    device_close(&b.d);
}

TEST(half_results) {
    static Bench b;
    Point points[1] = {{{1.5f}}};
    SimTexture t = {
        .width = 3, .channels = 4, .channel_bits = 32, .channel_kind = CHANNEL_FLOAT, .address = {ADDRESS_CLAMP}};
    bench_open(&b, "tex.1d.v2.f16x2.f32 {%r1, %r2}, [%d1, {%f1}];", t, 3);
    bench_run(&b, points, 1);
    for (u32 c = 0; c < 4; c++) {
        f32 value;
        memcpy(&value, b.data + 16 + 4 * c, 4);
        assert_int_equal(b.out[0][c / 2] >> (16 * (c & 1)) & 0xffff, half_from_float(value));
    }
    device_close(&b.d);
}

TEST(halves_round_to_even) {
    for (u32 h = 0; h < 0x7c00; h++) {
        f32 value = float_from_half(h), next = float_from_half(h + 1);
        assert_int_equal(half_from_float(value), h);
        assert_int_equal(half_from_float(-value), h | 0x8000);
        if (h + 1 < 0x7c00) assert_int_equal(half_from_float((value + next) / 2), h + (h & 1));
    }
    assert_int_equal(half_from_float(65519.0f), 0x7bff);
    assert_int_equal(half_from_float(65520.0f), 0x7c00);
    assert_int_equal(half_from_float(NAN), 0x7fff);
    assert_true(isinf(float_from_half(0xfc00)) && float_from_half(0xfc00) < 0);
}

// The four texels around (2, 1), from the lower left counter-clockwise.
TEST(gather) {
    static Bench b;
    Point p = {.at = {2.0f, 1.0f}};
    SimTexture t = {.width = 7,
                    .height = 5,
                    .channels = 2,
                    .channel_bits = 32,
                    .channel_kind = CHANNEL_UNSIGNED,
                    .address = {ADDRESS_CLAMP, ADDRESS_CLAMP}};
    bench_open(&b, "mov.u32 %r1, 0;", t, 35);
    PcState row = {0};
    SimModule module = {.sim = b.d.sim};
    SimKernel kernel = {.module = &module};
    Grid grid = {.sim = b.d.sim, .kernel = &kernel};
    Exec x = {.grid = &grid, .count = &row.counters};
    TexturePoint at = {.f = {p.at[0], p.at[1]}, .is_float = true};
    TextureAccess a;
    u32 out[4];
    texture_begin(&a, &x);
    assert_true(texture_bind(&a, 0, b.handle));
    assert_true(texture_gather(&a, &texture_geometries[GEOM_2D - GEOM_1D], &at, 1, out));
    static const u32 wanted[4][2] = {{1, 1}, {2, 1}, {2, 0}, {1, 0}};
    for (u32 k = 0; k < 4; k++) assert_memory_equal(&out[k], b.data + (wanted[k][1] * 7 + wanted[k][0]) * 8 + 4, 4);
    texture_end(&a);
    assert_int_equal(row.counters.requests, 1);
    assert_int_equal(row.counters.bytes, 4 * 8);
    assert_false(texture_bind(&a, 3, b.handle + 1));
    assert_int_equal(x.fault.kind, FAULT_BAD_HANDLE);
    assert_int_equal(x.fault.lane, 3);
    device_close(&b.d);
}

// As on a GPU, where its place in the table stays what it was until it is taken.
TEST(destroyed_objects_are_read_until_others_come) {
    static Bench b;
    SimTexture t = {
        .width = 5, .channels = 1, .channel_bits = 32, .channel_kind = CHANNEL_UNSIGNED, .linear_memory = true};
    bench_open(&b, "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r6}];", t, 5);
    Point p = {.at = {3.0f}};
    assert_int_equal(sim_texture_destroy(b.d.sim, b.handle), STATUS_OK);
    bench_run(&b, &p, 1);
    assert_memory_equal(&b.out[0][0], b.data + 3 * 4, 4);
    assert_non_null(sim_texture_get(b.d.sim, b.handle));
    for (u32 i = 0; i < 2000; i++) {
        u64 other;
        assert_int_equal(sim_texture_create(b.d.sim, &t, &other), STATUS_OK);
        assert_int_equal(sim_texture_destroy(b.d.sim, other), STATUS_OK);
    }
    assert_null(sim_texture_get(b.d.sim, b.handle));
    assert_int_equal(sim_texture_destroy(b.d.sim, b.handle), STATUS_NOT_FOUND);
    device_close(&b.d);
}

// --- surfaces ------------------------------------------------------------------------------------------------------
static const SimTexture surface = {
    .width = 4, .height = 3, .channels = 1, .channel_bits = 32, .channel_kind = CHANNEL_UNSIGNED};

// What an H200 answers for textures, then for surfaces (2026-11-21, driver 580, CUDA 13.0).
TEST(sizes) {
    static const struct {
        u32 width, height, depth, layers;
        bool cubemap;
        u32 texture[3], surface[3];
    } cases[] = {{21, 0, 0, 0, false, {21, 1, 0}, {21, 0, 0}}, {19, 9, 0, 0, false, {19, 9, 0}, {19, 9, 0}},
                 {13, 6, 5, 0, false, {13, 6, 5}, {13, 6, 5}}, {17, 0, 0, 6, false, {17, 6, 0}, {17, 6, 0}},
                 {11, 5, 0, 4, false, {11, 5, 4}, {11, 5, 4}}, {8, 8, 0, 6, true, {8, 8, 0}, {8, 8, 6}},
                 {8, 8, 0, 12, true, {8, 8, 2}, {8, 8, 12}}};
    static Bench b;
    for (u32 i = 0; i < 2 * WL_COUNT(cases); i++) {
        u32 n = i / 2;
        SimTexture t = {.width = cases[n].width,
                        .height = cases[n].height,
                        .depth = cases[n].depth,
                        .layers = cases[n].layers,
                        .cubemap = cases[n].cubemap,
                        .channels = 1,
                        .channel_bits = 8,
                        .channel_kind = CHANNEL_UNSIGNED};
        bench_open(&b,
                   i & 1 ? "suq.width.b32 %r1, [%d1]; suq.height.b32 %r2, [%d1]; suq.depth.b32 %r3, [%d1];"
                         : "txq.width.b32 %r1, [%d1]; txq.height.b32 %r2, [%d1]; txq.depth.b32 %r3, [%d1]; "
                           "txq.level.width.b32 %r4, [%d1], 1;",
                   t, 1);
        bench_run(&b, (Point[1]){0}, 1);
        for (u32 k = 0; k < 3; k++) assert_int_equal(b.out[0][k], i & 1 ? cases[n].surface[k] : cases[n].texture[k]);
        assert_int_equal(b.out[0][3], i & 1 ? 77 : 0);
        device_close(&b.d);
    }
}

TEST(surface_loads_clamp_and_zero) {
    static Bench b;
    Point points[5] = {{{4, 1}}, {{-8, 0}}, {{16, 2}}, {{0, 3}}, {{12, -1}}};
    static const u32 nearest[5] = {5, 0, 11, 8, 3};
    bench_open(&b, "suld.b.2d.b32.clamp {%r1}, [%d1, {%r6, %r7}]; suld.b.2d.b32.zero {%r2}, [%d1, {%r6, %r7}];",
               surface, 12);
    bench_run(&b, points, 5);
    for (u32 i = 0; i < 5; i++) {
        assert_memory_equal(&b.out[i][0], b.data + 4 * nearest[i], 4);
        if (i)
            assert_int_equal(b.out[i][1], 0);
        else
            assert_int_equal(b.out[i][1], b.out[i][0]);
    }
    device_close(&b.d);
}

TEST(surface_stores) {
    static Bench b;
    Point points[2] = {{{8, 1}}, {{8, 3}}};
    bench_open(&b,
               "sust.b.2d.v2.b32.zero [%d1, {%r6, %r7}], {%r6, %r7}; suld.b.2d.b16.trap {%h1}, [%d1, {8, 1}]; "
               "cvt.u32.u16 %r1, %h1;",
               surface, 12);
    bench_run(&b, points, 2);
    const u32 *texels = device_view(&b.d, b.t.data, 48);
    assert_int_equal(texels[6], 8);
    assert_int_equal(texels[7], 1);
    assert_memory_equal(texels + 8, b.data + 32, 16);  // the store in row 3 went nowhere
    assert_int_equal(b.out[0][0], 8);
    device_close(&b.d);
}

static Status trap_at(f32 x, f32 y, u64 other_handle) {
    static Bench b;
    Point p = {{x, y, 0}, 0};
    bench_open(&b, "suld.b.2d.b32.trap {%r1}, [%d1, {%r6, %r7}];", surface, 12);
    struct {
        u64 h, points, out;
    } params = {b.handle + other_handle, device_memory(&b.d, &p, sizeof p), device_memory(&b.d, NULL, 16)};
    Status status = device_try(&b.d, "fetch", 1, 1, &params);
    device_close(&b.d);
    return status;
}

TEST(surface_traps) {
    assert_int_equal(trap_at(12, 2, 0), STATUS_OK);
    assert_int_equal(trap_at(16, 2, 0), STATUS_FAULT);
    assert_int_equal(trap_at(0, 3, 0), STATUS_FAULT);
    assert_int_equal(trap_at(-4, 0, 0), STATUS_FAULT);
    assert_int_equal(trap_at(2, 0, 0), STATUS_FAULT);  // misaligned
    assert_int_equal(trap_at(0, 0, 99), STATUS_FAULT);
}

// --- levels --------------------------------------------------------------------------------------------------------
// A mipmap of 25 x 13 texels, linear between texels and between levels, wrapping: x, y, level, and what an H200
// returned (2026-11-21, driver 580, CUDA 13.0).
static const struct {
    u32 in[3], out[4];
} trilinear[] = {
    {{0xbf000000, 0x3f132180, 0x40d1e9dd}, {0xc0255000, 0xc0552400, 0x3f398000, 0x40adf800}},
    {{0x3e1afdd0, 0x3f3fab56, 0x3e8f9fb0}, {0xbf907a30, 0x3e0c1980, 0x409f7304, 0x3f9c69b0}},
    {{0xbebfe414, 0x3de98a90, 0x409c09ca}, {0xc0255000, 0xc0552400, 0x3f398000, 0x40adf800}},
    {{0x3fbd6ad2, 0x3eef8f04, 0x403739cc}, {0xc011511c, 0x4084646a, 0x40b848dc, 0xbf910810}},
    {{0x3faab132, 0x3f82f1f4, 0x4019fed0}, {0xc0125a30, 0x3dda2e00, 0x408b8ba4, 0xbfc606f0}},
    {{0x3ede3c58, 0x3e77ad18, 0x404db28c}, {0xc01d0f90, 0x3fddc670, 0x409d5d34, 0xbf27b800}},
    {{0xbccc3dc0, 0x3f3302e2, 0x3fca3a54}, {0x4027d5e4, 0xbd965480, 0xc03898a8, 0x3fe8ca40}},
    {{0x3f2d3ef4, 0x3d8bd9a0, 0xbedb1090}, {0xbcb3da00, 0x3fc70e98, 0xc0524534, 0x3f833280}},
    {{0xbe212b28, 0x3f515182, 0x4006877e}, {0x407fa788, 0xc031334c, 0xc05644f4, 0x3fc31820}},
};

static void bench_open_mipmap(Bench *b, const char *insn, SimTexture t) {
    char ptx[4096];
    u32 w = t.width, h = t.height;
    snprintf(ptx, sizeof ptx, frame, insn);
    device_open(&b->d, ptx);
    for (u32 k = 0; k<t.level_count; k++, w = w> 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) {
        f32 *texels = (f32 *)(void *)b->data;
        for (u32 i = 0; i < w * h * 4; i++) texels[i] = (f32)(mix(i * 7919u + k * 104729u) & 0xffff) / 4096.0f - 8;
        t.levels[k] = (SimTextureLevel){
            .data = device_memory(&b->d, texels, (u64)w * h * 16), .width = w, .height = h, .pitch = w * 16ull};
    }
    t.data = t.levels[0].data;
    t.pitch = t.levels[0].pitch;
    assert_int_equal(sim_texture_create(b->d.sim, &t, &b->handle), STATUS_OK);
}

static const SimTexture mipmap = {.width = 25,
                                  .height = 13,
                                  .channels = 4,
                                  .channel_bits = 32,
                                  .channel_kind = CHANNEL_FLOAT,
                                  .filter = FILTER_LINEAR,
                                  .normalized_coords = true,
                                  .level_count = 5,
                                  .mip_filter = FILTER_LINEAR,
                                  .level_max = 99};

TEST(levels_are_mixed) {
    static Bench b;
    Point points[WL_COUNT(trilinear)];
    bench_open_mipmap(&b,
                      "tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}], %f4; mov.b32 %r1, %f5; "
                      "mov.b32 %r2, %f6; mov.b32 %r3, %f7; mov.b32 %r4, %f8;",
                      mipmap);
    for (u32 i = 0; i < WL_COUNT(trilinear); i++) {
        memcpy(points[i].at, trilinear[i].in, 8);
        points[i].layer = trilinear[i].in[2];
    }
    bench_run(&b, points, WL_COUNT(trilinear));
    for (u32 i = 0; i < WL_COUNT(trilinear); i++) assert_memory_equal(b.out[i], trilinear[i].out, 16);
    device_close(&b.d);
}

// A fetch without a level takes the finest that the clamp lets it have, without the bias; sizes of levels are halved.
TEST(levels_are_clamped_and_chosen_by_gradients) {
    static Bench b;
    SimTexture t = mipmap;
    Point point = {.at = {0.5f, 0.5f, 0.08f}};
    t.filter = FILTER_POINT;
    t.mip_filter = FILTER_POINT;
    t.level_min = 1.6f;
    t.level_bias = 3;
    bench_open_mipmap(&b,
                      "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}]; mov.b32 %r1, %f5;"
                      "tex.grad.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}], {%f3, %f3}, {%f3, %f3};"
                      "mov.b32 %r2, %f5; txq.num_mipmap_levels.b32 %r3, [%d1];",
                      t);
    bench_run(&b, &point, 1);
    f32 second = (f32)(mix((1 * 6 + 3) * 4 * 7919u + 2 * 104729u) & 0xffff) / 4096.0f - 8;
    f32 last = (f32)(mix(4 * 104729u) & 0xffff) / 4096.0f - 8;
    assert_memory_equal(&b.out[0][0], &second, 4);
    assert_memory_equal(&b.out[0][1], &last, 4);
    assert_int_equal(b.out[0][2], 5);
    device_close(&b.d);
}

// What an H200 looks up for warps that fetch rows, columns and tiles of a CUDA array (bench/hwref/h200-texture.tsv),
// and in how many different sectors.
TEST(rows_of_arrays_lie_in_tiles) {
    static const struct {
        u32 wrap, right, down, looked_up, different;  // lane l: (l % wrap * right, l / wrap + l % wrap * down)
    } walks[] = {{32, 1, 0, 8, 8}, {32, 0, 1, 16, 16}, {8, 1, 0, 8, 4},
                 {2, 1, 0, 8, 8},  {32, 1, 1, 16, 16}, {32, 0, 0, 8, 1}};
    static Bench b;
    SimTexture t = {
        .width = 32, .height = 32, .channels = 1, .channel_bits = 32, .channel_kind = CHANNEL_UNSIGNED, .tiled = true};
    bench_open(&b, "mov.u32 %r1, 0;", t, 32 * 32);
    PcState row = {0};
    SimModule module = {.sim = b.d.sim};
    SimKernel kernel = {.module = &module};
    Grid grid = {.sim = b.d.sim, .kernel = &kernel};
    Exec x = {.grid = &grid, .count = &row.counters};
    for (u32 i = 0; i < WL_COUNT(walks); i++) {
        TextureAccess a;
        u32 out[4];
        texture_begin(&a, &x);
        for (u32 l = 0; l < 32; l++) {
            u32 at = l % walks[i].wrap, px = at * walks[i].right, py = l / walks[i].wrap + at * walks[i].down;
            TexturePoint point = {.f = {(f32)px + 0.5f, (f32)py + 0.5f}, .is_float = true};
            assert_true(texture_bind(&a, l, b.handle));
            assert_true(texture_sample(&a, &texture_geometries[GEOM_2D - GEOM_1D], &point, out));
            assert_memory_equal(out, b.data + (py * 32 + px) * 4, 4);
        }
        assert_int_equal(a.sectors.looked_up, walks[i].looked_up);
        assert_int_equal(a.sectors.count, walks[i].different);
    }
    device_close(&b.d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_in_all_modes),
        cmocka_unit_test(linear_in_all_modes),
        cmocka_unit_test(layers_are_clamped),
        cmocka_unit_test(values_of_an_h200),
        cmocka_unit_test(integers_and_missing_channels),
        cmocka_unit_test(linear_memory_ends_in_zeros),
        cmocka_unit_test(normalised_reads),
        cmocka_unit_test(half_results),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(gather),
        cmocka_unit_test(rows_of_arrays_lie_in_tiles),
        cmocka_unit_test(surface_loads_clamp_and_zero),
        cmocka_unit_test(surface_stores),
        cmocka_unit_test(surface_traps),
        cmocka_unit_test(levels_are_mixed),
        cmocka_unit_test(levels_are_clamped_and_chosen_by_gradients),
        cmocka_unit_test(sizes),
        cmocka_unit_test(destroyed_objects_are_read_until_others_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
