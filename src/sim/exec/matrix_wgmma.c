// SPDX-License-Identifier: Apache-2.0
// wgmma (PTX ISA 9.0, 9.7.15): a warpgroup, four neighbouring warps, multiplies 64 rows by matrices in shared memory.
//
// Each warp multiplies its own 16 rows when it gets to the instruction, and its result is in the registers at once, so
// wgmma.fence has nothing left to do; wait_group waits for the other warps (sim/warpgroup.c). The ISA allows it. The
// operation is asynchronous: it may read A, B and the accumulator at any time between its issue and the wait, so a
// program may change none of them in between, nor read the accumulator (9.7.15.6.2); and what it reads from shared
// memory has to be there, made visible by a barrier and a proxy fence, when a warp issues it. Warps of a warpgroup
// share nothing but B and the shape.
#include "sim/exec/access.h"
#include "sim/exec/lanes.h"
#include "sim/exec/matrix_fragment.h"

typedef struct Plan {  // in SimInsn.offset
    u16 shape;         // WGMMA_SHAPE_*
    u8 a, b, d;        // PtxTypes
    u8 satfinite : 1, sparse : 1, a_in_registers : 1;
} Plan;
union PlanBits {
    Plan plan;
    i64 bits;
};

enum {
    WARP_ROWS = 16,   // of the 64 that a warp has
    CHUNK = 16,       // bytes that swizzling keeps together
    WAVEFRONT = 128,  // bytes of all banks
};

static u32 shape_n(u16 shape) { return ((u32)(shape - WGMMA_SHAPE_M64N8K8) % 32 + 1) * 8; }
static u32 shape_k(u16 shape) {
    static const u16 k[] = {8, 16, 32, 64, 256};
    return k[(shape - WGMMA_SHAPE_M64N8K8) / 32];
}

// --- matrix descriptors (9.7.15.5.1) --------------------------------------------------------------------------------
typedef struct Source {
    u32 start, leading, stride;  // bytes
    u32 base;                    // offset of the swizzling pattern, in 128 bytes
    u32 chunks;                  // in a line of the pattern: 1 (none), 2, 4, 8
} Source;

static Source source_of(u64 descriptor) {
    static const u8 chunks[] = {1, 8, 4, 2};
    return (Source){.start = (u32)(descriptor & 0x3fff) << 4,
                    .leading = (u32)(descriptor >> 16 & 0x3fff) << 4,
                    .stride = (u32)(descriptor >> 32 & 0x3fff) << 4,
                    .base = (u32)(descriptor >> 49 & 7),
                    .chunks = chunks[descriptor >> 62]};
}

// The place of a chunk whose offset without swizzling is `offset`. NULL with a fault.
static const u8 *chunk_place(Exec *x, const Source *s, u32 offset) {
    u32 address = s->start + offset;
    address ^= (((address >> 7) - s->base) & (s->chunks - 1)) << 4;
    u8 space;
    return access_resolve(x, 0, address & 0x3ffff, CHUNK, SPACE_SHARED, false, &space);
}

// Eight rows of A (columns of B) from the `major`-th on, `bytes` along k of each.
static bool load_along_k(Exec *x, const Source *s, u32 major, u32 bytes, PanelRow *rows) {
    for (u32 chunk = 0; chunk < bytes / CHUNK; chunk++) {
        u32 along = chunk / s->chunks * s->leading + chunk % s->chunks * CHUNK;
        for (u32 i = 0; i < 8; i++) {
            const u8 *place = chunk_place(x, s, major / 8 * s->stride + i * CHUNK * s->chunks + along);
            if (!place) return false;
            memcpy(rows[i] + chunk * CHUNK, place, CHUNK);
        }
    }
    return true;
}

// ... when neighbours in memory are neighbours along m (n), of 16 bits.
static bool load_across_k(Exec *x, const Source *s, u32 major, u32 k_count, PanelRow *rows) {
    u32 group = major / 8, across = group / s->chunks * s->leading + group % s->chunks * CHUNK, step = s->stride;
    if (s->chunks == 1) across = group * s->stride, step = s->leading;
    for (u32 k = 0; k < k_count; k++) {
        const u8 *place = chunk_place(x, s, across + k / 8 * step + k % 8 * CHUNK * s->chunks);
        if (!place) return false;
        for (u32 i = 0; i < 8; i++) memcpy(rows[i] + 2 * k, place + 2 * i, 2);
    }
    return true;
}

static bool load_panel(Exec *x, SimOperand descriptor, u32 major, u32 rows, bool across, u8 type, u32 k,
                       PanelRow *panel) {
    Source s = source_of(((const u64 *)exec_operand(x, descriptor))[0]);
    for (u32 i = 0; i < rows; i += 8)
        if (!(across ? load_across_k(x, &s, major + i, k, panel + i)
                     : load_along_k(x, &s, major + i, k * ptx_types[type].bits / 8, panel + i)))
            return false;
    return true;
}

// --- wgmma.mma_async ------------------------------------------------------------------------------------------------
// The literals of the instruction, behind the registers in its list: sparsity selector, scale-a, scale-b, trans-a,
// trans-b, as far as the form has them.
typedef struct Literals {
    u32 selector;
    bool negative, a_across, b_across;
} Literals;

static i32 literal(const Exec *x, SimOperand operand) { return ((const i32 *)exec_operand(x, operand))[0]; }

static Literals literals_of(const Exec *x, const SimInsn *in, const Plan *p, u32 registers) {
    const SimOperand *list = exec_list(x, in) + registers;
    u32 left = in->list_count - registers;
    Literals found = {0};
    if (p->sparse) found.selector = (u32)literal(x, *list++), left--;
    if (left >= 2) found.negative = (literal(x, list[0]) < 0) != (literal(x, list[1]) < 0);
    if (left == 4) found.a_across = literal(x, list[2]);
    if (left > 2) found.b_across = literal(x, list[left - 1]);
    return found;
}

static void negate_rows(Panel *a, u8 type, u32 k) {
    u32 bytes = ptx_types[type].bits / 8;
    for (u32 row = 0; row < WARP_ROWS; row++)
        for (u32 i = bytes - 1; i < k * bytes; i += bytes) a->row[row][i] ^= 0x80;
}

// All products of k are summed at once; of 8-bit elements, fewer bits are kept, in the sum and in its result.
static MatrixRule rule_of(const Plan *p, u32 k) {
    bool bytes = p->a == TYPE_E4M3 || p->a == TYPE_E5M2;
    return (MatrixRule){.a = p->a,
                        .b = p->b,
                        .c = p->d,
                        .d = p->d,
                        .m = WARP_ROWS,
                        .k = (u16)k,
                        .fraction = bytes ? 13 : 25,
                        .group = (u8)k,
                        .short_result = bytes,
                        .satfinite = p->satfinite,
                        .bit_and = true};
}

// The rows of A of this warp, and B with the first warp, as the warpgroup reads it once. As Nsight Compute counts on an
// H200 (2026-11-21, driver 580): whatever the layout, there are no bank conflicts.
static void count_reads(Exec *x, const Plan *p, u32 a_k, u32 n, u32 k) {
    u32 a = p->a_in_registers ? 0 : WARP_ROWS * a_k * ptx_types[p->a].bits / 8;
    u32 b = x->warp->index % WARPGROUP == 0 ? n * k * ptx_types[p->b].bits / 8 : 0;
    x->count->bytes += a + b;
    x->count->wavefronts += (a + b) / WAVEFRONT;
}

static void wgmma_mma(Exec *x, const SimInsn *in, u32 mask) {
    const union PlanBits u = {.bits = in->offset};
    const Plan *p = &u.plan;
    const SimOperand *regs = exec_list(x, in);
    u32 n = shape_n(p->shape), k = shape_k(p->shape), a_k = p->sparse ? k / 2 : k;
    u32 tile_registers = matrix_register_count(WARP_ROWS * 8, p->d), d_count = n / 8 * tile_registers;
    u32 a_count = p->a_in_registers ? matrix_register_count(WARP_ROWS * a_k, p->a) : 0;
    Literals literals = literals_of(x, in, p, d_count + a_count);
    MatrixShape stored = {WARP_ROWS, 8, (u8)a_k}, s = {WARP_ROWS, 8, (u8)k};
    Panel a, b;
    count_reads(x, p, a_k, n, k);
    SimOperand b_source = in->src[p->a_in_registers ? 0 : 1];
    if (p->a_in_registers)
        matrix_gather_panel(x, regs + d_count, a_count, stored, MATRIX_A, p->a, &a);
    else if (!load_panel(x, in->src[0], x->warp->index % 4 * WARP_ROWS, WARP_ROWS, literals.a_across, p->a, a_k, a.row))
        return;
    if (literals.negative) negate_rows(&a, p->a, a_k);
    MatrixRule rule = rule_of(p, k);
    MatrixRows rows;
    Panel all;
    u64 present[PANEL_ROWS];
    SimOperand metadata = in->src[p->a_in_registers ? 1 : 2];
    if (p->sparse && !matrix_expand(x, exec_operand(x, metadata), literals.selector, p->a, k, &a, &all, present))
        return;
    matrix_decode_rows(&rule, p->sparse ? &all : &a, p->sparse ? present : NULL, &rows);
    bool adds = exec_get_pred(x, in) & mask;
    for (u32 t = 0; t < n / 8; t++) {
        MatrixTile tile;
        const SimOperand *sums = regs + t * tile_registers;
        if (!load_panel(x, b_source, t * 8, 8, literals.b_across, p->b, k, b.row)) return;
        if (adds)
            matrix_gather_sums(x, sums, tile_registers, s, p->d, &tile);
        else
            memset(&tile, 0, sizeof tile);
        matrix_multiply(&rule, &rows, b.row, &tile);
        matrix_scatter_sums(x, sums, tile_registers, s, p->d, &tile, mask);
    }
}

static ExecFn select_wgmma(const ExecShape *shape, SimInsn *in, bool sparse) {
    const u8 *t = shape->form->types;
    union PlanBits u = {.bits = 0};
    u.plan = (Plan){.shape = shape_mod(shape, MOD_WGMMA_SHAPE),
                    .d = t[0],
                    .a = t[1],
                    .b = t[2],
                    .satfinite = shape_has(shape, MOD_SATFINITE),
                    .sparse = sparse,
                    .a_in_registers = in->src[sparse ? 2 : 1] == SIM_NO_OPERAND};
    in->offset = u.bits;
    return wgmma_mma;
}
EXEC_SELECT(wgmma) { return select_wgmma(shape, in, false); }
EXEC_SELECT(wgmma_sp) { return select_wgmma(shape, in, true); }

static void fence(Exec *x, const SimInsn *in, u32 mask) { (void)x, (void)in, (void)mask; }
static void commit_group(Exec *x, const SimInsn *in, u32 mask) {
    (void)in, (void)mask;
    warpgroup_commit(x->warp);
}
static void wait_group(Exec *x, const SimInsn *in, u32 mask) {
    (void)mask;
    x->retry = !warpgroup_wait(x->warp, (u32)literal(x, exec_list(x, in)[0]));
}
EXEC_SELECT(wgmma_fence) { return (void)shape, (void)in, fence; }
EXEC_SELECT(wgmma_commit) { return (void)shape, (void)in, commit_group; }
EXEC_SELECT(wgmma_wait) { return (void)shape, (void)in, wait_group; }
