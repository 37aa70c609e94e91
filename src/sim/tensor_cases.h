// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies with generated maps, boxes and coordinates: shared by tensor_gpu_test.c, which compares the
// simulator with what an H200 did (tensor_cases.inc), and by tests/sim/tensor_gpu.c, which asked it. Needs nothing but
// tensor_map.h.
#ifndef WL_SIM_TENSOR_CASES_H
#define WL_SIM_TENSOR_CASES_H

#include <stdio.h>
#include <string.h>

#include "sim/tensor_map.h"
#include "sim/test_values.h"

enum {
    CASE_TENSOR_BYTES = 1 << 16,  // global memory of a case, all of it that of the tensor
    CASE_AREA_BYTES = 1 << 14,    // shared memory that is filled before and read back afterwards
    CASE_HEAD_BYTES = 128,        // u32: coordinates [0..4], offsets [5..7], bytes expected [8], size [9], status [16]
    CASE_BOX_BYTES = 1 << 13,
};

typedef enum TensorCaseKind {
    CASE_LOAD,
    CASE_STORE,
    CASE_REDUCE,
    CASE_IM2COL_LOAD,
    CASE_IM2COL_STORE,
    CASE_BULK_REDUCE_GLOBAL,
    CASE_BULK_REDUCE_SHARED,
    CASE_KIND_COUNT
} TensorCaseKind;

typedef struct TensorCase {
    TensorCaseKind kind;
    u64 seed;
    TensorMapSpec spec;  // points to the arrays below; address is relative to the tensor's memory
    u64 dims[5], strides[4];
    u32 steps[5], box[5];
    i32 at[5], lower[3], upper[3];
    u32 offsets[3], channels, pixels;
    u32 place;   // in the area
    u32 bytes;   // of the box in shared memory, without the padding of a swizzle wider than it
    u32 action;  // index into case_actions of a reduction
} TensorCase;

static u64 tensor_random_state;
static u32 tensor_random(u32 below) { return (u32)(value_random(&tensor_random_state) >> 33) % below; }
static i32 tensor_between(i32 low, i32 high) { return low + (i32)tensor_random((u32)(high - low + 1)); }

// op, type of the instruction, type of a map
typedef struct TensorAction {
    const char *op, *type;
    u8 tensor_type;
    bool shared;  // cp.reduce.async.bulk to shared memory has it too
    bool tensor;  // ... and the tensor form with this type
} TensorAction;
static const TensorAction case_actions[] = {
    {"and", "b32", TENSOR_U32, true, true},          {"or", "b32", TENSOR_U32, true, true},
    {"xor", "b32", TENSOR_U32, true, true},          {"and", "b64", TENSOR_U64, false, true},
    {"or", "b64", TENSOR_U64, false, true},          {"xor", "b64", TENSOR_U64, false, true},
    {"add", "u32", TENSOR_U32, true, true},          {"add", "s32", TENSOR_S32, true, true},
    {"add", "u64", TENSOR_U64, true, true},          {"inc", "u32", TENSOR_U32, true, true},
    {"dec", "u32", TENSOR_U32, true, true},          {"min", "u32", TENSOR_U32, true, true},
    {"max", "u32", TENSOR_U32, true, true},          {"min", "s32", TENSOR_S32, true, true},
    {"max", "s32", TENSOR_S32, true, true},          {"min", "u64", TENSOR_U64, false, true},
    {"max", "u64", TENSOR_U64, false, true},         {"min", "s64", TENSOR_S64, false, true},
    {"max", "s64", TENSOR_S64, false, true},         {"add.noftz", "f16", TENSOR_F16, false, true},
    {"add.noftz", "bf16", TENSOR_BF16, false, true}, {"min", "f16", TENSOR_F16, false, true},
    {"max", "f16", TENSOR_F16, false, true},         {"min", "bf16", TENSOR_BF16, false, true},
    {"max", "bf16", TENSOR_BF16, false, true},       {"add", "f32", TENSOR_F32, false, true},
    {"add", "f64", TENSOR_F64, false, true},         {"add", "f32", TENSOR_F32_FTZ, false, true},
};

static u32 element_bytes(u32 type) { return tensor_types[type].bits / 8; }

// --- data -------------------------------------------------------------------------------------------------------
// Random words with many special values of the types: zeros, subnormals, infinities, NaNs, small integers.
static void case_fill(u8 *data, u32 size, u64 seed, u32 type) {
    static const u16 halves[] = {0,      0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7f80, 0xff80,
                                 0x7fc0, 1,      0x8001, 0x3ff,  0x83ff, 0x7f,   0x807f, 0x7fff,
                                 0xffff, 0x3c00, 0x3f80, 0x7bff, 0x7f7f, 0x7c01, 0x7f81};
    static const u32 words[] = {0,          0x80000000, 1,          0x807fffff, 0x7f800000,
                                0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x00400000,
                                0x7f7fffff, 0xff7fffff, 0x3f800000, 0xffffffff, 0x7fffffff};
    tensor_random_state = seed;
    u32 bytes = type < TENSOR_16U4_ALIGN8 ? element_bytes(type) : 4;
    for (u32 i = 0; i < size; i += 8) {
        u64 value = (u64)tensor_random(1u << 30) << 40 ^ (u64)tensor_random(1u << 30) << 20 ^ tensor_random(1u << 30);
        bool special = tensor_random(4) == 0;
        u16 half[4];
        memcpy(half, &value, 8);
        if (special && bytes == 2)
            for (u32 k = 0; k < 4; k++) half[k] = halves[half[k] % 23];
        memcpy(&value, half, 8);
        if (special && bytes == 4) value = (u64)words[(u32)value % 15] << 32 | words[(u32)(value >> 32) % 15];
        bool tie = type == TENSOR_TF32 || type == TENSOR_TF32_FTZ;  // half of what is rounded away
        if (special && tie && tensor_random(2)) value = (value & ~0x00001fff00001fffull) | 0x0000100000001000ull;
        if (special && bytes == 8) {
            static const u64 longs[] = {0,
                                        1ull << 63,
                                        1,
                                        ~0ull,
                                        0x7ff0ull << 48,
                                        0xfff0ull << 48,
                                        0x7ff8ull << 48,
                                        0x7ff0000000012345,
                                        0x000fffffffffffff,
                                        0x3ff0ull << 48};
            value = longs[value % 10];
        }
        memcpy(data + i, &value, 8);
    }
}

// --- maps -------------------------------------------------------------------------------------------------------
static u32 span_or(const TensorCase *c, u32 other) {
    u32 span = tensor_swizzle_span(c->spec.swizzle);
    return span ? span : other;
}

static void case_spec(TensorCase *c, u32 type, u32 rank) {
    c->spec = (TensorMapSpec){.type = type, .rank = rank};
    c->spec.dims = c->dims;
    c->spec.strides = c->strides;
    c->spec.element_strides = c->steps;
    c->spec.l2_promotion = tensor_random(4);
    c->spec.fill = tensor_types[type].is_float ? tensor_random(2) : 0;
    for (u32 i = 0; i < 5; i++) c->steps[i] = c->box[i] = 1;
}

// Strides behind each other with some padding; sizes shrink until all fits.
static void case_strides(TensorCase *c) {
    u32 unit = 16, rank = c->spec.rank;
    u64 inner = c->dims[0] * element_bytes(c->spec.type);
    for (;;) {
        u64 size = (inner + unit - 1) / unit * unit;
        for (u32 i = 1; i < rank; i++) {
            c->strides[i - 1] = size + unit * tensor_random(3);
            size = c->strides[i - 1] * c->dims[i];
        }
        if (size <= CASE_TENSOR_BYTES / 2) return;
        u32 largest = rank - 1;
        for (u32 i = 1; i < rank; i++)
            if (c->dims[i] > c->dims[largest]) largest = i;
        if (c->dims[largest] > 1)
            c->dims[largest] = (c->dims[largest] + 1) / 2;
        else
            c->dims[0] = c->dims[0] / 2, inner /= 2;
    }
}

static u32 plain_type(void) { return tensor_random(TENSOR_16U4_ALIGN8); }

static void case_tiled(TensorCase *c, u32 type) {
    u32 rank = 1 + tensor_random(5);
    case_spec(c, type, rank);
    c->spec.swizzle = tensor_random(2) ? tensor_random(4) : 0;
    u32 bytes = element_bytes(type), most = span_or(c, 256) / 16;
    // Mostly rows as wide as the swizzle: those that programs use.
    u32 chunks = c->spec.swizzle && tensor_random(4) ? most : 1 + tensor_random(most);
    c->box[0] = chunks * 16 / bytes;
    if (c->box[0] > 256) c->box[0] = 256;
    u32 pitch = span_or(c, c->box[0] * bytes), rows = CASE_BOX_BYTES / pitch;
    for (u32 i = 1; i < rank; i++) {
        c->box[i] = 1 + tensor_random(rows < 12 ? rows : 12);
        rows /= c->box[i];
    }
    bool strided = tensor_random(4) == 0;
    c->bytes = c->box[0] * bytes;
    for (u32 i = 0; i < rank; i++) {
        if (strided && i) c->steps[i] = 1 + tensor_random(3);
        c->dims[i] = i ? 1 + tensor_random(12) : 1 + tensor_random(2 * c->box[0] + 3);
        c->at[i] = tensor_between(tensor_random(2) ? 0 : -(i32)c->box[i], (i32)c->dims[i]);
        if (i) c->bytes *= (c->box[i] + c->steps[i] - 1) / c->steps[i];
    }
    case_strides(c);
}

static void case_im2col(TensorCase *c, u32 type) {
    u32 rank = 3 + tensor_random(3), spatial = rank - 2;
    case_spec(c, type, rank);
    c->spec.swizzle = tensor_random(2) ? tensor_random(4) : 0;
    u32 bytes = element_bytes(type), most = span_or(c, 128) / 16;
    u32 chunks = c->spec.swizzle && tensor_random(4) ? most : 1 + tensor_random(most);
    c->channels = chunks * 16 / bytes;
    u32 pitch = span_or(c, c->channels * bytes), rows = CASE_BOX_BYTES / pitch;
    c->pixels = 1 + tensor_random(rows < 64 ? rows : 64);
    c->bytes = c->channels * bytes * c->pixels;
    c->dims[0] = 1 + tensor_random(2 * c->channels + 3);
    c->at[0] = tensor_random(3) ? (i32)(tensor_random(2) * c->channels) : tensor_between(-2, (i32)c->dims[0]);
    bool strided = tensor_random(3) == 0;
    for (u32 i = 1; i < rank; i++) c->dims[i] = 2 + tensor_random(7);
    case_strides(c);
    for (u32 i = 0; i < spatial; i++) {
        i32 low = tensor_between(-3, 1), high = tensor_between(-3, 1), last = (i32)c->dims[i + 1] - 1;
        if (last + high < low) high = low - last;
        c->lower[i] = low;
        c->upper[i] = high;
        if (strided) c->steps[i + 1] = 1 + tensor_random(3);
        c->at[i + 1] = tensor_between(low, last + high);
        c->offsets[i] = tensor_random(4);
    }
    c->at[rank - 1] = tensor_between(0, (i32)c->dims[rank - 1] - 1);
}

static bool is_reduction(TensorCaseKind kind) {
    return kind == CASE_REDUCE || kind == CASE_BULK_REDUCE_GLOBAL || kind == CASE_BULK_REDUCE_SHARED;
}

static bool case_loads(TensorCaseKind kind) {
    return kind == CASE_LOAD || kind == CASE_IM2COL_LOAD || kind == CASE_BULK_REDUCE_SHARED;
}

// A copy begins at a multiple of 16 bytes of a row; few cases do not, and fail.
static void case_align(TensorCase *c) {
    i32 unit = (i32)(16 / element_bytes(c->spec.type));
    if (tensor_random(100)) c->at[0] = c->at[0] / unit * unit;
}

// Case `index` of a kind: the same on every machine.
static void case_make(TensorCase *c, TensorCaseKind kind, u32 index) {
    memset(c, 0, sizeof *c);
    c->kind = kind;
    c->seed = tensor_random_state = ((u64)kind << 32 | index) * 0x9e3779b97f4a7c15ull;
    do c->action = index++ % WL_COUNT(case_actions);
    while (kind == CASE_BULK_REDUCE_SHARED && !case_actions[c->action].shared);
    u32 type = is_reduction(kind) ? case_actions[c->action].tensor_type : plain_type();
    switch (kind) {
    case CASE_IM2COL_LOAD:
    case CASE_IM2COL_STORE: case_im2col(c, type); break;
    default: case_tiled(c, type); break;
    }
    if (!case_loads(kind) && tensor_random(100))  // what is written begins in the tensor; few cases do not, and fail
        for (u32 i = 0; i < c->spec.rank; i++) c->at[i] = c->at[i] < 0 ? -c->at[i] % (i32)c->dims[i] : c->at[i];
    case_align(c);
    c->place = 128 * tensor_random(8);
    if (kind == CASE_BULK_REDUCE_GLOBAL || kind == CASE_BULK_REDUCE_SHARED) c->bytes = 16 * (1 + tensor_random(256));
}

// The map of a case for a tensor at `address`.
static Status case_map(TensorCase *c, u64 address, void *map) {
    c->spec.address = address;
    if (c->kind == CASE_IM2COL_LOAD || c->kind == CASE_IM2COL_STORE)
        return sim_tensor_map_encode_im2col(map, &c->spec, c->lower, c->upper, c->channels, c->pixels);
    return sim_tensor_map_encode_tiled(map, &c->spec, c->box);
}

static void case_head(const TensorCase *c, void *area) {
    u32 head[CASE_HEAD_BYTES / 4];
    memset(head, 0, sizeof head);
    memcpy(head, c->at, sizeof c->at);
    memcpy(head + 5, c->offsets, sizeof c->offsets);
    head[8] = c->bytes;
    head[9] = c->place;
    memcpy(area, head, sizeof head);
}

// --- kernels ----------------------------------------------------------------------------------------------------
// The instruction under test: %d4 the map, %r10.. coordinates, %h5.. offsets, %r20 place in shared memory, %d2 the
// tensor's memory, %r18 bytes, %r21 the mbarrier.
static void case_instruction(const TensorCase *c, char *text, size_t size) {
    static const char *const coordinates[] = {
        "", "%r10", "%r10, %r11", "%r10, %r11, %r12", "%r10, %r11, %r12, %r13", "%r10, %r11, %r12, %r13, %r14"};
    static const char *const offsets[] = {"", "", "", "{%h5}", "{%h5, %h6}", "{%h5, %h6, %h7}"};
    u32 rank = c->spec.rank;
    const TensorAction *a = &case_actions[c->action];
    switch (c->kind) {
    case CASE_LOAD:
        snprintf(text, size,
                 "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r20], [%%d4, "
                 "{%s}], [%%r21];",
                 rank, coordinates[rank]);
        break;
    case CASE_IM2COL_LOAD:
        snprintf(text, size,
                 "cp.async.bulk.tensor.%ud.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%%r20], [%%d4, "
                 "{%s}], [%%r21], %s;",
                 rank, coordinates[rank], offsets[rank]);
        break;
    case CASE_STORE:
    case CASE_IM2COL_STORE:
        snprintf(text, size, "cp.async.bulk.tensor.%ud.global.shared::cta.%s.bulk_group [%%d4, {%s}], [%%r20];", rank,
                 c->kind == CASE_IM2COL_STORE ? "im2col_no_offs" : "tile", coordinates[rank]);
        break;
    case CASE_REDUCE:
        snprintf(text, size,
                 "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%.3s.tile.bulk_group [%%d4, {%s}], [%%r20];", rank,
                 a->op, coordinates[rank]);
        break;
    case CASE_BULK_REDUCE_GLOBAL:
        snprintf(text, size, "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%d2], [%%r20], %%r18;", a->op,
                 a->type);
        break;
    default:
        snprintf(text, size,
                 "add.u32 %%r22, %%r20, 4096; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
                 "bytes.%s.%s [%%r20], [%%r22], %%r18, [%%r21];",
                 a->op, a->type);
        break;
    }
}

// Shared memory comes from behind the head and goes back there; status 1: the copy completed.
static void case_kernel(const TensorCase *c, char *text, size_t size) {
    char insn[512];
    case_instruction(c, insn, sizeof insn);
    snprintf(
        text, size,
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 area[];\n"
        ".visible .entry k(.param .align 64 .b8 tmap[128], .param .u64 io, .param .u64 tensor) {\n"
        "  .reg .b64 %%d<16>; .reg .b32 %%r<32>; .reg .b16 %%h<8>; .reg .pred %%p<4>; .shared .align 8 .b64 bar;\n"
        "  mov.b64 %%d3, tmap; cvta.param.u64 %%d4, %%d3; ld.param.u64 %%d1, [io]; ld.param.u64 %%d2, [tensor];\n"
        "  cvta.to.global.u64 %%d1, %%d1; cvta.to.global.u64 %%d2, %%d2;\n"
        "  mov.u32 %%r1, %%tid.x; mov.u32 %%r2, area; mov.u32 %%r21, bar; setp.ne.u32 %%p1, %%r1, 0;\n"
        "  ld.global.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%d1]; ld.global.u32 %%r14, [%%d1+16];\n"
        "  ld.global.u16 %%h5, [%%d1+20]; ld.global.u16 %%h6, [%%d1+24]; ld.global.u16 %%h7, [%%d1+28];\n"
        "  ld.global.v2.u32 {%%r18, %%r19}, [%%d1+32]; add.u32 %%r20, %%r2, %%r19;\n"
        "  add.u64 %%d5, %%d1, 128; mul.wide.u32 %%d6, %%r1, 16; add.u64 %%d5, %%d5, %%d6;\n"
        "  mad.lo.u32 %%r3, %%r1, 16, %%r2; mov.u32 %%r4, 0; mov.u64 %%d7, %%d5; mov.u32 %%r5, %%r3;\n"
        "fill: ld.global.v4.u32 {%%r6, %%r7, %%r8, %%r9}, [%%d7]; st.shared.v4.u32 [%%r5], {%%r6, %%r7, %%r8, %%r9};\n"
        "  add.u64 %%d7, %%d7, 2048; add.u32 %%r5, %%r5, 2048; add.u32 %%r4, %%r4, 1; setp.lt.u32 %%p2, %%r4, 8; "
        "@%%p2 bra fill;\n"
        "  @!%%p1 mbarrier.init.shared::cta.b64 [%%r21], 1;\n"
        "  fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;\n"
        "  @%%p1 bra wait;\n"
        "  %s\n"
        "%s"
        "wait: mov.u32 %%r24, 0; mov.u32 %%r25, 1;\n%s"
        "  bar.sync 0; fence.proxy.async; @!%%p1 st.global.u32 [%%d1+64], %%r25;\n"
        "  mov.u32 %%r4, 0;\n"
        "back: ld.shared.v4.u32 {%%r6, %%r7, %%r8, %%r9}, [%%r3]; st.global.v4.u32 [%%d5], {%%r6, %%r7, %%r8, %%r9};\n"
        "  add.u64 %%d5, %%d5, 2048; add.u32 %%r3, %%r3, 2048; add.u32 %%r4, %%r4, 1; setp.lt.u32 %%p2, %%r4, 8; "
        "@%%p2 bra back;\n"
        "  ret;\n}\n",
        insn,
        case_loads(c->kind) ? "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], %r18;\n"
                            : "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
        case_loads(c->kind) ? "poll: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r21], 0; @%p3 bra over; add.u32 "
                              "%r24, %r24, 1; setp.lt.u32 %p2, %r24, 20000; @%p2 bra poll;\n"
                              "  mov.u32 %r25, 2;\nover:\n"
                            : "");
}

// FNV-1a over words.
static u64 case_hash(u64 hash, const void *data, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
        u64 word;
        memcpy(&word, (const u8 *)data + i, 8);
        hash = (hash ^ word) * 0x100000001b3ull;
        hash ^= hash >> 32;
    }
    return hash;
}

#endif
