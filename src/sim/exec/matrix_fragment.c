// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/matrix_fragment.h"
#include "sim/exec/float.h"
#include <string.h>

// A register of A (or B) is a block of 8 rows (columns): lanes 4 i .. 4 i + 3 hold neighbours along k of row i.
void matrix_gather_panel(const Exec *x, const SimOperand *regs, u32 count, MatrixShape s, MatrixRole role, u8 type,
                         Panel *panel) {
    for (u32 r = 0; r < count; r++) {
        const u8 *lanes = exec_operand(x, regs[r]);
        u32 row, col;
        matrix_register_part(s, role, type, r, 0, &row, &col);
        u32 major = role == MATRIX_A ? row : col, minor = role == MATRIX_A ? col : row;
        u8 *to = panel->row[major] + minor * ptx_types[type].bits / 8;
        if (type == TYPE_F64)
            for (u32 i = 0; i < 8; i++) memcpy(to + i * PANEL_BYTES, lanes + 32 * i, 32);
        else
            for (u32 i = 0; i < 8; i++) memcpy(to + i * PANEL_BYTES, lanes + 16 * i, 16);
    }
}

// Metadata (9.7.14.6.1): of four places in a row, two are stored; four bits say which. A place has 16 bits, or 8 where
// elements have no more: tf32 has two places to an element, s4 has two elements in a place. The 16 rows by up to 16
// groups of places are spread over the lanes so, read off an H200:
static u32 metadata_of(const u32 *metadata, u32 selector, bool bytes, u32 groups, u32 row, u32 group) {
    u32 lane = row % 8 * 4, low = row / 8, half = group;
    if (bytes) {
        lane += (groups > 8 ? group / 8 : selector) * 2 + low;
        half = group % 8;
    } else {
        lane += selector * (groups / 4) + group / 4;
        half = low * 4 + group % 4;
    }
    return metadata[lane & 31] >> (4 * half) & 15;
}

bool matrix_expand(Exec *x, const u32 *metadata, u32 selector, u8 type, u32 k, const Panel *stored, Panel *a,
                   u64 *present) {
    u32 bits = ptx_types[type].bits, place = bits <= 8 ? 1 : 2, groups = k * bits / 8 / (4 * place);
    if (selector >= (groups == 4 ? 4 : groups == 8 ? 2 : 1)) {
        x->fault = (Fault){.kind = FAULT_UNSUPPORTED};
        x->message = "sparsity selector that the shape does not have";
        return false;
    }
    for (u32 row = 0; row < 16; row++) {
        memset(a->row[row], 0, k * bits / 8);
        present[row] = 0;
        for (u32 group = 0; group < groups; group++) {
            u32 index = metadata_of(metadata, selector, place == 1, groups, row, group);
            for (u32 i = 0; i < 2; i++) {
                u32 at = group * 4 + (index >> (2 * i) & 3);
                memcpy(a->row[row] + at * place, stored->row[row] + (group * 2 + i) * place, place);
                present[row] |= 1ull << (at * place * 8 / bits & 63);
            }
        }
    }
    return true;
}

// The place of an accumulator's element in lane 0, and how it moves from lane to lane.
typedef struct SumPlace {
    u32 tile, row, col;
    bool by_columns;
} SumPlace;
static SumPlace sum_place(MatrixShape s, u8 type, u32 reg, u32 e) {
    u32 row, col;
    matrix_register_part(s, MATRIX_C, type, reg, e, &row, &col);
    return (SumPlace){.tile = col / 8, .row = row, .col = col % 8, .by_columns = matrix_sums_by_columns(s)};
}
#define EACH_SUM(p, statement)                                    \
    for (u32 l = 0; l < LANES; l++) {                             \
        u32 row = (p).row + ((p).by_columns ? l % 4 * 2 : l / 4), \
            col = (p).col + ((p).by_columns ? l / 4 : l % 4 * 2); \
        statement;                                                \
    }

void matrix_gather_sums(const Exec *x, const SimOperand *regs, u32 count, MatrixShape s, u8 type, MatrixTile *tiles) {
    for (u32 r = 0; r < count; r++) {
        const u32 *source = exec_operand(x, regs[r]);
        const f64 *wide = exec_operand(x, regs[r]);
        for (u32 e = 0; e < matrix_elements(type); e++) {
            SumPlace p = sum_place(s, type, r, e);
            MatrixTile *tile = &tiles[p.tile];
            if (type == TYPE_F64)
                EACH_SUM(p, tile->d[row][col] = wide[l])
            else if (type == TYPE_F16)
                EACH_SUM(p, tile->u[row][col] = source[l] >> (16 * e) & 0xffff)
            else
                EACH_SUM(p, tile->u[row][col] = source[l])
        }
    }
}

static void scatter_wide(const Exec *x, SimOperand reg, SumPlace p, const MatrixTile *tile, u32 mask) {
    f64 value[LANES], *d = exec_operand(x, reg);
    EACH_SUM(p, value[l] = tile->d[row][col])
    FOR_LANES(mask, d[l] = value[l]);
}

void matrix_scatter_sums(const Exec *x, const SimOperand *regs, u32 count, MatrixShape s, u8 type,
                         const MatrixTile *tiles, u32 mask) {
    for (u32 r = 0; r < count; r++) {
        if (regs[r] == SIM_NO_OPERAND) continue;
        SumPlace p = sum_place(s, type, r, 0);
        const MatrixTile *tile = &tiles[p.tile];
        if (type == TYPE_F64) {
            scatter_wide(x, regs[r], p, tile, mask);
            continue;
        }
        u32 value[LANES], *d = exec_operand(x, regs[r]);
        EACH_SUM(p, value[l] = tile->u[row][col])
        if (type == TYPE_F16) {
            p = sum_place(s, type, r, 1);
            EACH_SUM(p, value[l] |= tile->u[row][col] << 16)
        }
        FOR_LANES(mask, d[l] = value[l]);
    }
}
