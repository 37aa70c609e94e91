// SPDX-License-Identifier: Apache-2.0
// Making and checking tensor maps: the rules of cuTensorMapEncodeTiled, ...Im2col and ...Im2colWide (CUDA 13.0 driver
// API), and where an H200's driver departs from the text (2026-11-21, driver 580): `map` need not be aligned, strides
// are never NULL, interleaving of 32 bytes goes with every swizzle, a box must fit in shared memory.
#include "sim/tensor_map.h"

#include <string.h>

#define MAX_BOX 256u
#define MAX_STEP 8u
#define MAX_STRIDE (1ull << 40)
#define MAX_BYTES (228u << 10)  // of a box: the shared memory of an SM
#define MAX_PIXELS 1024u
#define WIDE_PIXELS 128u  // of .im2col::w::128

const TensorTypeInfo tensor_types[TENSOR_TYPE_COUNT] = {
    [TENSOR_U8] = {8, 8, false, 1},
    [TENSOR_U16] = {16, 16, false, 1},
    [TENSOR_U32] = {32, 32, false, 1},
    [TENSOR_S32] = {32, 32, false, 1},
    [TENSOR_U64] = {64, 64, false, 1},
    [TENSOR_S64] = {64, 64, false, 1},
    [TENSOR_F16] = {16, 16, true, 1},
    [TENSOR_F32] = {32, 32, true, 1},
    [TENSOR_F64] = {64, 64, true, 1},
    [TENSOR_BF16] = {16, 16, true, 1},
    [TENSOR_F32_FTZ] = {32, 32, true, 1},
    [TENSOR_TF32] = {32, 32, true, 1},
    [TENSOR_TF32_FTZ] = {32, 32, true, 1},
    [TENSOR_16U4_ALIGN8] = {4, 4, false, 16},
    [TENSOR_16U4_ALIGN16] = {4, 8, false, 16},
    [TENSOR_16U6_ALIGN16] = {6, 8, false, 16},
};

static bool is_padded(u32 type) { return type == TENSOR_16U4_ALIGN16 || type == TENSOR_16U6_ALIGN16; }

u32 tensor_swizzle_span(u32 swizzle) {
    return swizzle == TENSOR_SWIZZLE_NONE ? 0 : swizzle >= TENSOR_SWIZZLE_128B ? 128 : 16u << swizzle;
}

// Alignment of addresses and strides, a power of two.
static u64 alignment_of(u32 type, u32 interleave) {
    return interleave == TENSOR_INTERLEAVE_32B || is_padded(type) ? 32 : 16;
}

static bool enums_valid(const TensorMapSpec *s) {
    if (s->type >= TENSOR_TYPE_COUNT || s->interleave > TENSOR_INTERLEAVE_32B || s->swizzle >= TENSOR_SWIZZLE_COUNT ||
        s->l2_promotion > 3 || s->fill > TENSOR_FILL_NAN)
        return false;
    if (s->fill == TENSOR_FILL_NAN && !tensor_types[s->type].is_float) return false;
    if (s->type == TENSOR_16U6_ALIGN16 && s->interleave != TENSOR_FLAT) return false;
    bool newer = s->type >= TENSOR_16U4_ALIGN8 || s->swizzle > TENSOR_SWIZZLE_128B;
    if (newer && s->sm_version < 100) return false;
    bool plain_or_128 = s->swizzle == TENSOR_SWIZZLE_NONE || s->swizzle == TENSOR_SWIZZLE_128B ||
                        s->swizzle == TENSOR_SWIZZLE_128B_ATOM_32B || s->swizzle == TENSOR_SWIZZLE_128B_ATOM_64B;
    return !is_padded(s->type) || plain_or_128;
}

static bool dims_valid(const TensorMapSpec *s) {
    u64 align = alignment_of(s->type, s->interleave);
    if (s->address & (align - 1)) return false;
    for (u32 i = 0; i < s->rank; i++) {
        if (s->dims[i] == 0 || s->dims[i] > 1ull << 32) return false;
        if (s->element_strides[i] == 0 || s->element_strides[i] > MAX_STEP) return false;
        if (i + 1 < s->rank && (s->strides[i] & (align - 1) || s->strides[i] >= MAX_STRIDE)) return false;
    }
    if (is_padded(s->type)) return s->dims[0] % 128 == 0;
    return s->type != TENSOR_16U4_ALIGN8 || s->dims[0] % 2 == 0;
}

// The innermost extent of what a copy moves: whole 16 bytes, and no wider than the swizzle pattern.
static bool inner_valid(const TensorMapSpec *s, u32 elements) {
    if (elements == 0 || elements > MAX_BOX) return false;
    if (is_padded(s->type)) return elements == 128;
    u32 bits = elements * tensor_types[s->type].bits, span = tensor_swizzle_span(s->swizzle);
    return bits % 128 == 0 && (span == 0 || bits <= span * 8 || s->interleave != TENSOR_FLAT);
}

static bool spec_valid(const void *map, const TensorMapSpec *s, u32 lowest_rank) {
    if (!map) return false;
    if (s->interleave != TENSOR_FLAT && lowest_rank < 3) lowest_rank = 3;
    if (s->rank < lowest_rank || s->rank > TENSOR_MAX_RANK) return false;
    if (!s->dims || !s->element_strides || !s->strides) return false;
    return enums_valid(s) && dims_valid(s);
}

static TensorMap map_of(const TensorMapSpec *s, TensorMode mode) {
    TensorMap m = {.address = s->address,
                   .magic = TENSOR_MAP_MAGIC,
                   .rank = (u8)s->rank,
                   .type = (u8)s->type,
                   .mode = (u8)mode,
                   .interleave = (u8)s->interleave,
                   .swizzle = (u8)s->swizzle,
                   .fill = (u8)s->fill,
                   .l2_promotion = (u8)s->l2_promotion};
    for (u32 i = 0; i < TENSOR_MAX_RANK; i++) {
        m.step[i] = i < s->rank ? (u8)s->element_strides[i] : 1;
        m.box[i] = 1;
        if (i < s->rank) m.last[i] = (u32)(s->dims[i] - 1);
        if (i + 1 < s->rank) m.stride[i] = s->strides[i];
    }
    if (s->interleave == TENSOR_FLAT) m.step[0] = 1;
    return m;
}

Status sim_tensor_map_encode_tiled(void *map, const TensorMapSpec *s, const u32 *box) {
    if (!spec_valid(map, s, 1) || !box || !inner_valid(s, box[0])) return STATUS_INVALID;
    u64 bits = tensor_types[s->type].shared_bits;
    for (u32 i = 0; i < s->rank; i++) {
        if (box[i] == 0 || box[i] > MAX_BOX) return STATUS_INVALID;
        u32 step = i || s->interleave != TENSOR_FLAT ? s->element_strides[i] : 1;
        bits *= (box[i] + step - 1) / step;
    }
    if (bits / 8 > MAX_BYTES) return STATUS_INVALID;
    TensorMap m = map_of(s, TENSOR_TILED);
    for (u32 i = 0; i < s->rank; i++) m.box[i] = (u16)box[i];
    memcpy(map, &m, sizeof m);
    return STATUS_OK;
}

// The box between the corners is where the first pixel of a column may be: it must not be empty.
static bool corner_valid(u64 dim, i32 lower, i32 upper, i32 limit) {
    if (lower < -limit || lower >= limit || upper < -limit || upper >= limit) return false;
    return (i64)dim - 1 + upper >= lower;
}

Status sim_tensor_map_encode_im2col(void *map, const TensorMapSpec *s, const i32 *lower, const i32 *upper,
                                    u32 channels_per_pixel, u32 pixels_per_column) {
    static const i32 limits[] = {[3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4};
    if (!spec_valid(map, s, 3) || !lower || !upper || !inner_valid(s, channels_per_pixel)) return STATUS_INVALID;
    if (pixels_per_column == 0 || pixels_per_column > MAX_PIXELS) return STATUS_INVALID;
    if ((u64)channels_per_pixel * pixels_per_column * tensor_types[s->type].shared_bits / 8 > MAX_BYTES)
        return STATUS_INVALID;
    TensorMap m = map_of(s, TENSOR_IM2COL);
    u32 spatial = s->rank - 2;
    for (u32 i = 0; i < spatial; i++) {
        if (!corner_valid(s->dims[i + 1], lower[i], upper[i], limits[s->rank])) return STATUS_INVALID;
        m.lower[i] = (i16)lower[i];
        m.upper[i] = (i16)upper[i];
    }
    m.box[0] = (u16)channels_per_pixel;
    m.box[1] = (u16)pixels_per_column;
    memcpy(map, &m, sizeof m);
    return STATUS_OK;
}

Status sim_tensor_map_encode_im2col_wide(void *map, const TensorMapSpec *s, i32 lower, i32 upper,
                                         u32 channels_per_pixel, u32 pixels_per_column, u32 mode) {
    if (!spec_valid(map, s, 3) || mode > 1 || !inner_valid(s, channels_per_pixel)) return STATUS_INVALID;
    if (s->swizzle == TENSOR_SWIZZLE_32B || s->swizzle > TENSOR_SWIZZLE_128B_ATOM_32B) return STATUS_INVALID;
    if (mode == 0 && (pixels_per_column == 0 || pixels_per_column > MAX_PIXELS)) return STATUS_INVALID;
    if (!corner_valid(s->dims[1], lower, upper, 1 << 15)) return STATUS_INVALID;
    TensorMap m = map_of(s, mode ? TENSOR_IM2COL_W128 : TENSOR_IM2COL_W);
    m.lower[0] = (i16)lower;
    m.upper[0] = (i16)upper;
    m.box[0] = (u16)channels_per_pixel;
    m.box[1] = (u16)(mode ? WIDE_PIXELS : pixels_per_column);
    memcpy(map, &m, sizeof m);
    return STATUS_OK;
}

Status sim_tensor_map_replace_address(void *map, u64 address) {
    TensorMap m;
    if (!map) return STATUS_INVALID;
    memcpy(&m, map, sizeof m);
    if (tensor_map_check(&m) != STATUS_OK || address & (alignment_of(m.type, m.interleave) - 1)) return STATUS_INVALID;
    m.address = address;
    memcpy(map, &m, sizeof m);
    return STATUS_OK;
}

Status tensor_map_check(const TensorMap *m) {
    if (m->magic != TENSOR_MAP_MAGIC || m->rank == 0 || m->rank > TENSOR_MAX_RANK || m->type >= TENSOR_TYPE_COUNT ||
        m->swizzle >= TENSOR_SWIZZLE_COUNT || m->interleave > TENSOR_INTERLEAVE_32B || m->mode > TENSOR_IM2COL_W128)
        return STATUS_INVALID;
    u64 align = alignment_of(m->type, m->interleave);
    if (m->address & (align - 1)) return STATUS_INVALID;
    for (u32 i = 0; i < m->rank; i++) {
        if (m->box[i] == 0 || m->box[i] > MAX_PIXELS || m->step[i] == 0 || m->step[i] > MAX_STEP) return STATUS_INVALID;
        if (i + 1 < m->rank && m->stride[i] & (align - 1)) return STATUS_INVALID;
    }
    return STATUS_OK;
}
