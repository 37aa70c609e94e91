// SPDX-License-Identifier: Apache-2.0
// ldmatrix and stmatrix (PTX ISA 9.0, 9.7.14.5.15-16), wmma.load and wmma.store (9.7.14.3-4): matrices between memory
// and the fragments that the lanes of a warp hold together.
#include "sim/exec/access.h"
#include "sim/exec/matrix.h"

// --- ldmatrix, stmatrix --------------------------------------------------------------------------------------------
// Lanes 8k .. 8k+7 hold the addresses of the rows of matrix k: 8 rows of 8 elements of 16 bits. in->mods: transposed.
static u32 register_count(const SimInsn *in) { return in->list_count ? in->list_count : 1; }

static bool row_places(Exec *x, const SimInsn *in, u32 mask, bool store, u8 *row[LANES]) {
    u32 rows = 8 * register_count(in), wanted = mask & (rows == LANES ? FULL_MASK : (1u << rows) - 1);
    u64 offset[LANES];
    for (u32 l = 0; l < LANES; l++) row[l] = NULL;
    for (u32 left = wanted; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 address = access_address(x, in->src[0], in->offset, l);
        u8 space;
        row[l] = access_resolve(x, l, address, 16, in->space, store, &space);
        if (!row[l]) return false;
        if (space != SPACE_SHARED) {
            x->fault =
                (Fault){.kind = FAULT_WRONG_SPACE, .lane = (u8)l, .space = space, .width = 16, .address = address};
            return false;
        }
        offset[l] = address & 0xffffffff;
    }
    if (!wanted) return true;
    access_count_shared(x, offset, wanted, 16, false);
    return true;
}

// Row and column of the half `part` of a lane's register.
static void matrix_element(u32 lane, u32 part, bool transposed, u32 *row, u32 *column) {
    u32 major = lane / 4, minor = lane % 4 * 2 + part;
    *row = transposed ? minor : major;
    *column = transposed ? major : minor;
}

static SimOperand register_of(const Exec *x, const SimInsn *in, u32 k, SimOperand alone) {
    return in->list_count ? exec_list(x, in)[k] : alone;
}

static void ldmatrix(Exec *x, const SimInsn *in, u32 mask) {
    u8 *row[LANES];
    if (!row_places(x, in, mask, false, row)) return;
    for (u32 k = 0; k < register_count(in); k++) {
        SimOperand dst = register_of(x, in, k, in->dst);
        if (dst == SIM_NO_OPERAND) continue;
        u32 *d = exec_operand(x, dst), value[LANES] = {0};
        for (u32 l = 0; l < LANES; l++) {
            for (u32 part = 0; part < 2; part++) {
                u32 r, c;
                u16 half = 0;
                matrix_element(l, part, in->mods, &r, &c);
                if (row[8 * k + r]) memcpy(&half, row[8 * k + r] + 2 * c, 2);
                value[l] |= (u32)half << (16 * part);
            }
        }
        FOR_LANES(mask, d[l] = value[l]);
    }
}

static void stmatrix(Exec *x, const SimInsn *in, u32 mask) {
    u8 *row[LANES];
    if (!row_places(x, in, mask, true, row)) return;
    for (u32 k = 0; k < register_count(in); k++) {
        const u32 *s = exec_operand(x, register_of(x, in, k, in->src[1]));
        for (u32 part = 0; part < 2 * LANES; part++) {
            u32 l = part / 2, r, c;
            u16 half = (u16)(s[l] >> (16 * (part & 1)));
            matrix_element(l, part & 1, in->mods, &r, &c);
            if (mask >> l & 1 && row[8 * k + r]) memcpy(row[8 * k + r] + 2 * c, &half, 2);
        }
    }
}

static ExecFn select_matrix(const ExecShape *shape, SimInsn *in, ExecFn function) {
    const Form *form = shape->form;
    if (form->mods[MOD_SHAPE] != SHAPE_M8N8 || form->types[0] != TYPE_B16) return NULL;
    if (in->list_count && in->list_count != 1u << (form->mods[MOD_NUM] - NUM_X1)) return NULL;
    in->mods = form->mods[MOD_TRANS] != MOD_TOKEN_NONE;
    return function;
}

EXEC_SELECT(ldmatrix) { return select_matrix(shape, in, ldmatrix); }
EXEC_SELECT(stmatrix) { return select_matrix(shape, in, stmatrix); }

// --- wmma.load, wmma.store -----------------------------------------------------------------------------------------
typedef struct Fragment {
    MatrixRole role;
    u16 shape;
    u8 type;
    bool by_columns;  // the layout in memory
    u32 rows, columns;
    u32 bits, elements;  // of an element; in a register
    u32 pieces;          // accesses for one register: 1 when its elements are neighbours in memory
    u32 distinct;        // registers after which the elements repeat
    u32 joined;          // registers that one access fills: 2 where they are neighbours in memory, too
} Fragment;

// In elements from the matrix's first.
static u64 element_index(const Fragment *f, u32 lane, u32 element, u64 stride) {
    u32 row, column;
    wmma_fragment_coord(f->shape, f->role, f->type, lane, element, &row, &column);
    return f->by_columns ? column * stride + row : row * stride + column;
}

static Fragment fragment_of(const Form *form) {
    u16 part = form->mods[MOD_WMMA_PART];
    MatrixShape s = matrix_shape(form->mods[MOD_SHAPE]);
    Fragment f = {
        .shape = form->mods[MOD_SHAPE], .type = form->types[0], .by_columns = form->mods[MOD_LAYOUT] == LAYOUT_COL};
    f.role = part == WMMA_PART_A ? MATRIX_A : part == WMMA_PART_B ? MATRIX_B : MATRIX_C;
    f.rows = f.role == MATRIX_B ? matrix_k(s) : s.m;
    f.columns = f.role == MATRIX_A ? matrix_k(s) : s.n;
    f.bits = ptx_types[f.type].bits;
    f.elements = matrix_elements(f.type);
    f.distinct = f.rows * f.columns / (LANES * f.elements);
    bool neighbours = f.elements == 1 || element_index(&f, 0, 1, 1000) == element_index(&f, 0, 0, 1000) + 1;
    f.pieces = neighbours ? 1 : f.elements;
    u64 next = element_index(&f, 0, 0, 1000) + f.elements;
    f.joined = f.distinct > 1 && neighbours && element_index(&f, 0, f.elements, 1000) == next ? 2 : 1;
    return f;
}

// The addresses of one piece of one register in all lanes.
typedef struct Pass {
    u64 global[LANES], shared[LANES];
    u32 global_count, shared_mask;
} Pass;

static void count_pass(Exec *x, const Pass *p, u32 bytes) {
    if (p->global_count) access_count_global(x, p->global, p->global_count, bytes);
    if (p->shared_mask) access_count_shared(x, p->shared, p->shared_mask, bytes, false);
}

static u8 *piece_place(Exec *x, const SimInsn *in, u32 lane, u64 address, u32 bytes, bool store, Pass *pass) {
    const PcState *s = pc_state(x);
    u64 at = address - s->start;
    bool global = in->space == SPACE_GLOBAL || in->space == SPACE_NONE, aligned = !(address & (bytes - 1));
    u8 space = SPACE_GLOBAL, *place;
    if (global && aligned && s->generation == x->grid->sim->generation && at < s->size && bytes <= s->size - at &&
        !(store && s->read_only))
        place = (u8 *)(uintptr_t)(address + (u64)s->delta);
    else
        place = access_resolve(x, lane, address, bytes, in->space, store, &space);
    if (space == SPACE_SHARED)
        pass->shared[lane] = address & 0xffffffff, pass->shared_mask |= 1u << lane;
    else
        pass->global[pass->global_count++] = address;
    return place;
}

static u64 stride_of(const Exec *x, const SimInsn *in, const Fragment *f, u32 lane) {
    if (in->src[1] != SIM_NO_OPERAND) return exec_get_lane(x, in->src[1], lane);
    return f->by_columns ? f->rows : f->columns;
}

static bool transposes(const Fragment *f) { return f->pieces == 2 && f->bits == 16; }

// The places that the lanes have in the transposed 8x8 matrix.
static void count_transposed(Exec *x, const SimInsn *in, const Fragment *f, u32 mask, u32 reg, bool shared) {
    Pass pass = {.global_count = 0};
    u32 row0, column0, first = reg * f->elements;
    wmma_fragment_coord(f->shape, f->role, f->type, 0, first, &row0, &column0);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left), row, column;
        wmma_fragment_coord(f->shape, f->role, f->type, l, first, &row, &column);
        u64 r = row0 + (column - column0), c = column0 + (row - row0), stride = stride_of(x, in, f, l),
            base = (u64)in->offset + (in->src[0] == SIM_NO_OPERAND ? 0 : exec_get_lane(x, in->src[0], l)),
            address = base + (f->by_columns ? c * stride + r : r * stride + c) * f->bits / 8;
        if (shared)
            pass.shared[l] = address & 0xffffffff, pass.shared_mask |= 1u << l;
        else
            pass.global[pass.global_count++] = address;
    }
    count_pass(x, &pass, f->elements * f->bits / 8);
}

// What ptxas makes of a fragment for sm_90: one access for registers that are neighbours in memory (LDG.64, of f64
// LDG.128); and of 16-bit elements that lie the other way one for each register, too, behind which MOVM transposes.
static void count_piece(Exec *x, const SimInsn *in, const Fragment *f, u32 mask, u32 reg, u32 piece, const Pass *pass) {
    if (transposes(f)) {
        if (piece + 1 == f->pieces) count_transposed(x, in, f, mask, reg, pass->shared_mask != 0);
    } else if (reg % f->joined == 0) {
        count_pass(x, pass, f->elements / f->pieces * f->bits / 8 * f->joined);
    }
}

// Moves piece `piece` of register `reg` between memory and value[lane]. False with a fault.
static bool move_piece(Exec *x, const SimInsn *in, const Fragment *f, u32 mask, u32 reg, u32 piece, u64 *value,
                       bool store) {
    Pass pass = {.global_count = 0};
    u32 per = f->elements / f->pieces, bits = per * f->bits, bytes = bits / 8;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 base = (u64)in->offset + (in->src[0] == SIM_NO_OPERAND ? 0 : exec_get_lane(x, in->src[0], l)),
            part = value[l] >> (piece * bits);
        u64 index = element_index(f, l, reg * f->elements + piece * per, stride_of(x, in, f, l));
        u8 *place = piece_place(x, in, l, base + index * f->bits / 8, bytes, store, &pass);
        if (!place) return false;
        if (store) {
            memcpy(place, &part, bytes);
        } else {
            part = 0;
            memcpy(&part, place, bytes);
            value[l] |= part << (piece * bits);
        }
    }
    if (reg < f->distinct) count_piece(x, in, f, mask, reg, piece, &pass);
    return true;
}

static void wmma_load(Exec *x, const SimInsn *in, u32 mask) {
    Fragment f = fragment_of(in->form);
    const SimOperand *list = exec_list(x, in);
    for (u32 reg = 0; reg < in->list_count; reg++) {
        u64 value[LANES] = {0};
        for (u32 piece = 0; piece < f.pieces; piece++)
            if (!move_piece(x, in, &f, mask, reg, piece, value, false)) return;
        if (list[reg] == SIM_NO_OPERAND) continue;
        u32 *d32 = exec_operand(x, list[reg]);
        u64 *d64 = exec_operand(x, list[reg]);
        if (list[reg] >> 30 & 1)
            FOR_LANES(mask, d64[l] = value[l]);
        else
            FOR_LANES(mask, d32[l] = (u32)value[l]);
    }
}

static void wmma_store(Exec *x, const SimInsn *in, u32 mask) {
    Fragment f = fragment_of(in->form);
    const SimOperand *list = exec_list(x, in);
    for (u32 reg = 0; reg < in->list_count; reg++) {
        u64 value[LANES];
        for (u32 l = 0; l < LANES; l++) value[l] = exec_get_lane(x, list[reg], l);
        for (u32 piece = 0; piece < f.pieces; piece++)
            if (!move_piece(x, in, &f, mask, reg, piece, value, true)) return;
    }
}

static ExecFn select_wmma(const ExecShape *shape, const SimInsn *in, ExecFn function) {
    Fragment f = fragment_of(shape->form);
    bool splits_bytes = f.bits < 8 && f.pieces > 1;
    return f.rows && f.distinct && !splits_bytes && in->list_count >= f.distinct ? function : NULL;
}

EXEC_SELECT(wmma_load) { return select_wmma(shape, in, wmma_load); }
EXEC_SELECT(wmma_store) { return select_wmma(shape, in, wmma_store); }
