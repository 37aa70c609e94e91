// SPDX-License-Identifier: Apache-2.0
// What a tensor core does with one block of a product: rows of A times eight columns of B, added to C. Shared by mma,
// wmma and wgmma, which differ in where the elements come from.
//
// Elements are kept as the registers of a fragment hold them: a row of A, or a column of B, is a run of packed elements
// along k.
#ifndef WL_SIM_EXEC_MATRIX_SUM_H
#define WL_SIM_EXEC_MATRIX_SUM_H

#include "base/types.h"
#include "sim/exec.h"

enum {
    PANEL_ROWS = 32,    // of A: wmma m32; wgmma has 16 a warp
    PANEL_BYTES = 128,  // f64 of k16
    PANEL_K = 128,      // the largest k of elements that are not bits: sparse s4
    PANEL_COLUMNS = 8,
};

typedef u8 PanelRow[PANEL_BYTES];
typedef struct Panel {
    _Alignas(32) PanelRow row[PANEL_ROWS];
} Panel;

// What is multiplied, and how products are summed (matrix_sum.c). Set once per instruction.
typedef struct MatrixRule {
    u8 a, b, c, d;      // PtxTypes
    u8 m;               // rows
    u8 fraction;        // floating point: bits kept below the largest exponent of a sum
    u8 group;           // ... products in a sum
    bool short_result;  // ... 13 bits behind the point
    u8 rounding;        // of f64: RND_* minus RND_RN
    bool satfinite, bit_and;
    u16 k;
} MatrixRule;

// A, decoded.
typedef struct MatrixRows {
    const Panel *packed;
    u8 flags[PANEL_ROWS], all_flags;  // floating point: infinities, NaN, exponents far from 0
    const u64 *present;               // by row, of sparse matrices: which k take part. NULL: all
    union {
        struct {
            f32 value[PANEL_ROWS][PANEL_K];
            i32 exponent[PANEL_ROWS][PANEL_K];
        };
        i16 integer[PANEL_ROWS][PANEL_K];
    };
} MatrixRows;

// 8 columns of C and D: bits of their types, f64 in 64 bits.
typedef union MatrixTile {
    u32 u[PANEL_ROWS][PANEL_COLUMNS];
    f64 d[PANEL_ROWS][PANEL_COLUMNS];
} MatrixTile;

#define matrix_decode_rows SIM_ISA_NAME(matrix_decode_rows)
#define matrix_multiply SIM_ISA_NAME(matrix_multiply)

// `a` and `present` must live as long as `rows`.
void matrix_decode_rows(const MatrixRule *rule, const Panel *a, const u64 *present, MatrixRows *rows);
// tile = a * b + tile. `b` are eight columns of B.
void matrix_multiply(const MatrixRule *rule, const MatrixRows *a, const PanelRow *b, MatrixTile *tile);

#endif
