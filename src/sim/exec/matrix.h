// SPDX-License-Identifier: Apache-2.0
// Where the lanes of a warp hold the elements of a matrix (PTX ISA 9.7.14.5: mma fragments). The layout of wmma
// fragments, which the ISA leaves open, is that of sm_80 to sm_90 (read off an H200): the same building blocks,
// whatever the layout in memory.
//
// A block is 8 rows of A (or columns of B) by four groups of consecutive k: lane l holds row l / 4 and the elements of
// one register at k = l % 4 * elements. Further registers are further blocks, first 8 rows on, then along k, then 16
// rows on.
#ifndef WL_SIM_EXEC_MATRIX_H
#define WL_SIM_EXEC_MATRIX_H

#include "ptx/ops.h"

typedef enum MatrixRole { MATRIX_A, MATRIX_B, MATRIX_C } MatrixRole;  // C also stands for D

typedef struct MatrixShape {
    u8 m, n, k;  // k 256 of b1 is kept as 0
} MatrixShape;

static inline u32 matrix_k(MatrixShape s) { return s.k ? s.k : 256; }

static inline MatrixShape matrix_shape(u16 token) {
    switch (token) {
    case SHAPE_M8N8K4: return (MatrixShape){8, 8, 4};
    case SHAPE_M8N8K16: return (MatrixShape){8, 8, 16};
    case SHAPE_M8N8K32: return (MatrixShape){8, 8, 32};
    case SHAPE_M8N8K128: return (MatrixShape){8, 8, 128};
    case SHAPE_M8N32K16: return (MatrixShape){8, 32, 16};
    case SHAPE_M32N8K16: return (MatrixShape){32, 8, 16};
    case SHAPE_M16N16K8: return (MatrixShape){16, 16, 8};
    case SHAPE_M16N16K16: return (MatrixShape){16, 16, 16};
    case SHAPE_M16N8K4: return (MatrixShape){16, 8, 4};
    case SHAPE_M16N8K8: return (MatrixShape){16, 8, 8};
    case SHAPE_M16N8K16: return (MatrixShape){16, 8, 16};
    case SHAPE_M16N8K32: return (MatrixShape){16, 8, 32};
    case SHAPE_M16N8K64: return (MatrixShape){16, 8, 64};
    case SHAPE_M16N8K128: return (MatrixShape){16, 8, 128};
    case SHAPE_M16N8K256: return (MatrixShape){16, 8, 0};
    default: return (MatrixShape){0, 0, 0};
    }
}

// Elements in one register of a fragment: 1 for f32, tf32, s32, f64; 2 for f16, bf16; 4, 8, 32 for bytes, nibbles,
// bits.
static inline u32 matrix_elements(u8 type) {
    u32 bits = ptx_types[type].bits;
    return bits >= 32 ? 1 : 32 / bits;
}

// C and D of m8n32 are held transposed.
static inline bool matrix_sums_by_columns(MatrixShape s) { return s.m == 8 && s.n > 8; }

// An element's row and column are sums of a part that depends on the lane and one that depends on register and element.
static inline void matrix_lane_part(MatrixShape s, MatrixRole role, u8 type, u32 lane, u32 *row, u32 *col) {
    u32 group = lane / 4, member = lane % 4;
    bool by_columns = role == MATRIX_B || (role == MATRIX_C && matrix_sums_by_columns(s));
    u32 minor = member * (role == MATRIX_C ? 2 : matrix_elements(type));
    *row = by_columns ? minor : group;
    *col = by_columns ? group : minor;
}
static inline void matrix_register_part(MatrixShape s, MatrixRole role, u8 type, u32 reg, u32 e, u32 *row, u32 *col) {
    u32 per = matrix_elements(type);
    if (role == MATRIX_C) {  // pairs of neighbours, in blocks of 8 by 8
        u32 index = reg * per + e, pair = index / 2;
        bool by_columns = matrix_sums_by_columns(s), square = !by_columns && s.n > 8;
        u32 along = index % 2 + (square ? pair / 2 * 8 : 0), across = (square ? pair % 2 : pair) * 8;
        *row = by_columns ? along : across;
        *col = by_columns ? across : along;
        return;
    }
    u32 extent = role == MATRIX_A ? s.m : s.n, span = 4 * per, major = 0, minor = e;
    u32 blocks = matrix_k(s) > span ? matrix_k(s) / span : 1;
    // Eight rows on comes before k, except in B fragments of 16 columns; sixteen rows on comes last.
    bool eight_last = role == MATRIX_B && extent == 16;
    if (extent > 8 && !eight_last) major += reg % 2 * 8, reg /= 2;
    minor += reg % blocks * span, reg /= blocks;
    if (eight_last) major += reg % 2 * 8;
    if (extent > 16) major += reg % 2 * 16;
    *row = role == MATRIX_A ? major : minor;
    *col = role == MATRIX_A ? minor : major;
}

// For wmma.load and wmma.store: the element-th of all elements of the fragment, counted through its registers. f16
// fragments of A and B have 16 elements, of which those beyond the matrix repeat earlier ones.
static inline void wmma_fragment_coord(u16 shape, MatrixRole role, u8 type, u32 lane, u32 element, u32 *row, u32 *col) {
    u32 per = matrix_elements(type), lane_row, lane_col;
    matrix_lane_part(matrix_shape(shape), role, type, lane, &lane_row, &lane_col);
    matrix_register_part(matrix_shape(shape), role, type, element / per, element % per, row, col);
    *row += lane_row;
    *col += lane_col;
}

#endif
