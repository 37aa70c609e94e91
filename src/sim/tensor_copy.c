// SPDX-License-Identifier: Apache-2.0
// The walk: a box is rows along dimension 0, a row is chunks of 16 bytes - the unit of swizzling.
#include "sim/tensor_copy.h"

#include <string.h>

#include "sim/exec/access.h"
#include "sim/time/trace.h"

#define CHUNK 16u
#define ALIGNMENT 128u  // of a box in shared memory (PTX ISA 9.0, 5.5.8)

static bool refuse(Exec *x, const TensorCopy *t, const char *why) {
    x->fault = (Fault){.kind = FAULT_BAD_TENSOR, .lane = (u8)t->lane};
    x->message = why;
    return false;
}

bool tensor_map_read(Exec *x, TensorCopy *t, u64 address) {
    u8 space;
    for (u32 half = 0; half < 2; half++) {
        const u8 *from = access_aligned(x, t->lane, address + 64 * half, 64, 64, SPACE_NONE, false, &space);
        if (!from) return false;
        memcpy((u8 *)&t->map + 64 * half, from, 64);
    }
    if (tensor_map_check(&t->map) != STATUS_OK)
        return refuse(x, t, "there is no valid tensor map at the address (made by cuTensorMapEncode...)");
    return true;
}

static ReduceFn reduction_of(const TensorCopy *t) {
    static const u8 types[TENSOR_TYPE_COUNT] = {
        [TENSOR_U32] = TYPE_U32, [TENSOR_S32] = TYPE_S32,   [TENSOR_U64] = TYPE_U64,
        [TENSOR_S64] = TYPE_S64, [TENSOR_F16] = TYPE_F16,   [TENSOR_F32] = TYPE_F32,
        [TENSOR_F64] = TYPE_F64, [TENSOR_BF16] = TYPE_BF16, [TENSOR_F32_FTZ] = TYPE_F32};
    u8 type = types[t->map.type];
    bool bitwise = t->reduction == ATOM_OP_AND || t->reduction == ATOM_OP_OR || t->reduction == ATOM_OP_XOR;
    if (bitwise && type) type = tensor_types[t->map.type].bits == 64 ? TYPE_B64 : TYPE_B32;
    if (t->map.type == TENSOR_F32_FTZ && t->reduction == ATOM_OP_ADD) return reduce_add_f32_ftz();
    return reduce_function(t->reduction, type);
}

// Elements of a row in units that can be addressed: bytes of the types below 8 bits.
typedef struct Unit {
    u32 bytes, shift;  // elements >> shift
} Unit;
static Unit unit_of(u8 type) {
    u32 bits = tensor_types[type].bits;
    return bits < 8 ? (Unit){1, 1} : (Unit){bits / 8, 0};
}

static bool gathers(const TensorCopy *t) {
    return t->mode == LOAD_MODE_TILE_GATHER4 || t->mode == LOAD_MODE_TILE_SCATTER4;
}
static bool by_pixels(const TensorCopy *t) { return t->map.mode != TENSOR_TILED; }

static u32 row_bytes(const TensorCopy *t) { return t->map.box[0] * tensor_types[t->map.type].bits / 8; }

static u32 steps_along(const TensorMap *m, u32 i) { return (m->box[i] + m->step[i] - 1u) / m->step[i]; }

static u32 row_count(const TensorCopy *t) {
    if (by_pixels(t)) return t->map.box[1];
    if (gathers(t)) return 4;
    u32 rows = 1;
    for (u32 i = 1; i < t->map.rank; i++) rows *= steps_along(&t->map, i);
    return rows;
}

u32 tensor_box_bytes(const TensorCopy *t) { return row_count(t) * row_bytes(t); }

// Where an im2col copy may begin: between the corners; and these within the tensor when it is written.
static bool base_in_box(const TensorCopy *t) {
    const TensorMap *m = &t->map;
    bool writes = t->action != TENSOR_LOAD;
    for (u32 i = 0; writes && i < m->rank - 2u; i++)
        if (m->lower[i] < 0 || m->upper[i] > 0) return false;
    for (u32 i = 1; i <= m->rank - 2u; i++)
        if (t->at[i] < m->lower[i - 1] || t->at[i] > (i64)m->last[i] + m->upper[i - 1]) return false;
    return true;
}

static bool begins_outside(const TensorCopy *t) {
    u32 count = gathers(t) ? TENSOR_MAX_RANK : t->rank;
    for (u32 i = 0; i < count && !by_pixels(t); i++)
        if (t->at[i] < 0) return true;
    return false;
}

static const char *mode_problem(const TensorCopy *t) {
    static const u8 wanted[] = {
        [LOAD_MODE_TILE] = TENSOR_TILED,           [LOAD_MODE_TILE_GATHER4] = TENSOR_TILED,
        [LOAD_MODE_TILE_SCATTER4] = TENSOR_TILED,  [LOAD_MODE_IM2COL] = TENSOR_IM2COL,
        [LOAD_MODE_IM2COL_W] = TENSOR_IM2COL_W,    [LOAD_MODE_IM2COL_W_128] = TENSOR_IM2COL_W128,
        [LOAD_MODE_IM2COL_NO_OFFS] = TENSOR_IM2COL};
    const TensorMap *m = &t->map;
    if (m->rank != t->rank) return "the tensor map has another number of dimensions than the instruction";
    if (m->mode != wanted[t->mode]) return "the tensor map was made for another mode than that of the instruction";
    if (gathers(t) && (m->rank != 2 || m->box[1] != 1 || m->interleave != TENSOR_FLAT))
        return ".gather4 and .scatter4 need a map of rank 2 with rows as its boxes";
    if (m->interleave != TENSOR_FLAT) return "tensor maps with interleaved layouts are not simulated";
    if (t->at[0] * (i64)tensor_types[m->type].bits % (CHUNK * 8))
        return "the first coordinate is not at a multiple of 16 bytes";
    if (t->action != TENSOR_LOAD && begins_outside(t)) return "a copy to global memory begins at a negative coordinate";
    if (by_pixels(t) && !base_in_box(t)) return "the coordinates are outside of the bounding box of the im2col map";
    if (tensor_types[m->type].bits != tensor_types[m->type].shared_bits)
        return "tensor maps of packed types with gaps (16U4_ALIGN16B, 16U6_ALIGN16B) are not simulated";
    return NULL;
}

// --- rows -------------------------------------------------------------------------------------------------------
// Chunks change places within the lines of shared memory, by bits of their own address (PTX ISA 9.0, 5.5.7).
static u32 swizzled(u8 swizzle, u32 offset) {
    switch (swizzle) {
    case TENSOR_SWIZZLE_32B: return offset ^ (offset >> 3 & 0x10);
    case TENSOR_SWIZZLE_64B: return offset ^ (offset >> 3 & 0x30);
    case TENSOR_SWIZZLE_128B: return offset ^ (offset >> 3 & 0x70);
    case TENSOR_SWIZZLE_128B_ATOM_32B:
    case TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B: return offset ^ (offset >> 2 & 0x60);
    case TENSOR_SWIZZLE_128B_ATOM_64B: return offset ^ (offset >> 1 & 0x40);
    default: return offset;
    }
}

// With FLIP_8B the two halves of each chunk change places in every other row of 128 bytes.
static bool flips(const TensorCopy *t, u32 offset) {
    return t->map.swizzle == TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B && offset >> 7 & 1;
}
static void flip(u8 *chunk) {
    u8 low[CHUNK / 2];
    memcpy(low, chunk, sizeof low);
    memcpy(chunk, chunk + sizeof low, sizeof low);
    memcpy(chunk + sizeof low, low, sizeof low);
}

// What elements outside of the tensor read as: the NaN is one constant of 16 bits for all types (measured on an H200).
static void fill_chunk(const TensorMap *m, u8 *chunk) {
    static const u16 nan = 0x7ff7;
    memset(chunk, 0, CHUNK);
    for (u32 i = 0; m->fill == TENSOR_FILL_NAN && i < CHUNK; i += 2) memcpy(chunk + i, &nan, sizeof nan);
}

// TF32 is rounded while it is loaded: to nearest even, every NaN the same; no type is flushed (measured on an H200).
static void convert(const TensorMap *m, u8 *data, u32 bytes) {
    if (m->type != TENSOR_TF32 && m->type != TENSOR_TF32_FTZ) return;
    for (u32 i = 0; i < bytes; i += 4) {
        u32 bits;
        memcpy(&bits, data + i, 4);
        bool nan = (bits & 0x7fffffff) > 0x7f800000;
        bits = nan ? 0x7fffe000 : (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
        memcpy(data + i, &bits, 4);
    }
}

// Elements [from, to) of the row exist; the first is at `global`.
typedef struct Row {
    u64 global;
    i64 from, to;
    u32 index;  // of the row in the box
} Row;

static void copy_chunk(TensorCopy *t, const Row *row, u8 *global, u32 at) {
    Unit unit = unit_of(t->map.type);
    u32 offset = ((u32)t->shared & SHARED_OFFSET_MASK) + row->index * t->pitch + at;
    u32 place = swizzled(t->map.swizzle, offset);
    u8 *shared = t->box + (place - ((u32)t->shared & SHARED_OFFSET_MASK)), chunk[CHUNK];
    i64 begin = row->from * unit.bytes - at, end = row->to * unit.bytes - at;
    u32 low = begin < 0       ? 0
              : begin > CHUNK ? CHUNK
                              : (u32)begin,
        high = end > CHUNK ? CHUNK
               : end < low ? low
                           : (u32)end;
    u8 *inside = high > low ? global + (at + low - row->from * unit.bytes) : NULL;
    if (t->action == TENSOR_LOAD) {
        fill_chunk(&t->map, chunk);
        if (inside) memcpy(chunk + low, inside, high - low), convert(&t->map, chunk + low, high - low);
        if (flips(t, offset)) flip(chunk);
        memcpy(shared, chunk, CHUNK);
        return;
    }
    if (!inside) return;
    memcpy(chunk, shared, CHUNK);
    if (flips(t, offset)) flip(chunk);
    if (t->action == TENSOR_STORE)
        memcpy(inside, chunk + low, high - low);
    else
        t->reduce(inside, chunk + low, (high - low) / unit.bytes);
}

// Global memory is written in chunks: what the last one has behind the tensor's edge is written too, as an H200 does -
// here as far as the allocation goes.
static void widen(const Exec *x, const TensorCopy *t, Row *row, u64 start, i64 count) {
    Unit unit = unit_of(t->map.type);
    const SimAllocation *a = sim_find(x->grid->sim, start + (u64)(row->to * unit.bytes) - 1);
    i64 room = a ? (i64)(a->address + a->size - start) / unit.bytes : row->to;
    i64 whole = (row->to * unit.bytes + CHUNK - 1) / CHUNK * CHUNK / unit.bytes;
    if (whole > count) whole = count;
    if (whole > room) whole = room;
    if (whole > row->to) row->to = whole;
}

// `first`: coordinate of the row's first element along dimension 0.
static bool copy_row(Exec *x, TensorCopy *t, u32 index, bool inside, u64 global, i64 first) {
    const TensorMap *m = &t->map;
    Unit unit = unit_of(m->type);
    i64 count = row_bytes(t) / unit.bytes, size = ((i64)m->last[0] + 1) >> unit.shift;
    first >>= unit.shift;
    Row row = {.index = index, .from = first < 0 ? -first : 0, .to = first + count > size ? size - first : count};
    if (!inside || row.to <= row.from) row.from = row.to = 0;
    u8 *host = NULL, space;
    if (row.to > row.from) {
        if (t->action != TENSOR_LOAD) widen(x, t, &row, global + (u64)(first * unit.bytes), count);
        u32 bytes = (u32)(row.to - row.from) * unit.bytes;
        row.global = global + (u64)((first + row.from) * unit.bytes);
        host = access_aligned(x, t->lane, row.global, bytes, 1, SPACE_GLOBAL, t->action != TENSOR_LOAD, &space);
        if (!host) return false;
        t->bytes += bytes;
        t->sectors += ((row.global + bytes - 1) >> 5) - (row.global >> 5) + 1;
        if (WL_UNLIKELY(x->trace) && !t->again) trace_bulk(x->trace, row.global, bytes);
    }
    for (u32 at = 0; at < row_bytes(t); at += CHUNK) copy_chunk(t, &row, host, at);
    return true;
}

// --- boxes ------------------------------------------------------------------------------------------------------
static bool in_tensor(const TensorMap *m, u32 dimension, i64 at) { return at >= 0 && at <= (i64)m->last[dimension]; }

static u64 row_address(const TensorMap *m, const i64 *at) {
    u64 address = m->address;
    for (u32 i = 1; i < m->rank; i++) address += (u64)at[i] * m->stride[i - 1];
    return address;
}

static bool row_inside(const TensorMap *m, const i64 *at) {
    for (u32 i = 1; i < m->rank; i++)
        if (!in_tensor(m, i, at[i])) return false;
    return true;
}

static bool copy_tile(Exec *x, TensorCopy *t) {
    const TensorMap *m = &t->map;
    u32 index[TENSOR_MAX_RANK] = {0}, rows = row_count(t);
    for (u32 row = 0; row < rows; row++) {
        i64 at[TENSOR_MAX_RANK];
        for (u32 i = 1; i < m->rank; i++) at[i] = (i64)t->at[i] + index[i] * m->step[i];
        if (!copy_row(x, t, row, row_inside(m, at), row_address(m, at), t->at[0])) return false;
        for (u32 i = 1; i < m->rank && ++index[i] == steps_along(m, i); i++) index[i] = 0;
    }
    return true;
}

// Four rows anywhere: their coordinates follow the column's.
static bool copy_rows(Exec *x, TensorCopy *t) {
    for (u32 row = 0; row < 4; row++) {
        i64 at[TENSOR_MAX_RANK] = {0, t->at[1 + row]};
        if (!copy_row(x, t, row, row_inside(&t->map, at), row_address(&t->map, at), t->at[0])) return false;
    }
    return true;
}

// Pixels in the order W, H, D, N; each of the first three goes from its lower corner to its upper one.
static bool copy_pixels(Exec *x, TensorCopy *t) {
    const TensorMap *m = &t->map;
    u32 spatial = m->rank - 2u, last = m->rank - 1u;
    i64 base[TENSOR_MAX_RANK];
    for (u32 i = 0; i < m->rank; i++) base[i] = t->at[i];
    for (u32 pixel = 0; pixel < m->box[1]; pixel++) {
        i64 at[TENSOR_MAX_RANK];
        for (u32 i = 1; i < m->rank; i++) at[i] = base[i] + (i < last ? t->offset[i - 1] : 0);
        if (!copy_row(x, t, pixel, row_inside(m, at), row_address(m, at), t->at[0])) return false;
        u32 i = 1;
        for (; i <= spatial; i++) {
            base[i] += m->step[i];
            if (base[i] <= (i64)m->last[i] + m->upper[i - 1]) break;
            base[i] = m->lower[i - 1];
        }
        if (i > spatial) base[last]++;
    }
    return true;
}

bool tensor_copy(Exec *x, TensorCopy *t) {
    const char *problem = mode_problem(t);
    if (problem) return refuse(x, t, problem);
    u8 space;
    t->reduce = reduction_of(t);
    if (t->action == TENSOR_REDUCE && !t->reduce)
        return refuse(x, t, "the reduction does not exist for the type of the tensor map");
    u32 bytes = row_bytes(t), span = tensor_swizzle_span(t->map.swizzle);
    t->pitch = bytes < span ? span : bytes;
    t->bytes = t->sectors = 0;
    t->box = access_aligned(x, t->lane, t->shared, row_count(t) * t->pitch, ALIGNMENT, SPACE_SHARED,
                            t->action == TENSOR_LOAD, &space);
    if (!t->box) return false;
    return gathers(t) ? copy_rows(x, t) : by_pixels(t) ? copy_pixels(x, t) : copy_tile(x, t);
}
